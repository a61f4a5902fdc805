"""Renyi DP and zero-concentrated DP against what lies inside them."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.guarantees import (
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    as_renyi,
)


@pytest.mark.parametrize(("alpha", "gamma"), [(2, 0.5), (1.5, 0.1), (10, 3.0)])
def test_no_gaussian_or_randomised_response_of_that_divergence_exceeds_renyi(alpha, gamma):
    guarantee = RenyiDP(alpha, gamma)
    epsilon = np.linspace(-4, 10, 200)
    rates = np.logspace(-12, 0, 100)
    gaussian = GaussianDP(np.sqrt(2 * gamma / alpha))
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if as_renyi(PureDP(middle), alpha).gamma <= gamma else (low, middle)
        )
    for inside in (gaussian, PureDP(low)):
        assert (guarantee.profile(epsilon) >= inside.profile(epsilon) - 1e-12).all()
        assert (guarantee.power(rates) >= inside.power(rates) - 1e-12).all()
        # and the region is touched somewhere: the conversion is not idle
    touched = np.abs(guarantee.power(rates) - PureDP(low).power(rates)).min()
    assert touched < 1e-6


def test_no_gaussian_of_that_rho_exceeds_zcdp():
    for rho in (1e-4, 0.125, 2.0, 50.0):
        inside = GaussianDP(np.sqrt(2 * rho))
        epsilon = np.linspace(-3, rho + 8 * np.sqrt(rho) + 1, 300)
        assert (ZeroConcentratedDP(rho).profile(epsilon) >= inside.profile(epsilon) - 1e-13).all()


@pytest.mark.states("Canonne, Kamath and Steinke 2020", "Proposition 12")
def test_renyi_profile_is_at_most_the_published_conversion():
    alpha, gamma = 3.0, 0.4
    epsilon = np.linspace(0, 5, 50)
    published = np.exp((alpha - 1) * (gamma - epsilon)) * (1 - 1 / alpha) ** (alpha - 1) / alpha
    found = RenyiDP(alpha, gamma).profile(epsilon)
    assert (found <= published + 1e-15).all()
    assert (found < published).any()
