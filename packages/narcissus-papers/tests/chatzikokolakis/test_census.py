"""The Census is a user's file with the records and values of the print, or is not there."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus_papers import Given, chosen, reproduce
from narcissus_papers.chatzikokolakis import census

SIZES = tuple(census.VALUES.values())


@pytest.fixture
def written(tmp_path):
    """Write a file of the Census's form, with its columns and others, and give its folder."""

    def write(records=500, sizes=SIZES):
        rng = np.random.default_rng(4)
        rows = np.column_stack([rng.integers(0, n, records) for n in (9, *sizes)])
        lines = [",".join(map(str, (i, *row))) for i, row in enumerate(rows)]
        text = "\n".join(["caseid,iClass,dAge,dIncome1,iMarital,iSex", *lines, ""])
        (tmp_path / census.FILE.name).write_text(text)
        census.read.cache_clear()
        return tmp_path, rows[:, 1:]

    return write


@pytest.mark.states("Chatzikokolakis et al. 2023", "Appendix H")
def test_a_users_file_is_counted(written, monkeypatch):
    monkeypatch.setattr(census, "RECORDS", 500)
    path, rows = written()
    held = census.counts(Given(data=path))
    assert held.shape == (400,)
    assert held.sum() == 500
    one = rows[7]
    assert held[np.ravel_multi_index(tuple(one), SIZES)] == (rows == one).all(axis=1).sum()


@pytest.mark.parametrize(
    ("records", "sizes", "says"),
    [
        (500, SIZES, "has 500 records .*should have 2,458,285"),
        (499, SIZES, "has 499 records"),
        (500, (8, 5, 5, 3), "iSex 3 values"),
        (500, (9, 5, 5, 2), "dAge 9"),
        (500, (7, 5, 5, 2), "dAge 7"),
    ],
)
def test_any_other_file_is_refused(written, records, sizes, says, monkeypatch):
    if "2,458,285" not in says:
        monkeypatch.setattr(census, "RECORDS", 500)
    path, _ = written(records, sizes)
    with pytest.raises(InputError, match=f"not the Census of the paper: .*{says}"):
        census.counts(Given(data=path))


def test_the_run_stops_at_another_file_before_anything_is_made(written, tmp_path):
    path, _ = written(50)
    with pytest.raises(InputError, match="not the Census of the paper"):
        reproduce(chosen("002", "figure", "7"), data=path)


def test_no_table_stands_in_for_one_that_is_not_there(tmp_path):
    assert census.counts(Given()) is None
    assert census.counts(Given(data=tmp_path)) is None
