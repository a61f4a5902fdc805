"""Refutation from guesses in an order, at all numbers of guesses together: no split, no seed.

From the release an attacker puts the canaries in an order and guesses each. ``R_k`` of the first
``k`` guesses are right. For fair coins, and an event ``E`` that no further right guess undoes,

    Pr[E]  <=  Pr_p[E] + m delta / (1 + e^eps),        p = e^eps / (1 + e^eps),

``Pr_p`` under independent right guesses of chance ``p``. *Proof.* ``1_E - Pr_p[E]`` is the sum over
positions of ``(s_k - p) D_k``, ``D_k`` in [0, 1] a function of the release and of earlier truths,
not of the canary's own. For one canary and guess, the sets of releases that put it at the
positions are disjoint: differential privacy costs ``(1 - p) delta`` for all together. With a prior
``pi`` per guess, ``p`` is the posterior ``e^eps pi / (1 + (e^eps - 1) pi)``, and a canary costs
``delta`` times the sum over its values of ``pi (1 - pi) / (1 + (e^eps - 1) pi)``. There ``E`` may
follow the release.

Where ``E`` depends on the counts in few large blocks, the cost is ``m delta Lambda``: in a block of
``B`` guesses ``n lambda(n - 1) - o (B - n) lambda(n) = h(n) - H``, with ``o`` the odds of ``p``,
``h(n)`` the chance of ``E`` given ``n`` right in the block, ``H`` its mean, and ``Lambda`` the
largest ``lambda``. A step of ``h`` at ``v`` has at most ``sigma(v) = T (1 - T) / (v b)``, ``T`` and
``b`` the tail and the mass of Bin(B, p) at ``v``. Every ``h`` is a mixture of steps. Any point
(epsilon, delta) of a profile may be used.

*One family of events.* ``S`` is the largest epsilon at which some ``R_k`` has a binomial tail of at
most a fixed level, and ``E`` is "S is at least what was found". These events are nested and depend
on no claim. If ``B(e, s)`` bounds ``Pr[S >= s]`` at every claim ``e`` that a mechanism meets, then
``inf_e B(e, S) <= alpha`` has probability at most ``alpha``: it is ``S >= s*`` for one ``s*``. So
every epsilon, mu and point of a profile may be searched, after the data are seen.

Source: Narcissus theory 5.1 (the sweep theorem and its sharper form) and 5.2 (nested events).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

from narcissus._arrays import Floats, IntArray, first_largest
from narcissus.bounds.binomial import convolve, log_mass
from narcissus.bounds.theorem import log_odds, posterior
from narcissus.evidence.refutation import LARGEST_MU, largest_refuted
from narcissus.guarantees import GaussianDP

Spent = Callable[[float], float]
Masses = list[tuple[int, Floats]]  # of each block: the first count, and chances from there on

_SIDES = 8.0  # one side alone has this part of the level of a number of guesses in S
FIRST, _RATIO = 8, math.sqrt(2.0)  # the least number of guesses, and how they grow
# Parts of the canaries at the ends of few large blocks, up to a number of them.
_LARGE = (
    (3e3, (0.2, 0.5, 1.0)),
    (3e4, (0.1, 0.3, 1.0)),
    (3e5, (0.03, 0.12, 0.35, 1.0)),
    (math.inf, (0.01, 0.05, 0.2, 1.0)),
)
_LOST = 52.0  # a window may lose exp(-52) of a block on each side (Bernstein)
_SMALL = 2**12  # a block up to which gamma functions are exact enough
_DIRECT = 2**18  # multiplications up to which arrays are joined directly
_POINTS, _BEST = 24, 3  # of the profile tried for mu; of them the highest are the best mostly
_STEP, _PARTS = 0.25, 2**10  # of the search for epsilon, and the parts of a step
_NEARBY, _TOGETHER = 0.1, 1.5  # of a slope; a sum of tails over the chance of any, about
_CLOSE = 0.03  # to alpha, from where a guess is right enough
_NEAR = 1e-9  # relative tolerance of S
_LOWEST, _LEAST_MU = -30.0, 1e-6  # where searches begin


def many_ends(m: int, first: int = FIRST, ratio: float = _RATIO) -> IntArray:
    """Return the numbers of guesses that are tried of ``m``, the last of them all."""
    steps = int(math.log(max(1.0, m / first)) / math.log(ratio)) + 1
    sizes = np.rint(first * ratio ** np.arange(steps)).astype(np.int64)
    return np.append(sizes[sizes < m], m)


def few_ends(m: int) -> IntArray:
    """Return at most four numbers of guesses of ``m`` whose blocks are large."""
    parts = next(parts for limit, parts in _LARGE if m <= limit)
    return np.unique(np.maximum(1, np.rint(m * np.array(parts)).astype(np.int64)))


class Ordered:
    """Numbers of right guesses at some ends of one order, and their law under an epsilon.

    ``right``, shape (k,), says which guesses are right, in order; ``chances`` are their prior
    chances, one for all or shape (k,); ``ends`` are numbers of guesses, rising.
    """

    def __init__(self, right: NDArray[np.bool_], chances: float | Floats, ends: IntArray):
        self.ends, self.chances, self.canaries = ends, chances, right.size
        self.sizes = np.diff(ends, prepend=0)
        blocks = np.split(right, ends)[:-1]  # what comes after the last end is no guess
        self.found: IntArray = np.cumsum([np.count_nonzero(block) for block in blocks])
        self._known: tuple[float, Masses] = (math.nan, [])
        self.masses: Callable[[float], Masses] = lru_cache(1)(self._masses)
        # Odds; of each block its first count, that after its last, and its place; of each count
        # the block's size, itself, and the log of its mass at these odds.
        self._seen: tuple[Any, ...] = 0.0, self.sizes + 1, self.sizes

    def _masses(self, epsilon: float) -> Masses:
        """Return the law of each block's count."""
        if isinstance(self.chances, np.ndarray):
            share = posterior(self.chances, epsilon)
            starts = self.ends - self.sizes
            parts = [share[a:b] for a, b in zip(starts, self.ends, strict=True)]
            return [convolve(part, 1.0 - part) for part in parts]
        odds = self.odds + epsilon
        p, sizes = float(special.expit(odds)), self.sizes
        reach = _LOST / 3 + 1 + np.sqrt(_LOST**2 / 9 + 2 * _LOST * p * (1 - p) * sizes)
        low = np.maximum(0.0, sizes * p - reach).astype(np.int64)
        high = np.minimum(sizes, np.ceil(sizes * p + reach)).astype(np.int64) + 1
        if (low < self._seen[1]).any() or (high > self._seen[2]).any():
            self._look(odds, low, high)
        near, lowest_counts, _, starts, sizes, counts, logs = self._seen
        moved = special.log_expit(-odds) - special.log_expit(-near)
        law = np.exp(logs + counts * (odds - near) + sizes * moved)
        first = starts + low - lowest_counts
        places = zip(low.tolist(), first.tolist(), (first + high - low).tolist(), strict=True)
        return [(count, law[start:end]) for count, start, end in places]

    def _look(self, odds: float, low: IntArray, high: IntArray) -> None:
        """Look half as far again on both sides, for odds near these."""
        margin = (high - low) // 2
        low, high = np.maximum(0, low - margin), np.minimum(self.sizes + 1, high + margin)
        starts, sizes = np.cumsum(high - low) - (high - low), np.repeat(self.sizes, high - low)
        counts = np.arange(sizes.size) + np.repeat(low - starts, high - low)
        if self.sizes.max() > _SMALL:
            logs = log_mass(sizes, counts, odds)
        else:  # quicker, and right to some 2e-15 of a block
            all_, some, rest = (special.gammaln(n + 1.0) for n in (sizes, counts, sizes - counts))
            logs = all_ - some - rest + counts * odds + sizes * special.log_expit(-odds)
        self._seen = odds, low, high, starts, sizes, counts, logs

    @cached_property
    def odds(self) -> float:
        return float(log_odds(self.chances))

    def tails(self, epsilon: float, counts: IntArray) -> Floats:
        """Return the chance of at least ``counts`` at each end."""
        if not isinstance(self.chances, np.ndarray):
            p = special.expit(self.odds + epsilon)
            inner = np.clip(counts, 1, self.ends)
            tail = special.betainc(inner, self.ends - inner + 1, p)
            return np.where(counts <= 0, 1.0, np.where(counts > self.ends, 0.0, tail))
        if self._known[0] != epsilon:
            sums = accumulate(self.masses(epsilon), lambda a, b: (a[0] + b[0], _joined(a[1], b[1])))
            laws = [(first, np.append(np.cumsum(law[::-1])[::-1], 0.0)) for first, law in sums]
            self._known = epsilon, laws
        pairs = zip(counts.tolist(), self._known[1], strict=True)
        return np.array([law[min(max(0, c - first), law.size - 1)] for c, (first, law) in pairs])

    def reach(self, level: float) -> float:
        """Return the largest epsilon at which the tail of some ``found`` is at most ``level``."""
        if isinstance(self.chances, np.ndarray):
            return largest_refuted(
                lambda e: float(self.tails(e, self.found).min()), level, _NEAR, start=_LOWEST
            )
        some = self.found > 0
        p = special.betaincinv(self.found[some], (self.ends - self.found)[some] + 1, level)
        limit = float(special.logit(p).max(initial=-math.inf) - self.odds)
        return largest_refuted(lambda e: float(e > limit), 0.5, _NEAR, start=_LOWEST)

    def least(self, epsilon: float, level: float) -> IntArray:
        """Return the least count at each end whose tail is at most ``level``."""
        low, high = np.full(self.ends.size, -1), self.ends + 1
        if not isinstance(self.chances, np.ndarray):  # most are near what a normal law says
            p, z = float(special.expit(self.odds + epsilon)), -float(special.ndtri(level))
            near = self.ends * p + z * np.sqrt(self.ends * (p * (1 - p))) + z * z * (1 - 2 * p) / 6
            tried = np.clip(near.astype(np.int64), 0, self.ends) + np.arange(-3, 6)[:, None]
            small = self.tails(epsilon, tried) <= level
            inside = small[-1] & ~small[0]
            counts = tried[small.argmax(axis=0), np.arange(self.ends.size)]
            low, high = np.where(inside, counts - 1, low), np.where(inside, counts, high)
        while (high - low > 1).any():
            middle = np.maximum(0, (low + high) // 2)
            small = self.tails(epsilon, middle) <= level
            low, high = np.where(small, low, middle), np.where(small, middle, high)
        return high

    def crossing(self, epsilon: float, least: IntArray) -> float:
        """Return an upper bound on the chance of as many as ``least`` at some end."""
        first, left = 0, np.ones(1)
        for (start, law), count in zip(self.masses(epsilon), least.tolist(), strict=True):
            first += start
            if count <= first:
                return 1.0
            left = _joined(left, law)[: count - first]
        # What windows left out counts as crossed; a mass is right to some 6e-15 of its trials.
        return min(1.0, max(0.0, 1.0 - float(left.sum())) + 1e-12 + 1e-14 * float(self.ends[-1]))

    def largest_lambda(self, epsilon: float, least: IntArray) -> float:
        """Return an upper bound on Lambda for that event, where all guesses have one chance."""
        best = 0.0
        jump, rise = int(least[-1]), np.ones(1)  # of h, from `jump` on, as a function of the count
        masses = self.masses(epsilon)
        for b in range(len(masses) - 1, -1, -1):
            size, (first, mass) = int(self.sizes[b]), masses[b]
            low, sigma = _sigma(size, first, mass)
            if b == 0:  # no other counts than those of the block
                rise, jump = rise[max(0, 1 - jump) : max(0, size + 1 - jump)], max(1, jump)
            # Counts before the block without the event, as places of the first step in `sigma`;
            # so far out that no step is inside, all are alike.
            limit = min(int(self.ends[b - 1]), int(least[b - 1]) - 1) if b > 0 else 0
            if limit >= 0 and rise.size:
                start, stop = (
                    min(max(at, -rise.size), sigma.size) for at in (jump - low - limit, jump - low)
                )
                places = np.arange(start, stop + rise.size)
                around = sigma[np.minimum(np.maximum(places, 0), sigma.size - 1)]
                within = _joined(around, rise[::-1])[rise.size - 1 : around.size]
                best = max(best, float(within.max()))
            if b > 0:  # from `least` on the event has happened
                jump, rise = jump - first - mass.size + 1, _joined(rise, mass[::-1])
                top = int(least[b - 1])
                head = rise[: max(0, top - jump)]
                gap = np.zeros(1 + max(0, top - jump - head.size))
                gap[-1] = max(0.0, 1.0 - head.sum())
                rise = np.concatenate([head, gap])
                jump = min(jump, top)
        return (1.0 + 1e-9) * best


def _sigma(size: int, first: int, mass: Floats) -> tuple[int, Floats]:
    """Return where the steps that matter begin, and ``sigma`` there; beyond it is smaller.

    Masses are log-concave, so tail over mass falls away from the mean on both sides; ``v b(v)`` is
    ``(B - v + 1) o b(v - 1)``.
    """
    seen = (mass > 1e-12 * mass.max()).nonzero()[0]
    low, high = max(int(seen[0]), 1 - first), int(seen[-1]) + 1
    if low >= high:
        return 1, np.array([1.0 / size])
    below = mass.cumsum()
    under = below[low - 1 : high - 1] if low else np.concatenate([[0.0], below[: high - 1]])
    above, counts = mass[::-1].cumsum()[::-1][low:high], np.arange(low + first, high + first)
    return low + first, above * under / (counts * mass[low:high])


def _joined(one: Floats, other: Floats) -> Floats:
    if one.size * other.size <= _DIRECT:
        return np.correlate(one, other[::-1], "full")  # `convolve`, with less around it
    size = one.size + other.size - 1
    length = fft.next_fast_len(size, real=True)
    convolution = fft.irfft(fft.rfft(one, length) * fft.rfft(other, length), length)[:size]
    return np.maximum(convolution, 0.0)


def _sum(runs: tuple[Ordered, ...], value: Callable[[int], float]) -> float:
    """Return the sum over runs; the two sides alone have one value if they have one law."""
    fair = len(runs) == 3 and not isinstance(runs[0].chances, np.ndarray)
    alike = fair and np.array_equal(runs[1].ends, runs[2].ends)
    each = [value(i) for i in range(len(runs) - alike)]
    return sum(each) + alike * each[-1]


@dataclass(frozen=True)
class SweepTest:
    """The event that was found, and what it may cost.

    ``runs`` have parts of the level; ``least`` are the counts of the event, ``spent`` the cost of a
    delta of 1 at an epsilon. ``best`` is the run and the end that found ``epsilon``, S itself.
    """

    runs: tuple[Ordered, ...]
    least: tuple[IntArray, ...]
    epsilon: float
    best: tuple[int, int]
    spent: Spent
    most: Spent  # the same or more, at once
    _chances: dict[float, float] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        runs: tuple[Ordered, ...],
        alpha: float,
        spent: Spent | None = None,
        *,
        by_blocks: bool = True,
    ) -> SweepTest:
        """Find S. Without ``spent`` guesses have one chance, and the cost is Lambda or ``most``."""
        levels = [alpha / (1.0 if i == 0 else _SIDES) for i in range(len(runs))]
        each = [run.reach(level) for run, level in zip(runs, levels, strict=True)]
        at = int(first_largest(np.array(each)))
        # Rounding may make the event larger, never smaller; without an S it is certain.
        thresholds = tuple(
            run.least(each[at], level * (1 + 1e-9)) if each[at] > _LOWEST else 0 * run.ends
            for run, level in zip(runs, levels, strict=True)
        )

        def most(epsilon: float) -> float:
            # Of a release that chooses whom to guess, those left out count as well.
            return runs[0].canaries / (1.0 + math.exp(runs[0].odds + epsilon))

        def blocks(epsilon: float) -> float:
            each = _sum(runs, lambda i: runs[i].largest_lambda(epsilon, thresholds[i]))
            return min(runs[0].canaries * each, most(epsilon))

        best = at, int(runs[at].tails(each[at], runs[at].found).argmin())
        paid = cache(spent or (blocks if by_blocks else most))
        return cls(runs, thresholds, each[at], best, paid, spent or most)

    def chance(self, epsilon: float) -> float:
        """Bound the chance of the event under independent guesses: the sum of those of its runs."""
        if epsilon not in self._chances:
            total = _sum(self.runs, lambda i: self.runs[i].crossing(epsilon, self.least[i]))
            self._chances[epsilon] = min(1.0, total)
        return self._chances[epsilon]

    def p_value(self, epsilon: float, delta: float) -> float:
        """Bound the chance of the event under (epsilon, delta)-DP."""
        lost = delta * self.spent(epsilon) if delta > 0 else 0.0
        return min(1.0, self.chance(epsilon) + lost)

    def largest_epsilon(self, delta: float, alpha: float) -> float:
        """Return the largest epsilon found whose p-value is at most ``alpha``; 0 if there is none.

        Any one may be taken: see the module. Near a guess two neighbours may decide; else the
        search goes from S down, or up, in steps.
        """
        p_value = cache(lambda e: self._near(e, delta, alpha))
        low, guess = max(0.0, self.epsilon), self._guess(delta, alpha)
        start = low
        while start > guess >= 0:
            start = max(0.0, start - _STEP)
        at, rises = int((guess - start) / _STEP * _PARTS), 0
        for _ in range(4 * (4 <= at < _PARTS - 4)):
            is_refuted = p_value(start + _STEP * at / _PARTS) <= alpha
            if rises and is_refuted != (rises > 0):
                return start + _STEP * (at if is_refuted else at - 1) / _PARTS
            rises = 1 if is_refuted else -1
            at += rises
        while p_value(low) > alpha:
            if low == 0:
                return 0.0
            low = max(0.0, low - _STEP)
        while p_value(low + _STEP) <= alpha:
            low += _STEP
        at, end, turn = 0, _PARTS, 0
        below, above = p_value(low), p_value(low + _STEP)
        while end - at > 1:
            # by the logarithms at both ends, and every third time by halves
            share, turn = 0.5, turn + 1
            if turn % 3 and 0 < below < above:
                share = math.log(alpha / below) / math.log(above / below)
            middle = min(end - 1, max(at + 1, round(at + share * (end - at))))
            if (small := p_value(low + _STEP * middle / _PARTS)) <= alpha:
                at, below = middle, small
            else:
                end, above = middle, small
        return low + _STEP * at / _PARTS

    def _guess(self, delta: float, alpha: float) -> float:
        """Return about where the p-value is ``alpha``, or less than 0.

        The chance falls like the sum of its single tails, and what delta costs like ``most``.
        """
        tail, other = (
            sum(float(run.tails(e, c).sum()) for run, c in zip(self.runs, self.least, strict=True))
            for e in (self.epsilon, self.epsilon - _NEARBY)
        )
        slope = math.log(tail / other) / _NEARBY if 0 < other < tail else 0.0
        at, before, share = self.epsilon, (math.nan, math.log(tail / (_TOGETHER * alpha))), 0.0
        for turn in range(5):
            at -= before[1] / slope if slope > 0 else math.inf
            if not 0 < at <= self.epsilon:
                break
            if delta > 0 and turn == 0:
                share = delta * self.spent(at) / self.most(at)
                if share * self.most(at) > alpha / 2:  # p-values need not rise there
                    break
            height = math.log((self.chance(at) + share * self.most(at)) / alpha)
            if turn and at != before[0]:
                slope = (height - before[1]) / (at - before[0])
                if abs(height) < _CLOSE < slope:
                    return at - height / slope
            before = at, height
        return -1.0

    def _near(self, epsilon: float, delta: float, alpha: float) -> float:
        """Bound the chance of the event, exactly only where that decides about ``alpha``."""
        chance = self.chance(epsilon)
        bound = min(1.0, chance + (delta * self.most(epsilon) if delta > 0 else 0.0))
        if delta == 0 or chance > alpha or bound <= alpha:
            return bound
        return min(1.0, chance + delta * self.spent(epsilon))

    def largest_mu(self, alpha: float) -> float:
        """Return the largest mu whose p-value at the best of some points is at most ``alpha``."""
        points = np.linspace(0.0, self.largest_epsilon(0.0, alpha), _POINTS)[::-1]
        best = points[:_BEST].tolist()

        def largest() -> float:
            chances, spent = (np.array([of(e) for e in best]) for of in (self.chance, self.spent))
            return largest_refuted(
                lambda mu: float((chances + spent * GaussianDP(mu).profile(best)).min()),
                alpha,
                1e-4,
                start=_LEAST_MU,
                largest=LARGEST_MU,
            )

        limit = largest()
        for e, lost in zip(points[_BEST:], GaussianDP(limit).profile(points[_BEST:]), strict=True):
            # To tell all with chance delta costs 1 - chance at least: many points decide nothing.
            if lost <= alpha and self.chance(e) + (1.0 - self.chance(e)) * lost <= alpha:
                best += [e] if self.chance(e) + self.spent(e) * lost <= alpha else []
        limit = largest() if len(best) > _BEST else limit
        return limit if limit > _LEAST_MU else 0.0
