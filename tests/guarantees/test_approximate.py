"""Approximate DP against its worst mechanism: all is told with delta, else randomized response."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import optimize

from narcissus.guarantees import ApproximateDP, PureDP

CASES = [(0.0, 0.3), (0.5, 0.01), (1.0, 0.0), (2.0, 1e-12), (3.0, 0.9), (1.0, 1.0)]


def worst(epsilon, delta) -> tuple[np.ndarray, np.ndarray]:
    """The four outcomes for either bit: told 0, told 1, said 0, said 1."""
    keep = 1 / (1 + math.exp(-epsilon))
    said = [(1 - delta) * keep, (1 - delta) * (1 - keep)]
    return np.array([delta, 0.0, *said]), np.array([0.0, delta, *said[::-1]])


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_profile_is_that_of_the_worst_mechanism(epsilon, delta):
    p, q = worst(epsilon, delta)
    points = np.array([-30.0, -2.0, -0.1, 0.0, 0.4, 1.0, 2.5, 20.0])
    truth = np.maximum(p - np.exp(points)[:, None] * q, 0).sum(axis=1)
    guarantee = ApproximateDP(epsilon, delta)
    assert guarantee.profile(points) == pytest.approx(truth, rel=1e-11, abs=1e-15)
    assert float(guarantee.profile(epsilon)) == pytest.approx(delta, rel=1e-12, abs=0)
    assert guarantee.profile([epsilon, 1e300]).tolist() == pytest.approx([delta] * 2, abs=0)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_trade_off_is_that_of_the_best_test(epsilon, delta):
    """A program over tests: how often each outcome is called the first."""
    p, q = worst(epsilon, delta)
    guarantee = ApproximateDP(epsilon, delta)
    for rate in (0.0, 1e-3, 0.05, 0.2, 0.5, 0.9, 1.0):
        found = optimize.linprog(-p, A_ub=q[None], b_ub=[rate], bounds=(0, 1))
        assert float(guarantee.power(rate)) == pytest.approx(-found.fun, abs=1e-9)
        assert float(guarantee.trade_off(rate)) == pytest.approx(1 + found.fun, abs=1e-9)
        need = optimize.linprog(q, A_ub=-p[None], b_ub=[-rate], bounds=(0, 1))
        assert float(guarantee.least_alpha(rate)) == pytest.approx(need.fun, abs=1e-9)


def test_tiny_rates_keep_their_digits():
    guarantee = ApproximateDP(2.0, 0.0)
    with mpmath.workdps(40):
        grown, shrunk = float(mpmath.exp(2) * 1e-200), float(mpmath.exp(-2) * 1e-200)
    assert float(guarantee.power(1e-200)) == pytest.approx(grown, rel=1e-12, abs=0)
    assert float(guarantee.least_alpha(1e-200)) == pytest.approx(shrunk, rel=1e-12, abs=0)
    wide = ApproximateDP(1e4, 0.25)
    assert (wide.power(0.0), wide.power(1e-9), wide.trade_off(1e-9)) == (0.25, 1, 0)
    assert wide.trade_off(1.0) == 0
    assert wide.least_alpha([0.25, 1.0]).tolist() == [0, 0.75]


def test_without_delta_it_is_pure():
    rates, points = np.linspace(0, 1, 41), np.linspace(-3, 3, 41)
    pure, same = PureDP(0.8), ApproximateDP(0.8, 0.0)
    assert same.profile(points) == pytest.approx(pure.profile(points), abs=1e-15)
    assert same.trade_off(rates) == pytest.approx(pure.trade_off(rates), abs=1e-15)
    assert same.tangents(9).tolist() == [0.8]
    assert same.describe() == (
        "approximate DP with epsilon 0.8 and delta 0 (replace-one neighbours)"
    )
