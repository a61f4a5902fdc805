"""Pure DP against randomized response, its worst mechanism, and tests between two outcomes."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from narcissus.guarantees import PureDP
from narcissus.guarantees.parametric import randomized_response_profile

EPSILONS = [0.0, 1e-9, 0.3, 1.0, 5.0]


def hockey_stick(p, q, e) -> mpmath.mpf:
    """``sum max(0, p - exp(e) q)`` of two distributions."""
    return sum((max(mpmath.mpf(0), a - mpmath.exp(e) * b) for a, b in zip(p, q, strict=True)))


def response(epsilon):
    """The two outcomes of randomized response, for either bit."""
    keep = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
    return [keep, 1 - keep], [1 - keep, keep]


@pytest.mark.states("Narcissus theory", "3")
@pytest.mark.parametrize("epsilon", [*EPSILONS, 40.0, 700.0])
def test_the_profile_is_that_of_randomized_response(epsilon):
    points = np.array([-800.0, -3.0, -1e-8, 0.0, 1e-12, 0.2, 1.0, 4.9, 39.0, 650.0])
    found = PureDP(epsilon).profile(points)
    with mpmath.workdps(400):
        truth = [float(hockey_stick(*response(epsilon), mpmath.mpf(e))) for e in points]
    assert found == pytest.approx(truth, rel=1e-13, abs=0)
    assert randomized_response_profile(points, epsilon) == pytest.approx(truth, rel=1e-13, abs=0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_other_mechanism_exceeds_it(epsilon):
    """Random channels between two data sets, scaled until their ratios are within."""
    rng = np.random.default_rng(2)
    points = np.linspace(-2, 6, 17)
    for _ in range(50):
        q = rng.dirichlet(np.ones(4))
        low, high = 0.0, 1.0
        p = rng.dirichlet(np.ones(4))
        for _ in range(40):  # as far towards p as the guarantee allows
            share = (low + high) / 2
            ratio = np.abs(np.log((share * p + (1 - share) * q) / q)).max()
            low, high = (share, high) if ratio <= epsilon else (low, share)
        p = low * p + (1 - low) * q
        deltas = np.maximum(p - np.exp(points)[:, None] * q, 0).sum(axis=1)
        assert (deltas <= PureDP(epsilon).profile(points) + 1e-12).all()


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_best_test_is_of_the_outcome_mixed_with_chance(epsilon):
    """Corners of the line of tests: never, on the likelier outcome, always."""
    keep = 1 / (1 + math.exp(-epsilon))
    corners = [0.0, 1 - keep, 1.0], [0.0, keep, 1.0]
    rates = np.linspace(0, 1, 101)
    power = np.interp(rates, *corners)
    guarantee = PureDP(epsilon)
    assert guarantee.power(rates) == pytest.approx(power, abs=1e-14)
    assert guarantee.trade_off(rates) == pytest.approx(1 - power, abs=1e-14)
    assert guarantee.least_alpha(rates) == pytest.approx(np.interp(rates, *corners[::-1]), abs=1e-8)
    back = guarantee.power(guarantee.least_alpha(rates))
    assert back == pytest.approx(rates, abs=1e-14)


@pytest.mark.parametrize("rate", [1e-300, 1e-17])
def test_tiny_rates_keep_their_digits(rate):
    guarantee = PureDP(2.0)
    assert float(guarantee.power(rate)) == pytest.approx(math.exp(2) * rate, rel=1e-12, abs=0)
    assert float(guarantee.least_alpha(rate)) == pytest.approx(
        math.exp(-2) * rate, rel=1e-12, abs=0
    )
    wide = PureDP(1e4)
    assert (wide.power(0.0), wide.power(rate), wide.trade_off(rate)) == (0, 1, 0)
    assert (wide.least_alpha(1.0), wide.trade_off(0.0), wide.trade_off(1.0)) == (1, 1, 0)


def test_one_point_says_all():
    assert PureDP(1.5).tangents(7).tolist() == [1.5]
    assert PureDP(1.5).describe() == "pure DP with epsilon 1.5 (replace-one neighbours)"
