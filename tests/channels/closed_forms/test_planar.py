"""Planar noise on a grid: reference values, d-privacy, and what clamping and a step change."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError

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


def test_it_is_nearly_that_of_qif():
    qif = pytest.importorskip("qif", reason="qif, the peer that is compared with, is not installed")
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
    with pytest.raises(InputError, match="two points"):
        ch.PlanarLaplace(1, 1, 1.0)
    with pytest.raises(InputError, match="planar Laplace noise"):
        ch.PlanarGeometric(3, 3, 1e-4)
    with pytest.raises(InputError, match=r"4e\+04 secrets"):
        ch.PlanarLaplace(200, 200, 1.0)
