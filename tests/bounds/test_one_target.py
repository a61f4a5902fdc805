"""The program over single guesses: what its constraints say, and that any multipliers are valid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from narcissus.bounds import (
    THEOREMS,
    Question,
    column_shares,
    exact_match_optimum,
    exact_optimum,
    one_target,
    optimum,
    optimum_program,
    threat,
    threat_of_columns,
)
from narcissus.bounds.one_target import (
    multiplier_bound,
    optimum_at_points,
    relaxed_optimum,
)
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)

SLACK = 1e-6  # the solver's tolerance
SUCCESS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1.0]])
POINTS = [PureDP(0.7), ApproximateDP(0.5, 0.02), BayesSecurity(0.8), ApproximateDP(2.0, 0.1)]


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize(
    "guarantee", [PureDP(0.7), GaussianDP(0.4), GaussianDP(1.5), ApproximateDP(0.5, 0.02)]
)
def test_limits_at_points_against_the_whole_program(guarantee):
    rows = np.random.default_rng(11).dirichlet(np.ones(4), 6)
    whole = optimum_program(rows, guarantee, SUCCESS)
    single = optimum(rows, guarantee, SUCCESS)
    points = optimum_at_points(rows, guarantee, SUCCESS, 10)
    # The programs know the profile at some points only, and may be that much above the truth.
    assert (whole <= single + 2e-4).all()
    assert (single <= points + 2e-3).all()
    assert (points <= single + 0.1).all()
    if isinstance(guarantee, PureDP):
        np.testing.assert_allclose(points, whole, atol=1e-6)


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize("guarantee", POINTS)
def test_any_multipliers_give_a_bound(guarantee):
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
    assert optimum_program([0.6, 0.4], PureDP(1.0))[0] == 1


CURVES = [
    GaussianDP(0.3),
    GaussianDP(1.0),
    GaussianDP(3.0),
    ApproximateDP(0.5, 0.02),
    ApproximateDP(0.0, 0.1),
    BayesSecurity(0.8),
    ZeroConcentratedDP(0.2),
    RenyiDP(4.0, 0.5),
    ProfileCurve((0.2, 1.0, 3.0), (0.15, 0.03, 1e-3)),
]


PRIORS = [
    [0.5, 0.3, 0.2],
    [0.25, 0.25, 0.25, 0.25],
    [0.9, 0.06, 0.03, 0.01],
    [0.4, 0.0, 0.35, 0.25],
    [0.15, 0.6, 0.05, 0.2],
    [0.02] * 50,
    [1.0, 0.0],
]


def at_epsilons(prior, guarantee, points: np.ndarray) -> np.ndarray:
    """The bound at points above 0, value by value."""
    mass = sorted((p for p in prior if p > 0), reverse=True)
    grown = np.exp(points)
    o = np.max([grown * sum(mass[:k]) / (grown + k - 1) for k in range(1, len(mass) + 1)], axis=0)
    multipliers = [np.maximum(0.0, (grown * p - o) / (grown - 1)) for p in mass]
    levels = np.array([np.maximum(points, np.log(o / p)) for p in mass])
    deltas = guarantee.profile(levels)
    return o + sum((p - m) * d for p, m, d in zip(mass, multipliers, deltas, strict=True))


def least(prior, guarantee) -> float:
    """The least over the points, from a grid and the best stretch of it."""
    grid = np.append(np.geomspace(1e-6, 0.1, 12), np.linspace(0.12, 9.0, 90))
    if isinstance(guarantee, ProfileCurve):  # the least may stand at a bend
        grid = np.unique(np.append(grid, guarantee.points))
    values = at_epsilons(prior, guarantee, grid)
    near = int(np.argmin(values))
    for _ in range(5):  # a stretch of 0.1 is cut to 1e-6
        low, high = grid[max(near - 1, 0)], grid[min(near + 1, grid.size - 1)]
        grid = np.linspace(low, high, 21)
        values = at_epsilons(prior, guarantee, grid)
        near = int(np.argmin(values))
    return float(values[near])


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize("guarantee", CURVES)
def test_it_is_the_least_over_the_points_of_the_profile(guarantee):
    # The profile is read between points when the least is searched; these two fall off slowly.
    near = 1e-5 if isinstance(guarantee, RenyiDP | ZeroConcentratedDP) else 2e-7
    for prior in PRIORS:
        truth = min(1.0, max(least(prior, guarantee), *prior))
        assert truth - 2e-7 <= optimum(prior, guarantee)[0] <= truth + near


@pytest.mark.states("Narcissus theory", "4.6")
def test_at_epsilon_0_delta_is_added_to_what_is_not_guessed():
    for prior in PRIORS[:5]:
        for delta in (0.0, 0.1, 0.7):
            truth = max(prior) + delta * (1 - max(prior))
            assert optimum(prior, ApproximateDP(0.0, delta))[0] == pytest.approx(truth, abs=1e-12)


@pytest.mark.states("Narcissus theory", "4.6")
def test_approximate_dp_has_a_closed_form_that_is_exact():
    rng = np.random.default_rng(7)
    for _ in range(12):
        prior = rng.dirichlet(np.ones(rng.integers(2, 5)))
        guarantee = ApproximateDP(rng.uniform(0, 2.5), rng.uniform(0, 0.3))
        exact = exact_optimum(prior, guarantee)
        assert optimum(prior, guarantee)[0] == pytest.approx(exact.value, abs=2 * SLACK)
    zipf = np.arange(1, 11) ** -1.1
    found = optimum(zipf / zipf.sum(), ApproximateDP(3.0, 1e-5))[0]
    assert found == pytest.approx(0.694906, abs=5e-7)


@pytest.mark.states("Narcissus theory", "4.6")
def test_a_profile_is_never_worse_than_its_points():
    prior = [0.5, 0.3, 0.2]
    one = optimum(prior, ApproximateDP(2.0, 0.01))[0]
    assert optimum(prior, ProfileCurve((2.0,), (0.01,)))[0] == pytest.approx(one, abs=1e-12)
    two = ProfileCurve((1.0, 2.0), (0.1, 0.01))
    assert optimum(prior, two)[0] <= one
    assert optimum(prior, two)[0] >= exact_optimum(prior, two).value - SLACK


@pytest.mark.parametrize("guarantee", [PureDP(1.0), *CURVES])
def test_many_priors_at_once_are_each_alone(guarantee):
    rows = np.zeros((7, 50))
    for i, prior in enumerate(PRIORS):
        rows[i, : len(prior)] = prior
    together = optimum(rows, guarantee)
    alone = [optimum(prior, guarantee)[0] for prior in PRIORS]
    assert together == pytest.approx(alone, abs=1e-12)
    # in whatever order the values stand
    assert optimum(rows[:, ::-1], guarantee) == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("guarantee", [PureDP(0.0), PureDP(1.0), *CURVES])
def test_equal_values_can_be_counted_instead_of_listed(guarantee):
    whole = [[0.4, *[0.05] * 8, *[0.02] * 10], [*[0.025] * 40]]
    short, counts = [[0.02, 0.4, 0.05], [0.025, 0.0, 0.0]], [[10, 1, 8], [40, 0, 0]]
    found = optimum(short, guarantee, counts=counts)
    for value, prior in zip(found, whole, strict=True):
        assert value == pytest.approx(optimum(prior, guarantee)[0], abs=1e-9)
    if isinstance(guarantee, PureDP):
        exact = exact_match_optimum(short, guarantee.epsilon, counts)
        assert found == pytest.approx(exact, abs=1e-15)


def test_two_to_the_hundred_values_are_few_entries():
    secret, counts = [2.0**-100], [2.0**100]
    truth = np.exp(1.0) / (np.exp(1.0) + 2.0**100 - 1)
    assert optimum(secret, PureDP(1.0), counts=counts)[0] == pytest.approx(truth, rel=1e-12)
    # with so many values the best test is against a typical one: its power at rate 2^-100
    power = float(GaussianDP(5.0).power(2.0**-100))
    found = optimum(secret, GaussianDP(5.0), counts=counts)[0]
    assert found == pytest.approx(power, rel=1e-6)
    with pytest.raises(InputError, match="counts"):
        optimum([0.5, 0.5], PureDP(1.0), np.eye(2), [1, 1])


@pytest.mark.parametrize("guarantee", [PureDP(1.0), GaussianDP(0.7), ApproximateDP(0.5, 0.02)])
def test_other_success_is_limited_by_programs(guarantee):
    success = np.array([[1, 0], [1, 1], [0, 1.0]])
    rows = [[0.3, 0.3, 0.4], [0.6, 0.1, 0.3]]
    found = optimum(rows, guarantee, success)
    whole = optimum_program(rows, guarantee, success)
    assert (found >= whole - 2e-4).all()  # which knows the profile at some points only
    assert (found <= whole + 2e-3).all()
    assert optimum([0.5, 0.5], guarantee, np.ones((2, 1)))[0] == 1
    # exact match is a success matrix too
    assert optimum(rows, guarantee, np.eye(3)) == pytest.approx(optimum(rows, guarantee), abs=1e-4)


@pytest.mark.repeats(16, 64, "most")
def test_a_question_needs_the_whole_prior_and_replaced_records(most):
    other = PureDP(1.0, adjacency="add-remove")
    for call in (optimum, optimum_program):
        with pytest.raises(InputError, match="replace-one"):
            call([0.5, 0.5], other)
    with pytest.raises(TooLargeError, match="at most 64"):
        optimum_program(np.full(65, 1 / 65), PureDP(1))
    assert optimum_program(np.full(most, 1 / most), PureDP(0.0))[0] == pytest.approx(1 / most)
    theorem = THEOREMS["one-target-optimum"]
    assert "the whole prior" in theorem.lacks(Question(threat(prior=0.5), PureDP(1.0)))
    near = threat(values=[0.2, 0.3, 0.5], within=1)
    said = theorem.bound(near, GaussianDP(1.0))
    assert said.value == optimum([0.2, 0.3, 0.5], GaussianDP(1.0), near.success)[0]


TWO_OF_FOUR = np.array(
    [[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1.0]]
)


def curve(rng: np.random.Generator) -> ProfileCurve:
    """Points of a profile under which events of several guesses bind too."""
    mu = float(rng.uniform(0.3, 2.5))
    points = np.linspace(0, 2.5 * mu, 4)
    return ProfileCurve(tuple(points.tolist()), tuple(GaussianDP(mu).profile(points).tolist()))


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize("success", [None, TWO_OF_FOUR, TWO_OF_FOUR[:, :3]])
@pytest.mark.one_in(2)
def test_it_is_the_optimum_over_all_channels(success):
    rng = np.random.default_rng(1)
    for _ in range(6):
        guarantee = curve(rng)
        rows = rng.dirichlet(np.ones(4), 3)
        found = optimum_program(rows, guarantee, success, epsilons=guarantee.points)
        for prior, value in zip(rows, found, strict=True):
            exact = exact_optimum(prior, guarantee, 1, success, epsilons=guarantee.points)
            assert value == pytest.approx(exact.value, abs=2 * SLACK)
            assert value >= exact.value - 1e-9


@pytest.mark.states("Narcissus theory", "4.6")
def test_events_of_several_guesses_are_found():
    prior, guarantee = [0.24, 0.18, 0.43, 0.15], ApproximateDP(1.1, 0.04)
    success = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]])
    exact = exact_optimum(prior, guarantee, 1, success).value
    assert optimum_program(prior, guarantee, success)[0] == pytest.approx(exact, abs=2 * SLACK)
    assert relaxed_optimum(prior, guarantee, success)[0] > exact + 5e-4


def test_events_found_for_one_prior_serve_the_next_and_change_nothing():
    rng = np.random.default_rng(3)
    guarantee = curve(rng)
    rows = rng.dirichlet(np.ones(5), 4)[[0, 1, 0, 2, 3, 1]]
    together = optimum_program(rows, guarantee)
    alone = [optimum_program(row[::-1], guarantee)[0] for row in rows]
    assert together == pytest.approx(alone, abs=2 * SLACK)
    assert together[0] == together[2]


def test_no_bound_is_below_the_best_guess(monkeypatch):
    solve = one_target.maximise
    monkeypatch.setattr(
        one_target, "maximise", lambda *program: replace(solve(*program), bound=0.0)
    )
    assert optimum_program([0.6, 0.4], PureDP(1.0))[0] == 0.6


def test_a_question_is_answered_by_the_program_where_it_is_small():
    theorem, point = THEOREMS["one-target-optimum-program"], ApproximateDP(0.5, 0.01)
    for values, guarantee, answered in [
        (20, point, True),
        (21, point, False),
        (2, PureDP(0.5), False),  # the closed form is exact
    ]:
        danger = threat(values=np.full(values, 1 / values))
        assert (theorem.lacks(Question(danger, guarantee)) is None) is answered
    danger = threat(values=[0.2, 0.3, 0.5], within=1)
    exact = exact_optimum([0.2, 0.3, 0.5], point, 1, danger.success)
    assert theorem.bound(danger, point).value == pytest.approx(exact.value, abs=2 * SLACK)


def test_many_people_at_once_are_each_alone():
    rng = np.random.default_rng(2)
    columns = [rng.dirichlet(np.ones(size), 5) for size in (2, 4, 3)]
    for guarantee in (PureDP(1.0), GaussianDP(0.7)):
        found = column_shares(columns, guarantee)
        for person in range(5):
            alone = [optimum(rows[person], guarantee)[0] for rows in columns]
            assert found[person] == pytest.approx(np.mean(alone), abs=1e-12)
    with pytest.raises(InputError, match="columns"):
        column_shares([], PureDP(1.0))


def test_the_theorem_is_about_columns_alone():
    theorem = THEOREMS["column-shares"]
    danger = threat_of_columns([[0.7, 0.3], [0.2, 0.5, 0.3]])
    assert danger.prior == pytest.approx(0.6)
    said = theorem.bound(danger, PureDP(1.0))
    assert said.value == column_shares([[[0.7, 0.3]], [[0.2, 0.5, 0.3]]], PureDP(1.0))[0]
    assert said.quantity == "mean share of 2 columns of one target"
    assert any("each column's distribution" in line for line in said.assumptions)
    lacking = THEOREMS["one-target"].bound(danger, PureDP(1.0))
    assert "a question about the success" in lacking.reason
    assert "a question about the columns" in theorem.bound(threat(prior=0.5), PureDP(1.0)).reason
    with pytest.raises(InputError, match="mean share"):
        Question(danger, PureDP(1.0), 2)
