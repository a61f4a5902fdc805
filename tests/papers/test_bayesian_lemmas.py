"""Lemmas and examples of Kaplan et al. 2025: the proved parts, and the shipped experiments."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from narcissus import Game, play
from narcissus.attacks import Majority, TwoCandidates
from narcissus.knowledge import Candidates
from narcissus.mechanisms import ExactAverage, NoisyAverage, Parity
from narcissus.profiles import write_out
from narcissus.profiles.closed_forms.average import limit_given_rows
from narcissus.profiles.proofs import from_lemmas, parity_limit
from narcissus.success.relations import Hamming, Member
from narcissus.worlds import Tardos, Uniform


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5")
def test_lemma_35_bound_against_every_row_of_every_average():
    """n=3, d=3: best chance of each row given the average, by all arrangements of the ones."""
    n, d = 3, 3
    for gamma in (0.0, 1 / 3):
        total = 0.0
        for counts in itertools.product(range(n + 1), repeat=d):
            agree = np.zeros((2**d, 0))
            columns = [
                [np.isin(range(n), ones) for ones in itertools.combinations(range(n), c)]
                for c in counts
            ]
            arrangements = [np.stack(a, axis=1) for a in itertools.product(*columns)]
            guesses = list(itertools.product([False, True], repeat=d))
            hits = [
                sum(
                    ((a != np.array(z)).sum(axis=1) <= gamma * d + 1e-9).any() for a in arrangements
                )
                for z in guesses
            ]
            total += max(hits) / len(arrangements) / (n + 1) ** d
            del agree
        assert total <= limit_given_rows(n, d, gamma) + 1e-12
        assert limit_given_rows(n, d, gamma) <= min(1, 3 * total)


def tail(d, k, share):
    """Pr[Bin(d, share) <= k], exact."""
    top, whole = share.numerator, share.denominator
    terms = (math.comb(d, j) * top**j * (whole - top) ** (d - j) for j in range(k + 1))
    return Fraction(sum(terms), whole**d)


# SciPy 1.17's cumulative distribution is 0, or far off, at most of those below 1e-240.
@pytest.mark.parametrize(
    ("n", "d", "allowed"),
    [(143, 2959, 35), (50, 2857, 31), (148, 2589, 26), (10, 1000, 40), (3, 400, 1), (8, 9, 8)],
)
def test_lemma_35_tail_by_exact_rationals(n, d, allowed):
    disagree = Fraction(sum(min(c, n - c) for c in range(n + 1)), n * (n + 1))
    exact = n * tail(d, allowed, disagree)
    found = limit_given_rows(n, d, allowed / d)
    assert found == pytest.approx(float(min(1, exact)), rel=1e-11, abs=0)


@pytest.mark.parametrize(
    ("d", "gamma"), [(10, 0.3), (400, 0.02), (2000, 0.0), (2150, 0.0161), (2180, 0.02)]
)
def test_parity_tail_by_exact_rationals(d, gamma):
    half, allowed = d // 2, math.floor(gamma * d + 1e-9)
    ways = [tail(r, (allowed - half + r) // 2, Fraction(1, 2)) for r in range(half - allowed, half)]
    ways.append(tail(half, allowed // 2, Fraction(1, 2)))
    assert parity_limit(2, d, gamma) == pytest.approx(float(2 * max(ways)), rel=1e-11, abs=0)


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5")
def test_lemma_35_bound_against_play():
    world = Tardos(40, 30, 10)
    game = Game(world, ExactAverage(), Hamming(0.1))
    bound = from_lemmas(game)
    assert bound is not None
    run = play(game, Majority(), trials=4000, confidence=1 - 1e-6, stop=False, rng=1)
    assert run.attackers[0].success.low <= bound.value
    assert run.attackers[0].success.value > 0.005 * bound.value
    noisy = from_lemmas(Game(world, NoisyAverage(1.0), Member()))
    assert noisy is not None
    assert noisy.value == pytest.approx(limit_given_rows(10, 30, 0.0))


@pytest.mark.states("Kaplan et al. 2025", "Example 1.3")
@pytest.mark.parametrize("gamma", [0.0, 0.25, 0.5])
def test_example_13_bound_against_the_exact_best_attacker(gamma):
    """The union bound over rows is at least the exact best success, and at most n times it."""
    game = Game(Uniform(2, 4), Parity(), Hamming(gamma))
    exact = write_out(game)
    best = exact.light(np.zeros(exact.count), 1.0)
    assert best <= parity_limit(2, 4, gamma) + 1e-12
    assert parity_limit(2, 4, gamma) <= min(1.0, 2 * best + 1e-12)
    bound = from_lemmas(game)
    assert bound is not None
    assert bound.value == parity_limit(2, 4, gamma)


@pytest.mark.states("Kaplan et al. 2025", "section 4.2")
@pytest.mark.parametrize(
    ("n", "d", "expected"), [(100, 1000, 0.57), (20, 5000, 0.88)], ids=["n=100", "n=20"]
)
def test_two_candidates_win_as_often_as_computed(n, d, expected):
    """Theory 8: at eps_hat = 0.1, 57% for n=100, d=1000 and 88% for n=20, d=5000.

    600 trials, within 1e-6 limits of the play.
    """
    game = Game(Tardos(10_000, d, n), NoisyAverage(0.1), Member(), side=Candidates())
    run = play(game, TwoCandidates(), trials=600, confidence=1 - 1e-6, stop=False, rng=2)
    one = run.attackers[0]
    assert one.success.low <= expected + 0.005
    assert one.success.high >= expected - 0.005
    assert one.baseline.low <= 0.5 + n / 10_000
    assert one.baseline.high >= 0.5


def test_member_is_hamming_at_zero():
    rng = np.random.default_rng(3)
    data = Uniform(3, 4).draw(500, rng).data
    guess = Uniform(1, 4).draw(500, rng).data[:, 0]
    assert (Member().holds(data, guess, rng) == Hamming(0).holds(data, guess, rng)).all()
