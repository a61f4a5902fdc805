"""The worst rate of a world, and a bound for every rate of an interval, not only for a grid.

Let ``delta(r)`` be the exact profile at one epsilon where the records are drawn with rate ``r``.
Two bounds on it over an interval ``[a, b]`` are computed, and the smaller one counts.

*Enclosure.* Each data set ``S`` has a least and a largest chance ``l(S) <= P_r(S) <= u(S)`` over
the interval. With ``s`` and ``t`` the chances of a release ``y`` with an attempt ``z`` that holds,
and that does not, and with ``b`` the own baseline of ``z``,

    s_r(y,z) - e^epsilon P_r(y) b_r(z) <= min( s_u - e^epsilon P_l(y) b_l,
                                               P_u(y) ( s_u / (s_u + t_l) - e^epsilon b_l ) )

where an index ``u`` (``l``) stands for sums of the largest (least) chances, since ``s / (s + t)``
grows with ``s`` and falls with ``t``; where the bracket is negative, ``P_l`` is before it. The
sum over releases of the largest positive part bounds ``delta`` everywhere.

*Distance.* An attacker's success is the mean of a number in [0, 1] over ``S``, its baseline one
over ``S`` and ``T``. With ``d`` the total variation between the laws of ``S`` at two rates, and
``d'`` that of the records of ``T`` that an attempt is about, for every attacker

    |delta(r) - delta(r')| <= d + e^epsilon (1 - (1 - d)(1 - d')).

The best attacker at ``r'`` who may make no attempt makes one only where ``e^epsilon b_r'(z) <= 1``:
its gain for a given ``S`` lies between -1 and 1. Changing the law of ``S`` and then of ``T`` gives

    delta(r') - delta(r) <= 2 d + e^epsilon d' <= (2 + e^epsilon) n |r' - r|.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._outwards import upper
from narcissus._validation import non_negative
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer
from narcissus.profiles.write_out import Best, Guesses, WrittenFamily, WrittenOut
from narcissus.results import Grade, Result
from narcissus.success.relations.base import table
from narcissus.worlds.products import HasRate, TwoTypes

_HELD = 4_000_000
_APART = 4.0

Chances = NDArray[np.float64]


@dataclass(frozen=True)
class Cover(Result):
    """The worst delta found on an interval of rates at one epsilon, and a bound for all rates."""

    low: float  # the interval of rates, with ``high``
    high: float
    epsilon: float  # where the profile is taken
    rate: float  # the worst rate examined
    least: float  # its exact delta, which some rate thus needs
    at_most: float  # a delta that is enough for every rate of the interval
    looked_at: int  # number of rates examined
    tolerance: float  # largest requested distance of ``at_most`` from ``least``
    assumptions: tuple[str, ...] = ()  # what the answer assumes about parts of the user's own

    @property
    def complete(self) -> bool:
        return self.at_most <= self.least + self.tolerance

    @property
    def grade(self) -> Grade:
        return "proved if" if self.assumptions else "proved"

    def __str__(self) -> str:
        return (
            f"at every rate from {self.low:g} to {self.high:g} a delta of "
            f"{upper(self.at_most, 3)} is enough, by {self.looked_at:,} intervals"
        )


def why_not_covered(exact: WrittenOut) -> str:
    """Return why nothing is known between the rates of a game, or an empty text."""
    if not isinstance(exact.game.world, HasRate) or _types(exact) is None:
        return (
            f"the world {type(exact.game.world).__name__} does not say how its chances depend on "
            "the parameter; `bits` with one rate and `mona-lisa` do"
        )
    if exact.game.side is not None:
        return "what the attacker is told depends on the rate"
    if exact.game.surprisal is not None:
        return "surprisal depends on the rate"
    return ""


def cover(
    exact: WrittenOut,
    low: float,
    high: float,
    epsilon: float,
    *,
    points: Sequence[float] = (),
    tolerance: float = 1e-3,
    budget: int = 1000,
    target: float | None = None,
    agreed: Callable[[float], None] | None = None,
    observer: Observer = SILENT,
) -> Cover:
    """Find the worst rate of an interval, and a delta that is enough for every rate.

    Intervals with the largest bound are halved until the bound is close enough to the delta needed
    at some rate, or the budget ends.

    Source: Narcissus theory 2.2; for Cohen et al. 2024, Definition 1.6 ("for all D in F").

    exact: The game written out, at any rate.
    low, high: The interval, within [0, 1].
    epsilon: Where the profile is taken, at least 0.
    points: Rates to begin with, in addition to both ends.
    tolerance: Largest distance of the bound from the delta needed, at least 0.
    budget: Most intervals to examine.
    target: A delta: also stop once it is known whether it is enough for every rate.
    agreed: Called with the most seconds that the search takes, before it starts; raises to prevent
        it.
    observer: Receives the progress.

    Whatever the rate, the count of 100 bits needs no more than a delta of .0012 at epsilon 1:

    >>> from narcissus import Game
    >>> from narcissus.mechanisms import CountingQuery
    >>> from narcissus.profiles import write_out
    >>> from narcissus.success.relations import Pinned
    >>> from narcissus.worlds import Bits
    >>> game = write_out(Game(Bits(100), CountingQuery(), Pinned(1)))
    >>> found = cover(game, 0.0, 1.0, 1.0, tolerance=1e-4)
    >>> round(found.least, 5), found.at_most <= 0.0012
    (0.00102, True)
    """
    if reason := why_not_covered(exact):
        raise InputError(f"nothing is known between the points: {reason}")
    non_negative("tolerance", tolerance)
    between = _Between(exact, non_negative("epsilon", epsilon))
    if not 0 <= low < high <= 1:
        raise InputError(f"an interval of rates must lie in [0, 1], got {low:g} to {high:g}")
    edges = sorted({low, high, *(p for p in points if low < p < high)})
    if budget < len(edges) - 1:
        raise InputError(
            f"`budget` must be at least {len(edges) - 1}, the intervals to begin with: {budget}"
        )
    began = time.perf_counter()
    search = _Halving(between, max((between.least(rate), rate) for rate in edges[:2]))
    between.limit(edges[0], _middle(*edges[:2]), edges[1])
    if agreed is not None:
        agreed((time.perf_counter() - began) * budget)
    looked = search.run(edges, tolerance, budget, target, observer)
    delta, rate = search.worst
    return Cover(
        low,
        high,
        epsilon,
        rate=rate,
        least=delta,
        at_most=search.at_most,
        looked_at=looked,
        tolerance=tolerance,
        assumptions=WrittenFamily({"": exact}).assumptions,
    )


@dataclass
class _Halving:
    """Halving of the intervals with the largest bound."""

    between: _Between
    worst: tuple[float, float]  # the largest delta examined, and its rate
    heap: list[tuple[float, float, float]] = field(default_factory=list[tuple[float, float, float]])

    @property
    def at_most(self) -> float:
        return max(-self.heap[0][0], self.worst[0])

    def run(
        self,
        edges: Sequence[float],
        tolerance: float,
        budget: int,
        target: float | None,
        observer: Observer,
    ) -> int:
        """Halve intervals until the bound is close enough; return the number examined."""
        observer.start("intervals of rates", budget)
        self.worst = max(self.worst, *((self.between.least(rate), rate) for rate in edges[1:]))
        looked = len(edges) - 1
        for a, b in pairwise(edges):
            self._add(a, b, math.inf)
        observer.advance(looked)
        aim = -math.inf if target is None else target
        while -self.heap[0][0] > max(self.worst[0] + tolerance, aim) and looked + 2 <= budget:
            if target is not None and self.worst[0] > target:
                break
            limit, a, b = self.heap[0]
            middle = _middle(a, b)
            if not a < middle < b:
                break
            heapq.heappop(self.heap)
            self._add(a, middle, -limit)
            self._add(middle, b, -limit)
            looked += 2
            observer.advance(2)
        observer.finish()
        return looked

    def _add(self, low: float, high: float, known: float) -> None:
        middle = _middle(low, high)
        limit = min(known, self.between.limit(low, middle, high))
        heapq.heappush(self.heap, (-limit, low, high))
        self.worst = max(self.worst, (self.between.least(middle), middle))


def _middle(low: float, high: float) -> float:
    """Halve an interval, geometrically where its ends differ in magnitude."""
    return math.sqrt(low * high) if low > 0 and high > _APART * low else (low + high) / 2


def _types(exact: WrittenOut) -> TwoTypes | None:
    world: Any = exact.game.world
    return world.types(exact.enumeration.data, exact.places)


@dataclass
class _Between:
    """Bounds of a profile over intervals of rates, with the parts common to all intervals."""

    exact: WrittenOut
    epsilon: float

    def least(self, rate: float) -> float:
        chances = self.types.chances(rate)
        return self._delta(chances, chances)

    def limit(self, low: float, middle: float, high: float) -> float:
        enclosed = self.enclosed(low, high)
        moved = max(self.moved(low, middle), self.moved(middle, high))
        return enclosed if moved >= enclosed else min(enclosed, self.enclosed(middle) + moved)

    def enclosed(self, low: float, high: float | None = None) -> float:
        return self._delta(*self.types.between(low, low if high is None else high))

    def moved(self, low: float, high: float) -> float:
        apart = self.types.distance(low, high)
        fresh = apart
        if self.exact.places is not None:
            fresh = self.types.distance(low, high, self.exact.places)
        factor = math.exp(self.epsilon)
        limit = apart + factor * (1 - (1 - apart) * (1 - fresh))
        return min(limit, 2 * apart + factor * fresh) if self._may else limit

    @property
    def _may(self) -> bool:
        return self.exact.abstain or self.exact.additive

    @cached_property
    def types(self) -> TwoTypes:
        two_types = _types(self.exact)
        assert two_types is not None
        return two_types

    @cached_property
    def _kept(self) -> list[tuple[NDArray[np.int64], Chances, Chances]] | None:
        size = 2 * self.exact.count * len(self.exact.enumeration.data)
        return list(self._tables()) if size <= _HELD else None

    def _tables(self) -> Any:
        game, data, guesses = self.exact.game, self.exact.enumeration.data, self.exact.guesses
        for part in self.exact.parts():
            holds = table(game.relation, data, guesses, part)
            looser = game.looser
            again = holds if looser is None else table(looser, data, guesses, part)
            yield part, holds, again

    def _delta(self, least: Chances, most: Chances) -> float:
        matrix = self.exact.channel.matrix
        low, high = np.asarray(least @ matrix), np.asarray(most @ matrix)
        upper, lower = sparse.diags_array(most) @ matrix, sparse.diags_array(least) @ matrix
        best = Best.nothing(self.epsilon, [0], matrix.shape[1], abstain=self._may)
        factor = math.exp(self.epsilon)
        for part, holds, again in self._kept if self._kept is not None else self._tables():
            here = np.asarray(holds @ upper)
            other = np.maximum(low - np.asarray(holds @ lower), 0.0)
            # at least what holds, and all but what may fail
            base = np.maximum(again @ least, 1 - (1 - again) @ most)[:, None]
            base = np.clip(base, 0.0, 1.0)
            whole = here + other
            share = np.divide(here, whole, out=np.zeros_like(here), where=whole > 0)
            before = np.where(share >= factor * base, high, low)
            closer = before * (share - factor * base) < here - factor * base * low
            success = np.where(closer, before * share, here)
            baseline = base * np.where(closer, before, low)
            best.add(Guesses(0, part, success, baseline), additive=self.exact.additive)
        return best.delta
