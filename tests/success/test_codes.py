"""Guesses column by column count exactly where joint guesses do."""

from itertools import product

import numpy as np
import pytest

from narcissus.success import CodesRight, ColumnShare, ColumnsRight
from narcissus.success.codes import EachPersonsCodes
from narcissus.success.table import EachPerson

SHAPE = (3, 2, 4)
CRITERIA = [
    ColumnsRight(SHAPE),
    ColumnsRight(SHAPE, at_least=2),
    ColumnsRight(SHAPE, within=(0.0, 0.0, 1.0)),
    # of 0, 2, 4, 6 within 1: a guess between two values covers both
    ColumnsRight(SHAPE, (0.0, 0.0, 1.0), 2, (None, None, (0.0, 2.0, 4.0, 6.0))),
    ColumnShare(SHAPE),
    ColumnShare(SHAPE, (0.0, 0.0, 1.0), None, (None, None, (0.0, 2.0, 4.0, 6.0))),
]


def every(shape):
    return np.array(list(product(*map(range, shape))), dtype=np.int32)


@pytest.mark.parametrize("columns", CRITERIA)
def test_it_scores_as_the_criterion_of_joint_values(columns):
    codes = CodesRight(columns)
    truths, guesses = every(SHAPE), every(columns.guess_shape)
    found = codes.score(truths[:, None], guesses[None])
    expected = np.stack([
        columns.score(np.full(len(guesses), joint), np.arange(len(guesses)))
        for joint in range(len(truths))
    ])  # fmt: skip
    assert (found == expected).all()
    assert found.any()
    assert not found.all()


@pytest.mark.parametrize("columns", CRITERIA)
def test_the_least_risk_over_all_values_is_the_best_decision(columns):
    """With every value as a sample, weighed by its probability, and every guess a candidate."""
    rng = np.random.default_rng(0)
    codes, guesses = CodesRight(columns), every(columns.guess_shape)
    for _ in range(20):
        prior = rng.dirichlet(np.full(24, 0.5))
        best = columns.chances(prior[None])[0]
        said = codes.least_risk(every(SHAPE), prior, guesses)
        assert best[np.ravel_multi_index(tuple(said), columns.guess_shape)] == pytest.approx(
            best.max()
        )


def test_one_column_after_the_other_leads_from_a_poor_candidate_to_a_better_guess():
    codes = CodesRight(ColumnsRight((5, 5, 5), at_least=2))
    samples = np.array([[1, 2, 3]] * 8 + [[4, 4, 4]] * 2)
    start = np.array([[1, 0, 0]])
    assert codes.score(samples, start).sum() == 0
    assert codes.score(samples, codes.least_risk(samples, np.ones(10), start)).sum() == 8


def test_modes_are_the_likeliest_of_each_column_within_its_distance():
    columns = ColumnsRight((2, 3), (0.0, 1.0), None, (None, (0.0, 2.0, 5.0)))
    marginals = [np.array([[0.4, 0.6]]), np.array([[0.3, 0.3, 0.4]])]
    [mode] = CodesRight(columns).modes(marginals)
    assert mode.tolist() == [1, 3]  # the number between 0 and 2, which covers both
    assert columns.windows[1].numbers[3] == 1.0
    first, last = CodesRight(columns).covered(mode)
    assert (first.tolist(), last.tolist()) == ([1, 0], [1, 1])


def test_everybody_is_scored_as_by_joint_values():
    rng = np.random.default_rng(1)
    columns = ColumnsRight(SHAPE, at_least=2)
    data = np.stack([rng.integers(0, s, (4, 6)) for s in (5, *SHAPE)], axis=-1)
    guess = np.stack([rng.integers(0, s, (4, 6)) for s in SHAPE], axis=-1)
    joint = np.ravel_multi_index(tuple(np.moveaxis(guess, -1, 0)), SHAPE)
    found = EachPersonsCodes((1, 2, 3), CodesRight(columns)).holds(data, guess, rng)
    assert (found == EachPerson((1, 2, 3), columns).holds(data, joint, rng)).all()
    assert found.any()
    assert not found.all()


def test_covers_say_which_values_each_guess_is_right_for():
    right = CodesRight(ColumnsRight((5, 3), (1.0, 0.0)))
    for column, cover in enumerate(right.covers()):
        for value in range(right.shape[column]):
            for guess in range(right.guess_shape[column]):
                truth, said = np.zeros(2, dtype=int), np.zeros(2, dtype=int)
                truth[column], said[column] = value, guess
                assert cover[value, guess] == right.columns_right(truth, said)[column]


def test_guesses_of_columns_are_joined_as_they_are():
    guesses = np.array([[0, 2], [1, 0]], dtype=np.int64)
    joined = CodesRight(ColumnsRight((2, 3))).join_guess(guesses)
    np.testing.assert_array_equal(joined, guesses)
    assert joined.dtype == np.int32
