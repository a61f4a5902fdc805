"""Masses in the plane against sums and integrals, and a bound that covers the error."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import special

from narcissus import channels as ch
from narcissus.channels.closed_forms import planar
from narcissus.channels.closed_forms.planar import off_by
from narcissus.errors import InputError


def lattice(rate, lows, reach=400):
    """Sum ``e^(-rate r)`` over the points from these on, by adding them up."""
    x, y = (np.arange(low, reach) for low in lows)
    return math.fsum(np.exp(-rate * np.hypot.outer(x, y)).ravel())


def wedge(rate, start, end, distance):
    """Mass beyond a line at this distance, seen under the angles from its foot: one integral."""
    a = mpmath.mpf(rate) * distance

    def beyond(t):
        return (1 + a / mpmath.cos(t)) * mpmath.exp(-a / mpmath.cos(t)) / (2 * mpmath.pi)

    return mpmath.quad(beyond, [start, (start + end) / 2, end])


def rectangle(rate, x, y):
    """Mass of [0, x] x [0, y]: a quarter, less what lies beyond either far side."""
    corner = mpmath.atan2(y, x)
    return 0.25 - wedge(rate, 0, corner, x) - wedge(rate, 0, mpmath.pi / 2 - corner, y)


@pytest.mark.states("Narcissus theory", "6.11")
@pytest.mark.parametrize("rate", [0.15, 0.5, 3.0])
def test_points_are_what_adding_up_gives(rate):
    noise = ch.PlanarGeometric(4, 3, rate)
    found, errors = noise._pieces
    whole = 4 * lattice(rate, (1, 0)) + 1
    n = 4
    for i, j, share in (
        (0, 0, 1.0),
        (2, 3, math.exp(-rate * math.hypot(2, 3))),
        (n + 1, n + 2, lattice(rate, (1, 2))),
        (n + 3, n, lattice(rate, (3, 0))),
    ):
        assert abs(found[i, j] - share / whole) <= errors[i, j] + 1e-13 * found[i, j]
        assert errors[i, j] <= 1e-11 * found[i, j]


@pytest.mark.states("Narcissus theory", "6.11")
@pytest.mark.parametrize("rate", [0.5, 4.0])
def test_areas_are_what_one_integral_by_angle_gives(rate):
    mpmath.mp.dps = 40
    found, errors = ch.PlanarLaplace(4, 4, rate)._pieces
    half = mpmath.mpf(1) / 2
    middle = 4 * rectangle(rate, half, half)
    corner = (
        rectangle(rate, 5 * half, 3 * half)
        - rectangle(rate, 3 * half, 3 * half)
        - rectangle(rate, 5 * half, half)
        + rectangle(rate, 3 * half, half)
    )
    for i, j, exact in ((0, 0, middle), (2, 1, corner)):
        assert abs(mpmath.mpf(float(found[i, j])) - exact) <= errors[i, j]
        assert errors[i, j] <= 1e-11 * found[i, j]


@pytest.mark.parametrize("kind", [ch.PlanarLaplace, ch.PlanarGeometric])
@pytest.mark.parametrize(("name", "value"), [("FINE", 6.0), ("FINE", 10.0), ("CUT", 3.0)])
def test_the_bound_covers_a_coarse_rule_as_well(kind, name, value, monkeypatch):
    best, _ = kind(3, 3, 0.5)._pieces
    monkeypatch.setattr(planar, name, value)
    coarse, errors = kind(3, 3, 0.5)._pieces
    assert (np.abs(coarse - best) <= errors).all()
    assert np.abs(coarse - best).max() > 1e-9  # the rule is coarse indeed


@pytest.mark.states("Narcissus theory", "6.11")
@pytest.mark.parametrize("rate", [0.3, 2.0])
def test_the_modulus_above_the_line_is_bounded(rate, monkeypatch):
    """Of areas: integrate it, with the error function of a complex variance."""
    seen, masses = {}, planar.masses

    def watch(rate, power, factor, reach, modulus, inside):
        seen["modulus"] = modulus
        return masses(rate, power, factor, reach, modulus, inside)

    monkeypatch.setattr("narcissus.channels.closed_forms.planar.masses", watch)
    n = 3
    assert ch.PlanarLaplace(n, n, rate)._pieces
    v = np.exp(np.linspace(-25, 12, 4_001)[:, None] + 1j * planar.STRIP)
    root, k = np.sqrt(2 * v), np.arange(n)
    cells = (special.erf((k + 0.5) / root) - special.erf((k - 0.5) / root)) / 2
    tails = (1 - special.erf((k - 0.5) / root)) / 2
    pieces = np.concatenate([cells, tails, np.ones((v.size, 1))], axis=1)
    load = (v * rate**2 / 2)[:, 0]
    weight = np.abs(load**1.5 * np.exp(-load)) / math.gamma(1.5) * (37 / 4_000)
    found = np.abs(pieces).T @ (weight[:, None] * np.abs(pieces))
    assert (found <= seen["modulus"]).all()
    assert (found > 0.3 * seen["modulus"]).any()


def test_what_floats_do_not_hold_is_refused():
    assert off_by(np.array([1.0, 2.0]), np.array([1e-12, 1e-13])) == 1e-12
    with pytest.raises(InputError, match="smaller epsilon"):
        off_by(np.array([1.0, 0.0]), np.array([1e-12, 0.0]))
    with pytest.raises(InputError, match="smaller epsilon"):
        ch.PlanarLaplace(60, 60, 20.0).channel()
