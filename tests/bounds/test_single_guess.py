"""The program over single guesses: what its constraints say, and that any multipliers are valid."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import exact_optimum, one_target, optimum, optimum_program
from narcissus.bounds.one_target import (
    multiplier_bound,
    optimum_at_points,
    relaxed_optimum,
    single_guess_constraints,
)
from narcissus.guarantees import ApproximateDP, BayesSecurity, GaussianDP, PureDP

SLACK = 1e-6  # the solver's tolerance
SUCCESS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
POINTS = [PureDP(0.7), ApproximateDP(0.5, 0.02), BayesSecurity(0.8), ApproximateDP(2.0, 0.1)]


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize(
    "guarantee", [PureDP(0.7), GaussianDP(0.4), GaussianDP(1.5), ApproximateDP(0.5, 0.02)]
)
def test_limits_at_points_against_the_whole_program(guarantee):
    """The order that the bounds must have, and that each step up is small."""
    rng = np.random.default_rng(11)
    success = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
    rows = rng.dirichlet(np.ones(4), 6)
    whole = optimum_program(rows, guarantee, success)
    single = optimum(rows, guarantee, success)
    points = optimum_at_points(rows, guarantee, success, 10)
    # The programs know the profile at some points only, and may be that much above the truth.
    assert (whole <= single + 2e-4).all()
    assert (single <= points + 2e-3).all()
    assert (points <= single + 0.1).all()
    if isinstance(guarantee, PureDP):
        np.testing.assert_allclose(points, whole, atol=1e-6)
    # Targets are solved many at a time. Alone, each gets the same but for the choice among
    # multipliers that are equally good at the tangents and not quite so between them.
    alone = np.concatenate([optimum(row, guarantee, success) for row in rows])
    np.testing.assert_allclose(single, alone, atol=5e-3)


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize("guarantee", POINTS)
def test_any_multipliers_give_a_bound(guarantee):
    """Weak duality: random ones, negative ones, ones that give all away."""
    rng = np.random.default_rng(6)
    rows = rng.dirichlet(np.ones(4), 5)
    exact = np.array([exact_optimum(row, guarantee, 1, SUCCESS).value for row in rows])
    least = (rows @ SUCCESS).max(axis=1)
    tight = np.ones(5)
    for _ in range(200):
        multipliers = rows * rng.uniform(-0.5, 1.5, rows.shape)
        found = multiplier_bound(rows, SUCCESS, guarantee, multipliers)
        assert (found >= exact - SLACK).all()
        assert (found >= least).all()
        assert (found <= 1).all()
        tight = np.minimum(tight, found)
    assert (tight < 1 - 1e-3).any()


@pytest.mark.parametrize("guarantee", [*POINTS, GaussianDP(1.0)])
def test_the_bound_is_the_sum_of_the_suprema(guarantee):
    """``sum lambda + sum_z sup_a [A_z power(a) - B_z a]``, the supremum from a grid of ``a``."""
    rng = np.random.default_rng(7)
    a = np.append(0.0, np.geomspace(1e-9, 1.0, 20_001))
    power = guarantee.power(a)
    informed = 0
    for _ in range(20):
        row = rng.dirichlet(np.ones(4))
        multipliers = row * rng.uniform(0, 1, 4)
        excess = row[:, None] * SUCCESS - multipliers[:, None]
        above, below = np.maximum(excess, 0).sum(axis=0), np.maximum(-excess, 0).sum(axis=0)
        sups = [(up * power - down * a).max() for up, down in zip(above, below, strict=True)]
        truth = multipliers.sum() + sum(sups)
        (found,) = multiplier_bound(row[None], SUCCESS, guarantee, multipliers[None])
        # never more than by giving nothing away, nor less than the best guess
        assert found == pytest.approx(
            np.clip(truth, (row @ SUCCESS).max(), 1.0), abs=2e-4 if truth < 1 else 1e-12
        )
        informed += truth < 1
    assert informed


def test_a_guess_that_is_always_right_needs_no_release():
    everything = np.ones((3, 1))
    row = np.array([[0.5, 0.3, 0.2]])
    assert multiplier_bound(row, everything, PureDP(1.0), np.zeros((1, 3))).tolist() == [1]


@pytest.mark.parametrize("guarantee", POINTS)
def test_the_relaxation_is_above_the_optimum_and_equal_for_two_values(guarantee):
    rng = np.random.default_rng(8)
    rows = rng.dirichlet(np.ones(4), 5)
    found = relaxed_optimum(rows, guarantee, SUCCESS)
    exact = np.array([exact_optimum(row, guarantee, 1, SUCCESS).value for row in rows])
    assert (found >= exact - SLACK).all()
    assert (found <= exact + 0.02).all()
    for p in (0.5, 0.58, 0.9):
        exact = exact_optimum([p, 1 - p], guarantee).value
        assert relaxed_optimum([p, 1 - p], guarantee, np.eye(2))[0] == pytest.approx(
            exact, abs=SLACK
        )


def test_targets_are_solved_in_blocks_and_come_back_in_their_order(monkeypatch):
    rng = np.random.default_rng(9)
    guarantee = ApproximateDP(0.5, 0.02)
    rows = rng.dirichlet(np.ones(4), 5)[[3, 0, 4, 0, 1, 2, 3]]
    alone = [optimum_program(row, guarantee, SUCCESS)[0] for row in rows]
    for entries in (1, 12, 30, 2000):
        monkeypatch.setattr(one_target, "_BLOCK", entries)
        found = relaxed_optimum(rows, guarantee, SUCCESS)
        assert found.shape == (7,)
        assert (found >= np.array(alone) - SLACK).all()
        assert (found <= np.array(alone) + 0.02).all()
        assert (found[0], found[1]) == (found[6], found[3])


def test_a_valid_bound_comes_out_where_the_solver_gives_up(monkeypatch):
    monkeypatch.setattr(one_target, "maximise", lambda *_: None)
    row, guarantee = [0.4, 0.3, 0.2, 0.1], ApproximateDP(0.5, 0.02)
    exact = exact_optimum(row, guarantee, 1, SUCCESS).value
    assert exact <= relaxed_optimum(row, guarantee, SUCCESS)[0] <= 1


def test_the_constraints_are_those_of_single_guesses():
    """A channel meets them, with its largest and smallest entries, where every guess does."""
    rng = np.random.default_rng(10)
    points = np.array([-1.5, -0.4, 0.0, 0.7, 2.0])
    met = 0
    for _ in range(150):
        values, guesses = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        q = rng.dirichlet(np.full(guesses, 4.0), values)
        deltas = GaussianDP(float(rng.uniform(0.2, 2))).profile(points)
        upper, limits, sums = single_guess_constraints(values, guesses, points, deltas)
        high, low = q.max(axis=0), q.min(axis=0)
        x = np.concatenate([q.ravel(), high, low])
        kept = bool((upper @ x <= limits + 1e-12).all())
        assert kept == all(
            (high <= d + np.exp(e) * low + 1e-12).all() for e, d in zip(points, deltas, strict=True)
        )
        assert sums @ x == pytest.approx(np.ones(values))
        # what is called largest must be so, and smallest
        for wrong in ([q.ravel(), high - 1e-3, low], [q.ravel(), high, low + 1e-3]):
            assert (upper @ np.concatenate(wrong) > limits + 1e-12).any()
        assert np.abs(upper).max() <= 1
        met += kept
    assert 30 < met < 120
