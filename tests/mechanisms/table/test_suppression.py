"""Suppression: which cells are withheld, and that one subtraction gives none away."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.mechanisms import Columns, Suppression
from narcissus.mechanisms.table.suppression import WithheldBelow, withhold_more

COLUMNS = Columns(
    ("a", "b", "s"), (("0", "1", "2"), ("0", "1", "2", "3"), ("0", "1")), (False,) * 3, (2,)
)


def lines(table):
    """Every line of a table: the places that differ in one axis alone."""
    for axis in range(table.ndim):
        if table.shape[axis] > 1:
            rest = table.shape[:axis] + table.shape[axis + 1 :]
            for place in np.ndindex(*rest):
                yield tuple([*place[:axis], slice(None), *place[axis:]])


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("threshold", [1, 2, 5])
def test_counts_below_the_threshold_are_withheld(threshold, zeros):
    rule = WithheldBelow(threshold, zeros)
    counts = np.arange(12.0)
    withheld = [c < threshold and (c > 0 or not zeros) for c in range(12)]
    np.testing.assert_array_equal(rule.small(counts), withheld)
    cells = np.array([*range(12), math.nan])[:, None]
    found = np.exp(rule.log_likelihood(cells, counts))
    for c in range(12):
        expected = np.zeros(13)
        expected[12 if withheld[c] else c] = 1
        np.testing.assert_array_equal(found[:, c], expected)


def test_with_more_withheld_any_count_may_be():
    rule = WithheldBelow(3, others=True)
    assert (rule.log_likelihood(np.array([np.nan]), np.arange(9.0)) == 0).all()
    assert rule.log_likelihood(np.array([2.0]), np.array([2.0])) == -math.inf
    assert rule.log_likelihood(np.array([4.0]), np.array([4.0, 5.0])).tolist() == [0, -math.inf]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    st.integers(2, 6),
    st.integers(0, 2**32 - 1),
)
def test_no_line_has_a_single_withheld_cell(shape, threshold, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(4.0, shape).astype(float)
    small = WithheldBelow(threshold).small(counts)
    table = np.where(small, np.nan, counts)
    withhold_more(table)
    withheld = np.isnan(table)
    assert (withheld | ~small).all()  # what was withheld stays
    np.testing.assert_array_equal(table[~withheld], counts[~withheld])
    for line in lines(table):
        assert withheld[line].sum() != 1
    if not any(small[line].sum() == 1 for line in lines(table)):
        np.testing.assert_array_equal(withheld, small)  # nothing more than needed


def test_the_smallest_of_a_line_is_withheld_an_empty_one_last():
    row = np.array([9.0, np.nan, 0.0, 7.0, 7.0])
    withhold_more(row)
    np.testing.assert_array_equal(row, [9, np.nan, 0, np.nan, 7])
    row = np.array([0.0, np.nan, 0.0])
    withhold_more(row)
    np.testing.assert_array_equal(row, [np.nan, np.nan, 0])
    alone = np.array([[np.nan]])
    withhold_more(alone)
    assert np.isnan(alone).all()


@pytest.mark.parametrize("secondary", [False, True])
def test_released_tables(secondary):
    codes = np.random.default_rng(2).integers(0, [3, 4, 2], (1, 90, 3))
    planned = Suppression(threshold=4, secondary=secondary)
    prepared = planned.prepare(COLUMNS)
    [release] = prepared.release(codes, np.random.default_rng(0))
    [table] = prepared.queries.arrays(release.cells)
    counts = np.zeros((3, 4, 2))
    np.add.at(counts, tuple(codes[0].T), 1)
    small = (counts > 0) & (counts < 4)
    assert small.any()
    assert np.isnan(table[small]).all()
    more = np.isnan(table) & ~small
    assert more.any() == secondary
    assert not secondary or all(np.isnan(table[line]).sum() != 1 for line in lines(table))
    np.testing.assert_array_equal(table[~np.isnan(table)], counts[~np.isnan(table)])
    # The rule holds the truth possible, and is exact for each cell only without more withheld.
    true = prepared.queries.counts(codes[0].astype(np.int32))
    assert (release.rule.log_likelihood(release.cells, true) == 0).all()
    assert prepared.cellwise == release.cellwise == (not secondary)
    assert prepared.guarantee is None


def test_it_is_named_and_ordered_by_its_threshold():
    planned = Suppression(threshold=10.0, k=2)
    assert (planned.label, planned.strength) == ("threshold 10", 10.0)
    assert planned.title == "2-way tables without small cells"
    more = Suppression(threshold=10, sets=[["s"]], secondary=True)
    assert more.title == "Tables without small cells and others that would tell them"
    assert WithheldBelow(5).title == "withheld where counts are 1 to 4"
    assert WithheldBelow(5, zeros=False, others=True).title == (
        "withheld where counts are 0 to 4, and others so that they cannot be computed"
    )


def test_a_threshold_that_is_no_whole_number_is_refused():
    with pytest.raises(InputError, match="`threshold`"):
        Suppression(threshold=0.5)
