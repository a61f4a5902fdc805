"""k-anonymity: groups of neighbours in the order of the rows, none smaller than k."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import KAnonymity

RNG = np.random.default_rng(0)


def test_ranges_by_hand():
    data = np.array([[[5, 1], [1, 9], [6, 2], [0, 8], [7, 7]]])
    [ranges] = KAnonymity(2).release(data, RNG)
    assert ranges[0].tolist() == [[0, 1], [8, 9]]
    assert ranges[1].tolist() == [[5, 7], [1, 7]]  # the last group takes the one left over


def test_rows_are_sorted_by_the_first_attribute_and_then_the_next():
    data = np.array([[[1, 5], [0, 9], [1, 0], [0, 2]]])
    [ranges] = KAnonymity(2).release(data, RNG)
    assert ranges.tolist() == [[[0, 0], [2, 9]], [[1, 1], [0, 5]]]


@pytest.mark.parametrize("n", [3, 8, 11])
@pytest.mark.parametrize("k", [2, 3])
def test_every_range_covers_at_least_k_rows_and_every_row_is_in_one(n, k):
    data = np.random.default_rng(n).integers(0, 6, (20, n, 3))
    for rows, ranges in zip(data, KAnonymity(k).release(data, RNG), strict=True):
        inside = (rows[:, None] >= ranges[..., 0]) & (rows[:, None] <= ranges[..., 1])
        member = inside.all(axis=2)
        assert len(ranges) == n // k
        assert (member.sum(axis=0) >= k).all()
        assert member.any(axis=1).all()


def test_written_out_it_is_the_release():
    data = np.random.default_rng(1).integers(0, 3, (12, 4, 2))
    written = KAnonymity(2).channel(data)
    shown = written.releases[written.matrix.toarray().argmax(axis=1)]
    assert (shown == KAnonymity(2).release(data, RNG)).all()


def test_groups_that_cannot_be_made_are_refused():
    with pytest.raises(InputError, match="at most the number of rows, 3"):
        KAnonymity(4).release(np.zeros((1, 3, 2)), RNG)
    with pytest.raises(InputError, match="rows of attributes"):
        KAnonymity(2).release(np.zeros((1, 3)), RNG)
    with pytest.raises(InputError, match="`k`"):
        KAnonymity(1)
