"""The swap bound against the exact optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from narcissus.bounds import (
    THEOREMS,
    Question,
    certify,
    exact_optimum,
    swap,
    swap_program,
    swap_tail,
    threat,
)
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    PureDP,
)


@pytest.mark.states("Narcissus theory", "4.3")
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.one_in(2)
def test_the_swap_bound_is_exact_where_all_is_symmetric(n):
    rng = np.random.default_rng(n)
    cases = [([0.5, 0.5], np.eye(2), 0.5, 0.5)]
    if n < 3:
        cases += [
            ([1 / 3] * 3, np.eye(3), 1 / 3, 1 / 3),
            ([1 / 3] * 3, 1 - np.eye(3), 2 / 3, 1 / 3),
        ]
    for prior, success, p, kappa in cases:
        for _ in range(6):
            epsilon, delta = float(rng.uniform(0, 3)), float(rng.choice([0, 0.001, 0.02]))
            guarantee = ApproximateDP(epsilon, delta)
            for v in range(1, n + 1):
                value = float(swap_tail(n, p, epsilon, delta, v, inseparable=kappa))
                assert certify(value, [prior] * n, guarantee, v, success).exact
                even = threat(prior=p, targets=n, inseparable=kappa)
                program = swap_program(even, guarantee, v)
                assert program == pytest.approx(value, abs=1e-9)


@pytest.mark.states("Narcissus theory", "4.3")
@pytest.mark.parametrize(
    ("n", "r", "p", "kappa"), [(1, 1, 0.5, 0.5), (4, 3, 0.3, 0.2), (6, 6, 0.1, 0)]
)
@pytest.mark.parametrize("guarantee", [GaussianDP(1.0), ApproximateDP(0.5, 0.02), GaussianDP(0.2)])
def test_the_program_is_the_largest_tail_under_its_constraints(n, r, p, kappa, guarantee):
    points = np.array([-1.0, -0.2, 0.0, 0.5, 1.5])
    k, size = points.size, r + 1
    for v in range(1, r + 1):
        rows, limits = [], []
        for number, e in enumerate(points):
            for j in range(r):
                row = np.zeros(size + k * r)
                row[j + 1], row[j] = (1 - p) * (j + 1), -math.exp(e) * p * (r - j)
                row[size + number * r + j] = -1.0
                rows.append(row)
                limits.append(0.0)
            total = np.zeros(size + k * r)
            total[size + number * r : size + (number + 1) * r] = 1.0
            rows.append(total)
            limits.append(n * (1 - kappa) * float(guarantee.profile(e)))
        one = np.append(np.ones(size), np.zeros(k * r))[None]
        gain = np.append(np.arange(size) >= v, np.zeros(k * r))
        found = optimize.linprog(-gain, A_ub=np.array(rows), b_ub=limits, A_eq=one, b_eq=[1])
        danger = threat(prior=p, targets=n, guesses=r, inseparable=kappa)
        ours = swap_program(danger, guarantee, v, epsilons=points)
        closed = swap_tail(n, p, points, guarantee.profile(points), v, guesses=r, inseparable=kappa)
        assert ours == pytest.approx(min(1.0, -found.fun, closed.min()), abs=1e-7)
        # by itself it takes more points, above 0 only, and is a bound all the same
        assert swap_program(danger, guarantee, v) >= stats.binom.sf(v - 1, r, p) - 1e-12


@pytest.mark.states("Narcissus theory", "4.3")
def test_many_points_give_the_best_test_of_a_fair_bit():
    coin = threat(prior=0.5, inseparable=0.5)
    for mu in (0.3, 1.0, 2.0):
        truth = stats.norm.cdf(mu / 2)
        found = swap_program(coin, GaussianDP(mu), 1)
        assert truth - 1e-12 <= found <= truth + 1e-4
    # one point is the closed form
    assert swap_program(coin, GaussianDP(1.0), 1, epsilons=0.5) == pytest.approx(
        float(swap_tail(1, 0.5, 0.5, GaussianDP(1.0).profile(0.5), 1, inseparable=0.5)), abs=1e-9
    )


def test_counts_at_the_ends_and_certain_guesses():
    danger = threat(prior=0.3, targets=5, guesses=4)
    for count, value in ((-1, 1), (0, 1), (5, 0), (9, 0)):
        assert swap_program(danger, GaussianDP(1.0), count) == value
        assert swap_tail(5, [0.3, 0.2], 1.0, 0.1, count, guesses=4).tolist() == [value] * 2
        assert swap_tail(5, 0.3, 1.0, [0.1] * 3, count, guesses=4).shape == (3,)
        assert swap_tail(5, 0.3, 1.0, 0.1, count, guesses=4, inseparable=[[0.1]]).shape == (1, 1)
    sure = threat(prior=1.0, targets=5, guesses=4)
    assert [swap_program(sure, GaussianDP(1.0), v) for v in (1, 4, 5)] == [1, 1, 0]
    assert swap_tail(5, [1.0, 0.0], 1.0, [0.0, 0.0], 4).tolist() == [1, 0]
    # nobody ever right by guessing: delta is all there is
    assert float(swap_tail(5, 0.0, 1.0, 0.01, 1)) == pytest.approx(0.05, rel=1e-12)
    with pytest.raises(InputError, match="replace-one"):
        swap_program(danger, GaussianDP(1.0, adjacency="add-remove"), 1)
    with pytest.raises(InputError, match="prior"):
        swap_tail(5, 1.5, 1.0, 0.1, 1)


def test_some_without_delta_and_some_with():
    found = swap_tail(4, 0.5, 0.3, [0.0, 0.01, 0.01], 2, inseparable=[0.0, 0.5, 1.0])
    alone = [
        float(swap_tail(4, 0.5, 0.3, d, 2, inseparable=k))
        for d, k in ((0.0, 0.0), (0.01, 0.5), (0.01, 1.0))
    ]
    assert found.tolist() == alone
    assert alone[0] == alone[2] < alone[1]


def test_the_program_gives_up_safely(monkeypatch):
    monkeypatch.setattr(swap, "maximise", lambda *_: None)
    swap._solve.cache_clear()
    danger = threat(prior=0.37, targets=3)
    try:
        closed = swap_tail(3, 0.37, 0.5, GaussianDP(1.0).profile(0.5), 2)
        found = swap_program(danger, GaussianDP(1.0), 2, epsilons=0.5)
        assert found == pytest.approx(float(closed))
    finally:
        swap._solve.cache_clear()


@pytest.mark.states("Narcissus theory", "4.6")
def test_one_target_from_the_best_guess_alone():
    fair = threat(prior=0.5, inseparable=0.5)
    theorem = THEOREMS["one-target"]
    for mu in (0.3, 1.0, 2.5):
        truth = stats.norm.cdf(mu / 2)
        assert theorem.bound(fair, GaussianDP(mu)).value == pytest.approx(truth, abs=1e-5)
    third = threat(values=[1 / 3] * 3)
    for guarantee in (PureDP(0.4), ApproximateDP(1.0, 0.05), BayesSecurity(0.8)):
        exact = exact_optimum([1 / 3] * 3, guarantee).value
        assert theorem.bound(third, guarantee).value == pytest.approx(exact, abs=2e-6)
    # ``beta + (1 - kappa) / (1 - p) delta (1 - beta)`` at all points, those below 0 too, of which
    # some are best for the rarer of two values
    e = np.linspace(-6, 6, 20_001)
    below = 0
    for p in (0.1, 0.3, 0.7, 0.9):
        kappa = p * p + (1 - p) ** 2
        beta = p * np.exp(e) / (1 - p + p * np.exp(e))
        values = beta + (1 - kappa) / (1 - p) * GaussianDP(1.0).profile(e) * (1 - beta)
        found = theorem.bound(threat(prior=p, inseparable=kappa), GaussianDP(1.0)).value
        assert found == pytest.approx(values.min(), abs=1e-5)
        below += values[e < 0].min() < values[e >= 0].min() - 1e-3
    assert below == 2


def test_each_is_asked_about_what_it_can_answer():
    curve = ProfileCurve((0.5, 1.0), (0.1, 0.01))
    for name, counts in (("swap", (1, 5)), ("swap-program", (1, 5)), ("one-target", (None,))):
        for guarantee in (PureDP(1.0), ApproximateDP(1.0, 0.1), GaussianDP(1.0), curve):
            alone = name == "swap-program" and isinstance(guarantee, PureDP | ApproximateDP)
            for count in (None, 1, 5):
                lack = THEOREMS[name].lacks(
                    Question(threat(prior=0.3, targets=5), guarantee, count)
                )
                assert (lack is None) is (count in counts and not alone)
    for guesses, answered in ((1000, True), (1001, False)):
        danger = threat(prior=0.3, targets=5000, guesses=guesses)
        assert (THEOREMS["swap-program"].lacks(Question(danger, curve, 1)) is None) is answered
