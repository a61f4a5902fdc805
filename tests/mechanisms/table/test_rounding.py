"""Conventional rounding against rounding by hand."""

import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Columns, Rounding
from narcissus.mechanisms.table.rounding import RoundedTo

COLUMNS = Columns(("a", "s"), (("0", "1"), ("0", "1", "2")), (False,) * 2, (1,))


def by_hand(count, base):
    """The nearest multiple, of two equally near the upper."""
    multiples = range(0, count + 2 * base, base)
    return max(multiples, key=lambda m: (-abs(m - count), m))


@pytest.mark.parametrize("base", [1, 2, 3, 4, 5, 10])
def test_cells_are_the_nearest_multiples_halves_up(base):
    counts = np.arange(100.0)
    expected = [by_hand(c, base) for c in range(100)]
    np.testing.assert_array_equal(RoundedTo(base).rounded(counts), expected)


@pytest.mark.parametrize("base", [1, 4, 5])
def test_the_likelihood_is_one_where_a_count_is_rounded_so(base):
    rule, counts = RoundedTo(base), np.arange(31.0)
    cells = np.arange(-5.0, 40.0)[:, None]
    found = rule.log_likelihood(cells, counts)
    expected = [
        [0.0 if by_hand(int(c), base) == cell else -math.inf for c in counts] for cell in cells
    ]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.exp(found).sum(axis=0), 1)  # a distribution of the cell


def test_released_are_rounded_counts():
    codes = np.random.default_rng(1).integers(0, [2, 3], (1, 50, 2))
    prepared = Rounding(base=5, k=2).prepare(COLUMNS)
    [release] = prepared.release(codes, np.random.default_rng(2))
    counts = prepared.queries.counts(codes[0].astype(np.int32))
    assert (release.cells != counts).any()
    np.testing.assert_array_equal(release.cells, [by_hand(int(c), 5) for c in counts])
    assert (release.rule.log_likelihood(release.cells, counts) == 0).all()
    assert prepared.cellwise
    assert prepared.guarantee is None


def test_it_is_named_and_ordered_by_its_base():
    assert (Rounding(base=5.0).label, Rounding(base=5.0).strength) == ("base 5", 5.0)
    assert Rounding(base=5.0, k=2).title == "Rounded 2-way tables"
    assert RoundedTo(5).title == "rounded to multiples of 5"


@pytest.mark.parametrize("base", [0, 2.5, -5])
def test_a_base_that_is_no_whole_number_is_refused(base):
    with pytest.raises(InputError, match="`base`"):
        Rounding(base=base)
