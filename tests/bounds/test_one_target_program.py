"""The program that grows, against the program with everything in it from the start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from narcissus.bounds import (
    THEOREMS,
    Question,
    exact_optimum,
    one_target,
    optimum,
    optimum_program,
    threat,
)
from narcissus.bounds.one_target import relaxed_optimum
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve, PureDP, as_gaussian

SLACK = 1e-6  # the solvers' tolerance
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
    """Where single guesses alone allow more: two guesses are right about the same values."""
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


def test_many_values_and_many_points_are_solved():
    """Never above the bound from single guesses, never below what a mechanism reaches."""
    prior = np.random.default_rng(4).dirichlet(np.ones(12))
    found = optimum_program(prior, GaussianDP(1.0))[0]
    assert found <= optimum(prior, GaussianDP(1.0))[0] + 2e-4
    # randomized response is such a mechanism where its best test is
    inside = PureDP(0.8)
    assert as_gaussian(inside).mu <= 1.0
    assert found >= optimum(prior, inside)[0] - SLACK


def test_a_valid_bound_comes_out_where_the_solver_gives_up(monkeypatch):
    monkeypatch.setattr(one_target, "maximise", lambda *_: None)
    assert optimum_program([0.6, 0.4], PureDP(1.0))[0] == 1


def test_no_bound_is_below_the_best_guess(monkeypatch):
    """Whatever the solver says: the best guess needs no release."""
    solve = one_target.maximise
    monkeypatch.setattr(
        one_target, "maximise", lambda *program: replace(solve(*program), bound=0.0)
    )
    assert optimum_program([0.6, 0.4], PureDP(1.0))[0] == 0.6


def test_what_is_too_large_or_about_other_neighbours_is_refused():
    with pytest.raises(TooLargeError, match="at most 64"):
        optimum_program(np.full(65, 1 / 65), PureDP(1))
    with pytest.raises(InputError, match="replace-one"):
        optimum_program([0.5, 0.5], PureDP(1.0, adjacency="add-remove"))
    assert optimum_program(np.full(64, 1 / 64), PureDP(0.0))[0] == pytest.approx(1 / 64)


def test_a_question_is_answered_by_the_program_where_it_is_small():
    theorem = THEOREMS["one-target-optimum-program"]
    assert theorem.dear
    assert theorem.own
    for values, guarantee, answered in [
        (20, ApproximateDP(0.5, 0.01), True),
        (21, ApproximateDP(0.5, 0.01), False),
        (2, PureDP(0.5), False),  # the closed form is exact
    ]:
        danger = threat(values=np.full(values, 1 / values))
        assert (theorem.lacks(Question(danger, guarantee)) is None) is answered
    danger = threat(values=[0.2, 0.3, 0.5], within=1)
    said = theorem.bound(danger, ApproximateDP(0.5, 0.01))
    exact = exact_optimum([0.2, 0.3, 0.5], ApproximateDP(0.5, 0.01), 1, danger.success)
    assert said.value == pytest.approx(exact.value, abs=2 * SLACK)
