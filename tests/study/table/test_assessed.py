"""What was assessed and what was not stands in the record, in sentences."""

from __future__ import annotations

from pathlib import Path

import narcissus as library
from narcissus.study.table.kind import NOT_COVERED, assessed, not_assessed
from narcissus.study.table.prepare import prepare


def prepared(path):
    loaded = library.load_study(path)
    return prepare(loaded.settings, Path(loaded.folder), 1)


def test_what_was_assessed_names_columns_and_people(study):
    [first, *_] = assessed(prepared(study()))
    assert "ill" in first


def test_real_rows_are_assessed_as_if_the_prior_were_right(study):
    drawn = [one.quantity for one in not_assessed(prepared(study()))]
    rows = [one.quantity for one in not_assessed(prepared(study(threat={"people": "rows"})))]
    assert set(drawn) != set(rows)


def test_nobody_is_told_that_all_is_covered():
    assert len(NOT_COVERED) >= 5
    assert all(text.endswith(".") for text in NOT_COVERED)
