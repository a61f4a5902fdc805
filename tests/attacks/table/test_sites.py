"""Normal factors in place of Laplace noise, against quadrature."""

import numpy as np
import pytest
from scipy import integrate

from narcissus.attacks.table.cavity import Sites, better_sites, first_sites
from narcissus.mechanisms import GaussianNoise, LaplaceNoise


def test_the_first_factors_have_the_variance_of_the_noise():
    cells = np.array([3.0, -1.0])
    for noise, variance in ((GaussianNoise(3.0), 9.0), (LaplaceNoise(3.0), 18.0)):
        sites = first_sites(noise, cells)
        np.testing.assert_array_equal(sites.released, cells)
        np.testing.assert_array_equal(sites.variance, [variance, variance])


@pytest.mark.parametrize("spread", [0.3, 3.0, 40.0])
@pytest.mark.parametrize("off", [-9.0, -1.0, 0.0, 0.4, 6.0])
def test_the_count_has_the_mean_and_variance_that_laplace_noise_gives_it(spread, off):
    scale, released = 2.0, 7.0
    noise = LaplaceNoise(scale)
    before = Sites(np.array([7.5]), np.array([5.0]))
    mean = released - off  # of the count, where this cell says nothing
    theta = (before.released - mean) / (before.variance + spread)
    found = better_sites(noise, np.array([released]), before, theta, np.array([spread]))

    def density(count):
        return np.exp(-abs(released - count) / scale - (count - mean) ** 2 / (2 * spread))

    far = 12 * np.sqrt(spread) + 12 * spread / scale
    total, first, second = (
        integrate.quad(
            lambda c, power=power: c**power * density(c),
            mean - far, mean + far, points=[released], limit=400,
        )[0]
        for power in range(3)
    )  # fmt: skip
    precision = 1 / found.variance[0] + 1 / spread
    expected = (found.released[0] / found.variance[0] + mean / spread) / precision
    assert expected == pytest.approx(first / total, abs=1e-5)
    assert 1 / precision == pytest.approx(second / total - (first / total) ** 2, rel=1e-4)


def test_certain_counts_and_distant_ones_stay_finite():
    cells = np.array([0.0, 1e6, -1e6, 5.0])
    noise = LaplaceNoise(0.5)
    sites = better_sites(noise, cells, first_sites(noise, cells), np.zeros(4), np.zeros(4))
    assert np.isfinite(sites.released).all()
    assert (sites.variance > 0).all()
    theta = np.array([0.0, 2.0, -2.0, 0.0])
    sites = better_sites(noise, cells, first_sites(noise, np.zeros(4)), theta, np.ones(4))
    assert np.isfinite(sites.released).all()
    assert (sites.variance > 0).all()
