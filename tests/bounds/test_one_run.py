"""The published p-values of auditing in one run against the exact optimum."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from narcissus.bounds import (
    THEOREMS,
    Question,
    exact_optimum,
    f_dp_one_run_p_value,
    one_run_p_value,
    threat,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve, PureDP

SLACK = 1e-6  # the solver's tolerance


@pytest.mark.states("Narcissus theory", "4.7")
@pytest.mark.parametrize("guesses_made", ["all", "some"])
def test_the_f_dp_recursion_is_not_below_the_optimum(guesses_made):
    """From the same points of a profile; uniform values, exact match."""
    rng = np.random.default_rng(7)
    looser = 0
    for _ in range(24):
        values, targets = int(rng.integers(2, 4)), int(rng.integers(1, 3))
        made = targets if guesses_made == "all" else int(rng.integers(1, targets + 1))
        v = int(rng.integers(1, made + 1))
        mu = float(rng.choice([0.2, 1.0, 2.0]))
        points = np.linspace(0, 2.5 * mu, 3)
        deltas = GaussianDP(mu).profile(points)
        curve = ProfileCurve(tuple(points.tolist()), tuple(deltas.tolist()))
        prior = np.full(values, 1 / values)
        found = exact_optimum([prior] * targets, curve, v, guesses=made, epsilons=points)
        claimed = f_dp_one_run_p_value(targets, made, v, curve, values)
        assert claimed >= found.value - SLACK
        looser += claimed > found.value + 1e-3
    assert 0 < looser < 24 or guesses_made == "some"


def test_the_recursion_is_asked_where_it_applies():
    recursion = THEOREMS["f-dp-one-run"]
    even = threat(values=[0.5, 0.5], targets=2)
    assert recursion.lacks(Question(even, GaussianDP(1.0), 2)) is None
    assert recursion.lacks(Question(even, ApproximateDP(1.0, 1e-3), 2)) is None
    for danger, guarantee in [
        (threat(values=[0.6, 0.4], targets=2), GaussianDP(1.0)),
        (threat(prior=0.5, targets=2), GaussianDP(1.0)),
        (threat(values=[1 / 3] * 3, within=1, targets=2), GaussianDP(1.0)),
        (even, ProfileCurve((0.5, 1.0), (0.1, 0.01))),
        (threat(values=[0.5, 0.5], targets=900), GaussianDP(1.0)),
    ]:
        assert recursion.lacks(Question(danger, guarantee, danger.targets)) is not None


def tails(r: int, epsilon: float) -> list[Fraction]:
    """``Pr[Bin(r, e^eps / (1 + e^eps)) >= j]`` for ``j = 0 .. r + 1``."""
    grown = Fraction(math.exp(epsilon))
    mass = [math.comb(r, j) * grown**j / (1 + grown) ** r for j in range(r + 1)]
    return [sum(mass[j:], start=Fraction(0)) for j in range(r + 2)]


@pytest.mark.states("Steinke, Nasr and Jagielski 2023", "Theorem 5.2")
@pytest.mark.states("Steinke et al. 2023", "Theorem 5.2")
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 2.0])
@pytest.mark.parametrize("delta", [0.0, 1e-4, 1e-2])
def test_the_p_value_takes_the_worst_of_all_ranges_below_the_count(epsilon, delta):
    for m, r in ((1, 1), (30, 30), (60, 50)):
        exact = tails(r, epsilon)
        for v in range(1, r + 1, 1 + r // 20):
            worst = max((exact[v - i] - exact[v]) / i for i in range(1, v + 1))
            truth = float(min(1, exact[v] + 2 * m * Fraction(delta) * worst))
            found = one_run_p_value(m, r, v, epsilon, delta)
            assert found == pytest.approx(truth, rel=1e-11, abs=0)


def test_counts_of_an_audit_are_checked():
    assert one_run_p_value(10, 10, 0, 1.0, 0.1) == 1
    assert f_dp_one_run_p_value(10, 10, 0, PureDP(1.0)) == 1
    assert one_run_p_value(10**10, 10, 10, 0.0) == pytest.approx(2**-10)
    for m, r, v, said in [
        (0, 0, 0, "canaries"),
        (10**10 + 1, 1, 1, "canaries"),
        (10, -1, 0, "guesses"),
        (10, 11, 1, "at most the 10 canaries"),
        (10, 5, 6, "at most the 5 guesses"),
        (10, 5, -1, "correct"),
    ]:
        with pytest.raises(InputError, match=said):
            one_run_p_value(m, r, v, 1.0)
        with pytest.raises(InputError, match=said):
            f_dp_one_run_p_value(m, r, v, PureDP(1.0))
    with pytest.raises(InputError, match="values"):
        f_dp_one_run_p_value(10, 5, 5, PureDP(1.0), 1)
    with pytest.raises(InputError, match="replace-one"):
        f_dp_one_run_p_value(10, 5, 5, PureDP(1.0, adjacency="add-remove"))


def recursion(m: int, r: int, v: int, k: int, guarantee, level: float) -> bool:
    """Whether the guarantee is rejected at a level, as published: from ``v`` right guesses down."""
    right, wrong = level * v / m, level * (r - v) / m
    for i in range(v - 1, -1, -1):
        needed = max(wrong, (k - 1) * float(1 - guarantee.power(1 - min(1.0, right))))
        right, wrong = min(1.0, right + i / (r - i) * (needed - wrong)), needed
    return right + wrong > r / m


@pytest.mark.parametrize("guarantee", [PureDP(0.5), GaussianDP(1.0), ApproximateDP(0.5, 0.01)])
@pytest.mark.parametrize(("m", "r", "v", "k"), [(1, 1, 1, 2), (20, 12, 10, 2), (9, 9, 7, 4)])
def test_the_f_dp_p_value_is_the_largest_level_that_is_not_rejected(guarantee, m, r, v, k):
    found = f_dp_one_run_p_value(m, r, v, guarantee, k)
    assert recursion(m, r, v, k, guarantee, found * (1 + 1e-9))
    assert not recursion(m, r, v, k, guarantee, found * (1 - 1e-4))


def test_the_f_dp_p_value_at_its_ends():
    """One guess, all right: the chance of it. Where nothing is rejected it is 1."""
    for mu in (0.2, 1.0, 3.0):
        power = stats.norm.cdf(mu / 2)
        assert f_dp_one_run_p_value(1, 1, 1, GaussianDP(mu)) == pytest.approx(power, rel=2e-4)
    assert f_dp_one_run_p_value(10, 10, 1, GaussianDP(3.0)) == 1
    # fifty fair bits under no information: 2^-50; a thousand: below what the levels reach
    assert f_dp_one_run_p_value(50, 50, 50, PureDP(0.0)) == pytest.approx(2.0**-50, rel=1e-3)
    assert f_dp_one_run_p_value(1200, 1200, 1200, PureDP(0.0)) == pytest.approx(1e-300)


def test_what_each_is_called_and_asked():
    coins = threat(prior=0.5, targets=4)
    one_run, recursion = THEOREMS["one-run"], THEOREMS["f-dp-one-run"]
    for theorem in (one_run, recursion):
        # several statements may come from one source
        assert theorem.statement.startswith(f"{theorem.source} (")
        assert theorem.audits
        assert not theorem.own
    assert recursion.dear
    assert not one_run.dear
    for guarantee, told in ((PureDP(1.0), True), (ApproximateDP(1.0, 0.1), True)):
        assert (one_run.lacks(Question(coins, guarantee, 2)) is None) is told
        assert one_run.valid(Question(coins, guarantee, 2)) is isinstance(guarantee, PureDP)
    for danger, guarantee in ((coins, GaussianDP(1.0)), (threat(prior=0.4), PureDP(1.0))):
        assert one_run.lacks(Question(danger, guarantee, 1)) is not None
    said = one_run.bound(threat(prior=0.5, targets=9, guesses=6), ApproximateDP(0.5, 1e-3), 5)
    assert said.value == one_run_p_value(9, 6, 5, 0.5, 1e-3)
    even = threat(values=[0.25] * 4, targets=9, guesses=6)
    asked = recursion.bound(even, GaussianDP(0.5), 5)
    assert asked.value == f_dp_one_run_p_value(9, 6, 5, GaussianDP(0.5), 4)
    for count, answered in ((500, True), (501, False)):
        many = Question(threat(values=[0.5] * 2, targets=900), GaussianDP(1.0), count)
        assert (recursion.lacks(many) is None) is answered
