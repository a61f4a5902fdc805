"""Additive noise on a line, by integration and by a fine grid."""

import math

import mpmath
import pytest

from narcissus import channels as ch


@pytest.mark.states("Chatzikokolakis et al. 2023", "Proposition 3", "Proposition 4")
@pytest.mark.parametrize("x", [0.01, 1.0, 7.5, 30.0])
def test_continuous_forms_by_integration(x):
    mpmath.mp.dps = 60
    gauss = mpmath.quad(mpmath.npdf, [mpmath.mpf(x) / 2, x / 2 + 1, x / 2 + 4, x / 2 + 40])
    assert ch.Gaussian(span=x, sigma=1).beta_star == pytest.approx(
        float(2 * gauss), rel=1e-13, abs=0
    )
    assert ch.Laplace(span=x, scale=1).beta_star == pytest.approx(math.exp(-x / 2), rel=1e-14)


@pytest.mark.parametrize("mechanism", [ch.Laplace(3, 0.7, 5), ch.Gaussian(3, 0.7, 5)], ids=repr)
def test_continuous_capacity_and_profile_by_a_fine_grid(mechanism):
    import numpy as np
    from scipy import stats

    noise = stats.laplace(scale=0.7) if isinstance(mechanism, ch.Laplace) else stats.norm(scale=0.7)
    x = np.linspace(-15, 18, 330_001)
    densities = np.array([noise.pdf(x - s) for s in np.linspace(0, 3, 5)])
    assert mechanism.capacity == pytest.approx(np.trapezoid(densities.max(axis=0), x), rel=1e-6)
    assert mechanism.bayes_risk == pytest.approx(1 - mechanism.capacity / 5, rel=1e-12)
    for epsilon in (0, 0.5, 2.0):
        excess = np.maximum(0, densities[0] - math.exp(epsilon) * densities[-1])
        assert mechanism.delta(epsilon) == pytest.approx(np.trapezoid(excess, x), abs=1e-6)
