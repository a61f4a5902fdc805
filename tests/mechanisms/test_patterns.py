"""What a pattern says of joint values, value by value."""

from itertools import product

import numpy as np
import pytest

from narcissus.mechanisms import ChosenQueries, Grouping

SIZES = (2, 4, 3, 5)
COARSE = (Grouping(1, (0, 0, 1, 1)), Grouping(3, (2, 0, 1, 0, 2)))  # columns 4 and 5
SETS = ((0, 3), (5, 0), (1, 3, 2), (4, 5, 2), (2, 0), (1, 5), (2, 1, 5, 0))
QUERIES = ChosenQueries(SIZES, (1, 2, 3), SETS, coarse=COARSE)
VALUES = list(product(range(4), range(3), range(5)))


def groups_of(pattern, value):
    """The entry of the pattern's table that a joint value falls into."""
    own = [value[c] for c in pattern.columns]
    return tuple(
        v if g is None else g.groups[v] for v, g in zip(own, pattern.groupings, strict=True)
    )


def test_there_is_a_pattern_for_each_choice_of_unknown_columns_and_groups():
    found = {(p.columns, p.shape, p.tables) for p in QUERIES.patterns}
    assert found == {
        ((2,), (5,), 1),
        ((2,), (3,), 1),
        ((1,), (3,), 1),
        ((0, 1, 2), (4, 3, 5), 1),
        ((0, 1, 2), (2, 3, 3), 1),
        ((0, 1, 2), (4, 3, 3), 1),
        ((0, 2), (4, 3), 1),
    }


@pytest.mark.parametrize("pattern", QUERIES.patterns)
def test_values_sums_and_spreads_follow_the_groups(pattern):
    """A sum is over the joint values in a cell; spreading is its transpose."""
    rng = np.random.default_rng(4)
    places = [groups_of(pattern, value) for value in VALUES]
    numbers = [int(np.ravel_multi_index(place, pattern.shape)) for place in places]
    np.testing.assert_array_equal(pattern.values(np.array(VALUES)), numbers)
    assert set(numbers) == set(range(pattern.size))
    joint = rng.random((2, 6, len(VALUES)))
    expected = np.zeros((2, 6, pattern.size))
    for value, number in enumerate(numbers):
        expected[..., number] += joint[..., value]
    np.testing.assert_allclose(pattern.sum_to(joint), expected)
    part = rng.random((2, 6, pattern.size))
    shown = np.broadcast_to(pattern.spread(part), (2, 6, *QUERIES.unknown_shape))
    np.testing.assert_array_equal(shown.reshape(2, 6, -1), part[..., numbers])
    assert pattern.whole == (numbers == list(range(len(VALUES))))
    assert pattern.sum_to(joint[:, :0]).shape == (2, 0, pattern.size)
