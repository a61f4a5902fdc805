"""Limits on the chance of a score above a threshold, at all thresholds at once, by exact chances.

The k-th largest of ``n`` independent scores is exceeded with a chance distributed like the k-th
smallest of ``n`` uniform numbers, beta(k, n - k + 1), whatever the scores' distribution (with ties
it is reached with at least, and exceeded with at most, such a chance). Every rank gets limits of
the same *local* level (Berk and Jones 1979), the largest one at which all of them hold at once with
the declared chance. That chance is computed: numbers of uniform values below rising points are a
Poisson process given its end, and what stays between the limits is carried from point to point.

At a rate of 0.001 the band of Dvoretzky, Kiefer, Wolfowitz and Massart is vacuous below a million
scores; this one is as narrow as a single Clopper and Pearson interval of some 99.95%, and narrower
than limits that share the error (Bonferroni) by a seventh.

Source: Moscovich and Nadler 2017, "Fast calculation of boundary crossing probabilities for Poisson
processes", section 2; local levels: Gontscharuk, Landwehr and Finner 2016.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import fft, optimize, special

from narcissus._arrays import Floats, IntArray
from narcissus._validation import fraction, integer

_APART = ((10**4, 0.25), (10**5, 0.5), (2**20, 1.0))
"""Up to so many scores, ranks lie so many standard deviations apart: nearer ones narrow little."""
_DIRECT = 64  # chances up to which convolutions are direct
_ROUNDING = 1e-12  # of a crossing chance, for each score
_CLOSE = 0.005  # share of the error that is left over
_SPREAD = 12.0  # standard deviations of a step beyond which chances are below exp(-60)


def exceedance_limits(count: int, error: float) -> tuple[Floats, Floats]:
    """Compute limits on the chance of a value above a threshold, by the number of values there.

    The limits, shape (count + 1,) each, fail with chance ``error`` at any threshold together. A
    number between two ranks uses the nearer safe one.
    """
    n = integer("count", count, low=1)
    ranks = ranks_of(n)
    at_least, at_most = _ends(n, ranks, local_level(n, fraction("error", error)))
    called = np.arange(n + 1)
    low = np.concatenate([[0.0], at_least])[np.searchsorted(ranks, called, side="right")]
    high = np.concatenate([at_most, [1.0]])[np.searchsorted(ranks, called + 1, side="left")]
    return low, high


@lru_cache(maxsize=64)
def local_level(n: int, error: float) -> float:
    """Return the level of each limit of each rank at which all fail with chance ``error``.

    It is at least the shared one, ``error / (2 ranks)``, which is taken of more than a million
    scores, and where rounding could matter.
    """
    ranks = ranks_of(n)
    shared = error / (2 * ranks.size)
    if n > _APART[-1][0] or n * _ROUNDING > _CLOSE * error or ranks.size == 1:
        return shared

    def beyond(log_level: float) -> float:
        chance = crossing(n, ranks, math.exp(log_level))
        return math.log(max(chance, 1e-300) / (error * (1 - _CLOSE)))

    low, high = math.log(shared), math.log(error / 2)
    if beyond(low) >= 0 or beyond(high) <= 0:
        return shared
    found = math.exp(optimize.brentq(beyond, low, high, xtol=_CLOSE / 4))
    return found if crossing(n, ranks, found) + n * _ROUNDING <= error else shared


def crossing(n: int, ranks: IntArray, level: float) -> float:
    """Return the chance that an order statistic of ``n`` uniform numbers is beyond its limits.

    ranks: rising, from 1 to ``n``; each has a lower and an upper limit of this level.
    """
    low, high = _ends(n, ranks, level)
    times = np.concatenate([low, high])
    order = np.argsort(times, kind="stable")
    # below the k-th lower limit lie fewer than k values, below its upper limit k or more
    next_ = np.searchsorted(low, times)
    most = np.where(next_ < ranks.size, ranks[np.minimum(next_, ranks.size - 1)] - 1, n)
    least = np.concatenate([np.zeros_like(ranks), ranks])
    first, mass, now = 0, np.ones(1), 0.0
    for at in order:
        mean, now = n * (float(times[at]) - now), float(times[at])
        mass = _convolved(mass, _poisson(mean))[: most[at] - first + 1]
        first, mass = max(first, least[at]), mass[max(0, least[at] - first) :]
        if mass.size == 0:
            return 1.0
    rest, mean = n - first - np.arange(mass.size), n * (1.0 - now)
    ends = float(mass @ np.exp(special.xlogy(rest, mean) - mean - special.gammaln(rest + 1)))
    # the chance of n values in all, by Stirling's series
    whole = 0.5 * math.log(2 * math.pi * n) + 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
    if n < 32:
        whole = math.lgamma(n + 1) + n - n * math.log(n)
    return min(1.0, max(0.0, 1.0 - ends * math.exp(whole)))


def ranks_of(n: int) -> IntArray:
    """Choose ranks from 1 to n, evenly in standard deviations, every one near the ends."""
    apart = next((one for most, one in _APART if n <= most), _APART[-1][1])
    found = [1]
    while found[-1] < n:
        rank = found[-1]
        found.append(rank + max(1, int(apart * math.sqrt(rank * (1 - rank / n)))))
    found[-1] = n
    return np.array(found, dtype=np.int64)


def _ends(n: int, ranks: IntArray, level: float) -> tuple[Floats, Floats]:
    kinds = special.betaincinv, special.betainccinv
    low, high = (np.asarray(one(ranks, n - ranks + 1, level), np.float64) for one in kinds)
    return low, high


def _poisson(mean: float) -> Floats:
    if mean <= 0:
        return np.ones(1)
    counts = np.arange(int(mean + _SPREAD * math.sqrt(mean)) + 40)
    return np.exp(counts * math.log(mean) - mean - special.gammaln(counts + 1))


def _convolved(first: Floats, second: Floats) -> Floats:
    if min(first.size, second.size) <= _DIRECT:
        return np.convolve(first, second)
    size = first.size + second.size - 1
    fast = fft.next_fast_len(size, real=True)
    found = fft.irfft(fft.rfft(first, fast) * fft.rfft(second, fast), fast)[:size]
    return np.maximum(found, 0.0)
