"""The law of the log ratio: its mass, its mean and its rho, against sums and integrals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from narcissus import channels as ch
from narcissus import guarantees as gu
from narcissus.channels import uses as module
from narcissus.channels.uses import (
    FiniteLogRatio,
    GaussianLogRatio,
    LaplaceLogRatio,
    SampledGaussianLogRatio,
    overlap_after,
)
from narcissus.errors import InputError

from .conftest import refused


def laplace(a):
    """Densities of Laplace noise about 0 and about ``a``."""
    return lambda y: 0.5 * math.exp(-abs(y)), lambda y: 0.5 * math.exp(-abs(y - a))


@pytest.mark.parametrize("s", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("step", [0.1, 0.37, 3.0])
def test_mass_and_mean_are_kept(step, s):
    p, q = np.random.default_rng(1).dirichlet(np.ones(7), 2)
    finite = FiniteLogRatio(p, q)
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
    thirds = FiniteLogRatio(
        [e / (e + 2), 1 / (e + 2), 1 / (e + 2)], [1 / (e + 2)] * 2 + [e / (e + 2)]
    )
    assert thirds.step == pytest.approx(1, rel=1e-12)
    assert thirds.on_grid(thirds.step, 0.5).spread == 0
    p, q = np.random.default_rng(2).dirichlet(np.ones(5), 2)
    assert FiniteLogRatio(p, q).step is None
    assert FiniteLogRatio(p, q).on_grid(0.1, 0.5).spread > 0


def test_outputs_that_only_one_secret_gives_are_left_out():
    assert FiniteLogRatio([1, 0], [0, 1]).empty
    half = FiniteLogRatio([0.5, 0.5, 0], [0.5, 0, 0.5])
    assert not half.empty
    assert half.log_rho(0.3) == pytest.approx(math.log(0.5))
    for wrong in (LaplaceLogRatio, GaussianLogRatio):
        refused("must be above 0", wrong, 0.0)


RESPONSE = {
    1: 0.85336742590658451512,
    2: 0.75326225606006091283,
    20: 0.23357579727343848801,
    200: 1.3390867994854574884e-4,
}


@pytest.mark.states("Narcissus theory", "6.4")
@pytest.mark.parametrize("times", RESPONSE)
def test_randomised_response_to_twelve_digits(times):
    rows = ch.KaryRandomizedResponse(10, 1).channel().dense
    found = overlap_after([(FiniteLogRatio(rows[0], rows[1]), times)])
    assert found.low <= RESPONSE[times] <= found.high
    assert found.gap < 1e-11


@pytest.mark.states("Narcissus theory", "6.4")
@pytest.mark.parametrize("outputs", [3, 4, 6])
@pytest.mark.parametrize("times", [1, 2, 5, 12])
def test_limits_hold_and_are_near(outputs, times):
    rng = np.random.default_rng([outputs, times])
    for concentration in (0.2, 1.0):
        rows = rng.dirichlet(np.full(outputs, concentration), 2)
        whole = ch.repeat(rows, times).dense
        truth = math.fsum(np.minimum(whole[0], whole[1]))
        found = overlap_after([(FiniteLogRatio(*rows), times)], 1e-5)
        assert found.low <= truth * (1 + 1e-11)
        assert truth <= found.high * (1 + 1e-11)
        assert found.gap <= 1e-5


@pytest.mark.parametrize("direct", [0, 60])
def test_limits_hold_on_grids_that_are_far_too_coarse(monkeypatch, direct):
    """Where the gap is wide the inequalities themselves are what is tested."""
    monkeypatch.setattr(module, "WAYS", 0)
    monkeypatch.setattr(module, "DIRECT", direct)
    monkeypatch.setattr(module, "FIRST", 32)
    monkeypatch.setattr(module, "MOST", 0 if direct else 32)
    rng, wide = np.random.default_rng(5), 0
    for _ in range(60):
        times = int(rng.integers(1, 9))
        rows = rng.dirichlet(np.ones(4), 2)
        whole = ch.repeat(rows, times).dense
        truth = math.fsum(np.minimum(whole[0], whole[1]))
        found = overlap_after([(FiniteLogRatio(*rows), times)])
        assert found.low <= truth <= found.high
        wide += found.gap > 0.01
    assert wide > 30


def test_different_channels_together():
    rng = np.random.default_rng(6)
    a, b = rng.dirichlet(np.ones(3), 2), rng.dirichlet(np.ones(4), 2)
    whole = ch.parallel(ch.repeat(a, 4), ch.repeat(b, 3)).dense
    truth = math.fsum(np.minimum(whole[0], whole[1]))
    found = overlap_after([(FiniteLogRatio(*a), 4), (FiniteLogRatio(*b), 3)])
    assert found.low <= truth <= found.high
    assert found.gap <= 1e-6


@pytest.mark.states("Narcissus theory", "6.4")
def test_noise_on_numbers():
    one = overlap_after([(LaplaceLogRatio(1.0), 1)])
    assert one.low <= math.exp(-0.5) <= one.high
    fine = np.linspace(-40, 41, 81 * 40 + 1)  # cells of noise about 0 and about 1, kink at an edge
    rows = np.diff(
        [[0.5 * math.exp(min(y, 0)) if y < 0 else 1 - 0.5 * math.exp(-y) for y in fine - c]
         for c in (0.0, 1.0)]
    )  # fmt: skip
    finite = FiniteLogRatio(*(rows / rows.sum(axis=1, keepdims=True)))
    noise, cells = overlap_after([(LaplaceLogRatio(1.0), 6)]), overlap_after([(finite, 6)])
    assert noise.low <= cells.high  # cells tell less than numbers
    assert noise.high == pytest.approx(cells.low, rel=1e-3)
    normal = overlap_after([(GaussianLogRatio(0.5), 20)], 1e-5)
    assert normal.low <= 0.26355247728297273 <= normal.high
    assert normal.gap < 1e-5
    assert math.isclose(
        ch.Gaussian(math.sqrt(20), 2.0).beta_star, 0.26355247728297273, rel_tol=1e-14
    )


def test_tiny_values_keep_their_digits():
    """Five coins that lie once in 1e20: ten ways of three lies, on either side."""
    rare = Fraction(1, 10**20)
    exact = sum(
        math.comb(5, k) * min(rare**k * (1 - rare) ** (5 - k), rare ** (5 - k) * (1 - rare) ** k)
        for k in range(6)
    )
    found = overlap_after([(FiniteLogRatio([1.0, 1e-20], [1e-20, 1.0]), 5)])
    assert float(exact) == pytest.approx(2e-59, rel=1e-9)
    assert found.low <= float(exact) <= found.high
    assert found.gap < 1e-10


def test_what_tells_for_certain_and_what_tells_nothing():
    apart = FiniteLogRatio([1, 0], [0, 1])
    alike = FiniteLogRatio([0.3, 0.7], [0.3, 0.7])
    half = FiniteLogRatio([0.5, 0.5, 0], [0.5, 0, 0.5])
    some = FiniteLogRatio([0.9, 0.1], [0.2, 0.8])
    assert overlap_after([(apart, 1), (some, 3)]).high == 0
    assert overlap_after([(apart, 0)]).low == pytest.approx(1, abs=1e-12)
    assert overlap_after([(alike, 9)]).low == pytest.approx(1, abs=1e-10)
    assert overlap_after([(half, 3)]).high == pytest.approx(1 / 8)
    both = overlap_after([(half, 1), (some, 1)])
    assert both.low <= 0.15 <= both.high
    assert both.gap <= 1e-6


def by_hand(uses):
    """Sum min(P, Q) over all sequences of outputs, in fractions."""
    laws = {(Fraction(1), Fraction(1)): 1}
    for (first, second), times in uses:
        for _ in range(times):
            after = {}
            for (p, q), ways in laws.items():
                for a, b in zip(map(Fraction, first), map(Fraction, second), strict=True):
                    after[p * a, q * b] = after.get((p * a, q * b), 0) + ways
            laws = after
    return sum(min(p, q) * ways for (p, q), ways in laws.items())


@pytest.mark.states("Narcissus theory", "6.4")
@pytest.mark.parametrize(
    ("uses", "most"),
    [
        ([(([1, 1e-40], [1e-41, 1]), 5)], 1e-9),
        ([(([1, 1e-30, 2e-35], [1e-41, 3e-30, 1]), 7)], 1e-9),
        ([(([1, 1e-40], [1e-41, 1]), 2), (([0.5, 1e-30, 0.5], [1e-9, 1, 0.3]), 3)], 1e-6),
    ],
)
@pytest.mark.parametrize("are_few", [True, False])
@pytest.mark.one_in(2)
def test_tiny_values_off_any_grid(monkeypatch, uses, most, are_few):
    """Summed one by one, or on a grid term by term; the transform alone said from 0 to 1e-113."""
    monkeypatch.setattr(module, "WAYS", module.WAYS if are_few else 0)
    truth = float(by_hand(uses))
    found = overlap_after([(FiniteLogRatio(*rows), times) for rows, times in uses])
    assert found.low <= truth <= found.high
    assert found.gap <= (most if are_few else 1e-3)
    assert truth < 1e-30


def test_beside_noise_and_where_nothing_else_holds_the_limits_are_never_empty(monkeypatch):
    rows = FiniteLogRatio([1, 1e-40], [1e-41, 1])
    uses = [(rows, 3), (GaussianLogRatio(3.0), 1)]
    found = overlap_after(uses)
    assert found.gap < 1e-3
    monkeypatch.setattr(module, "WAYS", 0)
    monkeypatch.setattr(module, "DIRECT", 0)
    closed = overlap_after(uses)
    assert 0 < closed.low < found.low < found.high < closed.high < 1e-60


def test_less_than_any_number_is_said_to_be_so():
    found = ch.repeated_security([[0.9999, 1e-4], [2e-4, 0.9998]], 400, most=1)
    assert (found.beta_star, found.beta_star_at_most) == (0.0, 5e-324)
    assert "less than can be written" in str(found)


def test_one_common_output_each_is_the_smaller_product():
    """Ratios of one value each, on no common grid: nothing is spread."""
    first = FiniteLogRatio(np.array([0.5, 0.0, 0.5]), np.array([0.75, 0.25, 0.0]))
    second = FiniteLogRatio(np.array([0.9, 0.1]), np.array([0.2, 0.0]))
    found = overlap_after([(first, 30), (second, 7)])
    truth = float(min(Fraction(1, 2) ** 30 * Fraction(9, 10) ** 7, Fraction(3, 4) ** 30 / 5**7))
    assert found.low <= truth <= found.high
    assert found.gap < 1e-11


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
@pytest.mark.one_in(2)
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
