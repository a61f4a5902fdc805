"""Gaussian DP against high-precision arithmetic."""

from __future__ import annotations

import mpmath
import pytest

from narcissus.guarantees import (
    GaussianDP,
)


def exact_gaussian(epsilon: float, mu: float) -> mpmath.mpf:
    e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.states("Dong, Roth and Su 2022", "Corollary 2.13")
@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.268, 1, 1.99, 2, 5, 40])
@pytest.mark.parametrize("x", [-20, -2, -0.5, 0, 0.7, 2.9, 3.9, 4.1, 8, 20, 36])
def test_the_gaussian_profile_is_right_in_the_tails(mu, x):
    epsilon = mu * (x + mu / 2)
    with mpmath.workdps(900):
        truth = float(exact_gaussian(epsilon, mu))
    # The argument itself is rounded: a relative error of x^2 roundings is inherent.
    assert float(GaussianDP(mu).profile(epsilon)) == pytest.approx(
        truth, rel=1e-14 + 4e-16 * max(1, x * x, abs(x) * mu), abs=0
    )


@pytest.mark.states("Balle and Wang 2018", "Theorem 8")
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1, 1e-5), (1, 1e-300), (0, 0.5), (1e-9, 1e-9), (1e4, 0.3)]
)
def test_gaussian_calibration_inverts_the_profile(epsilon, delta):
    mu = GaussianDP.from_epsilon_delta(epsilon, delta).mu
    with mpmath.workdps(900):
        slope = mpmath.diff(lambda m: mpmath.log(exact_gaussian(epsilon, m)), mu)
        off = (mpmath.log(exact_gaussian(epsilon, mu)) - mpmath.log(delta)) / (slope * mu)
    assert abs(float(off)) < 1e-13


def test_calibration_of_theory_9():
    assert GaussianDP.from_epsilon_delta(1, 1e-5).mu == pytest.approx(0.268, abs=5e-4)
