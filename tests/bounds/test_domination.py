"""The domination theorem against the exact optimum: different targets, shared guesses."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from narcissus.bounds import (
    THEOREMS,
    PoissonBinomial,
    Question,
    certify,
    domination,
    exact_match_optimum,
    threat,
)
from narcissus.bounds.domination import dominate, dominate_point
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve, PureDP

from .conftest import cover, draw_guarantee, tail


def world(rng: np.random.Generator, *, targets: int) -> tuple[np.ndarray, np.ndarray]:
    values = int(rng.integers(2, 5 if targets == 1 else 4 if targets == 2 else 3))
    prior = rng.dirichlet(np.full(values, rng.choice([0.5, 1.0, 20.0])))
    if rng.random() < 0.25:
        prior = np.full(values, 1 / values)
    return prior, cover(rng, values)


@pytest.mark.states("Narcissus theory", "4.4")
@pytest.mark.repeats(20, 60)
def test_different_targets_and_shared_guesses(repeats):
    rng = np.random.default_rng(5)
    for _ in range(repeats):
        rows = rng.dirichlet(np.ones(3), 2)
        success = cover(rng, 3)
        guarantee = draw_guarantee(rng)
        v = int(rng.integers(1, 3))
        bound = domination(rows, guarantee, v, success)
        assert certify(bound, rows, guarantee, v, success).holds
        # One guess serving both targets is one of the attacks that the theorem covers.
        assert certify(bound, rows, guarantee, v, success, shared=True).holds


@pytest.mark.states("Narcissus theory", "4.4")
@pytest.mark.repeats(40, 150)
def test_domination_is_exact_under_pure_dp(repeats):
    rng = np.random.default_rng(21)
    exact = []
    for _ in range(repeats):
        targets = int(rng.choice([1, 2]))
        prior, success = world(rng, targets=targets)
        guarantee = PureDP(float(rng.uniform(0, 3)))
        v = int(rng.integers(1, targets + 1))
        bound = domination([prior] * targets, guarantee, v, success)
        verdict = certify(bound, [prior] * targets, guarantee, v, success)
        assert verdict.holds
        if (success.shape[0] == success.shape[1]) and (success.sum(axis=0) == 1).all():
            assert verdict.exact, (prior, guarantee)
        exact.append(verdict.exact)
    assert np.mean(exact) > 0.98  # theory 4.4 knows of one exception among covers in 6,858


@pytest.mark.states("Narcissus theory", "4.4")
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0])
def test_exact_match_has_its_closed_form_for_each_target(epsilon):
    rows = [[0.34, 0.446, 0.214, 0.0], [0.016, 0.416, 0.568, 0.0], [0.25] * 4]
    grown = math.exp(epsilon)
    optima = []
    for row in rows:
        mass = sorted(row, reverse=True)
        optima.append(max(grown * sum(mass[:k]) / (grown + k - 1) for k in range(1, 5)))
    assert exact_match_optimum(rows, epsilon) == pytest.approx(optima, rel=1e-13)
    assert exact_match_optimum(rows[0], epsilon).shape == (1,)
    for v in range(1, 4):
        found = domination(rows, PureDP(epsilon), v)
        assert found.value == pytest.approx(tail(optima, v), rel=1e-10)
        # each target works ``1 - o`` for what delta adds
        work = sum(1 - o for o in optima)
        more = domination(rows, ApproximateDP(epsilon, 1e-3), v).value
        assert more <= min(1.0, tail(optima, v) + 1e-3 * work) + 1e-9
    assert found.quantity == "probability that at least 3 of 3 targets are reconstructed"
    assert any("independent" in said for said in found.assumptions)


def test_everything_is_told_at_infinity_and_nothing_overflows():
    assert exact_match_optimum([0.25] * 4, math.inf).tolist() == [1]
    assert exact_match_optimum([[0.7, 0.2, 0.1]], 1e4) == pytest.approx([1], abs=1e-15)
    with pytest.raises(InputError, match="epsilon"):
        exact_match_optimum([0.5, 0.5], -1.0)


@pytest.mark.states("Narcissus theory", "4.4")
def test_many_values_take_the_best_single_point_in_closed_form():
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.ones(7), 4)
    guarantee = GaussianDP(0.6)
    points = guarantee.tangents()
    for v in (1, 3, 4):
        each = [
            tail(list(o), v) + float(guarantee.profile(e)) * float((1 - o).sum())
            for e in points
            for o in [exact_match_optimum(rows, e)]
        ]
        assert domination(rows, guarantee, v).value == pytest.approx(min(1.0, *each), rel=1e-10)
        # one point may be named
        one = domination(rows, guarantee, v, epsilons=points[3]).value
        assert one == pytest.approx(min(1.0, each[3]), rel=1e-10)


@pytest.mark.states("Narcissus theory", "4.4")
def test_few_values_share_the_work_among_points_where_that_is_smaller():
    curve = ProfileCurve((0.3, 1.0, 2.5), (0.05, 0.02, 1e-3))
    rows = [[0.5, 0.3, 0.2]] * 3
    gained = 0
    for v in (1, 2, 3):
        shared = domination(rows, curve, v).value
        alone = min(domination(rows, curve, v, epsilons=e).value for e in curve.points)
        assert shared <= alone + 1e-12
        gained += shared < alone - 1e-4
        assert certify(shared, rows[:2], curve, v).holds or v > 2
    assert gained


def test_the_program_is_for_up_to_20_priors_of_up_to_6_values(monkeypatch):
    asked = []

    def all_given_away(prior, *_):
        asked.append(prior)
        return 1.0, 0.0

    monkeypatch.setattr(sys.modules["narcissus.bounds.domination"], "dominate", all_given_away)
    curve, point = ProfileCurve((0.3, 1.0), (0.02, 0.005)), ApproximateDP(0.3, 0.02)
    for values, count, told in ((2, 20, True), (2, 21, False), (6, 1, True), (7, 1, False)):
        top = 0.4 + 0.001 * np.arange(count)[:, None]
        rows = np.hstack([top, np.repeat((1 - top) / (values - 1), values - 1, axis=1)])
        for guarantee, success, solved in [
            (curve, None, told),
            (point, None, False),
            (point, np.eye(values), True),
        ]:
            asked.clear()
            assert domination(rows, guarantee, count, success).value <= 1
            assert (len(asked) > 0) is solved


def test_rows_stand_for_as_many_targets_as_are_told():
    rows, counts = [[0.7, 0.3], [0.5, 0.5]], [3, 4]
    for guarantee in (PureDP(1), ApproximateDP(0.5, 1e-3), GaussianDP(0.5)):
        short = domination(rows, guarantee, 6, repeats=counts)
        spread = domination(np.repeat(rows, counts, axis=0), guarantee, 6)
        assert short.value == pytest.approx(spread.value, abs=1e-9)
        assert short.quantity == spread.quantity
        assert short.quantity == "probability that at least 6 of 7 targets are reconstructed"
    for wrong in ([3], [3, 0], [1, 2, 3], [-1, 2]):
        with pytest.raises(InputError, match="repeats"):
            domination(rows, PureDP(1.0), 1, repeats=wrong)
    assert domination(rows, PureDP(1.0), 1, repeats=[1, 1]).value < 1


def test_counts_at_the_ends():
    for success in (None, np.eye(2)):
        for count, value in ((0, 1), (-1, 1), (4, 0)):
            assert domination([[0.7, 0.3]] * 3, GaussianDP(1.0), count, success).value == value
        assert 0 < domination([[0.7, 0.3]] * 3, GaussianDP(1.0), 3, success).value < 1


def test_many_equal_targets_are_a_binomial_and_unequal_ones_are_summed():
    o = exact_match_optimum([0.7, 0.3], 0.5)[0]
    for n in (64, 65, 400):
        v = int(0.9 * n)
        found = domination([[0.7, 0.3]] * n, PureDP(0.5), v).value
        assert found == pytest.approx(stats.binom.sf(v - 1, n, o), rel=1e-9)
    rows = [[0.7, 0.3]] * 50 + [[0.5, 0.5]] * 50
    mixed = PoissonBinomial(np.repeat([o, exact_match_optimum([0.5, 0.5], 0.5)[0]], 50))
    assert domination(rows, PureDP(0.5), 80).value == pytest.approx(mixed.tail(80), rel=1e-9)


MODULE = sys.modules["narcissus.bounds.domination"]  # the room has a function of that name
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


def test_a_value_that_is_certain_is_guessed_if_a_guess_is_right_for_it():
    one = np.ones(1)
    assert dominate(np.array([0.0, 1.0]), np.eye(2), one, 0.1 * one, 1.0) == (1.0, 0.0)
    assert dominate(np.array([1.0, 0.0]), np.array([[0.0], [1.0]]), one, one, 1.0) == (0.0, 0.0)


def test_all_is_given_away_where_the_solver_finds_nothing(monkeypatch):
    monkeypatch.setattr(MODULE, "maximise", lambda *_: None)
    for world in worlds(3):
        assert dominate(*world) == (1.0, 0.0)
    mu, _ = dominate_point([[0.5, 0.3, 0.2], [0.6, 0.4, 0.0]], np.eye(3)[:, :2], 1.0)
    assert mu.tolist() == [[0.5, 0.3, 0.0], [0.6, 0.4, 0.0]]


def test_the_pair_is_feasible_whatever_the_solver_s_tolerance(monkeypatch):
    rng = np.random.default_rng(13)
    solve = MODULE.maximise

    def sloppy(*program):
        found = solve(*program)
        return replace(found, x=found.x + rng.normal(0, 0.01, found.x.shape))

    truths = [least(*world) for world in worlds(60)]
    monkeypatch.setattr(MODULE, "maximise", sloppy)
    near = 0
    for world, truth in zip(worlds(60), truths, strict=True):
        o, work = dominate(*world)
        assert o + world[-1] * work >= truth - TOLERANCE
        near += o + world[-1] * work < truth + 0.2
    assert near > 30


def test_all_is_given_away_where_the_repair_does_not_end(monkeypatch):
    one = np.ones(1)
    prior = np.array([0.6, 0.4])
    for share, allowed in ((1.001, False), (1.5, False), (1.0, True), (0.9, True)):
        need = (share * prior)[:, None]
        monkeypatch.setattr(MODULE, "_repair", lambda *_, need=need: need)
        found = dominate(prior, np.eye(2), one, 0.1 * one, 1.0)
        assert found[0] == pytest.approx(min(share, 1.0))
        assert (found[1] > 0) is allowed


ROUNDING = 1e-12


@st.composite
def small_worlds(draw):
    """Priors with zeros and tiny masses, and any success in which every value can be right."""
    values = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.dirichlet(np.full(values, draw(st.sampled_from([0.05, 0.5, 3.0]))), 3)
    rows[rows < draw(st.sampled_from([0.0, 0.05]))] = 0
    rows /= rows.sum(axis=1, keepdims=True)
    success = rng.random((values, draw(st.integers(1, 5)))) < draw(st.sampled_from([0.3, 0.6]))
    return rows, success.astype(float), draw(st.sampled_from([0.0, 0.3, 1.0, 4.0, 40.0, 600.0]))


def test_the_solver_s_trouble_with_one_target_is_nobody_else_s():
    tiny = [3.29355120e-16, 1.10639049e-10, 9.99062307e-01, 7.23205452e-10, 9.37692395e-04]
    other = [0.2, 0.2, 0.2, 0.1, 0.3]
    rows = np.array([other, tiny, other])
    rows /= rows.sum(axis=1, keepdims=True)
    success = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    mu, _ = dominate_point(rows, success, 40.0)  # one guess only: it is right as often as it is
    assert mu.sum(axis=1) == pytest.approx((rows @ success)[:, 0], rel=1e-9)


@pytest.mark.states("Narcissus theory", "4.4")
@given(small_worlds())
def test_the_pair_is_feasible_and_the_least(world):
    rows, success, epsilon = world
    mu, theta = dominate_point(rows, success, epsilon)
    assert (mu >= 0).all()
    assert (mu <= rows * (1 + ROUNDING)).all()
    # D(S) - mu(S) <= e^-eps mu(not S): then there are flows, and these are some
    short = (rows - mu) @ success - np.exp(-epsilon) * (mu @ (1 - success))
    assert (short <= ROUNDING).all()
    for prior, m, work in zip(rows, mu, theta, strict=True):
        least, _ = dominate(prior, success, np.array([epsilon]), np.zeros(1), 1.0)
        assert m.sum() <= least + 1e-6
        if least < 1:  # it gives up, with 1, where masses are below its rounding
            assert m.sum() >= least - 1e-6
        assert work == pytest.approx(_work(prior, m, success), rel=1e-9, abs=1e-12)


def _work(prior, mu, success) -> float:
    """The sum of the largest ``(D(x) - mu_x) mu_y / mu(not S)`` over sets with x, without y."""
    total = 0.0
    for x, y in permutations(range(prior.size), 2):
        outside = [mu[inside == 0].sum() for inside in success.T if inside[x] and not inside[y]]
        total += (prior[x] - mu[x]) * mu[y] * max((1 / m for m in outside if m > 0), default=0.0)
    return total


@pytest.mark.parametrize("targets", [10**7, 10**7 + 1])
def test_the_theorem_asks_for_the_whole_prior(targets):
    theorem, many = THEOREMS["domination"], threat(values=[0.5, 0.5], targets=targets)
    assert (theorem.lacks(Question(many, PureDP(1.0), 2)) is None) is (targets <= 10**7)
    near = threat(values=[0.5, 0.3, 0.2], within=1, targets=2)
    found = theorem.bound(near, PureDP(1.0), 2).value
    assert certify(found, [[0.5, 0.3, 0.2]] * 2, PureDP(1.0), 2, near.success).exact
    assert theorem.lacks(Question(threat(prior=0.5, targets=4), PureDP(1.0), 2)) is not None
    with pytest.raises(InputError, match="replace-one"):
        domination([[0.5, 0.5]], PureDP(1.0, adjacency="add-remove"), 1)
