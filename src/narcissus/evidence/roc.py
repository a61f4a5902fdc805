"""A ROC curve with limits that hold jointly at all thresholds, down to the lowest rates.

One band limits the curve, the area under it, true-positive rates and precisions: all of these
hold together.

The k-th largest of ``n`` independent scores is exceeded with a chance distributed like the k-th
smallest of ``n`` uniform numbers, beta(k, n - k + 1), whatever the scores' distribution (with ties
it is reached with at least, and exceeded with at most, such a chance). Every rank gets limits of
the same *local* level (Berk and Jones 1979), the largest one at which all of them hold jointly with
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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft, optimize, special

from narcissus._arrays import Floats, IntArray
from narcissus._validation import between, fraction, integer, probability
from narcissus.errors import InputError
from narcissus.results import Approximate, Estimate, Grade, Result

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
    level = math.exp(optimize.brentq(beyond, low, high, xtol=_CLOSE / 4))
    return level if crossing(n, ranks, level) + n * _ROUNDING <= error else shared


def crossing(n: int, ranks: IntArray, level: float) -> float:
    """Return the chance that an order statistic of ``n`` uniform numbers is beyond its limits.

    ranks: rising, from 1 to ``n``; each has a lower and an upper limit of this level.
    """
    low, high = _ends(n, ranks, level)
    times = np.concatenate([low, high])
    order = np.argsort(times, kind="stable")
    # below the k-th lower limit lie fewer than k values, below its upper limit k or more
    next_ = np.searchsorted(low, times)
    upper_counts = np.where(next_ < ranks.size, ranks[np.minimum(next_, ranks.size - 1)] - 1, n)
    lower_counts = np.concatenate([np.zeros_like(ranks), ranks])
    first, mass, now = 0, np.ones(1), 0.0
    for at in order:
        mean, now = n * (float(times[at]) - now), float(times[at])
        mass = _convolved(mass, _poisson(mean))[: upper_counts[at] - first + 1]
        first, mass = max(first, lower_counts[at]), mass[max(0, lower_counts[at] - first) :]
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
    apart = next((spacing for limit, spacing in _APART if n <= limit), _APART[-1][1])
    ranks = [1]
    while ranks[-1] < n:
        rank = ranks[-1]
        ranks.append(rank + max(1, int(apart * math.sqrt(rank * (1 - rank / n)))))
    ranks[-1] = n
    return np.array(ranks, dtype=np.int64)


def _ends(n: int, ranks: IntArray, level: float) -> tuple[Floats, Floats]:
    kinds = special.betaincinv, special.betainccinv
    low, high = (np.asarray(inverse(ranks, n - ranks + 1, level), np.float64) for inverse in kinds)
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
    convolution = fft.irfft(fft.rfft(first, fast) * fft.rfft(second, fast), fast)[:size]
    return np.maximum(convolution, 0.0)


LOW_RATES = (0.1, 0.01, 0.001, 0.0001, 0.00001)
"""False-positive rates at which membership is reported."""
_BAND = "joint limits at all thresholds"


@dataclass(frozen=True, eq=False)
class RocBand(Result):
    """Rates of an attack at every threshold, with simultaneous limits."""

    # from high to low, shape (k,): scores at least as large are called in. The first is
    # infinite.
    thresholds: Floats
    # `false_positives`, `true_positives`: The observed rates, shape (k,)
    false_positives: Floats
    true_positives: Floats
    # `fpr_low`, `fpr_high`, `tpr_low`, `tpr_high`: Their limits, shape (k,) each
    fpr_low: Floats
    fpr_high: Floats
    tpr_low: Floats
    tpr_high: Floats
    confidence: float  # level of all limits together
    outside: int  # `outside`, `inside`: Scores of non-members and of members
    inside: int
    # whether the independence of the scores is only assumed; the limits are then approximate
    taken_independent: bool
    least_seen: float  # least false-positive rate that some threshold is shown not to exceed

    @property
    def grade(self) -> Grade:
        """'sampled', or 'approximate' if independence is only assumed."""
        return "approximate" if self.taken_independent else "sampled"

    def sees(self, fpr: float) -> bool:
        """Return whether there are enough non-members to estimate anything at this rate."""
        return fpr >= self.least_seen

    def unseen(self, fpr: float) -> str:
        """Describe why nothing is estimated at a rate, and how many non-members it takes."""
        if fpr <= 0:
            return "cannot be seen with any number of non-members"
        error = (1 - self.confidence) / 2
        needed = self.outside
        for _ in range(8):  # the local level falls slowly with their number
            share = error / (2 * ranks_of(min(needed, 2**20)).size)
            needed = math.ceil(math.log(share) / math.log1p(-fpr))
        return f"cannot be seen with {self.outside:,} non-members; {needed:,} are enough"

    def curve(self, fpr: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return the largest true-positive rate at each rate, and its limits, in three arrays."""
        at = np.asarray(fpr, dtype=np.float64)
        value = self.true_positives[np.searchsorted(self.false_positives, at, side="right") - 1]
        low = np.append(0.0, self.tpr_low)[np.searchsorted(self.fpr_high, at, side="right")]
        high = np.append(self.tpr_high, 1.0)[np.searchsorted(self.fpr_low, at, side="right")]
        return value, low, high

    def tpr_at(self, fpr: float) -> Estimate | Approximate:
        """Return the largest true-positive rate at a false-positive rate of at most ``fpr``.

        The limits hold for every ``fpr`` at the same time. The lower one is taken at a threshold
        whose
        false-positive rate is certainly at most ``fpr``; 0 if there are too few non-members to find
        one (`sees`): the observed value is no estimate then.
        """
        rate = probability("fpr", fpr)
        rates = [float(point) for point in self.curve(rate)]
        return self._limited(
            rates, f"true-positive rate at a false-positive rate of at most {rate:g}"
        )

    def precision_at(self, fpr: float, base_rate: float) -> Estimate | Approximate:
        """Return the share of members among those called in, where ``fpr`` of others are.

        base_rate: share of members among those asked about, above 0 and below 1.

        It rises with the true-positive rate, so that the limits of `tpr_at` carry over, and hold
        for all rates and base rates at the same time.
        """
        rate = probability("fpr", fpr)
        base = between("base_rate", base_rate, 0, 1, open_low=True, open_high=True)
        shares = [base * float(share) for share in self.curve(rate)]
        precisions = [share / max(share + (1 - base) * rate, 5e-324) for share in shares]
        quantity = f"precision at a false-positive rate of {rate:g} and a base rate of {base:g}"
        return self._limited(precisions, quantity)

    @property
    def auc(self) -> Estimate | Approximate:
        """The chance that a member outscores a non-member, ties counted half.

        The area under the curve lies between those under the limits of the band.
        """
        value = np.trapezoid(self.true_positives, self.false_positives)
        low = self.tpr_low @ np.diff(self.fpr_high, append=1.0)
        high = self.tpr_high @ np.diff(self.fpr_low, prepend=0.0) + 1 - self.fpr_low[-1]
        return self._limited([float(value), float(low), float(high)], "area under the ROC curve")

    def _limited(self, found: Sequence[float], said: str) -> Estimate | Approximate:
        value, low, high = found
        made = Approximate if self.taken_independent else Estimate
        trials = self.inside + self.outside
        return made(value, min(low, value), max(high, value), self.confidence, trials, said, _BAND)

    def __str__(self) -> str:
        return str(self.tpr_at(0.01))


def roc_band(
    inside: ArrayLike,
    outside: ArrayLike,
    *,
    confidence: float = 0.95,
    members_known: bool = False,
    taken_independent: bool = False,
) -> RocBand:
    """Compute simultaneous limits on both rates of an attack at all thresholds.

    Scores of members and of non-members are each independent and identically distributed; larger
    means more likely in. With ``members_known`` the members are the whole population of the
    true-positive rate, which is then known. Independence that is only assumed
    (``taken_independent``) makes the result approximate.

    >>> found = roc_band(range(500, 1500), range(1000))
    >>> rate = found.tpr_at(0.1)
    >>> round(rate.value, 3), round(rate.low, 3), round(rate.high, 3)
    (0.6, 0.513, 0.688)
    >>> found.sees(0.001), found.unseen(0.001)
    (False, 'cannot be seen with 1,000 non-members; 10,905 are enough')
    """
    level = fraction("confidence", confidence)
    members, others = _sorted("inside", inside), _sorted("outside", outside)
    error = (1 - level) if members_known else (1 - level) / 2
    values = np.unique(np.concatenate([members, others]))[::-1]
    # one threshold more: nothing is called in
    thresholds = np.concatenate([[np.inf], values])
    called = [scores.size - np.searchsorted(scores, thresholds) for scores in (others, members)]
    fpr_low, fpr_high = exceedance_limits(others.size, error)
    tpr_low, tpr_high = exceedance_limits(members.size, error)
    tpr = called[1] / members.size
    return RocBand(
        thresholds,
        called[0] / others.size,
        tpr,
        fpr_low[called[0]],
        fpr_high[called[0]],
        tpr if members_known else tpr_low[called[1]],
        tpr if members_known else tpr_high[called[1]],
        level,
        others.size,
        members.size,
        taken_independent,
        -math.expm1(math.log(local_level(others.size, error)) / others.size),
    )


def _sorted(name: str, values: ArrayLike) -> Floats:
    array = np.sort(np.asarray(values, dtype=np.float64))
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"`{name}` must be a non-empty vector, got shape {array.shape}")
    if np.isnan(array[-1]):
        raise InputError(f"`{name}` must not be NaN")
    return array
