"""A ROC curve with limits that hold at all thresholds at once, down to the lowest rates.

At selected ranks the share of scores above an order statistic has a beta distribution, whatever the
scores' distribution (ties only help). Limits at all those ranks share the error (Bonferroni);
between two ranks the curve is monotone. The ranks lie half a standard deviation apart, so the
limits are about as narrow as Clopper and Pearson's with a level divided among some hundreds, near 0
as well. The band of Dvoretzky, Kiefer, Wolfowitz and Massart has one width everywhere: at a rate of
0.001 it is vacuous below a million scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import fraction, integer, probability
from narcissus.errors import InputError
from narcissus.results import Approximate, Estimate, Grade, Result

FloatArray = NDArray[np.float64]

_APART = 0.5  # nearer ranks cost more of the error than they narrow
_BAND = "beta limits at all thresholds at once"


@dataclass(frozen=True, eq=False)
class RocBand(Result):
    """Rates of an attack at every threshold, with simultaneous limits."""

    # from high to low, shape (k,): scores at least as large are called in. The first is
    # infinite.
    thresholds: FloatArray
    # `false_positives`, `true_positives`: The observed rates, shape (k,)
    false_positives: FloatArray
    true_positives: FloatArray
    # `fpr_low`, `fpr_high`, `tpr_low`, `tpr_high`: Their limits, shape (k,) each
    fpr_low: FloatArray
    fpr_high: FloatArray
    tpr_low: FloatArray
    tpr_high: FloatArray
    confidence: float  # level of all limits together
    outside: int  # `outside`, `inside`: Scores of non-members and of members
    inside: int
    # whether the independence of the scores is only assumed; the limits are then approximate
    taken_independent: bool

    @property
    def grade(self) -> Grade:
        """'sampled', or 'approximate' if independence is only assumed."""
        return "approximate" if self.taken_independent else "sampled"

    def tpr_at(self, fpr: float) -> Estimate | Approximate:
        """Return the largest true-positive rate at a false-positive rate of at most ``fpr``.

        The limits hold for every ``fpr`` at once. The lower one is taken at a threshold whose
        false-positive rate is certainly at most ``fpr``; 0 if there are too few non-members to find
        one.
        """
        most = probability("fpr", fpr)
        value = float(self.true_positives[self.false_positives <= most].max())
        low = float(self.tpr_low[self.fpr_high <= most].max(initial=0.0))
        high = float(self.tpr_high[self.fpr_low > most].min(initial=1.0))
        said = f"true-positive rate at a false-positive rate of at most {most:g}"
        trials = self.inside + self.outside
        if self.taken_independent:
            return Approximate(value, low, high, self.confidence, trials, said, _BAND)
        return Estimate(value, low, high, self.confidence, trials, said, _BAND)

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
    (0.6, 0.501, 0.702)
    """
    level = fraction("confidence", confidence)
    members, others = _sorted("inside", inside), _sorted("outside", outside)
    error = (1 - level) if members_known else (1 - level) / 2
    values = np.unique(np.concatenate([members, others]))[::-1]
    # one threshold more: nothing is called in
    thresholds = np.concatenate([[np.inf], values])
    called = [one.size - np.searchsorted(one, thresholds) for one in (others, members)]
    fpr_low, fpr_high = exceedance_limits(others.size, error)
    tpr_low, tpr_high = exceedance_limits(members.size, error)
    found = called[1] / members.size
    return RocBand(
        thresholds,
        called[0] / others.size,
        found,
        fpr_low[called[0]],
        fpr_high[called[0]],
        found if members_known else tpr_low[called[1]],
        found if members_known else tpr_high[called[1]],
        level,
        others.size,
        members.size,
        taken_independent,
    )


def exceedance_limits(count: int, error: float) -> tuple[FloatArray, FloatArray]:
    """Compute limits on the chance of a value above a threshold, by the number of values there.

    The limits, shape (count + 1,) each, fail with chance ``error`` at any threshold together. The
    k-th largest of ``count`` values is exceeded with a chance distributed like the k-th smallest of
    ``count`` uniform numbers, beta(k, count - k + 1); with ties it is reached with at least, and
    exceeded with at most, such a chance. Both limits of each rank get their share of the error, so
    all hold at once; a number between two ranks uses the nearer safe one.
    """
    n, left = integer("count", count, low=1), fraction("error", error)
    ranks = _ranks(n)
    share = left / (2 * ranks.size)
    at_least = special.betaincinv(ranks, n - ranks + 1, share)
    at_most = special.betainccinv(ranks, n - ranks + 1, share)
    called = np.arange(n + 1)
    low = np.concatenate([[0.0], at_least])[np.searchsorted(ranks, called, side="right")]
    high = np.concatenate([at_most, [1.0]])[np.searchsorted(ranks, called + 1, side="left")]
    return low, high


def _ranks(n: int) -> NDArray[np.int64]:
    """Choose ranks from 1 to n, about half a standard deviation apart, every one near the ends."""
    found = [1]
    while found[-1] < n:
        rank = found[-1]
        found.append(rank + max(1, int(_APART * math.sqrt(rank * (1 - rank / n)))))
    found[-1] = n
    return np.array(found, dtype=np.int64)


def _sorted(name: str, values: ArrayLike) -> FloatArray:
    array = np.sort(np.asarray(values, dtype=np.float64))
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"`{name}` must be a non-empty vector, got shape {array.shape}")
    if np.isnan(array[-1]):
        raise InputError(f"`{name}` must not be NaN")
    return array
