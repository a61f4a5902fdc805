"""The interpolation theorem with a coin: reference values, quadrature, plain sums, small worlds."""

from __future__ import annotations

import sys
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import integrate, optimize, sparse
from scipy.stats import binom

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
    swap_tail,
    threat,
)
from narcissus.bounds.interpolation import (
    MOST_TARGETS,
    coin_spent,
    coin_tails,
    occupation,
    split_chances,
    target_multipliers,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve, PureDP

HERE = pytest.mark.states("Narcissus theory", "4.10")
SKEWED = [0.742, 0.1, 0.08, 0.05, 0.028]
MIX = [[0.58, 0.42], [0.75, 0.25], [0.95, 0.05], SKEWED, [0.3, 0.25, 0.2, 0.15, 0.1]]


def tails(priors, guarantee, epsilon: float, q: float, success=None) -> np.ndarray:
    """The limit at one point and one coin."""
    rows, mu, o, c = target_multipliers(priors, guarantee, epsilon, success)
    return coin_tails(o, c, *split_chances(rows, mu, q), q)


@HERE
def test_reference_value_and_for_fair_bits_the_closed_swap_bound():
    found = tails([[0.7, 0.3]] * 12, ApproximateDP(1.0, 0.001), 1.0, 0.5)
    assert found[9] == pytest.approx(0.5913697611351646, rel=1e-14)
    for n, epsilon, delta in ((2, 0.1, 0.01), (10, 1, 0.001), (30, 0.3, 0.002)):
        guarantee = ApproximateDP(epsilon, delta)
        q = float(target_multipliers([[0.5, 0.5]], guarantee, epsilon).optima[0])
        swap = [swap_tail(n, 0.5, epsilon, delta, v, inseparable=0.5) for v in range(n + 2)]
        found = tails([[0.5, 0.5]] * n, guarantee, epsilon, q)
        assert found == pytest.approx(np.minimum.accumulate(swap), abs=4e-16)


def time_at(r: int, q: float, kinds: tuple[int, int, int], right: tuple[int, int, int]) -> float:
    """The share of time at ``r`` on the way from a pattern to fresh chances, by quadrature.

    ``kinds`` counts coins, ones and noughts; ``right`` how many of each the pattern holds.
    """

    def chance(t: float) -> float:
        law = np.array([1.0])
        for fresh, many, held in zip((q, 1.0, 0.0), kinds, right, strict=True):
            for start in (1.0,) * held + (0.0,) * (many - held):
                p = t * start + (1 - t) * fresh
                law = np.convolve(law, [1 - p, p])
        return float(law[r]) if r < law.size else 0.0

    return integrate.quad(chance, 0, 1, epsabs=1e-12)[0]


@HERE
def test_it_is_the_largest_share_of_time_over_all_patterns():
    q = 0.37
    table = occupation(q, (0, 3), (-3, 6))
    for kinds in product(range(4), range(3), range(3)):
        coins, ones, _ = kinds
        for r in range(sum(kinds) + 1):
            over = product(*(range(many + 1) for many in kinds))
            most = max(time_at(r, q, kinds, right) for right in over)
            assert table[coins, r - ones + 3] == pytest.approx(most, abs=1e-9)


def plainly(c, coin, one, q: float) -> list[float]:
    """What leaks add, from all patterns of the other targets, one by one."""
    n = len(c)
    table = occupation(q, (0, n), (-n, n))
    found = [0.0] * n
    for i, v in product(range(n), range(1, n + 1)):
        rest = [j for j in range(n) if j != i]
        for kinds in product("zco", repeat=n - 1):
            chance = np.prod(
                [{"z": 1 - coin[j] - one[j], "c": coin[j], "o": one[j]}[k]
                 for j, k in zip(rest, kinds, strict=True)]
            )  # fmt: skip
            found[v - 1] += c[i] * chance * table[kinds.count("c"), v - 1 - kinds.count("o") + n]
    return found


@HERE
def test_leaks_are_the_sum_over_all_patterns():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5):
        c, q = rng.random(n) * 0.1, float(rng.uniform(0.1, 0.9))
        coin, one, _ = rng.dirichlet(np.ones(3), n).T
        found = coin_spent(c, coin, one, q)
        assert found == pytest.approx(plainly(c, coin, one, q), abs=1e-15)
        for v in range(1, n + 1):
            assert coin_spent(c, coin, one, q, at_least=v)[0] == pytest.approx(found[v - 1])
    twice = coin_spent(np.repeat(c, 2), np.repeat(coin, 2), np.repeat(one, 2), q)
    assert coin_spent(c, coin, one, q, repeats=[2] * 5) == pytest.approx(twice, rel=1e-12)


@HERE
@pytest.mark.parametrize("n", [65, 130, 400])
def test_many_targets_are_summed_by_transforms_to_the_same_numbers(n, monkeypatch):
    rng = np.random.default_rng(1)
    c, q = rng.random(3) * 1e-3, 0.6
    coin, one, _ = rng.dirichlet(np.ones(3), 3).T
    many = np.array([n // 2, n // 3, n - n // 2 - n // 3])
    for v in (None, n // 2) if n < 200 else (n // 2, n - 5):
        large = coin_spent(c, coin, one, q, repeats=many, at_least=v)
        monkeypatch.setattr(sys.modules["narcissus.bounds.interpolation"], "_FEW_TARGETS", 2000)
        small = coin_spent(c, coin, one, q, repeats=many, at_least=v)
        monkeypatch.undo()
        assert (large >= small).all()
        assert large == pytest.approx(small, abs=2e-11 * float(c @ many))


@HERE
def test_it_is_never_above_the_form_without_a_coin():
    rng = np.random.default_rng(2)
    gained = 0.0
    for _ in range(40):
        rows = rng.dirichlet(np.full(4, rng.choice([0.4, 2])), int(rng.integers(2, 12)))
        epsilon, q = float(rng.uniform(0.05, 2)), float(rng.uniform(0.05, 0.95))
        guarantee = GaussianDP(float(rng.uniform(0.2, 2)))
        _, _, o, c = target_multipliers(rows, guarantee, epsilon)
        plain, with_coin = interpolation_tails(o, c), tails(rows, guarantee, epsilon, q)
        assert (with_coin <= plain + 1e-15).all()
        assert (np.diff(with_coin) <= 0).all()
        gained = max(gained, float((plain - with_coin).max()))
    assert gained > 0.01  # else nothing was tested


@HERE
@pytest.mark.parametrize(
    ("worlds", "seed"), [(15, 3), pytest.param(10_000, 4, marks=pytest.mark.nightly)]
)
def test_no_mechanism_of_a_small_world_exceeds_it(worlds, seed):
    rng = np.random.default_rng(seed)
    for _ in range(worlds):
        values = int(rng.integers(2, 4))
        people = 2 if values == 3 else int(rng.integers(2, 4))
        rows = rng.dirichlet(np.full(values, rng.choice([0.5, 1, 5])), people)
        success = None
        if rng.random() < 0.5:
            success = (rng.random((values, values + 1)) < 0.5).astype(float)
            success[0, 0], success[1, 0] = 1.0, 0.0
        guarantee = ApproximateDP(rng.uniform(0.01, 2), rng.choice([0.001, 0.02, 0.2]))
        q = float(rng.uniform(0.02, 0.98))
        found = tails(rows, guarantee, guarantee.epsilon, q, success)
        for v in range(1, people + 1):
            shared = bool(rng.random() < 0.5)
            assert certify(found[v], rows, guarantee, v, success, shared=shared).holds


def test_an_ulp_outside_does_not_make_it_small():
    rows = np.array([[0.7, 0.3, 0.0]])
    over = np.nextafter(rows, 2.0)  # 0 / 0 for the value that nobody has, and m above 1
    for q in (0.3, np.nextafter(1.0, 0.0)):
        coins, ones = split_chances(rows, np.where(rows > 0, over, 0.0), q)
        assert 0 <= coins[0] <= 1
        assert 0 <= ones[0] <= 1 - coins[0]
        assert coins[0] * q + ones[0] == pytest.approx(1.0)
    exact = coin_spent([0.01] * 90, [0.4] * 90, [0.6] * 90, 0.5)
    above = coin_spent([0.01] * 90, [np.nextafter(0.4, 1)] * 90, [np.nextafter(0.6, 1)] * 90, 0.5)
    assert above == pytest.approx(exact, rel=1e-9)


def test_values_that_nobody_has_change_nothing():
    guarantee = ApproximateDP(1.0, 0.01)
    without = tails([[0.7, 0.3], [0.6, 0.4]], guarantee, 1.0, 0.4)
    padded = tails([[0.7, 0.3, 0.0, 0.0], [0.6, 0.0, 0.4, 0.0]], guarantee, 1.0, 0.4)
    assert padded == pytest.approx(without, abs=1e-15)
    # far from what coins bring it is never more than all the time
    table = occupation(0.5, (1000, 1023), (-5, 1030))
    assert ((table > 0) & (table <= 1)).all()


@HERE
def test_many_equal_targets_are_those_one_by_one():
    guarantee = ApproximateDP(1.0, 1e-4)
    one = interpolation([[0.6, 0.4]], guarantee, 75, repeats=[100]).value
    each = interpolation([[0.6, 0.4]] * 100, guarantee, 75).value
    assert one == pytest.approx(each, rel=1e-9)
    mixed = [[0.6, 0.4], [0.7, 0.3]]
    first = interpolation(mixed, guarantee, 75, repeats=[60, 40]).value
    other = interpolation(mixed[::-1], guarantee, 75, repeats=[40, 60]).value
    assert first == pytest.approx(other, rel=1e-9)


@HERE
def test_many_alike_are_summed_over_one_law_to_the_same_number(monkeypatch):
    guarantee = ApproximateDP(1.0, 0.01)
    one = interpolation([[0.6, 0.4]], guarantee, 75, repeats=[100]).value
    monkeypatch.setattr(sys.modules["narcissus.bounds.interpolation"], "_FEW_ALIKE", 1000)
    plain = interpolation([[0.6, 0.4]], guarantee, 75, repeats=[100]).value
    assert one == pytest.approx(plain, rel=1e-9)


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
    points = zip(curve.points, curve.deltas, strict=True)
    for (epsilon, delta), k, back in product(points, range(1, n + 1), (False, True)):
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
@pytest.mark.repeats(4, 1000, "worlds")
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


def added_plainly(o: np.ndarray, c: np.ndarray) -> list[float]:
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
        ([0.5, 0.5], {1: 70}),  # by the coin; 71 without
        ([0.58, 0.42], {1: 71, 3: 88, 10: 100}),
        ([0.75, 0.25], {1: 82, 3: 88, 10: 100}),
        (SKEWED, {1: 81, 3: 81, 10: 100}),
    ],
)
def test_at_most_so_many_of_a_hundred(prior, most):
    for epsilon, v in most.items():
        guarantee = GaussianDP.from_epsilon_delta(epsilon, 1e-5)
        rows = np.array([prior]) / np.sum(prior)
        assert interpolation(rows, guarantee, v + 1, repeats=[100]).value <= 0.05
        assert interpolation(rows, guarantee, v, repeats=[100]).value > 0.05


@HERE
@pytest.mark.parametrize(
    ("n", "most"),
    [(100, {1: 75, 3: 84}), pytest.param(1000, {1: 707, 3: 808}, marks=pytest.mark.nightly)],
)
def test_at_most_so_many_of_five_kinds_of_people(n, most):
    rows = np.zeros((5, 5))
    for row, prior in zip(rows, MIX, strict=True):
        row[: len(prior)] = prior
    for epsilon, v in most.items():
        guarantee = GaussianDP.from_epsilon_delta(epsilon, 1e-5)
        assert interpolation(rows, guarantee, v + 1, repeats=[n // 5] * 5).value <= 0.05
        assert interpolation(rows, guarantee, v, repeats=[n // 5] * 5).value > 0.05


@HERE
def test_tails_are_the_sum_over_all_patterns():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 7):
        o, c = rng.random(n), rng.random(n) * 0.2
        assert interpolation_tails(o, c) == pytest.approx(added_plainly(o, c), abs=1e-12)
    assert interpolation_tails([0.0, 1.0, 1.0], [0, 0, 0]).tolist() == [1, 1, 1, 0, 0]


@HERE
def test_sums_by_transforms_are_the_same_numbers(monkeypatch):
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
@pytest.mark.repeats(30, 10_000, "worlds")
def test_no_mechanism_of_a_small_world_exceeds_interpolation(worlds):
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
    assert strict > worlds / 5  # else nothing was gained, and nothing tested


@HERE
@pytest.mark.repeats(6, 5000, "worlds")
def test_several_points_at_once_hold_too(worlds):
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
def test_means_over_a_population_limit_people_who_are_drawn_from_it():
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


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: coin_spent([0.1, 0.1], [0.5], [0.5], 0.5), "one length"),
        (lambda: coin_spent([np.nan], [0.5], [0.5], 0.5), "at least 0"),
        (lambda: coin_spent([0.1], [np.nan], [0.5], 0.5), "coins"),
        (lambda: coin_spent([0.1], [0.6], [0.5], 0.5), "together"),
        (lambda: coin_spent([0.1], [0.5], [0.5], 1.0), "`q`"),
        (lambda: coin_spent([0.1], [0.5], [0.5], 0.5, repeats=[MOST_TARGETS + 1]), "at most"),
        (lambda: interpolation_tails([0.5, 0.5], [0.1]), "one length"),
        (lambda: interpolation_tails([0.5], [-0.1]), "at least 0"),
        (lambda: interpolation_tails([0.5], [np.nan]), "at least 0"),
        (lambda: interpolation([[0.5, 0.5]], GaussianDP(1.0), 1, repeats=[0]), "repeats"),
        (
            lambda: interpolation([[0.5, 0.5]], PureDP(1.0, adjacency="add-remove"), 1),
            "replace-one",
        ),
    ],
)
def test_interpolation_refuses_what_is_no_number(call, said):
    with pytest.raises(InputError, match=said):
        call()


def test_counts_at_the_ends_and_costs_above_one():
    assert interpolation([[0.5, 0.5]], GaussianDP(1.0), 0).value == 1
    assert interpolation([[0.5, 0.5]], GaussianDP(1.0), 2).value == 0
    assert interpolation_tails([0.5], [7.0])[1] == 1.0


def test_a_question_of_the_registry_is_answered():
    theorem = THEOREMS["interpolation"]
    danger = threat(values=[0.7, 0.3], targets=12)
    bound = theorem.bound(danger, ApproximateDP(1.0, 0.001), 9)
    assert 0.589582 < bound.value < 0.5913697611351647  # the pure optimum, and the coin of 1/2
    assert theorem.lacks(Question(danger, PureDP(1.0), 9)) is not None
