"""Everything, nothing, and a part of the rows."""

import itertools
import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Constant, Identity, Subsample


def test_everything_and_nothing():
    rng = np.random.default_rng(0)
    data = np.array([[1, 2], [3, 4], [1, 2]])
    assert Identity().release(data, rng) is data
    assert Identity().channel(data).matrix.toarray().argmax(axis=1).tolist() in (
        [0, 1, 0],
        [1, 0, 1],
    )
    assert (Constant().release(data, rng) == 0).all()
    assert Constant().channel(data).matrix.toarray().tolist() == [[1.0]] * 3
    assert Constant().privacy(data) == (0.0, 0.0)


def test_the_rows_of_a_subsample_are_rows_of_the_data_set_none_of_them_twice():
    found = Subsample(3).release(np.tile(np.arange(5), (200, 1)), np.random.default_rng(1))
    assert found.shape == (200, 3)
    assert all(len(set(rows)) == 3 for rows in found.tolist())


def test_played_it_is_as_written_out(within):
    """Each of the 12 ordered pairs of four rows; false alarms of all of them once in 1e5."""
    data = np.array([[3, 1, 4, 9]])
    written = Subsample(2).channel(data)
    rates = dict(zip(map(tuple, written.releases), written.matrix.toarray()[0], strict=True))
    assert set(rates) == set(itertools.permutations([3, 1, 4, 9], 2))
    assert set(rates.values()) == {1 / 12}
    assert Subsample(2).outcomes(4) == 12
    played = Subsample(2).release(np.repeat(data, 12_000, axis=0), np.random.default_rng(2))
    for pair in rates:
        assert within(int((played == pair).all(axis=1).sum()), 12_000, 1 / 12)


def test_rows_that_are_alike_add_up():
    """Of {a, a, b}, two rows: aa with 1/3, ab and ba with 1/3 each."""
    written = Subsample(2).channel(np.array([[0, 0, 1]]))
    rates = dict(zip(map(tuple, written.releases), written.matrix.toarray()[0], strict=True))
    assert rates == pytest.approx({(0, 0): 1 / 3, (0, 1): 1 / 3, (1, 0): 1 / 3})


def test_outcomes_are_ordered_choices():
    assert [Subsample(k).outcomes(5) for k in range(1, 6)] == [
        math.factorial(5) // math.factorial(5 - k) for k in range(1, 6)
    ]


def test_no_more_rows_than_there_are():
    rng = np.random.default_rng(0)
    for use in (Subsample(4).channel, lambda data: Subsample(4).release(data, rng)):
        with pytest.raises(InputError, match="rows"):
            use(np.zeros((1, 3)))
    with pytest.raises(InputError, match="rows"):
        Subsample(0)
