"""The interpolation theorem: reference values, the plain sum, all mechanisms of small worlds."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest

from narcissus.bounds import (
    THEOREMS,
    Question,
    certify,
    domination,
    exact_match_optimum,
    exact_optimum,
    interpolation,
    interpolation_tails,
    optimum,
    threat,
)
from narcissus.bounds.interpolation import target_multipliers
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve, PureDP

HERE = pytest.mark.states("Narcissus theory", "4.10")


def plainly(o: np.ndarray, c: np.ndarray) -> list[float]:
    """The bound from all patterns of successes, one by one."""
    n = len(o)
    found = [0.0] * (n + 2)
    for pattern in product((0, 1), repeat=n):
        chance = np.where(pattern, o, 1 - o)
        for v in range(n + 2):
            found[v] += chance.prod() * (sum(pattern) >= v)
            for i in range(n):
                if pattern[i] == 0:  # the pattern of the others, once
                    rest = np.delete(chance, i).prod()
                    found[v] += c[i] * rest / (1 + abs(sum(pattern) - (v - 1)))
    least = np.minimum.accumulate(np.minimum(found, 1.0))
    least[0], least[-1] = 1.0, 0.0
    return least.tolist()


@HERE
@pytest.mark.parametrize(
    ("priors", "guarantee", "v", "value"),
    [
        ([[0.7, 0.3]] * 2, ApproximateDP(1.0, 0.01), 2, 0.5391021789346379),
        ([[0.7, 0.3]] * 2, ApproximateDP(1.0, 0.01), 1, 0.9310832209664718),
        ([[0.7, 0.3]] * 12, ApproximateDP(1.0, 0.001), 9, 0.5914283305687356),
        ([[0.7, 0.3]] * 100, ApproximateDP(1.0, 1e-5), 85, 0.0035095605947111897),
        (
            [[0.34, 0.446, 0.214], [0.016, 0.416, 0.568]],
            ApproximateDP(1.0, 0.01),
            2,
            0.42029202396875465,
        ),
    ],
)
def test_reference_values(priors, guarantee, v, value):
    _, _, o, c = target_multipliers(priors, guarantee, guarantee.epsilon)
    assert interpolation_tails(o, c)[v] == pytest.approx(value, rel=1e-12)
    assert interpolation(priors, guarantee, v).value <= value * (1 + 1e-12)


@HERE
@pytest.mark.parametrize(
    ("prior", "most"),
    [
        ([0.58, 0.42], {1: 71, 3: 88, 10: 100}),
        ([0.75, 0.25], {1: 82, 3: 88, 10: 100}),
        ([0.742, 0.1, 0.08, 0.05, 0.028], {1: 81, 3: 81, 10: 100}),
    ],
)
def test_at_most_so_many_of_a_hundred(prior, most):
    for epsilon, v in most.items():
        guarantee = GaussianDP.from_epsilon_delta(epsilon, 1e-5)
        rows = np.array([prior]) / np.sum(prior)
        assert interpolation(rows, guarantee, v + 1, repeats=[100]).value <= 0.05
        assert interpolation(rows, guarantee, v, repeats=[100]).value > 0.05


MIX = np.array(
    [
        [0.58, 0.42, 0, 0, 0],
        [0.75, 0.25, 0, 0, 0],
        [0.95, 0.05, 0, 0, 0],
        [0.742, 0.1, 0.08, 0.05, 0.028],
        [0.3, 0.25, 0.2, 0.15, 0.1],
    ]
)


@HERE
@pytest.mark.parametrize(
    ("n", "most"),
    [(100, {1: 75, 3: 84}), pytest.param(1000, {1: 707, 3: 808}, marks=pytest.mark.nightly)],
)
def test_at_most_so_many_of_five_kinds_of_people(n, most):
    """Less than by the published form, at one point and without a coin: 76, 85, 715 and 819."""
    for epsilon, v in most.items():
        guarantee = GaussianDP.from_epsilon_delta(epsilon, 1e-5)
        assert interpolation(MIX, guarantee, v + 1, repeats=[n // 5] * 5).value <= 0.05
        assert interpolation(MIX, guarantee, v, repeats=[n // 5] * 5).value > 0.05


@HERE
def test_tails_are_the_sum_over_all_patterns():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 7):
        o, c = rng.random(n), rng.random(n) * 0.2
        assert interpolation_tails(o, c) == pytest.approx(plainly(o, c), abs=1e-12)
    assert interpolation_tails([0.0, 1.0, 1.0], [0, 0, 0]).tolist() == [1, 1, 1, 0, 0]


@HERE
def test_many_targets_are_summed_by_transforms_to_the_same_numbers(monkeypatch):
    """Never below the plain sum of positive terms, and above by no more than is declared."""
    module = sys.modules["narcissus.bounds.interpolation"]
    rng = np.random.default_rng(1)
    for n in (513, 700, 1025):
        o, c = rng.random(n), rng.random(n) * 1e-3
        large = interpolation_tails(o, c)
        monkeypatch.setattr(module, "_SMALL", 2000)
        small = interpolation_tails(o, c)
        monkeypatch.undo()
        assert (large >= small * (1 - 1e-9) - 1e-15).all()
        assert large == pytest.approx(small, abs=1e-9)
        assert (np.diff(large) <= 0).all()


@HERE
@pytest.mark.parametrize("worlds", [50, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_no_mechanism_of_a_small_world_exceeds_it(worlds):
    rng = np.random.default_rng(2)
    strict = 0
    for _ in range(worlds):
        values = int(rng.integers(2, 4))
        rows = rng.dirichlet(np.ones(values), 2)
        success = None
        if rng.random() < 0.5:
            success = (rng.random((values, values + 1)) < 0.5).astype(float)
            success[0, 0], success[1, 0] = 1.0, 0.0
        guarantee = ApproximateDP(rng.uniform(0, 2), rng.choice([0.001, 0.02, 0.2]))
        v = int(rng.integers(1, 3))
        bound = interpolation(rows, guarantee, v, success)
        assert certify(bound, rows, guarantee, v, success).holds
        assert certify(bound, rows, guarantee, v, success, shared=True).holds
        strict += bound.value < domination(rows, guarantee, v, success).value - 1e-6
    assert strict > 10  # else nothing was gained, and nothing tested


@HERE
@pytest.mark.parametrize("worlds", [20, pytest.param(5000, marks=pytest.mark.nightly)])
def test_several_points_at_once_hold_too(worlds):
    """A profile of two points, against the program over all mechanisms that have both."""
    rng = np.random.default_rng(3)
    for _ in range(worlds):
        low = rng.uniform(0.1, 1)
        curve = ProfileCurve((low, low + 1), (0.15, 0.15 * rng.uniform(0.05, 0.6)))
        rows = rng.dirichlet(np.ones(3), 2)
        for v in (1, 2):
            bound = interpolation(rows, curve, v, epsilons=rng.uniform(0, 2.5, 4))
            assert certify(bound, rows, curve, v).holds


@HERE
def test_one_target_is_the_bound_on_one_target():
    rng = np.random.default_rng(4)
    for guarantee in (GaussianDP(1.0), ApproximateDP(1.0, 0.05)):
        for _ in range(5):
            prior = rng.dirichlet(np.ones(4))
            _, _, o, c = target_multipliers(prior, guarantee, 0.7)
            assert interpolation_tails(o, c)[1] == pytest.approx(float(o[0] + c[0]))
            assert interpolation(prior, guarantee, 1).value >= optimum(prior, guarantee)[0] - 1e-9


@HERE
def test_it_is_never_above_domination_at_the_same_point():
    rng = np.random.default_rng(5)
    for _ in range(20):
        rows = rng.dirichlet(np.ones(4), 6)
        epsilon = float(rng.uniform(0.05, 3))
        guarantee = GaussianDP(float(rng.uniform(0.2, 2)))
        _, _, o, c = target_multipliers(rows, guarantee, epsilon)
        assert o == pytest.approx(exact_match_optimum(rows, epsilon))
        assert (c <= guarantee.profile(epsilon) * (1 - o) + 1e-12).all()
        for v in range(1, 7):
            now = interpolation(rows, guarantee, v, epsilons=[epsilon]).value
            assert now <= domination(rows, guarantee, v, epsilons=[epsilon]).value + 1e-12


@HERE
def test_targets_of_their_own_points_gain():
    """Five kinds of people, 20 of each: most that fall with 95% confidence, and what is gained."""
    rows = np.zeros((5, 5))
    for row, prior in zip(
        rows,
        ([0.58, 0.42], [0.75, 0.25], [0.95, 0.05], [0.75, 0.1, 0.08, 0.07], [0.3, 0.25, 0.2, 0.25]),
        strict=True,
    ):
        row[: len(prior)] = prior
    guarantee = GaussianDP.from_epsilon_delta(3.0, 1e-5)

    def tail(v: int, points) -> float:
        return interpolation(rows, guarantee, v, repeats=[20] * 5, epsilons=points).value

    points = guarantee.tangents(24)
    gains = [min(tail(v, [e]) for e in points) - tail(v, points) for v in (82, 84, 86)]
    assert min(gains) >= -1e-12
    assert max(gains) > 1e-4


@HERE
def test_larger_numbers_are_valid_and_change_the_tail_upwards_at_one_target():
    assert interpolation_tails([0.5], [0.1])[1] == pytest.approx(0.6)
    assert interpolation_tails([0.5], [7.0])[1] == 1.0


@HERE
def test_means_over_a_population_limit_people_who_are_drawn_from_it():
    """Two kinds of people, two drawn: the mean over all draws of the program's optimum."""
    rng = np.random.default_rng(6)
    for _ in range(12):
        kinds = rng.dirichlet(np.ones(2), 2)
        share = float(rng.uniform(0.2, 0.8))
        guarantee = ApproximateDP(rng.uniform(0.1, 2), rng.choice([0.001, 0.05]))
        _, _, o, c = target_multipliers(kinds, guarantee, guarantee.epsilon)
        weights = np.array([share, 1 - share])
        for v in (1, 2):
            truth = sum(
                weights[i] * weights[j] * exact_optimum(kinds[[i, j]], guarantee, v).value
                for i, j in product((0, 1), repeat=2)
            )
            most, cost = float(weights @ o), float(weights @ c)
            for more in (0.0, 0.1, 0.5):  # limits from above are valid as well
                raised = most + more * (1 - most)
                assert interpolation_tails([raised] * 2, [cost] * 2)[v] >= truth - 1e-6


def test_what_is_no_number_is_refused():
    with pytest.raises(InputError, match="one length"):
        interpolation_tails([0.5, 0.5], [0.1])
    with pytest.raises(InputError, match="at least 0"):
        interpolation_tails([0.5], [-0.1])
    with pytest.raises(InputError, match="at least 0"):
        interpolation_tails([0.5], [np.nan])
    with pytest.raises(InputError, match="repeats"):
        interpolation([[0.5, 0.5]], GaussianDP(1.0), 1, repeats=[0])
    with pytest.raises(InputError, match="replace-one"):
        interpolation([[0.5, 0.5]], PureDP(1.0, adjacency="add-remove"), 1)
    assert interpolation([[0.5, 0.5]], GaussianDP(1.0), 0).value == 1
    assert interpolation([[0.5, 0.5]], GaussianDP(1.0), 2).value == 0


def test_a_question_of_the_registry_is_answered():
    theorem = THEOREMS["interpolation"]
    danger = threat(values=[0.7, 0.3], targets=12)
    bound = theorem.bound(danger, ApproximateDP(1.0, 0.001), 9)
    assert 0.589582 < bound.value < 0.5913697611351647  # the pure optimum, and the coin of 1/2
    assert theorem.lacks(Question(danger, PureDP(1.0), 9)) is not None
