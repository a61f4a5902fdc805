"""The interpolation theorem with every chance split into 0, a coin of chance ``q``, and 1.

Between the two ends of the interpolation a target of chance 0 or 1 does not move, and the time that
identical coins spend at a count is known exactly. That is less than the bound for arbitrary
chances, used by `narcissus.bounds.interpolation`.

Source: Narcissus theory 4.10.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from narcissus._validation import fraction, probabilities
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_TARGETS = 1024
"""Targets up to which it is computed: its sums are over two counts at once."""

_SMALL = 64  # targets up to which all sums are of positive terms, one target after the other
_ROUNDING = 1e-11  # far above what transforms lose; added, times all that leaks may cost
_RARE = 36.0  # the law of the counts is kept but for a part of exp(-36), which is far below that
_LOST = 1e-280  # masses below it have lost digits


def split_chances(priors: FloatArray, mu: FloatArray, q: float) -> tuple[FloatArray, FloatArray]:
    """Split each target's chances ``mu / D`` into the share of coins and the share of ones.

    ``priors`` and ``mu`` have shape (m, V), ``0 <= mu <= D``; a coin has chance ``q`` in (0, 1).

    Returns
    -------
    coins, ones
        Shapes (m,): ``E[m / q if m <= q else (1 - m) / (1 - q)]`` and ``E[(m - q)+ / (1 - q)]``
        over the target's values; ``q coins + ones`` is the target's ``o``. They are cut to [0, 1]
        together: an ulp outside would make any law of them nonsense.
    """
    chance = np.divide(mu, priors, out=np.zeros_like(mu), where=priors > 0).clip(0.0, 1.0)
    coin = np.where(chance <= q, chance / q, (1.0 - chance) / (1.0 - q))
    one = np.maximum(chance - q, 0.0) / (1.0 - q)
    coins = (priors * coin).sum(axis=1).clip(0.0, 1.0)
    return coins, np.clip((priors * one).sum(axis=1), 0.0, 1.0 - coins)


def coin_tails(
    optima: ArrayLike, costs: ArrayLike, coins: ArrayLike, ones: ArrayLike, q: float
) -> FloatArray:
    """Bound ``Pr[at least v fall]`` for ``v = 0 .. n + 1``, shape (n + 2,).

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
    """Compute the leaks' addition to ``Pr[sum_i Bernoulli(o_i) >= v]``, for ``v = 1 .. n`` or for
    one.

    ``sum_i c_i E F_q(h, D)``, with ``h`` the coins and ``D`` the ones among the other targets. The
    result has shape (n,), or (1,) with ``at_least``.

    Parameters
    ----------
    costs
        Upper bound on the cost of each target's leak, shape (m,); see
        `narcissus.bounds.interpolation_tails`.
    coins, ones
        From `split_chances`, shape (m,).
    q
        Chance of a coin, in (0, 1).
    repeats
        Number of targets per entry, shape (m,); default one each.
    at_least
        A single ``v``; default all.

    Raises
    ------
    InputError
        Shapes differ, numbers are missing or out of range, or there are too many targets.
    """
    level = fraction("q", q)
    c = np.asarray(costs, dtype=np.float64)
    coin, one = probabilities("coins", coins), probabilities("ones", ones)
    many = np.ones(c.shape, dtype=np.int64) if repeats is None else np.asarray(repeats)
    if c.ndim != 1 or not (c.shape == coin.shape == one.shape == many.shape):
        raise InputError("`costs`, `coins`, `ones` and `repeats` must be vectors of one length")
    if not (c >= 0).all() or (coin + one > 1.0 + 1e-12).any() or (many < 1).any():
        raise InputError(
            "`costs` must be numbers of at least 0, `coins` and `ones` at most 1 together, "
            "`repeats` at least 1"
        )
    n = int(many.sum())
    if n > MOST_TARGETS:
        raise InputError(f"`costs` must be of at most {MOST_TARGETS} targets, got {n}")
    c, one = np.minimum(c, 1.0), np.minimum(one, 1.0 - coin)
    low, law = (_others if n > _SMALL else _few_others)(c, coin, one, many)
    last = np.array(low) + law.shape - 1
    counts = np.arange(1, n + 1) if at_least is None else np.array([at_least])
    first = int(counts[0]) - 1 - int(last[1])  # the least and the most that coins must bring
    table = occupation(level, (low[0], int(last[0])), (first, int(counts[-1]) - 1 - low[1]))
    found = _met(law[:, ::-1], table)
    if n > _SMALL:
        found = found + _ROUNDING * float(c @ many)
    if np.isnan(found).any():
        raise InputError("`costs`, `coins` and `ones` give no numbers")
    return found


def _met(law: FloatArray, table: FloatArray) -> FloatArray:
    """Sum ``law`` times each equally wide stretch of ``table``; negligible negatives are cut."""
    width = law.shape[1]
    shifts = table.shape[1] - width + 1
    law = np.maximum(law, 0.0)
    if shifts == 1 or width <= _SMALL:
        stretches = np.lib.stride_tricks.sliding_window_view(table, width, axis=1)
        return np.einsum("hd,hsd->s", law, stretches)
    wide = fft.next_fast_len(table.shape[1], real=True)
    # correlation: what wraps around meets no shift that is asked for
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
    """Return the law of the counts with one more target."""
    found = (1.0 - coin - one) * law
    found[1:] += coin * law[:-1]
    found[:, 1:] += one * law[:, :-1]
    return found


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
    found = fft.irfft(fft.ifft(left, axis=0), width, axis=1)
    # a count stands at its remainder: there it is alone in the window
    return (first, other), np.roll(found, (-first, -other), axis=(0, 1))


def _window(p: FloatArray, many: IntArray, n: int) -> tuple[int, int]:
    """Return first count and width holding a sum of trials, except for mass `_RARE` (Bernstein)."""
    mean, variance = float(p @ many), float((p * (1.0 - p)) @ many)
    reach = np.sqrt(2.0 * _RARE * variance + (_RARE / 3.0) ** 2) + _RARE / 3.0 + 1.0
    size = fft.next_fast_len(int(2 * reach) + 2, real=True)
    if size >= n:  # the others are n - 1
        return 0, n
    return int(np.clip(np.floor(mean - size / 2), 0, n - size)), size


@lru_cache(maxsize=16)  # every point of a profile asks for the same
def occupation(q: float, coins: tuple[int, int], needed: tuple[int, int]) -> FloatArray:
    """Return ``F_q(h, e)``: the largest share of time at which coins bring exactly the count
    needed.

    ``coins`` is first and last ``h``; ``needed`` first and last ``e``, the count in question minus
    the ones. The shape is (last h - first h + 1, last e - first e + 1).

    Notes
    -----
    Source: Narcissus theory 4.10. Three regimes; with ``b`` the mass of Bin(h + 1, q) at e + 1:

        e < 0:        int_0^1 (1 - q s)^h (1 - s)^|e| ds
        0 <= e <= h:  P[Bin(h+1, q) >= e+1] P[Bin(h+1, q) <= e] / ((1 - q) (e + 1) b)
        e > h:        int_0^1 (1 - (1 - q) s)^h (1 - s)^(e - h) ds
    """
    (low, high), (first, last) = coins, needed
    e = np.arange(first, last + 1)
    found, mass = np.ones((high - low + 1, e.size)), np.array([1.0])
    fewer = _survivals(q, high, -first) if first < 0 else [mass] * (high + 1)
    more = _survivals(1.0 - q, high, last - low) if last > low else [mass] * (high + 1)
    for h, (before, after) in enumerate(zip(fewer, more, strict=True)):
        grown = np.zeros(h + 2)
        grown[:-1] = mass * (1.0 - q)
        grown[1:] += mass * q
        mass = grown
        if h < low:
            continue
        row, below, above = found[h - low], e < 0, e > h
        row[below] = before[-e[below]]
        row[above] = after[e[above] - h]
        inside = e[~(below | above)]
        upper, lower = np.cumsum(mass[::-1])[::-1], np.cumsum(mass)
        some = np.maximum(mass[inside + 1], _LOST)
        share = upper[inside + 1] * lower[inside] / ((1.0 - q) * (inside + 1) * some)
        row[~(below | above)] = np.where(some > _LOST, share, 1.0)  # never more than all the time
    return np.minimum(found, 1.0)


def _survivals(q: float, most: int, last: int) -> list[FloatArray]:
    """Return ``int_0^1 (1 - q s)^h (1 - s)^j ds`` for h = 0 .. most; each for j = 0 .. last."""
    row = 1.0 / np.arange(1, last + most + 2)
    found = [row[: last + 1]]
    for _ in range(most):
        row = (1.0 - q) * row[:-1] + q * row[1:]  # 1 - q s = (1 - q) + q (1 - s)
        found.append(row[: last + 1])
    return found
