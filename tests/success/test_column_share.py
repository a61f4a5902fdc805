"""The share of columns that a guess gets right, against all joint values and guesses."""

from itertools import product

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.success import ColumnShare, ColumnsRight

SHAPE = (3, 2, 4)
POSITIONS = (None, None, (0.0, 2.0, 4.0, 6.0))
CRITERIA = [ColumnShare(SHAPE), ColumnShare(SHAPE, (0.0, 0.0, 1.0), None, POSITIONS)]


def by_definition(success):
    """What each guess is worth for each joint value: columns within their distance, counted."""
    numbers = [window.numbers for window in success.windows]
    truths = product(*(own[:size] for own, size in zip(numbers, SHAPE, strict=True)))
    worth = [
        [
            np.mean([abs(a - b) <= far for a, b, far in zip(x, z, success.distances, strict=True)])
            for z in product(*numbers)
        ]
        for x in truths
    ]
    return np.array(worth)


@pytest.mark.parametrize("success", CRITERIA)
def test_a_guess_is_worth_the_share_of_its_columns_that_are_near_enough(success):
    expected = by_definition(success)
    assert success.guesses == expected.shape[1]
    assert success.matrix() == pytest.approx(expected, abs=1e-15)
    assert {0.0, 1.0} < {round(v, 9) for v in expected.ravel()}
    beliefs = np.random.default_rng(0).dirichlet(np.full(24, 0.4), size=7)
    assert success.chances(beliefs) == pytest.approx(beliefs @ expected, abs=1e-12)


@pytest.mark.parametrize("success", CRITERIA)
def test_the_best_guess_is_the_best_of_each_column(success):
    beliefs = np.random.default_rng(1).dirichlet(np.full(24, 0.4), size=50)
    said = success.split_guess(success.decide(beliefs))
    for c in range(3):
        own, alone = success.marginal(beliefs, c), success.alone(c)
        assert (alone.decide(own) == said[:, c]).all()
    each = success.column_chances(beliefs, success.decide(beliefs))
    assert each.mean(axis=1) == pytest.approx(success.chances(beliefs).max(axis=1))


def test_it_is_not_the_guess_of_all_columns_at_once():
    """Where the likeliest joint value has unlikely columns."""
    beliefs = np.zeros((1, 9))
    beliefs[0, [0, 4, 5, 7]] = 0.3, 0.25, 0.25, 0.2
    whole, share = ColumnsRight((3, 3)), ColumnShare((3, 3))
    assert whole.decide(beliefs)[0] == 0
    assert share.split_guess(share.decide(beliefs)).tolist() == [[1, 1]]


def test_a_number_of_columns_is_refused():
    with pytest.raises(InputError, match="`at_least` means nothing"):
        ColumnShare(SHAPE, at_least=2)
    assert not ColumnShare(SHAPE).exact
    assert "the share of 3 unknown columns" in ColumnShare(SHAPE).describe()
