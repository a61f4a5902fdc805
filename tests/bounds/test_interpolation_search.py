"""The search for one count: never worse than any common point, with a coin or without."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.stats import binom

from narcissus.bounds import certify, interpolation, interpolation_tails, reached
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


def best_of_symmetric_mechanisms(n: int, p: float, curve: ProfileCurve, v: int) -> float:
    """The exact optimum for ``n`` bits of one prior under all points of a curve, by a program.

    Averaged over the order of people no mechanism and attacker lose: so that all that counts is
    how many bits are 1 (``k``), and how many of those and of the others (``i``, ``j``) are
    guessed to be 1.
    """
    kinds = [(k, i, j) for k in range(n + 1) for i in range(k + 1) for j in range(n - k + 1)]
    place = {kind: a for a, kind in enumerate(kinds)}
    gain = [-binom.pmf(k, n, p) if i + n - k - j >= v else 0.0 for k, i, j in kinds]
    entries, most, size = [], [], len(kinds)
    for epsilon, delta in zip(curve.points, curve.deltas, strict=True):
        for k, back in product(range(1, n + 1), (False, True)):
            slacks = []
            for i, j, said in product(range(k + 1), range(n - k + 1), (0, 1)):
                if not 0 <= i - said <= k - 1:
                    continue
                # one person's bit goes from 1 to 0, who was guessed to have ``said``
                pair = (k, i, j), (k - 1, i - said, j + said)
                here, there = pair[::-1] if back else pair
                many = comb(k - 1, i - said) * comb(n - k, j)
                each = [many / (comb(a, b) * comb(n - a, c)) for a, b, c in (here, there)]
                row = len(most)
                entries += [(row, place[here], each[0]), (row, size, -1.0)]
                entries.append((row, place[there], -float(np.exp(epsilon)) * each[1]))
                most.append(0.0)
                slacks.append(size)
                size += 1
            entries += [(len(most), slack, 1.0) for slack in slacks]
            most.append(float(delta))
    row, column, value = zip(*entries, strict=True)
    upper = sparse.csr_array((value, (row, column)), shape=(len(most), size))
    one = np.zeros((n + 1, size))
    for a, (k, _, _) in enumerate(kinds):
        one[k, a] = 1.0
    gain += [0.0] * (size - len(kinds))
    return -float(optimize.linprog(gain, upper, most, one, np.ones(n + 1)).fun)


@HERE
@pytest.mark.parametrize("worlds", [12, pytest.param(1000, marks=pytest.mark.nightly)])
def test_it_is_never_below_the_optimum_of_more_people_under_several_points(worlds):
    rng = np.random.default_rng(2)
    for _ in range(worlds):
        n, p = int(rng.integers(3, 7)), float(rng.uniform(0.5, 0.9))
        guarantee = GaussianDP(float(rng.uniform(0.3, 1.5)))
        curve = ProfileCurve.from_profile(guarantee.profile, np.sort(rng.uniform(0, 2, 3)))
        v = int(rng.integers((n + 1) // 2, n + 1))
        truth = best_of_symmetric_mechanisms(n, p, curve, v)
        bound = interpolation([[p, 1 - p]], curve, v, repeats=[n]).value
        assert bound >= truth - 1e-7
        for epsilon in curve.points:  # at one point it is nearer, and still never below
            single = ApproximateDP(epsilon, float(curve.profile(epsilon)))
            truth = best_of_symmetric_mechanisms(n, p, ProfileCurve((epsilon,), (single.delta,)), v)
            found = interpolation([[p, 1 - p]], single, v, repeats=[n]).value
            assert truth - 1e-7 <= found <= truth + 0.25


@HERE
def test_the_optimum_lies_between_what_is_reached_and_the_bound():
    """Gaussian DP, eight bits of .7 and .3: nearer to neither."""
    guarantee, row = GaussianDP(1.0), [0.7, 0.3]
    curve = ProfileCurve.from_profile(guarantee.profile, np.linspace(0, 3, 6))
    truth = best_of_symmetric_mechanisms(8, 0.7, curve, 8)
    bound = interpolation([row], guarantee, 8, repeats=[8]).value
    least = reached(row, guarantee, 8, repeats=[8])
    assert 0.12 < least < 0.13
    assert 0.16 < truth < 0.175
    assert 0.195 < bound < 0.2
