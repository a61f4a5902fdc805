"""The best chance of at least r right columns, against all guesses where these can be listed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from narcissus.errors import InputError
from narcissus.priors import best_guess as module
from narcissus.priors.best_guess import at_least_right, best_guess, most_rounds, right_columns
from narcissus.priors.factors import Factors


def best_of_all(values, chances, covers, least: int) -> np.ndarray:
    """Try every guess: shape (n,)."""
    guesses = np.array(list(np.ndindex(*(c.shape[1] for c in covers))))
    right = sum(c[values[:, j]][:, guesses[:, j]] for j, c in enumerate(covers))
    return (chances @ (right >= least)).max(axis=1)


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_no_guess_is_better_than_the_limit_and_one_reaches_the_floor(
    draw_factors, all_values, seed, least
):
    factors = draw_factors(seed)
    least = min(least, len(factors.shape))
    values, chances = all_values(factors)
    covers = [np.eye(size) for size in factors.shape]
    truth = best_of_all(values, chances, covers, least)
    before = 1.0
    for rounds in (0, 2, 1000):
        found = best_guess(factors, least, rounds=rounds)
        floor, limit = found.chance[factors.rows], found.limit[factors.rows]
        guess = found.guess[factors.rows]
        reached = (chances * ((values == guess[:, None]).sum(axis=2) >= least)).sum(axis=1)
        np.testing.assert_allclose(floor, reached, atol=1e-12)
        assert (
            truth[found.is_best[factors.rows]] <= floor[found.is_best[factors.rows]] + 3e-9
        ).all()
        assert (floor <= truth + 1e-12).all()
        assert (limit >= truth - 1e-12).all()
        assert (limit <= before + 1e-12).all()
        before = limit
    # split to the end, the best guess is found
    np.testing.assert_allclose(floor, truth, atol=2e-9)
    np.testing.assert_allclose(limit, truth, atol=2e-9)


@given(st.integers(0, 10**6))
def test_guesses_may_cover_several_values(draw_factors, all_values, seed):
    factors = draw_factors(seed, most=4)
    rng = np.random.default_rng(seed)
    covers = [
        (rng.random((size, int(rng.integers(1, 5)))) < 0.5).astype(float) for size in factors.shape
    ]
    values, chances = all_values(factors)
    for least in range(1, len(factors.shape) + 1):
        truth = best_of_all(values, chances, covers, least)
        found = best_guess(factors, least, covers, rounds=1000)
        assert found.is_best.all()
        np.testing.assert_allclose(found.chance[factors.rows], truth, atol=2e-9)
        np.testing.assert_allclose(found.limit[factors.rows], truth, atol=2e-9)
        right = sum(c[values[:, j]][:, found.guess[factors.rows, j]] for j, c in enumerate(covers))
        reached = (chances.T * (right >= least)).sum(axis=0)
        np.testing.assert_allclose(reached, truth, atol=2e-9)
        loose = best_guess(factors, least, covers, rounds=0).limit[factors.rows]
        assert (loose >= truth - 1e-12).all()


def test_the_best_guess_need_not_be_the_likeliest_of_each_column():
    joint = np.zeros((3, 3))
    joint[0, 1] = joint[0, 0] = joint[1, 0] = 0.22
    joint[2, 2] = 0.34
    with np.errstate(divide="ignore"):
        factors = Factors((3, 3), ((0, 1),), (np.log(joint)[None],), np.zeros(1, int))
    found = best_guess(factors, 2, rounds=5)
    assert found.guess.tolist() == [[2, 2]]
    assert found.chance[0] == pytest.approx(0.34)
    assert found.limit[0] == pytest.approx(0.34, abs=2e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_small_pieces_give_the_same(draw_factors, seed, monkeypatch):
    factors = draw_factors(seed)
    whole = best_guess(factors, 1, rounds=5)
    monkeypatch.setattr(module, "_BLOCK", 1)
    parts = best_guess(factors, 1, rounds=5)
    assert (parts.guess == whole.guess).all()
    np.testing.assert_allclose(whole.chance, parts.chance, atol=1e-12)
    np.testing.assert_allclose(whole.limit, parts.limit, atol=1e-12)


@pytest.mark.parametrize(
    ("least", "covers", "said"),
    [
        (0, None, "at_least"),
        (2, None, "at_least"),
        (1, [np.eye(3)], "a row for each"),
        (1, [np.full((2, 2), 0.5)], "0 and 1"),
        (1, [], "each column"),
    ],
)
def test_questions_that_make_no_sense_are_refused(least, covers, said):
    factors = Factors((2,), ((0,),), (np.zeros((1, 2)),), np.zeros(1, int))
    with pytest.raises(InputError, match=said):
        best_guess(factors, least, covers)


def test_a_guess_to_start_from_is_never_made_worse():
    factors = Factors((4, 3), ((0, 1),), (np.log(np.full((1, 4, 3), 1 / 12)),), np.zeros(1, int))
    found = best_guess(factors, 1, rounds=0, start=[[3, 2]])
    assert found.guess.tolist() == [[3, 2]]
    assert found.chance[0] == pytest.approx(1 - 3 / 4 * 2 / 3)


def test_rounds_are_fewer_where_each_is_more_work():
    def factors(rows):
        shape, pairs = (9,) * 6, [(c, c + 1) for c in range(5)]
        return Factors(shape, tuple(pairs), (np.zeros((rows, 9, 9)),) * 5, np.arange(rows))

    covers = [np.eye(9)] * 6
    few, many, most = (most_rounds(factors(rows), covers) for rows in (1, 2000, 100_000))
    assert few == 50
    assert 0 < many < 50
    assert most == 0


@given(st.integers(0, 10**6))
def test_it_is_the_law_over_the_listed_joint(draw_factors, all_values, seed):
    factors = draw_factors(seed)
    values, chances = all_values(factors)
    guesses = values[np.random.default_rng(seed).integers(0, len(values), factors.people)]
    right = (values[None] == guesses[:, None]).sum(axis=2)
    law = right_columns(factors, guesses)
    for k in range(len(factors.shape) + 1):
        truth = (chances * (right == k)).sum(axis=1)
        np.testing.assert_allclose(law[:, k], truth, rtol=1e-11)
        tail = (chances * (right >= k)).sum(axis=1)
        np.testing.assert_allclose(at_least_right(factors, guesses, k), tail, rtol=1e-11)


def coins(columns: int, chance: float) -> Factors:
    table = np.log([[1 - chance, chance]])
    return Factors((2,) * columns, tuple((c,) for c in range(columns)), (table,) * columns,
                   np.zeros(2, dtype=np.intp))  # fmt: skip


def test_independent_columns_are_binomial_far_into_the_tail():
    for least in (1, 10, 20):
        found = best_guess(coins(20, 0.7), least, rounds=0)
        truth = stats.binom.sf(least - 1, 20, 0.7)
        assert found.chance[0] == pytest.approx(truth, rel=1e-12)
        assert found.limit[0] == pytest.approx(truth, abs=2e-9)
    law = right_columns(coins(40, 0.8), np.array([[0] * 40, [0, 1] * 20]))
    np.testing.assert_allclose(law[0], stats.binom.pmf(np.arange(41), 40, 0.2), rtol=1e-11)
    # half of the guesses are right with .2 and half with .8
    assert law[1] @ np.arange(41) == pytest.approx(20.0, rel=1e-12)


def test_guesses_and_counts_that_are_not_there_are_refused():
    factors = Factors((2,), ((0,),), (np.zeros((1, 2)),), np.array([0, 0]))
    with pytest.raises(InputError, match="shape"):
        right_columns(factors, [[0]])
    with pytest.raises(InputError, match="at_least"):
        at_least_right(factors, [[0], [1]], 2)
