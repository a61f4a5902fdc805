"""A counted table stands for the rows that it counts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.tables import CountedTable, Table

LABELS = (("a", "b"), ("1", "2", "4"))
RECORDS = np.array([[0, 0], [0, 2], [1, 1]])
COUNTS = np.array([3, 1, 2])


def counted(**changes):
    parts = {"records": RECORDS, "counts": COUNTS, "notes": {"x": "read so"}} | changes
    return CountedTable(("x", "y"), LABELS, (False, True), **parts)


def test_rows_and_columns():
    table = counted()
    assert isinstance(table, Table)
    assert (table.rows, table.columns, table.sizes) == (6, 2, (2, 3))
    assert table.records.dtype == np.uint8
    np.testing.assert_array_equal(table.records, RECORDS)
    np.testing.assert_array_equal(table.counts, COUNTS)
    assert table.codes.dtype == np.int32
    np.testing.assert_array_equal(table.codes, np.repeat(RECORDS, COUNTS, axis=0))
    assert table.values[1].tolist() == [1, 2, 4]
    for array in (table.records, table.counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert repr(table) == "CountedTable(6 rows, 3 distinct records, 2 columns: x, y)"
    again = pickle.loads(pickle.dumps(table))
    assert again.digest == table.digest


def test_a_plain_table_has_a_record_for_each_row():
    table = Table(("x", "y"), LABELS, (False, True), RECORDS)
    assert table.counts is None
    assert table.records is table.codes


def test_selected_columns_have_their_own_distinct_records():
    part = counted().select(["x"])
    assert part.records.tolist() == [[0], [1]]
    assert part.counts.tolist() == [4, 2]
    assert (part.names, part.notes) == (("x",), {"x": "read so"})
    turned = counted().select(["y", "x"])
    assert turned.records.tolist() == [[0, 0], [1, 1], [2, 0]]
    assert turned.values[0].tolist() == [1, 2, 4]
    with pytest.raises(InputError, match="at least one column"):
        counted().select([])


def test_too_many_rows_are_not_written_out():
    table = counted(counts=np.array([10**8, 1, 1]))
    assert table.rows == 10**8 + 2
    counted(counts=np.array([10**6, 1, 1])).codes
    table = counted(counts=np.array([125_000_000, 1, 1]))
    with pytest.raises(TooLargeError, match=r"125,000,002 rows of 2 columns are 1\.0 GB"):
        table.codes


def test_the_digest_changes_with_every_part():
    more = [
        counted(),
        counted(records=RECORDS[:, ::-1] % 2),
        counted(counts=COUNTS + 1),
        CountedTable(("x", "z"), LABELS, (False, True), RECORDS, COUNTS),
        CountedTable(("x", "y"), (("a", "c"), LABELS[1]), (False, True), RECORDS, COUNTS),
        Table(("x", "y"), LABELS, (False, True), RECORDS),
    ]
    assert len({table.digest for table in more}) == len(more)
    assert counted(notes={}).digest == counted().digest


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"counts": np.array([3, 1])}, "`counts` must be a whole number above 0 for each of 3"),
        ({"counts": np.array([3, 0, 1])}, "above 0"),
        ({"counts": COUNTS * 1.0}, "whole number"),
        ({"records": RECORDS + 1}, r"the records of column `x` must be in 0\.\.1, got 1 to 2"),
        ({"records": RECORDS * 1.0}, "`records` must be integers"),
        ({"values": (None, None)}, "`values` must hold"),
    ],
)
def test_parts_that_do_not_fit_together(changes, says):
    with pytest.raises(InputError, match=says):
        counted(**changes)
