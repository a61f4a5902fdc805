"""Exponents and directions: by hand, by vertices, by linear programs, and by simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from narcissus.evidence import clopper_pearson
from narcissus.scale.fit import NEAR, Known, at_least, direction, exponents, feasible, places


def known(size, low, high, value=None):
    return Known(size, (low + high) / 2 if value is None else value, low, high)


def test_an_exact_law_is_found_with_its_exponent_and_the_other_refused(exact):
    by_two, by_power = exponents(exact(lambda n: 3 * 2 ** (-0.7 * n), range(1, 9)))
    assert by_two.fits
    assert not by_power.fits
    assert by_two.low <= 0.7 <= by_two.high
    assert by_two.high - by_two.low < 1e-8
    assert by_two.off == pytest.approx(1)
    by_two, by_power = exponents(exact(lambda n: 3 / n**1.5, [1, 2, 4, 8, 16, 32]))
    assert by_power.fits
    assert not by_two.fits
    assert by_power.value == pytest.approx(1.5)


def test_exact_limits_are_the_steps_between_neighbours(exact):
    """The central binomial share falls like n^(-1/2), by steps that come nearer to it."""
    sizes = [2, 4, 8, 16, 32, 64]
    points = exact(lambda n: math.comb(n, n // 2) / 2**n, sizes)
    found = exponents(points)[1]
    steps = [math.log2(a.value / b.value) for a, b in itertools.pairwise(points)]
    assert (found.low, found.high) == pytest.approx((min(steps), max(steps)))
    assert found.low <= found.value <= found.high < 0.5


def test_sampled_limits_are_those_of_the_line_through_any_true_values():
    """All corners of the intervals, and values between: the slope of least squares stays within."""
    rng = np.random.default_rng(1)
    points = [known(s, 0.3 / s, 0.5 / s) for s in (1, 2, 3, 5)]
    by_two, by_power = exponents(points)
    for one in (by_two, by_power):
        x = places(one.law, [p.size for p in points])
        corners = [
            -np.polyfit(x, np.log2(ends), 1)[0]
            for ends in itertools.product(*((p.low, p.high) for p in points))
        ]
        assert (one.low, one.high) == pytest.approx((min(corners), max(corners)))
        inside = [rng.uniform(p.low, p.high) for p in points]
        assert one.low <= -np.polyfit(x, np.log2(inside), 1)[0] <= one.high


@pytest.mark.parametrize("seed", range(30))
def test_feasible_exponents_are_those_of_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    sizes = np.sort(rng.choice(np.arange(1, 30), 5, replace=False))
    middle = rng.uniform(0.5, 2) * 2.0 ** (-0.2 * sizes) * rng.uniform(0.7, 1.4, 5)
    low = np.where(rng.random(5) < 0.2, 0.0, middle * rng.uniform(0.6, 1, 5))
    high = middle * rng.uniform(1, 1.6, 5)
    points = [known(*p) for p in zip(sizes.tolist(), low, high, strict=True)]
    above = low > 0
    # b - a x between the logarithms, with an upper limit only where the lower one is 0
    rows = np.vstack([np.c_[np.ones(5), -sizes], np.c_[-np.ones(above.sum()), sizes[above]]])
    room = math.log2(NEAR)
    limits = np.r_[np.log2(high) + room, -np.log2(low[above]) + room]
    ends = [
        optimize.linprog([0, sign], rows, limits, bounds=[(None, None)] * 2) for sign in (1, -1)
    ]
    found = feasible("2^(-a x)", points)
    if ends[0].status == 2:
        assert found is None
    elif above.sum() > 1:
        assert found == pytest.approx((ends[0].fun, -ends[1].fun), abs=1e-7)


def test_a_certain_zero_lies_on_no_curve():
    assert feasible("2^(-a x)", [known(1, 0.4, 0.5), known(2, 0, 0)]) is None


def test_limits_hold_the_true_exponent(within):
    """Success 2^-n of 2,000 trials at five sizes: missed by at most one sweep in twenty."""
    rng, sizes, sweeps = np.random.default_rng(5), range(1, 6), 300
    missed = 0
    for _ in range(sweeps):
        points = []
        for size in sizes:
            hits = int(rng.binomial(2000, 2.0**-size))
            one = clopper_pearson(hits, 2000, confidence=1 - 0.05 / len(sizes))
            points.append(Known(size, one.value, one.low, one.high))
        one = exponents(points)[0]
        missed += not one.low <= 1 <= one.high
        assert direction(points) == "falls"
    assert missed <= stats.binom.ppf(1 - 1e-6, sweeps, 0.05)


def test_zeros_count_by_their_upper_limits_only():
    points = [known(8, 0.2, 0.3), known(16, 0.0, 0.01, 0.0), known(24, 0.0, 0.01, 0.0)]
    assert direction(points) == "falls"
    assert exponents(points) == []
    first, last, rate = at_least(points, "2^(-a x)")
    assert (first, last) == (8, 16)
    assert rate == pytest.approx(math.log2(0.2 / 0.01) / 8)
    assert at_least([known(1, 0, 0.1), known(2, 0, 0.1)], "2^(-a x)") is None
    # the upper limits refute a law that the others allow
    told = [known(1, 0.49, 0.51), known(2, 0.48, 0.52), known(9, 0.0, 0.01)]
    assert [one.fits for one in exponents(told)] == [False, False]


@pytest.mark.parametrize(
    ("limits", "way"),
    [
        ([(0.4, 0.5), (0.2, 0.3)], "falls"),
        ([(0.2, 0.3), (0.4, 0.5)], "rises"),
        ([(0.2, 0.3), (0.4, 0.5), (0.2, 0.3)], "goes up and down"),
        ([(0.50, 0.52), (0.51, 0.54)], "stays"),
        ([(0.2, 0.5), (0.1, 0.4)], "cannot be told"),
        ([(0.50, 0.52), (0.51, 0.56)], "cannot be told"),
        ([(0.0, 0.1), (0.0, 0.1)], "cannot be told"),
        ([(0.5, 0.6)], "cannot be told"),
    ],
)
def test_directions_are_certain_or_not_told(limits, way):
    assert direction([known(n, *ends) for n, ends in enumerate(limits)]) == way


def test_exact_zeros_are_zero(exact):
    assert direction(exact(lambda _: 0.0, (1, 2))) == "is zero"
    assert exponents(exact(lambda _: 0.0, (1, 2))) == []


def test_no_power_of_a_size_that_is_zero(exact):
    assert [e.law for e in exponents(exact(lambda n: 2.0**-n, range(4)))] == ["2^(-a x)"]


def test_a_fall_by_many_orders_may_drift_by_a_little(exact):
    """Within a twentieth in the exponent, though not in the value; not more."""
    sizes = [100, 200, 400, 800]
    for drift, fits in ((0.03, True), (0.12, False)):
        points = [
            Known(n, v, v, v, exact=True)
            for n in sizes
            for v in [2 ** (-0.2 * n ** (1 + drift / 3))]
        ]
        assert exponents(points)[0].fits == fits
