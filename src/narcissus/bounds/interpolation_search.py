"""Search for the sharpest interpolation bound on one count: points of the profile, and a coin.

Any points, one per target, and any coin are valid, so a cheap search suffices.

Source: Narcissus theory 4.10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus.bounds.binomial import mass, upper_tail
from narcissus.bounds.interpolation_coins import MOST_TARGETS, coin_spent, split_chances
from narcissus.bounds.poisson_binomial import PoissonBinomial

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_SMALL = 64  # targets from which a sum over one law is quicker, where all are alike
_FEW, _SOME = 16, 100  # targets up to which a coin is tried at all points, or every third
_ROUNDS = 3  # in which every target chooses a point of the profile of its own
_STEP = 1e-4  # by which it is found what a little more of a target's numbers adds to the tail
_COINS = (0.25, 0.5)  # tried first, beside the mean ``o``, which is the best where all are alike
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
    # from all ``o`` and costs to the addition of `interpolation_tails` to each tail
    nearness: Callable[[FloatArray, FloatArray], FloatArray]
    # whether the guarantee is one point, which is also tried at larger epsilons
    one_point: bool = False

    @cached_property
    def _numbers(self) -> tuple[FloatArray, FloatArray]:
        """Each kind's ``o`` and cost at every point, shapes (points, m)."""
        each = [self.at(k)[2:] for k in range(self.points)]
        return np.array([o for o, _ in each]), np.array([c for _, c in each])

    @cached_property
    def _own(self) -> IntArray:
        return np.arange(self.repeats.size)

    def least(self) -> float:
        """Return the least bound found, in [0, 1]."""
        found, chosen = self._plain()
        n = int(self.repeats.sum())
        if 1 < n <= MOST_TARGETS and self._chosen(chosen)[1].any():
            found = min(found, *(self._with_coin(start) for start in self._starts(chosen, n)))
        return min(1.0, max(0.0, found))

    def _starts(self, chosen: IntArray, n: int) -> list[IntArray]:
        """Return the points at which the search with a coin starts.

        If all points have the same delta, the best one without a coin need not be the best with
        one.
        """
        if not self.one_point:
            return [chosen]
        step = 1 if n <= _FEW else 3 if n <= _SOME else self.points
        alike = [np.full_like(chosen, k) for k in range(0, self.points, step)]
        return [chosen, *(start for start in alike if (start != chosen).any())]

    def _chosen(self, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
        o, c = self._numbers
        return o[chosen, self._own], c[chosen, self._own]

    def _tail(self, o: FloatArray) -> float:
        """Return the chance of at least ``v`` if each target falls independently with chance
        ``o``.
        """
        if (o == o[0]).all():
            return float(upper_tail(int(self.repeats.sum()), self.at_least, special.logit(o[0])))
        return PoissonBinomial(np.repeat(o, self.repeats)).tail(self.at_least)

    def _value(self, o: FloatArray, c: FloatArray) -> float:
        """Return the bound for any chances; it may exceed 1."""
        n, v = int(self.repeats.sum()), self.at_least
        if n > _SMALL and (o == o[0]).all() and 0 < o[0] < 1:
            others = np.arange(n)
            near = mass(n - 1, others, special.logit(o[0])) / (1.0 + np.abs(others - (v - 1)))
            return self._tail(o) + float(np.minimum(c, 1.0) @ self.repeats) * float(near.sum())
        who = np.repeat(self._own, self.repeats)
        return self._tail(o) + float(self.nearness(o[who], np.minimum(c, 1.0)[who])[v - 1])

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
