"""Renyi DP and zero-concentrated DP against what lies inside them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from narcissus.guarantees import (
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    as_approximate,
    as_renyi,
)
from narcissus.guarantees.parametric import bernoulli_divergence


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


def divergence(q: float, p: float, alpha: float) -> mpmath.mpf:
    """The Renyi divergence of Bernoulli(q) from Bernoulli(p), in hundreds of digits."""
    with mpmath.workdps(260 if p < 1e-40 else 90):
        a, b, order = mpmath.mpf(q), mpmath.mpf(p), mpmath.mpf(alpha)
        moment = a**order * b ** (1 - order) + (1 - a) ** order * (1 - b) ** (1 - order)
        return mpmath.log(moment) / (order - 1)


LESS = (1e-15, 1e-14, 1e-12, 1e-10, 1e-7, 1e-4, 0.01, 0.5, 1.0, 10.0, 1e3, 1e6)
"""Orders minus 1, from where a divergence is nearly a relative entropy to nearly the largest."""


@pytest.mark.parametrize("less", LESS)
def test_a_divergence_of_two_coins_loses_no_digits(less):
    """At every order, and however near each other the two coins are."""
    alpha = 1 + less
    for p in (1e-100, 1e-20, 1e-9, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-9):
        for apart in (1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.9):
            q = p + apart * min(p, 1 - p)
            for one, other in ((q, p), (p, q), (p + (1 - p) * apart, p)):
                if one == other or not (one < 1 and other < 1):
                    continue
                found = float(bernoulli_divergence(np.array([one]), np.array([other]), alpha)[0])
                assert found == pytest.approx(float(divergence(one, other, alpha)), rel=2e-11)


def test_a_divergence_at_the_ends():
    q, p = np.array([0.0, 0.5, 1.0, 0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.5])
    for alpha in (1 + 1e-12, 2.0, 1e6):
        found = bernoulli_divergence(q, p, alpha)
        assert found[:5].tolist() == [0.0, np.inf, 0.0, np.inf, np.inf]
        assert found[5] == pytest.approx(np.log(2.0), rel=1e-12)


@pytest.mark.parametrize("gamma", [1e-20, 1e-9, 1e-4, 0.01, 1.0, 30.0])
@pytest.mark.parametrize("less", LESS)
def test_no_pair_of_coins_within_the_divergence_exceeds_what_is_said(less, gamma):
    """Coins that obey it in both directions are a mechanism; nothing may lie below any of them."""
    alpha = 1 + less
    guarantee = RenyiDP(alpha, gamma)
    for p in (1e-30, 1e-6, 0.01, 0.3, 0.5, 0.8, 1 - 1e-6):
        low, high = 0.0, 1.0 - p
        for _ in range(60):  # by how much more often the other coin may fall so
            middle = (low + high) / 2
            q = p + middle
            inside = q < 1 and max(divergence(q, p, alpha), divergence(p, q, alpha)) <= gamma
            low, high = (middle, high) if inside else (low, middle)
        q = p + low
        found = float(guarantee.power(p))
        assert found >= q
        if 1e-12 < gamma < 5:  # and not far above: the limit is what coins reach
            assert found - p == pytest.approx(low, rel=1e-6, abs=1e-15)
        for epsilon in (0.0, 1e-9, 1e-3, 0.1, 1.0, np.log(max(q / p, 1.0)) / 2):
            stick = max(0.0, low - np.expm1(epsilon) * p)
            assert float(guarantee.profile(epsilon)) >= stick * (1 - 1e-12)
        assert float(as_approximate(guarantee, epsilon=0.0).delta) >= low * (1 - 1e-12)


def test_orders_near_1_are_as_the_relative_entropy():
    """The input of a stranger: .500648 was said where .528186 is attained."""
    coin = 0.5281865
    entropy = coin * np.log(2 * coin) + (1 - coin) * np.log(2 - 2 * coin)
    back = -0.5 * np.log(4 * coin * (1 - coin))
    gamma = max(entropy, back)
    for less in (1e-15, 1e-14, 1e-9):
        assert float(RenyiDP(1 + less, gamma).power(0.5)) == pytest.approx(coin, abs=1e-7)
