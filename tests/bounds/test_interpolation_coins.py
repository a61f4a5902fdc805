"""The interpolation theorem with a coin: reference values, quadrature, plain sums, small worlds."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pytest
from scipy import integrate

from narcissus.bounds import certify, interpolation_tails, swap_tail
from narcissus.bounds.interpolation import (
    MOST_TARGETS,
    coin_spent,
    coin_tails,
    occupation,
    split_chances,
    target_multipliers,
)
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, GaussianDP

HERE = pytest.mark.states("Narcissus theory", "4.10")


def tails(priors, guarantee, epsilon: float, q: float, success=None) -> np.ndarray:
    """The limit at one point and one coin."""
    rows, mu, o, c = target_multipliers(priors, guarantee, epsilon, success)
    return coin_tails(o, c, *split_chances(rows, mu, q), q)


@HERE
def test_reference_value():
    found = tails([[0.7, 0.3]] * 12, ApproximateDP(1.0, 0.001), 1.0, 0.5)
    assert found[9] == pytest.approx(0.5913697611351646, rel=1e-14)


@HERE
@pytest.mark.parametrize(
    ("n", "epsilon", "delta"), [(2, 0.1, 0.01), (10, 1, 0.001), (30, 0.3, 0.002)]
)
def test_for_fair_bits_it_is_the_closed_swap_bound(n, epsilon, delta):
    guarantee = ApproximateDP(epsilon, delta)
    q = float(target_multipliers([[0.5, 0.5]], guarantee, epsilon).optima[0])
    found = tails([[0.5, 0.5]] * n, guarantee, epsilon, q)
    swap = [swap_tail(n, 0.5, epsilon, delta, v, inseparable=0.5) for v in range(n + 2)]
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
    """Never below the sum of positive terms, and above by no more than is declared."""
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


def held_against_all_mechanisms(worlds: int, seed: int) -> None:
    """Random worlds: exact match and overlapping success, one point and two, joint guesses."""
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


@HERE
def test_no_mechanism_of_a_small_world_exceeds_it():
    held_against_all_mechanisms(40, 3)


@HERE
@pytest.mark.nightly
def test_no_mechanism_of_ten_thousand_small_worlds_exceeds_it():
    held_against_all_mechanisms(10_000, 4)


def test_an_ulp_outside_does_not_make_it_small():
    """A law of chances beyond 1 is nonsense: they are cut, not passed on."""
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


def test_far_from_what_coins_bring_is_never_more_than_all_the_time():
    table = occupation(0.5, (1000, 1023), (-5, 1030))
    assert np.isfinite(table).all()
    assert ((table > 0) & (table <= 1)).all()


def test_what_is_no_number_is_refused():
    with pytest.raises(InputError, match="one length"):
        coin_spent([0.1, 0.1], [0.5], [0.5], 0.5)
    with pytest.raises(InputError, match="at least 0"):
        coin_spent([np.nan], [0.5], [0.5], 0.5)
    with pytest.raises(InputError, match="coins"):
        coin_spent([0.1], [np.nan], [0.5], 0.5)
    with pytest.raises(InputError, match="together"):
        coin_spent([0.1], [0.6], [0.5], 0.5)
    with pytest.raises(InputError, match="`q`"):
        coin_spent([0.1], [0.5], [0.5], 1.0)
    with pytest.raises(InputError, match="at most"):
        coin_spent([0.1], [0.5], [0.5], 0.5, repeats=[MOST_TARGETS + 1])
