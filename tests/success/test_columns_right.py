"""When a guess counts: everything against brute force over all values."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus.errors import InputError, TooLargeError
from narcissus.success import ColumnsRight, exact_match


@st.composite
def criteria(draw):
    shape = tuple(draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
    within = tuple(draw(st.sampled_from([0, 1, 2, 2.5])) for _ in shape)
    at_least = draw(st.none() | st.integers(1, len(shape)))
    positions = tuple(
        draw(st.none() | st.just(tuple(np.cumsum([0.5, 1.5, 0.25, 3.0])[:size]))) for size in shape
    )
    return ColumnsRight(shape, within, at_least, positions)


def counts_by_hand(criterion, truth, guess):
    right = 0
    for column, (a, b) in enumerate(zip(truth, guess, strict=True)):
        numbers = (criterion.positions or (None,) * 9)[column]
        distance = abs(a - b) if numbers is None else abs(numbers[a] - numbers[b])
        right += distance <= criterion.within[column]
    needed = len(criterion.shape) if criterion.at_least is None else criterion.at_least
    return right >= needed


@settings(max_examples=150, deadline=None)
@given(criteria(), st.integers(0, 2**32 - 1))
def test_all_of_it_against_brute_force(criterion, seed):
    rng = np.random.default_rng(seed)
    every = list(product(*map(range, criterion.shape)))
    values = len(every)
    counts = np.array([[counts_by_hand(criterion, t, g) for g in every] for t in every])
    truth, guess = (np.arange(values).repeat(values), np.tile(np.arange(values), values))
    np.testing.assert_array_equal(criterion.score(truth, guess), counts.ravel())
    np.testing.assert_array_equal(criterion.matrix(), counts)
    beliefs = rng.dirichlet(np.full(values, 0.5), 4)
    chances = criterion.chances(beliefs)
    np.testing.assert_allclose(chances, np.clip(beliefs @ counts, 0, 1), atol=1e-12)
    decided = criterion.decide(beliefs)
    np.testing.assert_allclose(
        chances[np.arange(4), decided], (beliefs @ counts).max(axis=1), atol=1e-12
    )
    # Columns one by one.
    alone = criterion.column_chances(beliefs, decided)
    for column in range(len(criterion.shape)):
        one = ColumnsRight(
            criterion.shape, criterion.within, None, criterion.positions
        ).columns_right(truth, guess)[:, column]
        expected = beliefs @ one.reshape(values, values)
        np.testing.assert_allclose(alone[:, column], expected[np.arange(4), decided], atol=1e-12)


def test_exact_match_is_all_columns_at_no_distance():
    criterion = exact_match((2, 3))
    assert criterion.exact
    np.testing.assert_array_equal(criterion.matrix(), np.eye(6, dtype=bool))
    assert not ColumnsRight((2, 3), at_least=1).exact
    assert not ColumnsRight((2, 3), (0, 1)).exact
    assert ColumnsRight((2, 3), (0, 0), 2).exact


def test_rounded_decimals_count_at_their_distance():
    """0.1 and 0.4 are 0.3 apart, whatever the last bit says; also far from zero."""
    for start in (0.0, 1.0, 1000.0, 1e6):
        positions = (tuple(start + np.array([0.1, 0.4, 0.7])),)
        criterion = ColumnsRight((3,), (0.3,), None, positions)
        near = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
        np.testing.assert_array_equal(criterion.matrix(), np.array(near, dtype=bool))


@pytest.mark.parametrize(
    "arguments",
    [
        ((2, 3), (1,)),
        ((2, 3), (-1, 0)),
        ((2, 3), (0, float("nan"))),
        ((2, 3), None, 0),
        ((2, 3), None, 3),
        ((2, 3), None, None, ((1.0, 0.0), None)),
        ((2, 3), None, None, ((0.0, 1.0, 2.0), None)),
        ((2, 3), None, None, ((0.0, 1.0),)),
    ],
)
def test_what_does_not_fit_is_refused(arguments):
    with pytest.raises(InputError):
        ColumnsRight(*arguments)


def test_a_matrix_too_large_says_how_large():
    with pytest.raises(TooLargeError, match="25,000,000"):
        ColumnsRight((5000,)).matrix()
