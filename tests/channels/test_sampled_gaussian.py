"""The two data sets that tell DP-SGD apart, against normal laws, quadrature and dp-accounting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

from narcissus import channels as ch
from narcissus import guarantees as gu
from narcissus.channels.sampled_gaussian import SampledGaussianLogRatio
from narcissus.errors import InputError


def normal(x, mean, sigma):
    return np.exp(-(((x - mean) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))


@pytest.mark.states("Narcissus theory", "6.12")
@pytest.mark.parametrize(("noise", "steps"), [(1.0, 1), (1.0, 5), (4.0, 30)])
def test_full_batches_are_normal_laws(noise, steps):
    truth = math.erfc(math.sqrt(steps) / noise / math.sqrt(2))
    found = ch.sampled_gaussian_overlap(noise, 1.0, steps, tolerance=1e-4)
    assert found.low <= truth <= found.high
    assert found.gap <= 2e-4


@pytest.mark.parametrize(("noise", "rate"), [(0.7, 0.2), (1.1, 0.01), (3.0, 0.6)])
def test_one_step_by_quadrature(noise, rate):
    def least(x):
        sides = (
            (1 - rate) * normal(x, 0, noise) + rate * normal(x, side, noise) for side in (1, -1)
        )
        return min(sides)

    truth = integrate.quad(least, -40, 40, points=[0], limit=400)[0]
    found = ch.sampled_gaussian_overlap(noise, rate, 1, tolerance=1e-5)
    assert found.low <= truth + 1e-9
    assert found.high >= truth - 1e-9
    assert found.gap < 1e-3


@pytest.mark.parametrize(("noise", "rate", "steps"), [(1.1, 0.01, 300), (0.6, 0.02, 100)])
def test_the_accountant_lies_within(noise, rate, steps):
    """Its guarantee is a lower limit of the same number, and nearly as large."""
    pytest.importorskip("dp_accounting")
    proved = ch.from_guarantee(gu.dp_sgd(noise, rate, steps, interval=1e-3)).value
    found = ch.sampled_gaussian_overlap(noise, rate, steps)
    assert proved <= found.high
    assert proved >= found.low - 1e-3
    assert ch.dp_sgd_reached(noise, rate, steps).value == found.high


@pytest.mark.parametrize("step", [1e-3, 0.07])
@pytest.mark.parametrize("s", [0.5, 0.3])
def test_the_law_on_a_grid_keeps_mass_and_mean(s, step):
    law = SampledGaussianLogRatio(1.2, 0.05)
    grid = law.on_grid(step, s)
    x = (grid.first + np.arange(grid.mass.size)) * step

    def tilted(t):
        p, q = ((0.95 * normal(t, 0, 1.2) + 0.05 * normal(t, side, 1.2)) for side in (1, -1))
        return p ** (1 - s) * q**s, np.log(p / q)

    rho = integrate.quad(lambda t: tilted(t)[0], -30, 30, limit=400)[0]
    mean = integrate.quad(lambda t: math.prod(tilted(t)), -12, 12, limit=400)[0] / rho
    assert law.log_rho(s) == pytest.approx(math.log(rho), abs=1e-9)
    assert grid.mass.sum() == pytest.approx(1, abs=1e-10)
    assert float(grid.mass @ x) == pytest.approx(mean, abs=1e-9)


def test_ranges():
    assert ch.sampled_gaussian_overlap(1.0, 0.0, 10).low == 1
    for call in ((0.0, 0.1, 1), (1.0, 1.1, 1), (1.0, 0.1, 0)):
        with pytest.raises(InputError):
            ch.sampled_gaussian_overlap(*call)
