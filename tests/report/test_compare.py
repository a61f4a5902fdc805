"""Two records side by side: every row that differs, and no other."""

from types import SimpleNamespace

import pytest

from narcissus.errors import InputError
from narcissus.report.compare import compared
from narcissus.report.page import Grid
from narcissus.report.text import page_text


def grid(page, number):
    [block] = page.sections[number].blocks
    return block.rows if isinstance(block, Grid) else []


def test_a_record_does_not_differ_from_itself(every_record):
    for record in every_record.values():
        page = compared(record, record)
        assert grid(page, 1) == grid(page, 2) == []
        assert page.verdict.headline == "0 settings and 0 rows differ."
        for _, a, b in grid(page, 0):
            assert a == b


def test_a_number_that_differs_is_its_row_and_no_other(every_record):
    for record in every_record.values():
        for place in (0, len(record.rows) - 1):
            row = record.rows[place]
            found = row.quantity.model_copy(update={"value": 0.123456789})
            rows = [*record.rows]
            rows[place] = row.model_copy(update={"quantity": found})
            page = _drawn(record, SimpleNamespace(rows=rows))
            [(name, old, new)] = page
            assert row.name in name
            assert new.startswith("0.123457")
            assert old != new


def _drawn(one, other):
    from narcissus.report.compare import _rows

    return list(_rows(one, other))


def test_a_row_that_one_lacks_and_a_setting_that_differs_are_shown(every_record):
    record = every_record["sweep"]
    less = SimpleNamespace(rows=record.rows[1:])
    [(_, old, new)] = _drawn(record, less)
    assert (old != new, new) == (True, "\N{EM DASH}")
    other = record.model_copy(update={"study": {**record.study, "policy": "strict.toml"}})
    assert grid(compared(record, other), 1) == [("policy", "\N{EM DASH}", "strict.toml")]


def test_both_are_named_and_kinds_are_not_mixed(every_record):
    one, other = every_record["sweep"], every_record["another table"]
    text = page_text(compared(one, other))
    for record in (one, other):
        assert record.digest.removeprefix("sha256:")[:8] in text
    with pytest.raises(InputError, match="different kinds, 'table' and 'game'"):
        compared(one, every_record["game"])
