"""The convex problem of the cells: its derivatives, its least, and what is believed there."""

import numpy as np
import pytest

from narcissus.attacks.table import Targets
from narcissus.attacks.table import gathers as room
from narcissus.attacks.table.dual import Dual
from narcissus.attacks.table.gathers import Gathers
from narcissus.attacks.table.shares import HeldHere, Share, Shares
from narcissus.mechanisms import GaussianNoise

WORLDS = [
    pytest.param((2, 3, 2, 4), (0,), 3, id="one unknown"),
    pytest.param((2, 3, 2, 2, 3), (4, 0), 2, id="two unknown"),
]


def problem(worlds, sizes, unknown, k, scale=2.0, people=25):
    rng = np.random.default_rng(4)
    targets, secrets = worlds.world(rng, people=people, sizes=sizes, unknown=unknown, k=k)
    prior = rng.dirichlet(np.ones(targets.queries.values), 2)[rng.integers(0, 2, people)]
    targets = Targets(targets.queries, targets.codes, prior, targets.success)
    release = worlds.release(targets, GaussianNoise(scale), secrets, rng).cells
    return targets, release, rng


def dual_of(targets, release, scale=2.0):
    gathers = Gathers(targets)
    cells = release[gathers.cells]
    variance = np.full(cells.shape, scale**2) * np.linspace(0.5, 2, cells.size)
    share = Share(gathers, targets.log_prior[gathers.types.first])
    held = HeldHere([lambda: share])
    shares = Shares(held, targets.people, share.log_prior.size)
    return Dual(shares, cells, variance), share


@pytest.mark.parametrize("block", [7, 10**6])
@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS)
def test_derivatives_against_differences(worlds, monkeypatch, sizes, unknown, k, block):
    monkeypatch.setattr(room, "BLOCK", block)
    targets, release, rng = problem(worlds, sizes, unknown, k)
    dual, _ = dual_of(targets, release)
    theta, along = 0.2 * rng.normal(size=(2, len(dual.released)))
    step = 1e-5
    high, up = dual.evaluate(theta + step * along)
    low, down = dual.evaluate(theta - step * along)
    _, gradient = dual.evaluate(theta)
    np.testing.assert_allclose((high - low) / (2 * step), gradient @ along, rtol=1e-6)
    dual.beliefs(theta)
    curved = dual.curve(along) / targets.people
    np.testing.assert_allclose((up - down) / (2 * step), curved, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS)
def test_beliefs_say_what_the_counts_are(worlds, sizes, unknown, k):
    """Prior times the exponential of what the cells say; counts and variances of independents."""
    targets, release, rng = problem(worlds, sizes, unknown, k)
    dual, share = dual_of(targets, release)
    cells = np.zeros((targets.people, targets.queries.values, targets.queries.cells))
    for value in range(targets.queries.values):
        own = targets.queries.cells_of(worlds.complete(targets, np.full(targets.people, value)))
        cells[np.arange(targets.people)[:, None], value, own] = 1
    cells = cells[..., dual.shares.cells]
    theta = 0.2 * rng.normal(size=len(dual.released))
    beliefs = targets.prior * np.exp(cells @ theta)
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    found = dual.beliefs(theta)
    np.testing.assert_allclose(share.result()[share.gathers.types.of], beliefs)
    chances = np.einsum("tv,tvc->tc", beliefs, cells)
    np.testing.assert_allclose(found.counts, chances.sum(axis=0))
    np.testing.assert_allclose(found.variance, (chances * (1 - chances)).sum(axis=0), atol=1e-12)


def test_probes_have_the_covariance_of_the_counts(worlds):
    """Mean of 4,000 squares along five directions: standard error 2.2%."""
    targets, release, rng = problem(worlds, (2, 3, 2), (0,), 2)
    dual, _ = dual_of(targets, release)
    dual.beliefs(np.zeros(len(dual.released)))
    probes = np.array([dual.probe() for _ in range(4000)])
    for along in rng.normal(size=(5, len(dual.released))):
        expected = along @ (dual.curve(along) - dual.variance * along)
        assert np.mean((probes @ along) ** 2) == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize("scale", [0.3, 100.0])
@pytest.mark.parametrize(("sizes", "unknown", "k"), WORLDS)
def test_the_least_is_found_from_anywhere(worlds, sizes, unknown, k, scale):
    targets, release, rng = problem(worlds, sizes, unknown, k, scale)
    dual, _ = dual_of(targets, release, scale)
    nothing = np.zeros(len(dual.released))
    beliefs = dual.beliefs(nothing)
    diagonal = dual.variance + beliefs.variance
    found = dual.solve(nothing, diagonal, 300, 0.0)
    pull = np.sqrt(diagonal)
    assert np.abs(dual.evaluate(found)[1] * targets.people / pull).max() < 1e-4
    # theta is what is left of the release, in variances
    left = (dual.released - dual.beliefs(found).counts) / dual.variance
    np.testing.assert_allclose(found * pull, left * pull, atol=1e-3)
    other = dual.solve(rng.normal(size=nothing.size) / pull, diagonal, 300, 0.0)
    assert dual.evaluate(other)[0] == pytest.approx(dual.evaluate(found)[0], abs=1e-7)


def test_a_pass_that_wins_little_is_the_last(worlds):
    targets, release, _ = problem(worlds, (2, 3, 2, 4), (0,), 3, 0.5)
    dual, _ = dual_of(targets, release, 0.5)
    nothing = np.zeros(len(dual.released))
    diagonal = dual.variance + dual.beliefs(nothing).variance
    values = [
        dual.evaluate(dual.solve(nothing, diagonal, passes, tolerance))[0]
        for passes, tolerance in ((2000, 0.0), (2000, 1e-3), (1, 0.0))
    ]
    assert values[0] < values[1] < values[2] < dual.evaluate(nothing)[0]
    assert values[1] - values[0] < 0.02
