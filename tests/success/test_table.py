"""Criteria for a right guess, by joint value and column by column, against brute force."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError, TooLargeError
from narcissus.success import CodesRight, ColumnShare, ColumnsRight, exact_match
from narcissus.success.table import EachPerson, EachPersonsCodes


@st.composite
def criteria(draw):
    shape = tuple(draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
    within = tuple(draw(st.sampled_from([0, 1, 2, 2.5])) for _ in shape)
    at_least = draw(st.none() | st.integers(1, len(shape)))
    positions = tuple(
        draw(st.none() | st.just(tuple(np.cumsum([0.5, 1.5, 0.25, 3.0])[:size]))) for size in shape
    )
    return ColumnsRight(shape, within, at_least, positions)


def numbers_of(criterion, column):
    given = (criterion.positions or (None,) * 9)[column]
    return np.arange(criterion.shape[column], dtype=float) if given is None else np.array(given)


def counts_by_hand(criterion, truth, guess):
    """``guess`` is a number for each column; where the distance is 0 it must be the value."""
    right = 0
    for column, (a, t) in enumerate(zip(truth, guess, strict=True)):
        right += abs(numbers_of(criterion, column)[a] - t) <= criterion.within[column]
    needed = len(criterion.shape) if criterion.at_least is None else criterion.at_least
    return right >= needed


def every_cover(criterion, column):
    """Which values a number covers, each set once.

    From one number of each stretch on which what is covered does not change, and the ends.
    """
    numbers, distance = numbers_of(criterion, column), criterion.within[column]
    edges = np.unique(np.concatenate([numbers, numbers - distance, numbers + distance]))
    real = np.concatenate([edges, (edges[1:] + edges[:-1]) / 2])
    return np.unique(np.abs(real[:, None] - numbers) <= distance, axis=0)


@pytest.mark.states("Swanberg et al. 2025", "section 6.4")
@given(criteria(), st.integers(0, 2**32 - 1))
def test_all_of_it_against_brute_force(criterion, seed):
    rng = np.random.default_rng(seed)
    every = list(product(*map(range, criterion.shape)))
    said = list(product(*(w.numbers for w in criterion.windows)))
    values, guesses = len(every), len(said)
    assert guesses == criterion.guesses
    counts = np.array([[counts_by_hand(criterion, t, g) for g in said] for t in every])
    truth, guess = (np.arange(values).repeat(guesses), np.tile(np.arange(guesses), values))
    np.testing.assert_array_equal(criterion.score(truth, guess), counts.ravel())
    np.testing.assert_array_equal(criterion.matrix(), counts)
    beliefs = rng.dirichlet(np.full(values, 0.5), 4)
    chances = criterion.chances(beliefs)
    np.testing.assert_allclose(chances, np.clip(beliefs @ counts, 0, 1), atol=1e-12)
    decided = criterion.decide(beliefs)
    np.testing.assert_allclose(
        chances[np.arange(4), decided], (beliefs @ counts).max(axis=1), atol=1e-12
    )
    # The guesses that name the joint values.
    named = criterion.split_guess(criterion.guess_of(np.arange(values)))
    np.testing.assert_array_equal(named, every)
    joined = criterion.join_guess(criterion.split_guess(np.arange(guesses)))
    np.testing.assert_array_equal(joined, np.arange(guesses))
    # Columns one by one.
    alone = criterion.column_chances(beliefs, decided)
    for column in range(len(criterion.shape)):
        one = ColumnsRight(
            criterion.shape, criterion.within, None, criterion.positions
        ).columns_right(truth, guess)[:, column]
        expected = beliefs @ one.reshape(values, guesses)
        np.testing.assert_allclose(alone[:, column], expected[np.arange(4), decided], atol=1e-12)


@pytest.mark.states("Swanberg et al. 2025", "section 6.4")
@given(criteria(), st.integers(0, 2**32 - 1))
def test_the_decision_is_the_best_of_all_real_numbers(criterion, seed):
    """An attacker may say any number: none is more likely to count than the decision."""
    every = list(product(*map(range, criterion.shape)))
    columns = range(len(criterion.shape))
    needed = len(columns) if criterion.at_least is None else criterion.at_least
    covered = {
        tuple(sum(cover[c][t[c]] for c in columns) >= needed for t in every)
        for cover in product(*(every_cover(criterion, c) for c in columns))
    }
    ours = {tuple(column) for column in criterion.matrix().T.tolist()}
    assert ours <= covered
    beliefs = np.random.default_rng(seed).dirichlet(np.full(len(every), 0.5), 3)
    best = (beliefs @ np.array(list(covered), dtype=float).T).max(axis=1)
    np.testing.assert_allclose(criterion.chances(beliefs).max(axis=1), best, atol=1e-12)


def test_a_guess_between_the_values_covers_both():
    """The issue's example: values 0 and 2, within 1; the guess 1 is always right."""
    criterion = ColumnsRight((2,), (1.0,), None, ((0.0, 2.0),))
    assert criterion.windows[0].numbers.tolist() == [0.0, 2.0, 1.0]
    beliefs = np.array([[0.5, 0.5], [0.9, 0.1]])
    np.testing.assert_array_equal(criterion.decide(beliefs), [2, 2])
    np.testing.assert_array_equal(criterion.chances(beliefs).max(axis=1), [1, 1])
    # Whole numbers within a whole distance have nothing between them that covers more.
    for shape, within in (((5,), (1.0,)), ((7, 3), (2.0, 0.0)), ((4,), (0.4,))):
        assert ColumnsRight(shape, within).guess_shape == shape


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
    with pytest.raises(TooLargeError, match="4,004,001"):
        ColumnsRight((2001,)).matrix()
    assert ColumnsRight((2000,)).matrix().sum() == 2000  # four million are written out


def test_everybody_is_scored_by_their_own_columns():
    """Against the definition, person by person; chances against what is believed of each."""
    rng = np.random.default_rng(3)
    criterion = ColumnsRight((4, 2), (1, 0), 2)
    each = EachPerson((2, 0), criterion)
    data = np.stack([rng.integers(0, s, (3, 20)) for s in (2, 5, 4)], axis=-1)
    guess = rng.integers(0, criterion.guesses, (3, 20))
    held = each.holds(data, guess, rng)
    known = [SimpleNamespace(chances=rng.random((20, criterion.guesses))) for _ in range(3)]
    chance = each.chance(known, guess)
    assert held.shape == chance.shape == (3, 20)
    for trial in range(3):
        for i, (a, _, c) in enumerate(data[trial]):
            said = criterion.split_guess(guess[trial, i])
            right = (said[1] == a) and abs(criterion.windows[0].numbers[said[0]] - c) <= 1
            assert held[trial, i] == right
            assert chance[trial, i] == known[trial].chances[i, guess[trial, i]]
    assert held.any()
    assert not held.all()
    with pytest.raises(ValueError, match="zip"):
        each.chance(known, guess[:2])


def test_a_criterion_is_told_with_what_it_allows():
    assert "exactly" in exact_match((2, 3)).describe()
    assert ColumnsRight((2, 3), at_least=1).describe() == "at least 1 of 2 unknown columns right"
    within = ColumnsRight((2, 3), (0, 1.5)).describe()
    assert within.startswith("at least 2 of 2 unknown columns right")
    assert "1.5" in within


@pytest.mark.parametrize("within", [None, (0.0, 1.0), (1.0, 1.0)])
def test_the_ends_of_a_column_are_those_of_all_guesses_about_it(within):
    success = ColumnsRight((2, 4), within)
    beliefs = np.random.default_rng(3).dirichlet(np.ones(8) / 3, 50)
    guesses = np.arange(success.guesses)
    each = np.stack([success.column_chances(beliefs, np.full(50, z)) for z in guesses])
    found = success.column_ends(beliefs)
    assert found[..., 0] == pytest.approx(each.max(axis=0))
    assert found[..., 1] == pytest.approx(each.min(axis=0))


SHARE_SHAPE = (3, 2, 4)
POSITIONS = (None, None, (0.0, 2.0, 4.0, 6.0))
SHARES = [ColumnShare(SHARE_SHAPE), ColumnShare(SHARE_SHAPE, (0.0, 0.0, 1.0), None, POSITIONS)]


def by_definition(success):
    """What each guess is worth for each joint value: columns within their distance, counted."""
    numbers = [window.numbers for window in success.windows]
    truths = product(*(own[:size] for own, size in zip(numbers, SHARE_SHAPE, strict=True)))
    worth = [
        [
            np.mean([abs(a - b) <= far for a, b, far in zip(x, z, success.distances, strict=True)])
            for z in product(*numbers)
        ]
        for x in truths
    ]
    return np.array(worth)


@pytest.mark.parametrize("success", SHARES)
def test_a_guess_is_worth_the_share_of_its_columns_that_are_near_enough(success):
    expected = by_definition(success)
    assert success.guesses == expected.shape[1]
    assert success.matrix() == pytest.approx(expected, abs=1e-15)
    assert {0.0, 1.0} < {round(v, 9) for v in expected.ravel()}
    beliefs = np.random.default_rng(0).dirichlet(np.full(24, 0.4), size=7)
    assert success.chances(beliefs) == pytest.approx(beliefs @ expected, abs=1e-12)


@pytest.mark.parametrize("success", SHARES)
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
        ColumnShare(SHARE_SHAPE, at_least=2)
    assert not ColumnShare(SHARE_SHAPE).exact
    assert "the share of 3 unknown columns" in ColumnShare(SHARE_SHAPE).describe()


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
