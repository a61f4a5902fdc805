"""The law of the log ratio: its mass, its mean and its rho, against sums and integrals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from narcissus.channels.log_ratio import FiniteLogRatio, GaussianLogRatio, LaplaceLogRatio
from narcissus.errors import InputError


def laplace(a):
    """Densities of Laplace noise about 0 and about ``a``."""
    return lambda y: 0.5 * math.exp(-abs(y)), lambda y: 0.5 * math.exp(-abs(y - a))


@pytest.mark.parametrize("s", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("step", [0.1, 0.37, 3.0])
def test_mass_and_mean_are_kept(step, s):
    p, q = np.random.default_rng(1).dirichlet(np.ones(7), 2)
    finite = FiniteLogRatio.of(p, q)
    tilted = p ** (1 - s) * q**s
    assert finite.log_rho(s) == pytest.approx(math.log(tilted.sum()), abs=1e-14)
    first, second = laplace(1.3)
    rho = integrate.quad(
        lambda y: first(y) ** (1 - s) * second(y) ** s, -60, 60, points=[0, 1.3], limit=200
    )[0]
    noise = LaplaceLogRatio(1.3)
    assert noise.log_rho(s) == pytest.approx(math.log(rho), abs=1e-9)
    mean = integrate.quad(
        lambda y: (abs(y - 1.3) - abs(y)) * first(y) ** (1 - s) * second(y) ** s,
        -60, 60, points=[0, 1.3], limit=200,
    )[0]  # fmt: skip
    means = {
        finite: float(tilted @ np.log(p / q)) / tilted.sum(),
        noise: mean / rho,
        GaussianLogRatio(0.7): 0.49 * (0.5 - s),
    }
    for law, expected in means.items():
        found = law.on_grid(step, s)
        x = (found.first + np.arange(found.mass.size)) * step
        assert found.mass.min() >= 0
        assert found.mass.sum() == pytest.approx(1, abs=1e-12)
        assert found.mass @ x == pytest.approx(expected, abs=1e-9)


def test_a_normal_law_is_split_as_its_integrals_say():
    law = GaussianLogRatio(0.7).on_grid(0.25, 0.5)
    x = (law.first + np.arange(law.mass.size)) * 0.25
    near = np.abs(x) < 3
    for at, mass in zip(x[near], law.mass[near], strict=True):
        hat = integrate.quad(
            lambda y, at=at: (1 - abs(y - at) / 0.25) * stats.norm.pdf(y, scale=0.7),
            at - 0.25, at + 0.25, points=[at],
        )[0]  # fmt: skip
        assert mass == pytest.approx(hat, abs=1e-9)


def test_ratios_on_a_grid_are_seen_and_not_split():
    e = math.e
    thirds = FiniteLogRatio.of(
        [e / (e + 2), 1 / (e + 2), 1 / (e + 2)], [1 / (e + 2)] * 2 + [e / (e + 2)]
    )
    assert thirds.step == pytest.approx(1, rel=1e-12)
    assert thirds.on_grid(thirds.step, 0.5).spread == 0
    p, q = np.random.default_rng(2).dirichlet(np.ones(5), 2)
    assert FiniteLogRatio.of(p, q).step is None
    assert FiniteLogRatio.of(p, q).on_grid(0.1, 0.5).spread > 0


def test_outputs_that_only_one_secret_gives_are_left_out():
    assert FiniteLogRatio.of([1, 0], [0, 1]).empty
    half = FiniteLogRatio.of([0.5, 0.5, 0], [0.5, 0, 0.5])
    assert not half.empty
    assert half.log_rho(0.3) == pytest.approx(math.log(0.5))
    for wrong in (LaplaceLogRatio, GaussianLogRatio):
        with pytest.raises(InputError, match="must be above 0"):
            wrong(0.0)
