"""Refutation with a prior for each canary: levels, against programs and what is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import optimize

from narcissus.bounds import (
    PoissonBinomial,
    domination,
    exact_optimum,
    follow_attempts,
    interpolation,
    posterior,
)
from narcissus.errors import InputError
from narcissus.evidence import refute, refute_guesses, refute_priors
from narcissus.guarantees import ApproximateDP, PureDP


def most_often_rejected(prior, epsilon: float, delta: float, rejects) -> float:
    """The largest chance over all mechanisms that some guesses are rejected, by a program.

    Two bits with chances ``prior``; ``z`` names 0, 1 or nothing (2) about each.
    """
    secrets, guesses = list(product((0, 1), repeat=2)), list(product((0, 1, 2), repeat=2))
    near = [(a, b) for a, b in product(range(4), repeat=2)
            if sum(s != t for s, t in zip(secrets[a], secrets[b], strict=True)) == 1]  # fmt: skip
    size, k = len(guesses), 4 * len(guesses)
    gain = np.zeros(k + len(near) * size)
    for a, x in enumerate(secrets):
        chance = np.prod([p if bit else 1 - p for p, bit in zip(prior, x, strict=True)])
        for g, z in enumerate(guesses):
            right = sum(s == t for s, t in zip(x, z, strict=True))
            gain[a * size + g] = -chance * rejects(z, right)
    upper, most = [], []
    for i, (a, b) in enumerate(near):
        for g in range(size):
            row = np.zeros(gain.size)
            row[a * size + g], row[b * size + g] = 1.0, -np.exp(epsilon)
            row[k + i * size + g] = -1.0
            upper.append(row)
            most.append(0.0)
        row = np.zeros(gain.size)
        row[k + i * size : k + (i + 1) * size] = 1.0
        upper.append(row)
        most.append(delta)
    one = np.zeros((4, gain.size))
    for a in range(4):
        one[a, a * size : (a + 1) * size] = 1.0
    found = optimize.linprog(gain, np.array(upper), most, one, np.ones(4))
    return -float(found.fun)


@pytest.mark.states("Narcissus theory", "4.4")
def test_a_p_value_that_follows_the_guesses_keeps_its_level_for_all_mechanisms():
    rng = np.random.default_rng(0)
    reached = 0.0
    for _ in range(25):
        prior, epsilon = rng.uniform(0.05, 0.95, 2), float(rng.uniform(0, 1.5))
        delta, alpha = float(rng.choice([0.0, 0.01, 0.1])), float(rng.uniform(0.1, 0.8))
        spent = delta * float((2 * prior * (1 - prior)).sum())

        def rejects(z, right, at=prior, e=epsilon, more=spent, level=alpha) -> bool:
            made = [p if bit else 1 - p for p, bit in zip(at, z, strict=True) if bit < 2]
            tail = follow_attempts(made, e, 0.0, right).value if made else 1.0
            return tail + more <= level

        found = most_often_rejected(prior, epsilon, delta, rejects)
        assert found <= alpha + 1e-7
        reached = max(reached, found / alpha)
    assert reached > 0.9  # the level is used


@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.2")
def test_what_is_refuted_is_the_epsilon_at_which_the_guesses_have_the_level():
    chances = np.repeat([0.1, 0.3, 0.6], 20)
    found = refute_guesses(chances, 40, np.full(80, 0.4), confidence=0.9)
    tail = PoissonBinomial(posterior(chances, found.epsilon)).tail(40)
    assert tail == pytest.approx(0.1, rel=1e-4)
    assert found.p_value == pytest.approx(PoissonBinomial(chances).tail(40))
    assert (found.canaries, found.guesses, found.correct) == (80, 60, 40)
    assert found.guesses_chosen == "after"
    # what was unlikely says more: equal chances as large as the largest refute less
    assert found.epsilon > refute_guesses(np.full(60, 0.6), 40, np.full(80, 0.4)).epsilon


def test_delta_costs_what_two_draws_differ_by_and_half_the_level():
    chances = np.full(50, 0.3)
    none = refute_guesses(chances, 40, np.full(60, 0.42), confidence=0.9)
    some = refute_guesses(chances, 40, np.full(60, 0.42), delta=1e-4, confidence=0.9)
    tail = PoissonBinomial(posterior(chances, some.methods[0].epsilon)).tail(40)
    assert tail + 1e-4 * 60 * 0.42 == pytest.approx(0.05, rel=1e-4)
    assert some.epsilon < none.epsilon
    assert some.p_value == pytest.approx(min(m.p_value for m in some.methods))
    assert refute_guesses(chances, 40, np.full(60, 0.42), delta=0.5).epsilon == 0


@pytest.mark.states("Narcissus theory", "4.10")
def test_a_count_refutes_what_the_theorem_says():
    priors = [[0.7, 0.3]] * 10 + [[0.5, 0.3, 0.2]] * 0 + [[0.5, 0.5]] * 10
    found = refute_priors(priors, 18, delta=1e-3)
    own = found.methods[0]
    assert own.id == "interpolation"
    assert interpolation(priors, ApproximateDP(own.epsilon, 1e-3), 18).value <= 0.05
    assert interpolation(priors, ApproximateDP(own.epsilon * 1.01, 1e-3), 18).value > 0.05
    pure = refute_priors(priors, 18)
    assert pure.methods[0].id == "domination"
    assert domination(priors, PureDP(pure.methods[0].epsilon * 1.01), 18).value > 0.05
    assert pure.epsilon >= found.epsilon


@pytest.mark.states("Narcissus theory", "4.10")
def test_no_guarantee_that_some_mechanism_has_is_refuted_more_often_than_the_level_says():
    """Whatever is refuted at a count, no mechanism reaches that count with a larger chance."""
    rng = np.random.default_rng(1)
    for _ in range(6):
        priors = rng.dirichlet(np.ones(2), 2)
        for delta in (0.0, 0.02):
            found = refute_priors(priors, 2, delta=delta, confidence=0.5)
            if found.epsilon > 0:
                guarantee = ApproximateDP(found.epsilon, delta) if delta else PureDP(found.epsilon)
                assert exact_optimum(priors, guarantee, 2).value <= 0.5 + 1e-6


def test_equal_priors_refute_as_much_as_the_exact_optimum_for_them():
    ours, known = refute_priors([[0.5, 0.5]] * 40, 33, delta=1e-5), refute(40, 40, 33, delta=1e-5)
    assert ours.epsilon == pytest.approx(known.epsilon, abs=1e-5)
    assert ours.mu == pytest.approx(known.mu, rel=0.03)
    assert refute_priors([[0.5, 0.5]] * 100, 50).epsilon == 0


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="at most the 2 canaries"):
        refute_priors([[0.5, 0.5]] * 2, 3)
    with pytest.raises(InputError, match="3 right"):
        refute_guesses([0.5, 0.5], 3, [0.5] * 5)
    with pytest.raises(InputError, match="2 guesses, 1 canaries"):
        refute_guesses([0.5, 0.5], 1, [0.5])
    with pytest.raises(InputError, match="delta"):
        refute_priors([[0.5, 0.5]], 1, delta=1.0)
    assert refute_guesses([], 0, [0.5] * 5).epsilon == 0
