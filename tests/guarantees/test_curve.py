"""Guarantees of several points of a profile."""

from __future__ import annotations

import numpy as np

from narcissus.guarantees import (
    ApproximateDP,
    GaussianDP,
    ProfileCurve,
)


def test_a_curve_through_a_gaussian_profile_is_above_it_and_near():
    truth = GaussianDP(1.0)
    curve = ProfileCurve.from_profile(lambda e: float(truth.profile(e)), np.linspace(0, 8, 1000))
    epsilon = np.linspace(-3, 8, 999)
    ratio = curve.profile(epsilon) / truth.profile(epsilon)
    assert (ratio >= 1 - 1e-12).all()
    assert (ratio <= 1 + 1e-3).all()
    assert curve.profile(1e4) == curve.profile(8.0)


def test_one_point_gives_approximate_dp():
    epsilon = np.linspace(-4, 4, 81)
    for e, d in [(1.0, 0.1), (0.0, 0.3), (2.0, 0.0)]:
        curve = ProfileCurve((e,), (d,))
        assert np.allclose(
            curve.profile(epsilon), ApproximateDP(e, d).profile(epsilon), atol=1e-12, rtol=0
        )
    rates = np.linspace(0, 1, 41)
    curve = ProfileCurve((1.0,), (0.1,))
    assert np.allclose(curve.power(rates), ApproximateDP(1, 0.1).power(rates), atol=1e-9, rtol=0)
