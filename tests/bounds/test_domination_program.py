"""The program of the domination theorem, against the theorem's conditions as they stand."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import optimize

from narcissus.bounds.domination import dominate

domination = sys.modules["narcissus.bounds.domination"]  # the room has a function of that name

TOLERANCE = 1e-7  # of the solvers


def least(prior, success, epsilons, deltas, rate) -> float:
    """The least ``sum mu + rate sum_k delta_k Theta_k``, one dense row for each condition.

    ``D(x) [x in S] <= mu_x + sum_k (sum_y f_kxy - e^eps_k sum_y f_kyx)`` with flows ``f`` in
    ``[0, theta]``, for every success set ``S``.
    """
    values, points = len(prior), len(epsilons)
    arcs = [(k, x, y) for k in range(points) for x, y in permutations(range(values), 2)]
    sets = success.T
    size = values + len(arcs) * (1 + len(sets))
    rows, limits = [], []
    for number, inside in enumerate(sets):
        flows = values + len(arcs) * (1 + number)
        for x in range(values):
            row = np.zeros(size)
            row[x] = -1.0
            for a, (k, to, giver) in enumerate(arcs):
                row[flows + a] = np.exp(epsilons[k]) * (giver == x) - (to == x)
            rows.append(row)
            limits.append(-prior[x] * inside[x])
        for a in range(len(arcs)):
            row = np.zeros(size)
            row[flows + a], row[values + a] = 1.0, -1.0
            rows.append(row)
            limits.append(0.0)
    cost = np.concatenate([np.ones(values), [rate * deltas[k] for k, _, _ in arcs]])
    most = [(0.0, d) for d in prior] + [(0.0, None)] * (size - values)
    found = optimize.linprog(
        np.pad(cost, (0, size - cost.size)), A_ub=np.array(rows), b_ub=limits, bounds=most
    )
    assert found.success
    return float(found.fun)


def worlds(count: int):
    """Priors, success sets and points of a profile, with what work costs."""
    rng = np.random.default_rng(12)
    for number in range(count):
        values = int(rng.integers(2, 5))
        prior = rng.dirichlet(np.full(values, rng.choice([0.5, 2.0])))
        success = np.eye(values)
        if number % 3:
            success = (rng.random((values, int(rng.integers(1, 4)))) < 0.5).astype(float)
        points = int(rng.integers(1, 4))
        epsilons = np.sort(rng.uniform(0, 3, points))
        deltas = np.sort(rng.uniform(0, 0.3, points))[::-1]
        yield prior, success, epsilons, deltas, float(rng.choice([0.0, 0.3, 1.0, 4.0]))


@pytest.mark.states("Narcissus theory", "4.4")
def test_success_and_work_are_the_least_that_the_conditions_allow():
    worked = 0
    for prior, success, epsilons, deltas, rate in worlds(60):
        o, work = dominate(prior, success, epsilons, deltas, rate)
        truth = least(prior, success, epsilons, deltas, rate)
        assert o + rate * work == pytest.approx(truth, abs=TOLERANCE)
        assert work >= 0
        assert 0 <= o <= 1
        worked += work > 1e-3
    assert worked > 20


def test_values_that_never_occur_and_guesses_that_repeat_change_nothing():
    for prior, success, epsilons, deltas, rate in worlds(6):
        plain = dominate(prior, success, epsilons, deltas, rate)
        wider = np.insert(np.hstack([success, success]), 1, 1.0, axis=0)
        found = dominate(np.insert(prior, 1, 0.0), wider, epsilons, deltas, rate)
        # whatever is right for a value that never occurs
        assert found[0] + rate * found[1] == pytest.approx(
            plain[0] + rate * plain[1], abs=TOLERANCE
        )


def test_a_value_that_is_certain_is_guessed_if_a_guess_is_right_for_it():
    one = np.ones(1)
    assert dominate(np.array([0.0, 1.0]), np.eye(2), one, 0.1 * one, 1.0) == (1.0, 0.0)
    assert dominate(np.array([1.0, 0.0]), np.array([[0.0], [1.0]]), one, one, 1.0) == (0.0, 0.0)


def test_all_is_given_away_where_the_solver_finds_nothing(monkeypatch):
    monkeypatch.setattr(domination, "maximise", lambda *_: None)
    for world in worlds(3):
        assert dominate(*world) == (1.0, 0.0)


def test_the_pair_is_feasible_whatever_the_solver_s_tolerance(monkeypatch):
    """A solver that is off by a part in a hundred costs sharpness; nothing comes out too low."""
    rng = np.random.default_rng(13)
    solve = domination.maximise

    def sloppy(*program):
        found = solve(*program)
        return replace(found, x=found.x + rng.normal(0, 0.01, found.x.shape))

    truths = [least(*world) for world in worlds(60)]
    monkeypatch.setattr(domination, "maximise", sloppy)
    near = 0
    for world, truth in zip(worlds(60), truths, strict=True):
        o, work = dominate(*world)
        assert o + world[-1] * work >= truth - TOLERANCE
        near += o + world[-1] * work < truth + 0.2
    assert near > 30


def test_all_is_given_away_where_the_repair_does_not_end(monkeypatch):
    """Never a ``mu`` above the prior, which the theorem does not allow."""
    one = np.ones(1)
    prior = np.array([0.6, 0.4])
    for share, allowed in ((1.001, False), (1.5, False), (1.0, True), (0.9, True)):
        need = (share * prior)[:, None]
        monkeypatch.setattr(domination, "_repair", lambda *_, need=need: need)
        found = dominate(prior, np.eye(2), one, 0.1 * one, 1.0)
        assert found[0] == pytest.approx(min(share, 1.0))
        assert (found[1] > 0) is allowed
