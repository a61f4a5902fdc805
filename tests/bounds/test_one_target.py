"""The one-target optimum against its formula, minimised elsewhere, and against exact optima."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from narcissus.bounds import (
    THEOREMS,
    Question,
    exact_match_optimum,
    exact_optimum,
    optimum,
    optimum_program,
    threat,
)
from narcissus.errors import InputError
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
    """Under (0, delta)-DP the best mechanism tells all with probability delta, else nothing."""
    for prior in PRIORS[:5]:
        for delta in (0.0, 0.1, 0.7):
            truth = max(prior) + delta * (1 - max(prior))
            assert optimum(prior, ApproximateDP(0.0, delta))[0] == pytest.approx(truth, abs=1e-12)


@pytest.mark.states("Narcissus theory", "4.6")
def test_approximate_dp_has_a_closed_form_that_is_exact():
    """Against the program over all mechanisms, and the printed value of a Zipf prior."""
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
    """Alternatives to the bound from multipliers, which loses where one point says most."""
    prior = [0.5, 0.3, 0.2]
    one = optimum(prior, ApproximateDP(2.0, 0.01))[0]
    assert optimum(prior, ProfileCurve((2.0,), (0.01,)))[0] == pytest.approx(one, abs=1e-12)
    two = ProfileCurve((1.0, 2.0), (0.1, 0.01))
    assert optimum(prior, two)[0] <= one
    assert optimum(prior, two)[0] >= exact_optimum(prior, two).value - SLACK


@pytest.mark.states("Narcissus theory", "4.6")
@pytest.mark.parametrize("mu", [0.1, 0.268, 1.0, 2.5])
def test_two_values_are_told_apart_by_the_best_test(mu):
    """``max_a [p (1 - a) + (1 - p) power(a)]`` under any trade-off function."""
    for p in (0.5, 0.582, 0.8):

        def success(a, p=p):
            return p * (1 - a) + (1 - p) * float(GaussianDP(mu).power(a))

        found = optimize.minimize_scalar(
            lambda a: -success(a), bounds=(0, 1), options={"xatol": 1e-10}
        )
        assert optimum([p, 1 - p], GaussianDP(mu))[0] == pytest.approx(-found.fun, abs=1e-6)


@pytest.mark.states("Narcissus theory", "4.6")
def test_it_is_near_the_exact_optimum_and_never_below():
    """Events of several guesses are left out, which may cost some hundredths."""
    rng = np.random.default_rng(2)
    for guarantee in (PureDP(1.0), ApproximateDP(0.4, 0.05), ApproximateDP(2.0, 0.01)):
        for _ in range(8):
            prior = rng.dirichlet(np.ones(3))
            exact = exact_optimum(prior, guarantee).value
            found = optimum(prior, guarantee)[0]
            assert exact - SLACK <= found <= exact + 0.03
            if isinstance(guarantee, PureDP):
                assert found == pytest.approx(exact, abs=SLACK)
                assert found == pytest.approx(exact_match_optimum(prior, 1.0)[0], abs=1e-15)


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
    """A uniform secret of 100 bits: ``e^eps / (e^eps + 2^100 - 1)``, and the Gaussian test's."""
    secret, counts = [2.0**-100], [2.0**100]
    truth = np.exp(1.0) / (np.exp(1.0) + 2.0**100 - 1)
    assert optimum(secret, PureDP(1.0), counts=counts)[0] == pytest.approx(truth, rel=1e-12)
    # with so many values the best test is against a typical one: its power at rate 2^-100
    power = float(GaussianDP(5.0).power(2.0**-100))
    found = optimum(secret, GaussianDP(5.0), counts=counts)[0]
    assert found == pytest.approx(power, rel=1e-6)
    with pytest.raises(InputError, match="counts"):
        optimum([0.5, 0.5], PureDP(1.0), np.eye(2), [1, 1])


def test_many_entries_are_gathered_where_epsilon_is_chosen_and_nowhere_else():
    prior = np.arange(1, 5001) ** -0.7
    prior /= prior.sum()
    for guarantee in (GaussianDP(0.7), GaussianDP(3.0), ApproximateDP(0.5, 0.02)):
        counted = optimum(prior, guarantee, counts=np.ones(5000))[0]
        assert counted == pytest.approx(optimum(prior, guarantee)[0], abs=1e-7)


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


def test_a_question_needs_the_whole_prior_and_replaced_records():
    with pytest.raises(InputError, match="replace-one"):
        optimum([0.5, 0.5], PureDP(1.0, adjacency="add-remove"))
    theorem = THEOREMS["one-target-optimum"]
    assert theorem.own
    assert not theorem.dear
    question = Question(threat(prior=0.5), PureDP(1.0))
    assert "the whole prior" in theorem.lacks(question)
    near = threat(values=[0.2, 0.3, 0.5], within=1)
    said = theorem.bound(near, GaussianDP(1.0))
    assert said.value == optimum([0.2, 0.3, 0.5], GaussianDP(1.0), near.success)[0]
