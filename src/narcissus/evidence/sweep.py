"""Refutation from guesses in an order, at every number of guesses at once: no split, no seed.

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
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

from narcissus._arrays import first_largest
from narcissus.bounds.binomial import convolve, log_mass
from narcissus.bounds.theorem import log_odds, posterior
from narcissus.evidence.refutation import LARGEST_MU, largest_refuted
from narcissus.guarantees import GaussianDP

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Spent = Callable[[float], float]
Masses = list[tuple[int, FloatArray]]  # of each block: the first count, and chances from there on

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
_DIRECT = 2**20  # multiplications up to which arrays are joined directly
_POINTS = 24  # of the profile tried for mu
_STEP, _PARTS = 0.25, 2**10  # of the search for epsilon, and the parts of a step
_NEAR = 1e-9  # relative tolerance of S
_LOWEST, _LEAST_MU = -30.0, 1e-6  # where searches begin


def many_ends(m: int, first: int = FIRST, ratio: float = _RATIO) -> IntArray:
    """Return the numbers of guesses that are tried of ``m``, the last of them all."""
    steps = int(math.log(max(1.0, m / first)) / math.log(ratio)) + 1
    sizes = np.rint(first * ratio ** np.arange(steps)).astype(np.int64)
    return np.append(sizes[sizes < m], m)


def few_ends(m: int) -> IntArray:
    """Return at most four numbers of guesses of ``m`` whose blocks are large."""
    parts = next(parts for most, parts in _LARGE if m <= most)
    return np.unique(np.maximum(1, np.rint(m * np.array(parts)).astype(np.int64)))


class Ordered:
    """Numbers of right guesses at some ends of one order, and their law under an epsilon.

    ``right``, shape (k,), says which guesses are right, in order; ``chances`` are their prior
    chances, one for all or shape (k,); ``ends`` are numbers of guesses, rising.
    """

    def __init__(self, right: NDArray[np.bool_], chances: float | FloatArray, ends: IntArray):
        self.ends, self.chances, self.canaries = ends, chances, right.size
        self.found: IntArray = np.cumsum(right, dtype=np.int64)[ends - 1]
        self.sizes = np.diff(ends, prepend=0)
        self._known: tuple[float, Masses] = (math.nan, [])

    @cached_property
    def _shapes(self) -> list[FloatArray]:
        """The logs of the binomial coefficients of each block."""
        return [log_mass(int(b), np.arange(b + 1), 0.0) + b * math.log(2.0) for b in self.sizes]

    def masses(self, epsilon: float) -> Masses:
        """Return the law of each block's count."""
        if isinstance(self.chances, np.ndarray):
            share = posterior(self.chances, epsilon)
            starts = self.ends - self.sizes
            parts = [share[a:b] for a, b in zip(starts, self.ends, strict=True)]
            return [convolve(part, 1.0 - part) for part in parts]
        odds = float(log_odds(self.chances)) + epsilon
        p, found = float(special.expit(odds)), []
        for size, shape in zip(self.sizes.tolist(), self._shapes, strict=True):
            reach = _LOST / 3 + math.sqrt(_LOST**2 / 9 + 2 * _LOST * size * p * (1 - p)) + 1
            low, high = max(0, int(size * p - reach)), min(size, math.ceil(size * p + reach))
            counts = np.arange(low, high + 1)
            level = size * special.log_expit(-odds)
            found.append((low, np.exp(shape[low : high + 1] + counts * odds + level)))
        return found

    def tails(self, epsilon: float, counts: IntArray) -> FloatArray:
        """Return the chance of at least ``counts`` at each end."""
        if not isinstance(self.chances, np.ndarray):
            p = special.expit(log_odds(self.chances) + epsilon)
            inner = np.clip(counts, 1, self.ends)
            tail = special.betainc(inner, self.ends - inner + 1, p)
            return np.where(counts <= 0, 1.0, np.where(counts > self.ends, 0.0, tail))
        if self._known[0] != epsilon:
            sums = accumulate(self.masses(epsilon), _added)
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
        most = float(special.logit(p).max(initial=-math.inf) - log_odds(self.chances))
        # of the same steps as the search
        return largest_refuted(lambda e: float(e > most), 0.5, _NEAR, start=_LOWEST)

    def least(self, epsilon: float, level: float) -> IntArray:
        """Return the least count at each end whose tail is at most ``level``, by bisection."""
        low, high = np.full(self.ends.size, -1), self.ends + 1
        while (high - low > 1).any():
            middle = np.maximum(0, (low + high) // 2)
            small = self.tails(epsilon, middle) <= level
            low, high = np.where(small, low, middle), np.where(small, middle, high)
        return high

    def crossing(self, epsilon: float, least: IntArray) -> float:
        """Return an upper bound on the chance of as many as ``least`` at some end."""
        first, left = 0, np.ones(1)
        for part, count in zip(self.masses(epsilon), least.tolist(), strict=True):
            first, left = _added((first, left), part)
            left = left[: max(0, count - first)]
            if left.size == 0:
                return 1.0
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
            if b == 0:
                counts = np.arange(jump, jump + rise.size)
                inside = (counts >= 1) & (counts <= size)
                steps = sigma[np.clip(counts - low, 0, sigma.size - 1)]
                within = np.array([(rise * steps)[inside].sum()])
            else:
                around = np.pad(sigma, rise.size, mode="edge")
                within = _joined(around, rise[::-1])[rise.size - 1 : around.size]
                # One for each count before the block, falling; of them those without the event.
                last = jump - low + rise.size
                most = min(int(self.ends[b - 1]), int(least[b - 1]) - 1)
                a, z = np.clip([last - most, last], 0, within.size - 1)
                within = within[a : z + 1] if most >= 0 else np.zeros(1)
            best = max(best, float(within.max()))
            jump, rise = jump - first - mass.size + 1, np.maximum(_joined(rise, mass[::-1]), 0.0)
            if b > 0:  # from `least` on the event has happened
                top = int(least[b - 1])
                kept = rise[: max(0, top - jump)]
                gap = max(0, top - jump - kept.size)
                rise = np.concatenate([kept, np.zeros(gap), [max(0.0, 1.0 - kept.sum())]])
                jump = min(jump, top)
        return (1.0 + 1e-9) * best


def _sigma(size: int, first: int, mass: FloatArray) -> tuple[int, FloatArray]:
    """Return where the steps that matter begin, and ``sigma`` there; beyond it is smaller.

    Masses are log-concave, so tail over mass falls away from the mean on both sides; ``v b(v)`` is
    ``(B - v + 1) o b(v - 1)``.
    """
    above, below = np.cumsum(mass[::-1])[::-1], np.cumsum(mass)
    counts = np.arange(first, first + mass.size)
    seen = np.flatnonzero((mass > 1e-12 * mass.max()) & (counts >= 1))
    if seen.size == 0:
        return 1, np.array([1.0 / size])
    v = counts[seen]
    under = np.where(seen > 0, below[np.maximum(seen - 1, 0)], 0.0)
    return int(v[0]), np.minimum(above[seen], 1.0) * np.minimum(under, 1.0) / (v * mass[seen])


def _added(one: tuple[int, FloatArray], other: tuple[int, FloatArray]) -> tuple[int, FloatArray]:
    return one[0] + other[0], _joined(one[1], other[1])


def _joined(one: FloatArray, other: FloatArray) -> FloatArray:
    if one.size * other.size <= _DIRECT:
        return np.convolve(one, other)
    size = one.size + other.size - 1
    length = fft.next_fast_len(size, real=True)
    return fft.irfft(fft.rfft(one, length) * fft.rfft(other, length), length)[:size]


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

    @classmethod
    def of(cls, runs: tuple[Ordered, ...], alpha: float, spent: Spent | None = None) -> SweepTest:
        """Find S; without ``spent`` all guesses have one chance, and Lambda is the cost."""
        levels = [alpha / (1.0 if i == 0 else _SIDES) for i in range(len(runs))]
        each = [run.reach(level) for run, level in zip(runs, levels, strict=True)]
        at = int(first_largest(np.array(each)))
        # Rounding may make the event larger, never smaller; without an S it is certain.
        least = tuple(
            run.least(each[at], level * (1 + 1e-9)) if each[at] > _LOWEST else 0 * run.ends
            for run, level in zip(runs, levels, strict=True)
        )

        def most(epsilon: float) -> float:
            # Of a release that chooses whom to guess, those left out count as well.
            return runs[0].canaries / (1.0 + math.exp(float(log_odds(runs[0].chances)) + epsilon))

        def by_blocks(epsilon: float) -> float:
            each = [r.largest_lambda(epsilon, c) for r, c in zip(runs, least, strict=True)]
            return min(runs[0].canaries * sum(each), most(epsilon))

        best = at, int(runs[at].tails(each[at], runs[at].found).argmin())
        return cls(runs, least, each[at], best, spent or by_blocks, spent or most)

    def chance(self, epsilon: float) -> float:
        """Bound the chance of the event under independent guesses: the sum of those of its runs."""
        pairs = zip(self.runs, self.least, strict=True)
        return min(1.0, sum(run.crossing(epsilon, least) for run, least in pairs))

    def p_value(self, epsilon: float, delta: float) -> float:
        """Bound the chance of the event under (epsilon, delta)-DP."""
        lost = delta * self.spent(epsilon) if delta > 0 else 0.0
        return min(1.0, self.chance(epsilon) + lost)

    def largest_epsilon(self, delta: float, alpha: float) -> float:
        """Return the largest epsilon found whose p-value is at most ``alpha``; 0 if there is none.

        Any one may be taken: see the module. The search goes from S down, or up.
        """
        p_value = cache(lambda e: self._near(e, delta, alpha))
        low = max(0.0, self.epsilon)
        while p_value(low) > alpha:
            if low == 0:
                return 0.0
            low = max(0.0, low - _STEP)
        while p_value(low + _STEP) <= alpha:
            low += _STEP
        start, at, end, turn = low, 0, _PARTS, 0
        below, above = p_value(low), p_value(low + _STEP)
        while end - at > 1:
            # by the logarithms at both ends, and every third time by halves
            share, turn = 0.5, turn + 1
            if turn % 3 and 0 < below < above:
                share = math.log(alpha / below) / math.log(above / below)
            middle = min(end - 1, max(at + 1, round(at + share * (end - at))))
            if (found := p_value(start + _STEP * middle / _PARTS)) <= alpha:
                at, below = middle, found
            else:
                end, above = middle, found
        return start + _STEP * at / _PARTS

    def _near(self, epsilon: float, delta: float, alpha: float) -> float:
        """Bound the chance of the event, exactly only where that decides about ``alpha``."""
        chance = self.chance(epsilon)
        most = min(1.0, chance + (delta * self.most(epsilon) if delta > 0 else 0.0))
        if delta == 0 or chance > alpha or most <= alpha:
            return most
        return min(1.0, chance + delta * self.spent(epsilon))

    def largest_mu(self, alpha: float) -> float:
        """Return the largest mu whose p-value at the best of some points is at most ``alpha``."""
        top = self.largest_epsilon(0.0, alpha)
        points = np.linspace(0.0, top, _POINTS)
        chances = np.array([self.chance(e) for e in points])
        spent = np.array([self.spent(e) for e in points])

        def p_value(mu: float) -> float:
            return float((chances + spent * GaussianDP(mu).profile(points)).min())

        found = largest_refuted(p_value, alpha, 1e-4, start=_LEAST_MU, largest=LARGEST_MU)
        return found if found > _LEAST_MU else 0.0
