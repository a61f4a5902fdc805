"""The domination theorem against the exact optimum: different targets, shared guesses."""

from __future__ import annotations

import math
import sys
from itertools import product

import numpy as np
import pytest
from scipy import stats

from narcissus.bounds import (
    THEOREMS,
    PoissonBinomial,
    Question,
    certify,
    domination,
    exact_match_optimum,
    threat,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve, PureDP

from .conftest import cover


def world(rng: np.random.Generator, *, targets: int) -> tuple[np.ndarray, np.ndarray]:
    values = int(rng.integers(2, 5 if targets == 1 else 4 if targets == 2 else 3))
    prior = rng.dirichlet(np.full(values, rng.choice([0.5, 1.0, 20.0])))
    if rng.random() < 0.25:
        prior = np.full(values, 1 / values)
    return prior, cover(rng, values)


def draw_guarantee(rng: np.random.Generator):
    epsilon = float(rng.choice([0.0, 0.1, 0.5, 1.0, 2.0, 4.0]) * rng.uniform(0.5, 1))
    delta = float(rng.choice([0.0, 0.001, 0.02, 0.2]) * rng.uniform(0.5, 1))
    return ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)


@pytest.mark.states("Narcissus theory", "4.4")
def test_different_targets_and_shared_guesses():
    rng = np.random.default_rng(5)
    for _ in range(60):
        rows = rng.dirichlet(np.ones(3), 2)
        success = cover(rng, 3)
        guarantee = draw_guarantee(rng)
        v = int(rng.integers(1, 3))
        bound = domination(rows, guarantee, v, success)
        assert certify(bound, rows, guarantee, v, success).holds
        # One guess serving both targets is one of the attacks that the theorem covers.
        assert certify(bound, rows, guarantee, v, success, shared=True).holds


@pytest.mark.states("Narcissus theory", "4.4")
def test_domination_is_exact_under_pure_dp():
    rng = np.random.default_rng(21)
    exact = []
    for _ in range(150):
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


def tail(chances: list[float], v: int) -> float:
    """The chance of at least ``v`` successes, outcome by outcome."""
    return sum(
        math.prod(c if hit else 1 - c for c, hit in zip(chances, outcome, strict=True))
        for outcome in product((0, 1), repeat=len(chances))
        if sum(outcome) >= v
    )


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
    assert found.quantity == "probability that at least 3 of 3 targets fall"
    assert any("independent" in said for said in found.assumptions)


def test_everything_is_told_at_infinity_and_nothing_overflows():
    assert exact_match_optimum([0.25] * 4, math.inf).tolist() == [1]
    assert exact_match_optimum([[0.7, 0.2, 0.1]], 1e4) == pytest.approx([1], abs=1e-15)
    with pytest.raises(InputError, match="epsilon"):
        exact_match_optimum([0.5, 0.5], -1.0)


@pytest.mark.states("Narcissus theory", "4.4")
def test_many_values_take_the_best_single_point_in_closed_form():
    """Seven values: no program; each point's own bound, and the least of them."""
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
    """Beyond, and under one point, the closed form; other success always takes it."""
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
        assert short.quantity == spread.quantity == "probability that at least 6 of 7 targets fall"
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


def test_the_theorem_asks_for_the_whole_prior():
    theorem = THEOREMS["domination"]
    danger = threat(values=[0.5, 0.3, 0.2], targets=4)
    said = theorem.bound(danger, PureDP(1.0), 2)
    assert said.value == domination([[0.5, 0.3, 0.2]] * 4, PureDP(1.0), 2).value
    near = threat(values=[0.5, 0.3, 0.2], within=1, targets=2)
    found = theorem.bound(near, PureDP(1.0), 2).value
    assert certify(found, [[0.5, 0.3, 0.2]] * 2, PureDP(1.0), 2, near.success).exact
    assert theorem.lacks(Question(threat(prior=0.5, targets=4), PureDP(1.0), 2)) is not None
    assert theorem.lacks(Question(danger, PureDP(1.0))) is not None
    for targets, answered in ((10**7, True), (10**7 + 1, False)):
        many = threat(values=[0.5, 0.5], targets=targets)
        assert (theorem.lacks(Question(many, PureDP(1.0), 2)) is None) is answered
    assert theorem.own
    assert not theorem.dear
    assert not theorem.audits


def test_other_neighbours_are_refused():
    with pytest.raises(InputError, match="replace-one"):
        domination([[0.5, 0.5]], PureDP(1.0, adjacency="add-remove"), 1)
