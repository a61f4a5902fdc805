"""Planar noise on a grid: reference values, d-privacy, and what clamping and a step change."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import special

from narcissus import channels as ch
from narcissus.channels import planar
from narcissus.channels.planar import off_by

from .conftest import refused

BOTH = [ch.PlanarLaplace, ch.PlanarGeometric]


@pytest.mark.states("Narcissus theory", "6.11")
def test_reference_values():
    assert ch.PlanarLaplace(3, 3, 0.5).channel().dense[0, 0] == pytest.approx(
        0.3358661989213312582, abs=2e-15
    )
    assert ch.PlanarGeometric(3, 3, 0.5).channel().dense[0, 0] == pytest.approx(
        0.3407646597055572, abs=2e-15
    )


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("grid", [(3, 3, 0.5, 1.0), (5, 2, 2.0, 0.5), (1, 6, 0.8, 1.0)])
def test_it_keeps_d_privacy_for_the_euclidean_distance(kind, grid):
    made = kind(*grid)
    assert made.off_by < 1e-11
    reached = ch.metric_epsilon(made.channel(), made.distances)
    assert reached <= grid[2] * (1 + 1e-11)
    assert reached >= 0.6 * grid[2]  # and is not far more private than it says
    assert np.abs(made.channel().dense.sum(axis=1) - 1).max() < 1e-13
    assert (made.distances == made.distances.T).all()
    assert made.distances[0, 1] == grid[3]


@pytest.mark.parametrize("kind", BOTH)
def test_what_lies_beyond_the_grid_goes_to_its_edge(kind):
    """A larger grid whose outer rows and columns are put onto the edge is the smaller one."""
    small, large = kind(3, 2, 0.7).channel(), kind(7, 6, 0.7).channel()
    across, down = np.clip(np.arange(7) - 2, 0, 2), np.clip(np.arange(6) - 2, 0, 1)
    onto = (down[:, None] * 3 + across[None, :]).ravel()
    moved = np.zeros((42, 6))
    np.add.at(moved, (slice(None), onto), large.dense)
    inner = [large.secrets.index(f"{x + 3},{y + 3}") for y in range(2) for x in range(3)]
    assert moved[inner] == pytest.approx(small.dense, abs=1e-14)


@pytest.mark.parametrize("kind", BOTH)
def test_only_the_product_of_epsilon_and_step_matters(kind):
    assert np.array_equal(
        kind(3, 3, 0.5, 2.0).channel().dense, kind(3, 3, 1.0, 1.0).channel().dense
    )


def test_it_is_nearly_that_of_qif(qif):
    theirs = qif.mechanism.geo_ind
    ours = ch.PlanarLaplace(3, 3, 0.5).channel().dense
    assert np.abs(theirs.planar_laplace_grid(3, 3, 1, 0.5) - ours).max() < 1e-4  # it cuts tails
    ours = ch.PlanarGeometric(3, 3, 0.5).channel().dense
    assert np.abs(theirs.planar_geometric_grid(3, 3, 1, 0.5) - ours).max() < 1e-7


def test_measures_come_from_the_matrix():
    found = ch.analyse(ch.PlanarLaplace(3, 3, 0.5))
    assert found.beta_star == ch.beta_star(ch.PlanarLaplace(3, 3, 0.5).channel()).value
    assert set(found.pair) in ({"1,1", "3,3"}, {"3,1", "1,3"})


def test_what_cannot_be_is_refused():
    refused("two points", ch.PlanarLaplace, 1, 1, 1.0)
    refused("planar Laplace noise", ch.PlanarGeometric, 3, 3, 1e-4)
    refused(r"4e\+04 secrets", ch.PlanarLaplace, 200, 200, 1.0)


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

    monkeypatch.setattr("narcissus.channels.planar.masses", watch)
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
    # what begins with a cell is as near as the cell
    assert np.array_equal(seen["modulus"][n : 2 * n], seen["modulus"][:n])


def test_what_floats_do_not_hold_is_refused():
    assert off_by(np.array([1.0, 2.0]), np.array([1e-12, 1e-13])) == 1e-12
    refused("smaller epsilon", off_by, np.array([1.0, 0.0]), np.array([1e-12, 0.0]))
    refused("smaller epsilon", ch.PlanarLaplace(60, 60, 20.0).channel)
