"""Worlds of independent records of two types: their chances at any rate, and between two rates.

With ``k`` of ``n`` records of the first type, whose chance is ``p``, a data set has probability
``ways * p^k (1 - p)^(n - k)``. As a function of ``p`` that rises up to ``k / n`` and falls after
it, so that over an interval of rates its largest value is at the nearest point to ``k / n`` and its
smallest at one of the ends: limits without a grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from narcissus.worlds.base import Array

_ULP = 8 * float(np.finfo(float).eps)
_TINY = 1e-290


@dataclass(frozen=True)
class TwoTypes:
    """Data sets of independent records of two types, at every rate at once."""

    n: int  # Records of a data set
    first: NDArray[np.int64]  # Records of the first type, of each data set, shape (D,)
    # Logarithm of what stands before ``p^k (1 - p)^(n - k)``, shape (D,)
    log_ways: NDArray[np.float64]
    # Chance of the first type at a rate; it never falls as the rate grows
    share: Callable[[float], float]

    def chances(self, rate: float) -> NDArray[np.float64]:
        """Return the probability of each data set at a rate, shape (D,)."""
        return np.exp(self._logarithm(self.share(rate)))

    def between(self, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the largest probability of each data set over an interval of rates.

        Rounded outwards, so that no rate between the two has less, or more.
        """
        p, q = self.share(low), self.share(high)
        ends = np.minimum(self._logarithm(p), self._logarithm(q))
        top = np.clip(self.first / self.n, p, q)
        most = self._logarithm(top)
        # What rounding may do to a logarithm, by the size of the terms that it is a sum of.
        size = 1 + special.gammaln(self.n + 1.0) + np.abs(self.log_ways)
        rest = self.n - self.first
        fall = _ULP * (size + _size(ends) + rest / max(1 - q, _TINY))
        slack = _ULP * (size + _size(most) + rest / np.maximum(1 - top, _TINY))
        return np.exp(ends - fall), np.minimum(1.0, np.exp(most + slack))

    def distance(self, low: float, high: float, records: int | None = None) -> float:
        """Return the total variation between some records (all, if None) at two rates, rounded up.

        How many are of the first type says everything about the rate, so it is that of two
        binomial distributions; it grows with the interval.
        """
        n = self.n if records is None else records
        count = np.arange(n + 1)
        p, q = self.share(low), self.share(high)
        apart = scipy.stats.binom.cdf(count, n, p) - scipy.stats.binom.cdf(count, n, q)
        return float(min(1.0, np.abs(apart).max() * (1 + 1e-9) + 1e-13))

    def _logarithm(self, share: float | NDArray[np.float64]) -> NDArray[np.float64]:
        rest = self.n - self.first
        return self.log_ways + special.xlogy(self.first, share) + special.xlog1py(rest, -share)


def _size(logarithm: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(logarithm), np.abs(logarithm), 0.0)


@runtime_checkable
class HasRate(Protocol):
    """A world of records of two types, whose chances depend on one number, its ``rate``."""

    rate: float

    def types(self, data: Array, places: int | None = None) -> TwoTypes | None:
        """Return the chances of its data sets at every rate; None where it has no single rate.

        data: the data sets, as the world writes them out.
        places: records in front that are told apart, where the order of all others is not.
        """
        ...
