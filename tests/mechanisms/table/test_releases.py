"""What was released: rows are counted as those of all people, cells stand for themselves."""

import numpy as np
import pytest

from narcissus.mechanisms import MarginalQueries, Microdata, ProtectedCounts
from narcissus.mechanisms.table.rounding import RoundedTo

QUERIES = MarginalQueries((2, 3), (1,), 2)
ROWS = np.array([[0, 0], [0, 0], [1, 2], [0, 1]], dtype=np.int32)


def test_rows_are_counted_as_of_so_many_people():
    alike = Microdata(ROWS).counts(QUERIES, 4)
    np.testing.assert_array_equal(alike, QUERIES.counts(ROWS))
    assert sorted(alike) == [0, 0, 0, 1, 1, 2]
    np.testing.assert_allclose(Microdata(ROWS).counts(QUERIES, 10), 2.5 * alike)


def test_each_table_of_counted_rows_has_as_many_people():
    queries = MarginalQueries((2, 3, 2), (1, 2), 2)
    rows = np.array([[0, 2, 1], [1, 2, 0], [1, 0, 0]], dtype=np.int32)
    assert Microdata(rows).counts(queries, 7).sum() == pytest.approx(7 * queries.tables)


def test_no_rows_are_no_counts():
    np.testing.assert_array_equal(Microdata(ROWS[:0]).counts(QUERIES, 9), np.zeros(6))


def test_cells_are_each_by_their_own_rule_if_nothing_else_is_said():
    release = ProtectedCounts(QUERIES, RoundedTo(3), np.zeros(6))
    assert release.cellwise
    assert not ProtectedCounts(QUERIES, RoundedTo(3), np.zeros(6), cellwise=False).cellwise
    with pytest.raises(AttributeError):
        release.cells = np.ones(6)


def test_releases_are_told_apart_by_which_they_are_and_not_by_their_numbers():
    """Arrays have no truth value: comparing them by their fields would raise."""
    assert Microdata(ROWS) != Microdata(ROWS)
    one = ProtectedCounts(QUERIES, RoundedTo(3), np.zeros(6))
    assert len({one, one, ProtectedCounts(QUERIES, RoundedTo(3), np.zeros(6))}) == 2
