"""The search for one count: never worse than any common point, with a coin or without."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import certify, interpolation, interpolation_tails
from narcissus.bounds.interpolation import target_multipliers
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve

HERE = pytest.mark.states("Narcissus theory", "4.10")


@HERE
def test_it_is_never_worse_than_the_best_common_point():
    rng = np.random.default_rng(0)
    gained = 0.0
    for _ in range(8):
        rows = rng.dirichlet(np.ones(4), 3)
        repeats = rng.integers(1, 9, 3)
        guarantee = GaussianDP(float(rng.uniform(0.3, 2)))
        points = guarantee.tangents(20)
        who = np.repeat(np.arange(3), repeats)
        v = int(rng.integers(1, who.size + 1))
        common = 1.0
        for epsilon in points:
            _, _, o, c = target_multipliers(rows, guarantee, float(epsilon))
            common = min(common, interpolation_tails(o[who], c[who])[v])
        found = interpolation(rows, guarantee, v, repeats=repeats, epsilons=points).value
        assert found <= common + 1e-12
        gained = max(gained, common - found)
    assert gained > 1e-3  # by points of their own, and by coins


@HERE
def test_own_points_and_coins_hold_against_all_mechanisms():
    """A profile of two points, so that targets may differ in theirs."""
    rng = np.random.default_rng(1)
    for _ in range(12):
        low = rng.uniform(0.1, 1)
        curve = ProfileCurve((low, low + 1), (0.15, 0.15 * rng.uniform(0.05, 0.6)))
        rows = rng.dirichlet(np.ones(2), 3)
        v = int(rng.integers(1, 4))
        assert certify(interpolation(rows, curve, v), rows, curve, v).holds


@HERE
def test_many_equal_targets_are_those_one_by_one():
    """The sum over one law, the transforms, and the order of the kinds change nothing."""
    guarantee = ApproximateDP(1.0, 1e-4)
    one = interpolation([[0.6, 0.4]], guarantee, 75, repeats=[100]).value
    each = interpolation([[0.6, 0.4]] * 100, guarantee, 75).value
    assert one == pytest.approx(each, rel=1e-9)
    mixed = [[0.6, 0.4], [0.7, 0.3]]
    first = interpolation(mixed, guarantee, 75, repeats=[60, 40]).value
    other = interpolation(mixed[::-1], guarantee, 75, repeats=[40, 60]).value
    assert first == pytest.approx(other, rel=1e-9)


@HERE
def test_the_table_of_a_hundred_gains_by_the_coin():
    """Fair bits at epsilon 1: 70 with 95% confidence, where without a coin it is 71."""
    guarantee = GaussianDP.from_epsilon_delta(1.0, 1e-5)
    assert 0.04 < interpolation([[0.5, 0.5]], guarantee, 71, repeats=[100]).value < 0.05
    plain = 1.0
    for epsilon in guarantee.tangents():
        _, _, o, c = target_multipliers([[0.5, 0.5]], guarantee, float(epsilon))
        plain = min(plain, interpolation_tails(np.repeat(o, 100), np.repeat(c, 100))[71])
    assert plain > 0.05
