"""Noise on counts: its density, its chances, its scale, and what is refused."""

import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import GaussianNoise, LaplaceNoise, TwoSidedGeometric


@pytest.mark.parametrize("noise", [GaussianNoise(2.0), LaplaceNoise(2.0)])
def test_gain_is_the_change_of_log_density(noise):
    from scipy import stats

    law = stats.norm(0, 2.0) if noise.kind == "gaussian" else stats.laplace(0, 2.0)
    residual = np.linspace(-9, 9, 41)
    np.testing.assert_allclose(
        noise.gain(residual), law.logpdf(residual - 1) - law.logpdf(residual), atol=1e-12
    )


@pytest.mark.parametrize("noise", [GaussianNoise(2.0), LaplaceNoise(2.0)])
def test_noise_has_the_scale_that_it_says(noise):
    """Kolmogorov-Smirnov on 20,000 seeded cells, false alarm 1e-6."""
    from scipy import stats

    law = stats.norm(0, 2.0) if noise.kind == "gaussian" else stats.laplace(0, 2.0)
    values = noise.sample(20_000, np.random.default_rng(5))
    assert stats.kstest(values, law.cdf).pvalue > 1e-6


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("kind", [GaussianNoise, LaplaceNoise])
def test_impossible_scales_are_refused(kind, scale):
    with pytest.raises(InputError, match="scale"):
        kind(scale)


VALUES = np.arange(-400, 401)


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0, 8.0])
def test_chances_add_up_from_either_end(scale):
    noise = TwoSidedGeometric(scale)
    chances = noise.at(VALUES)
    assert math.fsum(chances) == pytest.approx(1)
    above = chances[::-1].cumsum()[::-1]
    np.testing.assert_allclose(noise.at_least(VALUES), above, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(chances, chances[::-1])


def test_neighbours_differ_by_its_rate_far_out_as_well():
    noise = TwoSidedGeometric(2.0)
    z = np.arange(0, 300)
    np.testing.assert_allclose(noise.at(z) / noise.at(z + 1), math.exp(0.5))
    np.testing.assert_allclose(noise.at_least(z + 1) / noise.at_least(z + 2), math.exp(0.5))
    assert noise.at_least(noise.reach) < 1e-17
    assert noise.at_least(noise.reach - 3) > 1e-18


def test_what_is_drawn_has_these_chances(within):
    noise, rng, trials = TwoSidedGeometric(1.5), np.random.default_rng(1), 20_000
    drawn = np.array([noise.sample(rng) for _ in range(trials)])
    for value in (-3, -1, 0, 1, 4):
        assert within(int((drawn == value).sum()), trials, float(noise.at(value)))
    assert TwoSidedGeometric(0.0).sample(rng) == 0
