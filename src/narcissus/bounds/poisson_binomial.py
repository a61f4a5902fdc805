"""The number of successes among independent trials that differ, right in both tails.

A p-value of 1e-40 must be right, not noise. Convolution by FFT has an *absolute* error near 1e-16,
so every success odds is first multiplied by one common factor, chosen such that the wanted count
becomes the mean (exponential tilting); the tilted distribution is convolved by divide and conquer
and tilted back. One factor is accurate around its count; a whole table stitches several windows.

Source: Narcissus theory 4.9.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, special

from narcissus._validation import between, probabilities
from narcissus.errors import InputError

FloatArray = NDArray[np.float64]

_SMALL = 512  # up to here the plain recurrence, all of whose terms are positive, is quick
_LEAF = 32
_LOST_EXPONENT = 52.0  # a window may lose exp(-52) = 3e-23 of a block's mass
_TRUSTED = 1e-4  # a tilt is used where its mass is at least this part of its largest
_SMALLEST_LOG = -745.0  # log of the smallest positive float


class PoissonBinomial:
    """Distribution of a sum of independent Bernoulli variables with given probabilities.

    Parameters
    ----------
    probabilities
        Success probability of each trial, shape (n,), each in [0, 1].

    Notes
    -----
    Source: Narcissus theory 4.9. `tail`, `sf` and `cdf` have a relative error of about 1e-12
    wherever the result is a normal float, for ``n`` up to 10^6; `tails` and `pmf` of more than 512
    trials have one of 1e-10 where two stretches meet.

    Examples
    --------
    >>> PoissonBinomial([0.5, 0.5, 0.2]).tail(3)
    0.05
    """

    def __init__(self, probabilities_: ArrayLike) -> None:
        array = probabilities("probabilities", probabilities_)
        if array.ndim != 1:
            raise InputError(f"`probabilities` must be a vector, got shape {array.shape}")
        self.n = int(array.size)
        self._certain = int(np.count_nonzero(array == 1.0))
        inner = np.sort(array[(array > 0.0) & (array < 1.0)])
        self._log_p = np.log(inner)
        self._log_q = np.log1p(-inner)
        self.mean = float(array.sum())

    def tail(self, v: float) -> float:
        """Give ``Pr[sum >= v]`` for one ``v``; relatively accurate also near 0."""
        # An integer-valued sum reaches v as soon as it reaches the next whole number.
        count = math.ceil(v) - self._certain
        n = self._log_p.size
        if count <= 0:
            return 1.0
        if count > n:
            return 0.0
        if n <= _SMALL:
            return float(self.tails()[count + self._certain])
        if count > self.mean - self._certain:
            return _upper(self._log_p, self._log_q, count)
        return 1.0 - _upper(self._log_q[::-1], self._log_p[::-1], n - count + 1)

    def sf(self, v: float) -> float:
        """Give ``Pr[sum > v]``."""
        return self.tail(math.floor(v) + 1)

    def cdf(self, v: float) -> float:
        """Give ``Pr[sum <= v]``; relatively accurate also near 0."""
        count = math.floor(v) - self._certain
        n = self._log_p.size
        if count < 0:
            return 0.0
        if count >= n:
            return 1.0
        if n <= _SMALL:
            return float(self._table[1][count])
        if count < self.mean - self._certain:
            return _upper(self._log_q[::-1], self._log_p[::-1], n - count)
        return 1.0 - _upper(self._log_p, self._log_q, count + 1)

    def quantile(self, confidence: float) -> int:
        """Give the smallest count that is not exceeded with probability ``confidence``.

        Parameters
        ----------
        confidence
            In [0, 1].
        """
        level = between("confidence", confidence, 0.0, 1.0)
        low, high = self._certain - 1, self._certain + self._log_p.size
        # Compare the tail, which keeps its digits where the confidence is near 1.
        while high - low > 1:
            middle = (low + high) // 2
            if self.sf(middle) <= 1.0 - level:
                high = middle
            else:
                low = middle
        return high

    def tails(self) -> FloatArray:
        """Give ``Pr[sum >= v]`` for ``v = 0, ..., n + 1``, shape (n + 2,)."""
        upper = self._table[0]
        missing = self.n + 2 - self._certain - upper.size
        return np.concatenate([np.ones(self._certain), upper, np.zeros(missing)])

    def pmf(self) -> FloatArray:
        """Give ``Pr[sum = v]`` for ``v = 0, ..., n``, shape (n + 1,)."""
        mass = self._mass
        missing = self.n + 1 - self._certain - mass.size
        return np.concatenate([np.zeros(self._certain), mass, np.zeros(missing)])

    @cached_property
    def _mass(self) -> FloatArray:
        """The mass of the sum of the trials that are not certain, shape (n' + 1,)."""
        if self._log_p.size <= _SMALL:
            return _recurrence(np.exp(self._log_p), np.exp(self._log_q))
        return _stitched(self._log_p, self._log_q)

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Upper tails, shape (n' + 2,), and lower tails, shape (n' + 1,)."""
        mass = self._mass
        above = np.cumsum(mass[::-1])[::-1]
        below = np.cumsum(mass)
        # From the mean on outwards the sums are small parts of 1; on the other side use the rest.
        middle = int(np.searchsorted(below, 0.5))
        upper = np.append(above, 0.0)
        upper[1 : middle + 1] = 1.0 - below[:middle]
        upper[0] = 1.0
        lower = below
        lower[middle:] = 1.0 - upper[middle + 1 :]
        return np.clip(upper, 0.0, 1.0), np.clip(lower, 0.0, 1.0)


def _recurrence(p: FloatArray, q: FloatArray) -> FloatArray:
    """Give the mass of the sum by adding one trial after the other, shape (n + 1,)."""
    mass = np.zeros(p.size + 1)
    mass[0] = 1.0
    with np.errstate(under="ignore"):
        for i in range(p.size):
            mass[1 : i + 2] = mass[1 : i + 2] * q[i] + mass[: i + 1] * p[i]
            mass[0] *= q[i]
    return mass


def _upper(log_p: FloatArray, log_q: FloatArray, v: int) -> float:
    """Give ``Pr[sum >= v]`` for ``v`` above the mean, ``1 <= v <= n``."""
    n = log_p.size
    if v == n:
        return math.exp(max(math.fsum(log_p), _SMALLEST_LOG - 1))
    theta = _tilt(log_p, log_q, float(v))
    first, mass, log_scale = _tilted(log_p, log_q, theta, v)
    start = v - first
    steps = np.arange(mass.size - start)
    with np.errstate(under="ignore"):
        total = float(mass[start:] @ np.exp(-theta * steps))
    return min(1.0, math.exp(max(log_scale + math.log(total), _SMALLEST_LOG - 1)))


def _tilt(log_p: FloatArray, log_q: FloatArray, mean: float) -> float:
    """Find the shift of all log odds under which the expected sum is ``mean`` (0 < mean < n)."""
    odds = log_p - log_q
    low, high = -1.0, 1.0
    while special.expit(odds + low).sum() > mean:
        low *= 2
    while special.expit(odds + high).sum() < mean:
        high *= 2
    theta = 0.0 if low < 0 < high else (low + high) / 2
    for _ in range(200):
        share = special.expit(odds + theta)
        gap = float(share.sum()) - mean
        if abs(gap) <= 1e-9 * mean or high - low <= 1e-14 * max(1.0, abs(theta)):
            break
        low, high = (low, theta) if gap > 0 else (theta, high)
        slope = float((share * (1.0 - share)).sum())
        theta = theta - gap / slope if slope > 0 else math.inf
        if not low < theta < high:
            theta = (low + high) / 2
    return theta


def _tilted(
    log_p: FloatArray, log_q: FloatArray, theta: float, v: int
) -> tuple[int, FloatArray, float]:
    """Give the first count, the mass of the tilted sum, and the log of what undoes it at ``v``.

    ``Pr[sum = j] = exp(log_scale - theta (j - v)) * mass[j - first]``.
    """
    shifted = log_p + theta
    log_norm = np.logaddexp(shifted, log_q)
    tilted_log_p = shifted - log_norm
    p = np.exp(tilted_log_p)
    q = np.exp(log_q - log_norm)
    # Minus the Kullback-Leibler divergence from the tilted trials: terms of one sign, so that a
    # scale of exp(-700) keeps its digits where the sums of log_norm and theta v alone are 10^5.
    terms = p * (tilted_log_p - log_p) + q * (-log_norm)
    log_scale = -float(terms.sum()) - theta * (v - float(p.sum()))
    first, mass = _convolve(p, q)
    return first, mass, log_scale


def _convolve(p: FloatArray, q: FloatArray) -> tuple[int, FloatArray]:
    """Give the mass of a sum of independent trials on the window that carries it all.

    Blocks of trials are summed by the recurrence and then joined two by two; each block keeps only
    the counts around its mean that can carry more than exp(-52) of its mass (Bernstein).

    Parameters
    ----------
    p, q
        Success and failure probabilities in any order, shape (n,).

    Returns
    -------
    first, mass
        The count of ``mass[0]``, and the mass; ``v`` beyond the window have none that matters.
    """
    n = p.size
    blocks = -(-n // _LEAF)
    padding = blocks * _LEAF - n
    # A block takes its trials from all over the sorted list, so that all blocks are alike.
    rows_p = np.concatenate([p, np.zeros(padding)]).reshape(_LEAF, blocks)
    rows_q = np.concatenate([q, np.ones(padding)]).reshape(_LEAF, blocks)
    columns = np.zeros((_LEAF + 1, blocks))
    columns[0] = 1.0
    with np.errstate(under="ignore"):
        for i in range(_LEAF):
            columns[1 : i + 2] = columns[1 : i + 2] * rows_q[i] + columns[: i + 1] * rows_p[i]
            columns[0] *= rows_q[i]
    mass = np.ascontiguousarray(columns.T)
    mean = rows_p.sum(axis=0)
    variance = (rows_p * rows_q).sum(axis=0)
    first = np.zeros(blocks, dtype=np.int64)
    while mass.shape[0] > 1:
        if mass.shape[0] % 2:
            nothing = np.zeros((1, mass.shape[1]))
            nothing[0, 0] = 1.0
            mass = np.concatenate([mass, nothing])
            mean, variance = np.append(mean, 0.0), np.append(variance, 0.0)
            first = np.append(first, 0)
        size = 2 * mass.shape[1] - 1
        length = fft.next_fast_len(size, real=True)
        waves = fft.rfft(mass, length, axis=1)
        mass = fft.irfft(waves[0::2] * waves[1::2], length, axis=1)[:, :size]
        mean, variance = mean[0::2] + mean[1::2], variance[0::2] + variance[1::2]
        first = first[0::2] + first[1::2]
        mass, first = _trim(mass, first, mean, float(variance.max()))
    return int(first[0]), np.maximum(mass[0], 0.0)


def _trim(
    mass: FloatArray, first: NDArray[np.int64], mean: FloatArray, variance: float
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Keep of each row the window around its mean outside of which at most exp(-52) lies."""
    third = _LOST_EXPONENT / 3
    reach = math.ceil(third + math.sqrt(third**2 + 2 * _LOST_EXPONENT * variance)) + 1
    width = 2 * reach + 1
    if width >= mass.shape[1]:
        return mass, first
    start = np.clip(np.rint(mean).astype(np.int64) - first - reach, 0, mass.shape[1] - width)
    views = np.lib.stride_tricks.sliding_window_view(mass, width, axis=1)
    return views[np.arange(mass.shape[0]), start], first + start


def _stitched(log_p: FloatArray, log_q: FloatArray) -> FloatArray:
    """Give the whole mass, relatively accurate, from one tilt per stretch of counts."""
    n = log_p.size
    mass = np.zeros(n + 1)
    with np.errstate(under="ignore"):
        mass[0] = math.exp(max(math.fsum(log_q), 2 * _SMALLEST_LOG))
        mass[n] = math.exp(max(math.fsum(log_p), 2 * _SMALLEST_LOG))
    middle = min(max(round(float(np.exp(log_p).sum())), 1), n - 1)
    _fill(mass, log_p, log_q, middle)
    _fill(mass[::-1], log_q[::-1], log_p[::-1], n - middle)
    return mass


def _fill(mass: FloatArray, log_p: FloatArray, log_q: FloatArray, low: int) -> None:
    """Fill ``mass`` in place from ``low`` to ``n - 1``, until nothing can be shown.

    Each tilt is trusted where its mass is not far below its largest; the next one is centred such
    that the stretches meet.
    """
    n = log_p.size
    centre, reach = low, 0
    while low < n:
        theta = _tilt(log_p, log_q, float(centre))
        first, tilted, log_scale = _tilted(log_p, log_q, theta, centre)
        trusted = tilted >= _TRUSTED * tilted.max()
        if centre > low and (low < first or not trusted[low - first]):
            centre = (low + centre) // 2
            continue
        if log_scale < 2 * _SMALLEST_LOG:
            break
        beyond = np.flatnonzero(~trusted[centre - first :])
        high = centre + int(beyond[0]) - 1 if beyond.size else first + tilted.size - 1
        high = min(max(high, low), n - 1)
        j = np.arange(low, high + 1)
        with np.errstate(under="ignore"):
            mass[j] = tilted[j - first] * np.exp(log_scale - theta * (j - centre))
        reach = high - centre
        low = high + 1
        centre = min(low + reach, n - 1)
