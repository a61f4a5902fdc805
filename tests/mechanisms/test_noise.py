"""Noise on counts: its density, its scale, and what is refused."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import GaussianNoise, LaplaceNoise


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
