"""The interpolation theorem: the count of reconstructed independent targets under a whole profile.

The domination theorem charges the full price of each target's leak at every count. This theorem
charges it only to the extent that the target is still decisive: near the count in question.

Every chance may be split into 0, a coin of chance ``q``, and 1. Between the two ends of the
interpolation a target of chance 0 or 1 does not move, and the time that identical coins spend at a
count is known exactly: less than the bound for arbitrary chances. Any points of the profile, one
per target, and any coin are valid, so a cheap search for the sharpest bound suffices.

Source: Narcissus theory 4.10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, special

from narcissus._validation import fraction, integer, probabilities
from narcissus.bounds.binomial import PoissonBinomial, mass, upper_tail
from narcissus.bounds.domination import dominate_point
from narcissus.bounds.one_target import profile_multipliers
from narcissus.bounds.theorem import Needs, Theorem, points_of
from narcissus.bounds.threat import prior_kinds, prior_rows
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee, require_replace_one
from narcissus.results import Bound

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_TARGETS = 1024
"""Targets up to which it is computed: its sums are over two counts at the same time."""

_FEW_TARGETS = 64  # most targets for sums of positive terms, one target at a time
_ROUNDED = 1e-11  # far above the error of transforms; added, times the total cost
_RARE = 36.0  # the law of the counts is kept except for exp(-36), which is far below that
_LOST = 1e-280  # masses below it have lost digits


def split_chances(priors: FloatArray, mu: FloatArray, q: float) -> tuple[FloatArray, FloatArray]:
    """Split each target's chances ``mu / D`` into shares of coins and of ones, shapes (m,).

    ``priors`` and ``mu`` have shape (m, V), ``0 <= mu <= D``; a coin has chance ``q`` in (0, 1).
    ``E[m / q if m <= q else (1 - m) / (1 - q)]`` and ``E[(m - q)+ / (1 - q)]`` over the target's
    values; ``q coins + ones`` is the target's ``o``. They are cut to [0, 1] together: an ulp
    outside would make any law of them nonsense.
    """
    chance = np.divide(mu, priors, out=np.zeros_like(mu), where=priors > 0).clip(0.0, 1.0)
    coin = np.where(chance <= q, chance / q, (1.0 - chance) / (1.0 - q))
    excess = np.maximum(chance - q, 0.0) / (1.0 - q)
    coins = (priors * coin).sum(axis=1).clip(0.0, 1.0)
    return coins, np.clip((priors * excess).sum(axis=1), 0.0, 1.0 - coins)


def coin_tails(
    optima: ArrayLike, costs: ArrayLike, coins: ArrayLike, ones: ArrayLike, q: float
) -> FloatArray:
    """Bound ``Pr[at least v are reconstructed]`` for ``v = 0 .. n + 1``, shape (n + 2,).

    ``optima`` holds each target's ``o``, shape (n,); the rest as in `coin_spent`. With the same
    numbers it never exceeds `narcissus.bounds.interpolation_tails`, except for rounding.

    Source: Narcissus theory 4.10.

    >>> coin_tails([0.7311] * 2, [0.00269] * 2, [1.0] * 2, [0.0] * 2, 0.7311).round(3)[1:3]
    array([0.931, 0.539])
    """
    table = PoissonBinomial(optima).tails()
    table[1:-1] += coin_spent(costs, coins, ones, q)
    table = np.minimum.accumulate(np.minimum(table, 1.0))
    table[0], table[-1] = 1.0, 0.0
    return table


def coin_spent(
    costs: ArrayLike,
    coins: ArrayLike,
    ones: ArrayLike,
    q: float,
    *,
    repeats: ArrayLike | None = None,
    at_least: int | None = None,
) -> FloatArray:
    """Compute the leaks' addition to ``Pr[sum_i Bernoulli(o_i) >= v]``, ``v = 1 .. n`` or one.

    ``sum_i c_i E F_q(h, D)``, with ``h`` the coins and ``D`` the ones among the other targets,
    shape (n,), or (1,) with ``at_least``. ``costs`` are those of `interpolation_tails`, ``coins``
    and ``ones`` those of `split_chances`, shape (m,), each for ``repeats`` targets. Raises
    `InputError` for shapes that differ, numbers missing or out of range, and too many targets.
    """
    level = fraction("q", q)
    c = np.asarray(costs, dtype=np.float64)
    coin, sure_share = probabilities("coins", coins), probabilities("ones", ones)
    many = np.ones(c.shape, dtype=np.int64) if repeats is None else np.asarray(repeats)
    if c.ndim != 1 or not (c.shape == coin.shape == sure_share.shape == many.shape):
        raise InputError("`costs`, `coins`, `ones` and `repeats` must be vectors of one length")
    if not (c >= 0).all() or (coin + sure_share > 1.0 + 1e-12).any() or (many < 1).any():
        raise InputError(
            "`costs` must be numbers of at least 0, `coins` and `ones` at most 1 together, "
            "`repeats` at least 1"
        )
    n = int(many.sum())
    if n > MOST_TARGETS:
        raise InputError(f"`costs` must be of at most {MOST_TARGETS} targets, got {n}")
    c, sure_share = np.minimum(c, 1.0), np.minimum(sure_share, 1.0 - coin)
    low, law = (_others if n > _FEW_TARGETS else _few_others)(c, coin, sure_share, many)
    last = np.array(low) + law.shape - 1
    counts = np.arange(1, n + 1) if at_least is None else np.array([at_least])
    first = int(counts[0]) - 1 - int(last[1])  # the least and the most that coins must bring
    table = occupation(level, (low[0], int(last[0])), (first, int(counts[-1]) - 1 - low[1]))
    additions = _met(law[:, ::-1], table)
    if n > _FEW_TARGETS:
        additions = additions + _ROUNDED * float(c @ many)
    if np.isnan(additions).any():
        raise InputError("`costs`, `coins` and `ones` give no numbers")
    return additions


def _met(law: FloatArray, table: FloatArray) -> FloatArray:
    """Sum ``law`` times each equally wide stretch of ``table``; negligible negatives are cut."""
    width = law.shape[1]
    shifts = table.shape[1] - width + 1
    law = np.maximum(law, 0.0)
    if shifts == 1 or width <= _FEW_TARGETS:
        stretches = np.lib.stride_tricks.sliding_window_view(table, width, axis=1)
        return np.einsum("hd,hsd->s", law, stretches)
    wide = fft.next_fast_len(table.shape[1], real=True)
    # correlation: the wrapped part meets none of the wanted shifts
    product = np.conj(fft.rfft(law, wide, axis=1)) * fft.rfft(table, wide, axis=1)
    return np.maximum(fft.irfft(product.sum(axis=0), wide)[:shifts], 0.0)


def _few_others(
    c: FloatArray, coin: FloatArray, one: FloatArray, many: IntArray
) -> tuple[tuple[int, int], FloatArray]:
    """Compute `_others` in full, from sums of positive terms."""
    n = int(many.sum())
    law, left = np.zeros((2, n + 1, n + 1))
    law[0, 0] = 1.0
    for k in np.repeat(np.arange(c.size), many):
        left = _drawn(left, coin[k], one[k]) + c[k] * law
        law = _drawn(law, coin[k], one[k])
    return (0, 0), left[:n, :n]


def _drawn(law: FloatArray, coin: float, one: float) -> FloatArray:
    mixture = (1.0 - coin - one) * law
    mixture[1:] += coin * law[:-1]
    mixture[:, 1:] += one * law[:, :-1]
    return mixture


def _others(
    c: FloatArray, coin: FloatArray, one: FloatArray, many: IntArray
) -> tuple[tuple[int, int], FloatArray]:
    """Return ``sum_i c_i Pr[h = a, D = b among the others]`` where it is not negligible.

    The first counts of coins and of ones come first, then the law, shape (coins, ones), rounded.
    """
    n = int(many.sum())
    (first, size), (other, width) = (_window(p, many, n) for p in (coin, one))
    x = np.exp(-2j * np.pi * np.arange(size) / size)[:, None]
    y = np.exp(-2j * np.pi * np.arange(width // 2 + 1) / width)
    law = np.ones((size, y.size), dtype=np.complex128)
    left = np.zeros_like(law)
    for k in range(c.size):
        factor = (1.0 - coin[k] - one[k]) + coin[k] * x + one[k] * y
        without = law if many[k] == 1 else law * factor ** (int(many[k]) - 1)
        left = left * factor ** int(many[k]) + (c[k] * int(many[k])) * without
        law = without * factor
    masses = fft.irfft(fft.ifft(left, axis=0), width, axis=1)
    # a count is stored at its remainder modulo the window
    return (first, other), np.roll(masses, (-first, -other), axis=(0, 1))


def _window(p: FloatArray, many: IntArray, n: int) -> tuple[int, int]:
    """Return first count and width holding a sum of trials, except for mass `_RARE` (Bernstein)."""
    mean, variance = float(p @ many), float((p * (1.0 - p)) @ many)
    reach = np.sqrt(2.0 * _RARE * variance + (_RARE / 3.0) ** 2) + _RARE / 3.0 + 1.0
    size = fft.next_fast_len(int(2 * reach) + 2, real=True)
    if size >= n:  # the others are n - 1
        return 0, n
    return int(np.clip(np.floor(mean - size / 2), 0, n - size)), size


@lru_cache(maxsize=16)  # the same for every point of a profile
def occupation(q: float, coins: tuple[int, int], needed: tuple[int, int]) -> FloatArray:
    """Return ``F_q(h, e)``: the largest share of time that coins spend at the count needed.

    ``coins`` is first and last ``h``; ``needed`` first and last ``e``, the count in question minus
    the ones. The shape is (last h - first h + 1, last e - first e + 1).

    Source: Narcissus theory 4.10. Three regimes; with ``b`` the mass of Bin(h + 1, q) at e + 1:

        e < 0:        int_0^1 (1 - q s)^h (1 - s)^|e| ds
        0 <= e <= h:  P[Bin(h+1, q) >= e+1] P[Bin(h+1, q) <= e] / ((1 - q) (e + 1) b)
        e > h:        int_0^1 (1 - (1 - q) s)^h (1 - s)^(e - h) ds
    """
    (low, high), (first, last) = coins, needed
    e = np.arange(first, last + 1)
    shares, mass = np.ones((high - low + 1, e.size)), np.array([1.0])
    fewer = _survivals(q, high, -first) if first < 0 else [mass] * (high + 1)
    upper_survivals = _survivals(1.0 - q, high, last - low) if last > low else [mass] * (high + 1)
    for h, (before, after) in enumerate(zip(fewer, upper_survivals, strict=True)):
        grown = np.zeros(h + 2)
        grown[:-1] = mass * (1.0 - q)
        grown[1:] += mass * q
        mass = grown
        if h < low:
            continue
        row, below, above = shares[h - low], e < 0, e > h
        row[below] = before[-e[below]]
        row[above] = after[e[above] - h]
        inside = e[~(below | above)]
        upper, lower = np.cumsum(mass[::-1])[::-1], np.cumsum(mass)
        some = np.maximum(mass[inside + 1], _LOST)
        share = upper[inside + 1] * lower[inside] / ((1.0 - q) * (inside + 1) * some)
        row[~(below | above)] = np.where(some > _LOST, share, 1.0)  # never more than all the time
    return np.minimum(shares, 1.0)


def _survivals(q: float, most: int, last: int) -> list[FloatArray]:
    """Return ``int_0^1 (1 - q s)^h (1 - s)^j ds`` for h = 0 .. most; each for j = 0 .. last."""
    row = 1.0 / np.arange(1, last + most + 2)
    rows = [row[: last + 1]]
    for _ in range(most):
        row = (1.0 - q) * row[:-1] + q * row[1:]  # 1 - q s = (1 - q) + q (1 - s)
        rows.append(row[: last + 1])
    return rows


_FEW_ALIKE = 64  # identical targets from which a sum over one law is quicker
_FEWEST, _SOME = 16, 100  # most targets for a coin at all points, or at every third
_ROUNDS = 3  # of the choice of a separate point for every target
_STEP = 1e-4  # increment for the derivatives of the tail in a target's numbers
_COINS = (0.25, 0.5)  # tried first, with the mean ``o``, the best if all are alike
_FINER = (0.1, 0.05)  # steps by which the best of them is moved


class Multipliers(NamedTuple):
    """The theorem's numbers of each target at one point of the profile."""

    priors: FloatArray  # shape (m, V), each row in any order of values
    mu: FloatArray  # shape (m, V), in the same order
    optima: FloatArray  # each target's ``o``, the sum of its ``mu``, shape (m,)
    costs: FloatArray  # upper bound on the cost of its leak, shape (m,)


@dataclass(frozen=True)
class Search:
    """The search for one count."""

    # from the index of a point to the theorem's numbers there, for every kind of target
    at: Callable[[int], Multipliers]
    points: int  # number of points
    repeats: IntArray  # number of targets of each kind, shape (m,)
    at_least: int  # the count ``v``, from 1 to the number of targets
    # whether the guarantee is one point, which is also tried at larger epsilons
    one_point: bool = False

    @cached_property
    def _numbers(self) -> tuple[FloatArray, FloatArray]:
        each = [self.at(k)[2:] for k in range(self.points)]
        return np.array([o for o, _ in each]), np.array([c for _, c in each])

    @cached_property
    def _own(self) -> IntArray:
        return np.arange(self.repeats.size)

    def least(self) -> float:
        """Return the least bound found, in [0, 1]."""
        bound, chosen = self._plain()
        n = int(self.repeats.sum())
        if 1 < n <= MOST_TARGETS and self._chosen(chosen)[1].any():
            bound = min(bound, *(self._with_coin(start) for start in self._starts(chosen, n)))
        return min(1.0, max(0.0, bound))

    def _starts(self, chosen: IntArray, n: int) -> list[IntArray]:
        """Return the points at which the search with a coin starts.

        If all points have the same delta, the best one without a coin need not be the best with
        one.
        """
        if not self.one_point:
            return [chosen]
        step = 1 if n <= _FEWEST else 3 if n <= _SOME else self.points
        alike = [np.full_like(chosen, k) for k in range(0, self.points, step)]
        return [chosen, *(start for start in alike if (start != chosen).any())]

    def _chosen(self, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
        o, c = self._numbers
        return o[chosen, self._own], c[chosen, self._own]

    def _tail(self, o: FloatArray) -> float:
        if (o == o[0]).all():
            return float(upper_tail(int(self.repeats.sum()), self.at_least, special.logit(o[0])))
        return PoissonBinomial(np.repeat(o, self.repeats)).tail(self.at_least)

    def _value(self, o: FloatArray, c: FloatArray) -> float:
        """Return the bound for any chances; it may exceed 1."""
        n, v = int(self.repeats.sum()), self.at_least
        if n > _FEW_ALIKE and (o == o[0]).all() and 0 < o[0] < 1:
            others = np.arange(n)
            near = mass(n - 1, others, special.logit(o[0])) / (1.0 + np.abs(others - (v - 1)))
            return self._tail(o) + float(np.minimum(c, 1.0) @ self.repeats) * float(near.sum())
        who = np.repeat(self._own, self.repeats)
        return self._tail(o) + float(_added(o[who], np.minimum(c, 1.0)[who])[v - 1])

    def _plain(self) -> tuple[float, IntArray]:
        """Take the best common point; then let every target choose by the cost of both numbers."""
        o, c = self._numbers
        values = [self._value(o[k], c[k]) for k in range(self.points)]
        k = int(np.argmin(values))
        best, chosen = values[k], np.full(self.repeats.size, k)
        for _ in range(_ROUNDS if self.repeats.size > 1 and self.points > 1 else 0):
            now_o, now_c = self._chosen(chosen)
            more_o = (self._value(np.minimum(now_o + _STEP, 1.0), now_c) - best) / _STEP
            more_c = (self._value(now_o, now_c + _STEP) - best) / _STEP
            other = (more_o * o + more_c * c).argmin(axis=0)
            value = self._value(*self._chosen(other))
            if value >= best:
                break
            best, chosen = value, other
        return best, chosen

    def _with_coin(self, chosen: IntArray) -> float:
        """Split chances by a coin; move the coin and all points while that pays."""

        def value(where: IntArray, q: float) -> float:
            kinds = self._own
            parts = {int(k): self.at(int(k)) for k in np.unique(where)}
            rows = np.array([parts[int(k)].priors[i] for i, k in zip(kinds, where, strict=True)])
            mu = np.array([parts[int(k)].mu[i] for i, k in zip(kinds, where, strict=True)])
            o, c = self._chosen(where)
            split = split_chances(rows, mu, q)
            spent = coin_spent(c, *split, q, repeats=self.repeats, at_least=self.at_least)
            return self._tail(o) + float(spent[0])

        even = float(self._chosen(chosen)[0] @ self.repeats / self.repeats.sum())
        coins = (*_COINS, even) if 0.0 < even < 1.0 else _COINS
        best, q = min((value(chosen, q), q) for q in coins)
        for step in (-1, 1):
            while (moved := chosen + step).min() >= 0 and moved.max() < self.points:
                other = value(moved, q)
                if other >= best:
                    break
                best, chosen = other, moved
        for step in _FINER:
            near = [x for x in (q - step, q + step) if 0.0 < x < 1.0]
            best, q = min([(best, q), *((value(chosen, x), x) for x in near)])
        return best


_SMALL = 512  # most targets for sums of positive terms, one target at a time
_NEGLIGIBLE = 1e-17  # allowed excess of tails, for speed
_ROUNDING = 1e-12  # far above the error of transforms of numbers up to 1; added
_FEW = 20  # points at which programs are solved, where success is not exact match


def interpolation_tails(optima: ArrayLike, costs: ArrayLike) -> FloatArray:
    """Bound ``Pr[at least v are reconstructed]`` for ``v = 0 .. n + 1``, shape (n + 2,).

    ``Pr[R >= v] + sum_i costs_i E[1 / (1 + |R_-i - (v - 1)|)]``, ``R`` the sum of independent
    Bernoulli(``optima_i``) and ``R_-i`` the same without target ``i``. ``costs`` are upper bounds
    on the cost of each target's leak, shape (n,): ``delta Theta`` at one point of the profile, or
    the sum over a whole profile.

    Source: Narcissus theory 4.10. Larger numbers are valid too: for targets drawn independently
    from a population, upper bounds on both means suffice.

    >>> interpolation_tails([0.731, 0.731], [0.003, 0.003]).round(3)[1:3]
    array([0.931, 0.54 ])
    """
    o, c = probabilities("optima", optima), np.asarray(costs, dtype=np.float64)
    if o.ndim != 1 or c.shape != o.shape:
        raise InputError(
            f"`optima` and `costs` must be vectors of one length, got {o.shape}, {c.shape}"
        )
    if not (c >= 0).all():
        raise InputError("`costs` must be numbers of at least 0")
    n = o.size
    table = PoissonBinomial(o).tails(_NEGLIGIBLE)
    table[1 : n + 1] += _added(o, np.minimum(c, 1.0))
    if np.isnan(table).any():
        raise InputError("`optima` and `costs` give no numbers")
    table = np.minimum.accumulate(np.minimum(table, 1.0))
    table[0], table[-1] = 1.0, 0.0
    return table


def _added(o: FloatArray, c: FloatArray) -> FloatArray:
    """Return the contribution of leaks to the tails for ``v = 1 .. n``."""
    if not c.any():
        return np.zeros(o.size)
    if o.size > _SMALL and (o == o[0]).all():  # whichever is left out, the same law is left
        return _nearness(float(c.sum()) * (PoissonBinomial(o[1:]).pmf() + _ROUNDING / o.size))
    return _nearness(_left_out(o, c))


def _left_out(o: FloatArray, c: FloatArray) -> FloatArray:
    """Return ``sum_i c_i Pr[R_-i = k]`` for ``k = 0 .. n - 1``, rounded up slightly."""
    n = o.size
    if n <= _SMALL:
        law, left = np.zeros(n + 1), np.zeros(n + 1)
        law[0] = 1.0
        with np.errstate(under="ignore"):
            for i in range(n):
                p, q = o[i], 1.0 - o[i]
                left[1 : i + 1] = left[1 : i + 1] * q + left[:i] * p + c[i] * law[1 : i + 1]
                left[0] = left[0] * q + c[i] * law[0]
                law[1 : i + 2] = law[1 : i + 2] * q + law[: i + 1] * p
                law[0] *= q
        return left[:n]
    width = 1 << (n - 1).bit_length()  # filled with targets of no chance and no cost
    law, left = np.zeros((width, 2)), np.zeros((width, 2))
    law[:, 0] = 1.0
    law[:n, 0], law[:n, 1], left[:n, 0] = 1.0 - o, o, c
    while law.shape[0] > 1:
        size = 2 * (law.shape[1] - 1)
        wide = fft.next_fast_len(size + 1, real=True)
        laws, lefts = fft.rfft(law, wide, axis=1), fft.rfft(left, wide, axis=1)
        law = fft.irfft(laws[::2] * laws[1::2], wide, axis=1)[:, : size + 1]
        both = lefts[::2] * laws[1::2] + lefts[1::2] * laws[::2]
        left = fft.irfft(both, wide, axis=1)[:, : size + 1]
    return np.maximum(left[0, :n], 0.0) + _ROUNDING * float(c.sum()) / n


def _nearness(weights: FloatArray) -> FloatArray:
    """Return ``sum_k weights_k / (1 + |k - (v - 1)|)`` for ``v = 1 .. n``, shape (n,)."""
    n = weights.size
    if n <= _SMALL:
        return _near(n) @ weights
    distance = 1.0 / (1.0 + np.abs(np.arange(1 - n, n)))
    wide = fft.next_fast_len(3 * n - 2, real=True)
    product = fft.irfft(fft.rfft(weights, wide) * fft.rfft(distance, wide), wide)
    return np.maximum(product[n - 1 : 2 * n - 1], 0.0) + _ROUNDING * float(weights.sum())


@lru_cache(maxsize=4)
def _near(n: int) -> FloatArray:
    places = np.arange(n)
    return 1.0 / (1.0 + np.abs(places[:, None] - places))


def target_multipliers(
    priors: ArrayLike, guarantee: Guarantee, epsilon: float, success: ArrayLike | None = None
) -> Multipliers:
    """Compute the theorem's numbers of each target at one epsilon of the profile.

    For exact match (``success`` None) the costs use the whole profile and are at most
    ``delta (1 - o)``; else they are ``delta Theta`` of the domination theorem.
    """
    if success is None:
        return Multipliers(*profile_multipliers(priors, guarantee, epsilon))
    mu, theta = dominate_point(priors, success, epsilon)
    optima = np.minimum(mu.sum(axis=1), 1.0)
    costs = float(guarantee.profile(epsilon)) * theta
    return Multipliers(prior_rows("priors", priors), mu, optima, costs)


def interpolation(
    priors: ArrayLike,
    guarantee: Guarantee,
    at_least: int,
    success: ArrayLike | None = None,
    *,
    repeats: ArrayLike | None = None,
    epsilons: ArrayLike | None = None,
) -> Bound:
    """Bound the probability that at least ``at_least`` independent targets are reconstructed.

    Source: Narcissus theory 4.10, with the proof. At the same point it never exceeds
    `narcissus.bounds.domination`.

    priors, success, repeats: As of `narcissus.bounds.domination`.
    epsilons: Points of the profile; default the guarantee's tangents, and larger ones if it has
        only one. After the best common point each target may use its own.

    >>> from narcissus.guarantees import ApproximateDP
    >>> round(interpolation([[0.7, 0.3]] * 12, ApproximateDP(1.0, 0.001), 9).value, 6)
    0.591314
    """
    require_replace_one(guarantee)
    rows, many = prior_kinds(priors, repeats)
    rows = rows / rows.sum(axis=1, keepdims=True)
    v = integer("at_least", at_least)
    if epsilons is not None:
        points = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    else:
        points = points_of(guarantee) if success is None else points_of(guarantee, _FEW)
    points, n = np.unique(np.maximum(points, 0.0)), int(many.sum())
    one_point = epsilons is None and guarantee.tangents(3).size < 3

    def multipliers(k: int) -> Multipliers:
        return target_multipliers(rows, guarantee, float(points[k]), success)

    at = multipliers if success is None else cache(multipliers)  # the others take programs
    value = 1.0 if v <= 0 else 0.0
    if 0 < v <= n:
        value = Search(at, points.size, many, v, one_point).least()
    return INTERPOLATION.claim(
        value,
        f"probability that at least {v} of {n} targets are reconstructed",
        (*guarantee.assumed, "the targets' values are independent given what the attacker knows"),
    )


LARGEST = 100_000
"""Targets up to which a question is answered by it: each point takes a sum over all counts."""

INTERPOLATION = Theorem(
    id="interpolation",
    source="Narcissus theory 4.10",
    title="interpolation",
    says="A tail for any priors and any success, paying for leaks only near the count.",
    about=("tail",),
    limit=lambda q: interpolation(*q.of_values, repeats=[q.n]).value,
    needs=Needs(values=True, not_pure=True, most_targets=LARGEST),
    own=True,
)
