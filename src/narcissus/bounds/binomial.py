"""Binomial and Poisson binomial distributions, relatively accurate down to the smallest float.

SciPy's incomplete beta function is right to twelve digits while the tail is above about 1e-240, and
off by up to a factor of three below. Far out the tail is therefore its mass times a continued
fraction, with the mass in a form in which no large numbers cancel.

For unequal trials, convolution by FFT has an *absolute* error near 1e-16, so every success odds is
first multiplied by a common factor that moves the mean to the wanted count (exponential tilting);
the tilted distribution is convolved and tilted back. One factor is accurate around its count; a
whole table stitches several windows. The mass of a sum on the window that carries it is computed in
the quickest of three ways: one trial after the other; blocks joined two by two by FFT; or, if many
trials share few chances, the characteristic function with one term per distinct chance.

Source: Loader 2000 (fast and accurate computation of binomial probabilities), for the mass; the
continued fraction is the incomplete beta function's (modified Lentz); Narcissus theory 4.9.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, special

from narcissus._validation import between, probabilities
from narcissus.errors import InputError

FloatArray = NDArray[np.float64]

_LIKELY = 0.75  # above it 1 - p has fewer digits than the failure's own probability
_DEEP = 1e-200  # below it the incomplete beta function is not asked
_SEEN = -745.2  # log of the smallest positive float
_FRACTIONS = 5000  # of the continued fraction, at most; some hundreds at a million trials
_CONVERGED = 1e-15  # a factor so near 1 changes nothing
_SERIES = 16  # from here on Stirling's series is right to the last digit


def upper_tail(r: int, v: ArrayLike, log_odds: ArrayLike) -> FloatArray:
    """Return ``Pr[Bin(r, p) >= v]`` for ``v`` in [0, r + 1]; arguments broadcast.

    ``log_odds``, ``log(p / (1 - p))``, possibly infinite, keeps the digits of both ``p`` and ``1 -
    p``.

    >>> upper_tail(2, [0, 1, 2, 3], 0.0).tolist()
    [1.0, 0.75, 0.25, 0.0]
    """
    count, odds = np.asarray(v), np.asarray(log_odds, dtype=np.float64)
    inner = np.clip(count, 1, max(r, 1))
    success = special.expit(odds)
    near = np.asarray(special.betainc(inner, r - inner + 1, success))
    likely = success > _LIKELY
    if likely.any():
        of_failure = special.betaincc(r - inner + 1, inner, special.expit(-odds))
        near = np.where(likely, of_failure, near)
    deep = (near < _DEEP) & (odds > -np.inf) & (count >= 1) & (count <= r)
    if deep.any():
        near[deep] = _deep_tail(
            r, np.broadcast_to(inner, near.shape)[deep], np.broadcast_to(odds, near.shape)[deep]
        )
    return np.where(count <= 0, 1.0, np.where(count > r, 0.0, near))


def lower_tail(r: int, v: ArrayLike, log_odds: ArrayLike) -> FloatArray:
    """Return ``Pr[Bin(r, p) <= v]`` for ``v`` in [-1, r]; see `upper_tail`."""
    return upper_tail(r, r - np.asarray(v), -np.asarray(log_odds, dtype=np.float64))


def _deep_tail(r: int, v: NDArray[np.int64], log_odds: FloatArray) -> FloatArray:
    """Return tiny upper tails, shape (k,); a tail is at most ``r`` times its mass."""
    height = log_mass(r, v, log_odds)
    tails = np.zeros(height.shape)
    seen = height > _SEEN - np.log(r)
    tails[seen] = np.exp(height[seen]) * tail_over_mass(r, v[seen], log_odds[seen])
    return tails


def log_mass(r: int | NDArray[np.int64], v: ArrayLike, log_odds: ArrayLike) -> FloatArray:
    """Return ``log Pr[Bin(r, p) = v]`` for ``0 <= v <= r``; broadcasts.

    The mass at ``p = v / r``, its maximum, minus the divergence from there: the large logs of
    factorials never meet.
    """
    count, odds = np.asarray(v, dtype=np.float64), np.asarray(log_odds, dtype=np.float64)
    rest = r - count
    inside = (count > 0) & (rest > 0)
    # The rarer of successes and failures is counted: less is subtracted then.
    k = np.where(inside, np.minimum(count, rest), 1.0)
    j = np.where(inside, np.maximum(count, rest), 1.0)
    peak = k / (k + j)
    step = np.where(count <= rest, odds, -odds) - np.log(k / j)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.where(
            np.abs(step) < 1,
            np.log1p(peak * np.expm1(np.clip(step, -1, 1))),
            np.logaddexp(np.log1p(-peak), np.log(peak) + step),
        )
        middle = np.where(np.isinf(odds), -np.inf, _log_peak(r, k, j) + k * step - r * grown)
    if inside.all():
        return middle
    # At the ends no term may be 0 times an infinite log.
    ends = np.where(rest == 0, _times(count, odds), _times(rest, -odds))
    return np.where(inside, middle, ends)


def _log_peak(r: int | NDArray[np.int64], k: FloatArray, j: FloatArray) -> FloatArray:
    """Return ``log Pr[Bin(r, k / r) = k]`` with ``k + j = r``, both at least 1."""
    errors = _stirling_error(np.asarray(r, np.float64)) - _stirling_error(k) - _stirling_error(j)
    return errors + 0.5 * np.log(r / (2 * np.pi * k * j))


def mass(r: int, v: ArrayLike, log_odds: ArrayLike) -> FloatArray:
    """Return ``Pr[Bin(r, p) = v]``; see `log_mass`."""
    with np.errstate(under="ignore"):
        return np.exp(log_mass(r, v, log_odds))


def _times(count: FloatArray, log_odds: FloatArray) -> FloatArray:
    """Return ``count * log(p)``; 0 for a count of 0 even if the log is infinite."""
    return np.where(count > 0, np.maximum(count, 1) * special.log_expit(log_odds), 0.0)


def _stirling_error(n: FloatArray) -> FloatArray:
    """Return ``log n! - log(sqrt(2 pi n) (n / e)^n)`` for ``n >= 1``."""
    small = np.minimum(n, _SERIES)
    direct = (
        special.gammaln(small + 1) - (small + 0.5) * np.log(small) + small - 0.5 * np.log(2 * np.pi)
    )
    square = n * n
    tail = 1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square
    series = (1 / 12 - (1 / 360 - tail / square) / square) / n
    return np.where(n < _SERIES, direct, series)


def tail_over_mass(r: int, v: ArrayLike, log_odds: ArrayLike) -> FloatArray:
    """Return ``Pr[Bin(r, p) >= v] / Pr[Bin(r, p) = v]`` for ``1 <= v <= r`` above the mean.

    The prefactor of the continued fraction is the mass: the ratio is right even where both
    underflow.
    """
    count, odds = np.broadcast_arrays(
        np.asarray(v, dtype=np.float64), np.asarray(log_odds, dtype=np.float64)
    )
    shape, a, p = odds.shape, count.ravel(), special.expit(odds).ravel()
    b = r - a + 1
    d = 1.0 / (1.0 - (a + b) * p / (a + 1.0))
    c, h = np.ones_like(p), d.copy()
    fractions, left = np.empty_like(p), np.arange(p.size)
    for m in range(1, _FRACTIONS):
        for step in (
            m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / (1.0 + step * d)
            c = 1.0 + step / c
            h = h * c * d
        fractions[left] = h
        # Each stops when it has converged: the last digits of all may never rest together.
        moving = np.abs(c * d - 1.0) >= _CONVERGED
        if not moving.any():
            break
        if not moving.all():
            left = left[moving]
            a, b, p, c, d, h = (x[moving] for x in (a, b, p, c, d, h))
    return np.asarray(special.expit(-odds) * fractions.reshape(shape), dtype=np.float64)


_LEAF = 32
_LOST_EXPONENT = 52.0  # a window may lose exp(-52) = 3e-23 of a block's mass
_FLAT_EXPONENT = 46.0  # waves of a part exp(-46) = 1e-20 are nothing


def recurrence(p: FloatArray, q: FloatArray) -> FloatArray:
    """Compute the masses of sums along axis 0, shape (n + 1, ...), one trial after the other."""
    mass = np.zeros((len(p) + 1, *p.shape[1:]))
    mass[0] = 1.0
    with np.errstate(under="ignore"):
        for i in range(len(p)):
            mass[1 : i + 2] = mass[1 : i + 2] * q[i] + mass[: i + 1] * p[i]
            mass[0] *= q[i]
    return mass


def convolve(p: FloatArray, q: FloatArray) -> tuple[int, FloatArray]:
    """Compute first count and mass of a sum of independent trials on the window that carries it.

    Blocks of trials are summed by the recurrence and then joined two by two; each block keeps only
    the counts around its mean that can carry more than exp(-52) of its mass (Bernstein).
    """
    n = p.size
    blocks = -(-n // _LEAF)
    padding = blocks * _LEAF - n
    # A block takes its trials from all over the sorted list, so that all blocks are alike.
    rows_p = np.concatenate([p, np.zeros(padding)]).reshape(_LEAF, blocks)
    rows_q = np.concatenate([q, np.ones(padding)]).reshape(_LEAF, blocks)
    mass = np.ascontiguousarray(recurrence(rows_p, rows_q).T)
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


def _reach(variance: float) -> int:
    """Return the distance from the mean beyond which at most exp(-52) lies per side (Bernstein)."""
    third = _LOST_EXPONENT / 3
    return math.ceil(third + math.sqrt(third**2 + 2 * _LOST_EXPONENT * variance)) + 1


def _trim(
    mass: FloatArray, first: NDArray[np.int64], mean: FloatArray, variance: float
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Keep of each row the window around its mean outside of which at most exp(-52) lies."""
    reach = _reach(variance)
    width = 2 * reach + 1
    if width >= mass.shape[1]:
        return mass, first
    start = np.clip(np.rint(mean).astype(np.int64) - first - reach, 0, mass.shape[1] - width)
    views = np.lib.stride_tricks.sliding_window_view(mass, width, axis=1)
    return views[np.arange(mass.shape[0]), start], first + start


def waves(p: FloatArray, q: FloatArray, weights: FloatArray) -> tuple[int, FloatArray]:
    """Compute `convolve` for trials with multiplicities ``weights``, shapes (m,).

    By the characteristic function ``prod (q + p e^it)^weight`` of the count from ``first`` on. The
    mass outside the window, at most exp(-52), wraps around into it; all but some forty waves
    vanish.
    """
    n, mean, variance = round(float(weights.sum())), float(weights @ p), float(weights @ (p * q))
    reach = _reach(variance)
    first, last = max(0, round(mean) - reach), min(n, round(mean) + reach)
    length = fft.next_fast_len(2 * reach + 1, real=True)
    angles = 2 * np.pi * np.arange(length // 2 + 1) / length
    angles = angles[2 * variance * np.sin(angles / 2) ** 2 <= _FLAT_EXPONENT]
    # Of each trial its rarer outcome is counted, and its mean taken out: nothing large cancels.
    rare, usual = np.minimum(p, q), np.maximum(p, q)
    signed = np.where(p <= q, weights, -weights)
    shift = float(weights[p > q].sum()) - first + float(rare @ signed)
    spectrum = np.zeros(length // 2 + 1, dtype=np.complex128)
    for k, t in enumerate(angles):
        size = np.log1p(-4 * (p * q) * math.sin(t / 2) ** 2) @ weights / 2
        turn = (np.arctan2(rare * math.sin(t), usual + rare * math.cos(t)) - rare * t) @ signed
        spectrum[k] = np.exp(size - 1j * (turn + t * shift))
    mass = fft.irfft(spectrum, length)[: last - first + 1]
    return first, np.maximum(mass, 0.0)


_SMALL = 512  # up to here the plain recurrence, all of whose terms are positive, is quick
_MANY = 10_000  # trials from which equal ones are taken together, if there are
_REPEATED = 4  # times as many as there are different chances
_TRUSTED = 1e-4  # a tilt is used where its mass is at least this part of its largest
_SMALLEST_LOG = -745.0  # log of the smallest positive float


@dataclass(frozen=True)
class _Trials:
    """Trials that are neither certain nor impossible."""

    log_p: FloatArray  # logs of the chances of success
    log_q: FloatArray  # logs of the chances of failure
    weights: FloatArray | None = None  # number of trials per entry; None for one

    @classmethod
    def of(cls, chances: FloatArray) -> _Trials:
        """Sort the chances, and merge equal ones if that makes far fewer of many."""
        inner, weights = np.sort(chances), None
        if inner.size > _MANY:
            different, counts = np.unique(inner, return_counts=True)
            if _REPEATED * different.size < inner.size:
                inner, weights = different, counts.astype(np.float64)
        return cls(np.log(inner), np.log1p(-inner), weights)

    @cached_property
    def n(self) -> int:
        return self.log_p.size if self.weights is None else round(float(self.weights.sum()))

    def failing(self) -> _Trials:
        """Exchange success and failure."""
        weights = None if self.weights is None else self.weights[::-1]
        return _Trials(self.log_q[::-1], self.log_p[::-1], weights)

    def total(self, terms: FloatArray) -> float:
        return float(terms.sum() if self.weights is None else terms @ self.weights)


class PoissonBinomial:
    """Distribution of a sum of independent Bernoulli variables, from their probabilities (n,).

    Source: Narcissus theory 4.9. `tail`, `sf` and `cdf` have a relative error of about 1e-12
    wherever the result is a normal float, for ``n`` up to 10^6; `tails` and `pmf` of more than 512
    trials have one of 1e-10 where two stretches meet.

    >>> PoissonBinomial([0.5, 0.5, 0.2]).tail(3)
    0.05
    """

    def __init__(self, probabilities_: ArrayLike) -> None:
        array = probabilities("probabilities", probabilities_)
        if array.ndim != 1:
            raise InputError(f"`probabilities` must be a vector, got shape {array.shape}")
        self.n = int(array.size)
        self._certain = int(np.count_nonzero(array == 1.0))
        self._trials = _Trials.of(array[(array > 0.0) & (array < 1.0)])
        self.mean = float(array.sum())

    def tail(self, v: float) -> float:
        """Return ``Pr[sum >= v]`` for one ``v``; relatively accurate even near 0."""
        # An integer-valued sum reaches v as soon as it reaches the next whole number.
        count = math.ceil(v) - self._certain
        n = self._trials.n
        if count <= 0:
            return 1.0
        if count > n:
            return 0.0
        if n <= _SMALL:
            return float(self.tails()[count + self._certain])
        if count > self.mean - self._certain:
            return _upper(self._trials, count)
        return 1.0 - _upper(self._trials.failing(), n - count + 1)

    def sf(self, v: float) -> float:
        """Return ``Pr[sum > v]``."""
        return self.tail(math.floor(v) + 1)

    def cdf(self, v: float) -> float:
        """Return ``Pr[sum <= v]``; relatively accurate even near 0."""
        count = math.floor(v) - self._certain
        n = self._trials.n
        if count < 0:
            return 0.0
        if count >= n:
            return 1.0
        if n <= _SMALL:
            return float(self._table[1][count])
        if count < self.mean - self._certain:
            return _upper(self._trials.failing(), n - count)
        return 1.0 - _upper(self._trials, count + 1)

    def quantile(self, confidence: float) -> int:
        """Return the smallest count not exceeded with probability ``confidence``, in [0, 1]."""
        level = between("confidence", confidence, 0.0, 1.0)
        counts = range(self._certain, self._certain + self._trials.n)
        # Compare the tail, which keeps its digits where the confidence is near 1.
        return self._certain + bisect_left(counts, True, key=lambda v: self.sf(v) <= 1.0 - level)

    def tails(self, least: float = 0.0) -> FloatArray:
        """Return ``Pr[sum >= v]`` for ``v = 0, ..., n + 1``, shape (n + 2,).

        With more than 512 trials the tails may be too large by up to ``least``, never too small by
        more than rounding; 1e-17 takes a third of the time.
        """
        if least > 0 and self._trials.n > _SMALL:
            upper = np.minimum(_cumulated(_stitched(self._trials, least))[0] + least, 1.0)
            upper[-1] = 0.0
        else:
            upper = self._table[0]
        missing = self.n + 2 - self._certain - upper.size
        return np.concatenate([np.ones(self._certain), upper, np.zeros(missing)])

    def pmf(self) -> FloatArray:
        """Return ``Pr[sum = v]`` for ``v = 0, ..., n``, shape (n + 1,)."""
        mass = self._mass
        missing = self.n + 1 - self._certain - mass.size
        return np.concatenate([np.zeros(self._certain), mass, np.zeros(missing)])

    @cached_property
    def _mass(self) -> FloatArray:
        if self._trials.n <= _SMALL:
            return recurrence(np.exp(self._trials.log_p), np.exp(self._trials.log_q))
        return _stitched(self._trials)

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Upper tails, shape (n' + 2,), and lower tails, shape (n' + 1,)."""
        return _cumulated(self._mass)


def _cumulated(mass: FloatArray) -> tuple[FloatArray, FloatArray]:
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


def _upper(trials: _Trials, v: int) -> float:
    """Return ``Pr[sum >= v]`` for ``v`` above the mean, ``1 <= v <= n``."""
    if v == trials.n:
        return math.exp(max(_all(trials), _SMALLEST_LOG - 1))
    theta = _tilt(trials, float(v))
    first, mass, log_scale = _tilted(trials, theta, v)
    start = v - first
    steps = np.arange(mass.size - start)
    with np.errstate(under="ignore"):
        total = float(mass[start:] @ np.exp(-theta * steps))
    return min(1.0, math.exp(max(log_scale + math.log(total), _SMALLEST_LOG - 1)))


def _all(trials: _Trials) -> float:
    """Return the log of the chance that all succeed."""
    weighted = trials.log_p if trials.weights is None else trials.log_p * trials.weights
    return math.fsum(weighted)


def _tilt(trials: _Trials, mean: float) -> float:
    """Find the shift of all log odds that makes the expected sum ``mean`` (0 < mean < n)."""
    odds = trials.log_p - trials.log_q
    low, high = -1.0, 1.0
    while trials.total(special.expit(odds + low)) > mean:
        low *= 2
    while trials.total(special.expit(odds + high)) < mean:
        high *= 2
    theta = 0.0 if low < 0 < high else (low + high) / 2
    for _ in range(200):
        share = special.expit(odds + theta)
        gap = trials.total(share) - mean
        if abs(gap) <= 1e-9 * mean or high - low <= 1e-14 * max(1.0, abs(theta)):
            break
        low, high = (low, theta) if gap > 0 else (theta, high)
        slope = trials.total(share * (1.0 - share))
        theta = theta - gap / slope if slope > 0 else math.inf
        if not low < theta < high:
            theta = (low + high) / 2
    return theta


def _tilted(trials: _Trials, theta: float, v: int) -> tuple[int, FloatArray, float]:
    """Return the tilted sum's first count and mass, and the log of what undoes it at ``v``.

    ``Pr[sum = j] = exp(log_scale - theta (j - v)) * mass[j - first]``.
    """
    shifted = trials.log_p + theta
    log_norm = np.logaddexp(shifted, trials.log_q)
    tilted_log_p = shifted - log_norm
    p = np.exp(tilted_log_p)
    q = np.exp(trials.log_q - log_norm)
    # Minus the Kullback-Leibler divergence from the tilted trials: terms of one sign, so that a
    # scale of exp(-700) keeps its digits where the sums of log_norm and theta v alone are 10^5.
    terms = p * (tilted_log_p - trials.log_p) + q * (-log_norm)
    log_scale = -trials.total(terms) - theta * (v - trials.total(p))
    first, mass = convolve(p, q) if trials.weights is None else waves(p, q, trials.weights)
    return first, mass, log_scale


def _stitched(trials: _Trials, least: float = 0.0) -> FloatArray:
    """Compute the whole mass, relatively accurate, with one tilt per stretch of counts.

    Counts beyond which at most ``least`` lies are left out.
    """
    n = trials.n
    failing = trials.failing()
    mass = np.zeros(n + 1)
    with np.errstate(under="ignore"):
        mass[0] = math.exp(max(_all(failing), 2 * _SMALLEST_LOG))
        mass[n] = math.exp(max(_all(trials), 2 * _SMALLEST_LOG))
    middle = min(max(round(trials.total(np.exp(trials.log_p))), 1), n - 1)
    stop = math.log(least) if least > 0 else 2 * _SMALLEST_LOG
    _fill(mass, trials, middle, stop)
    _fill(mass[::-1], failing, n - middle, stop)
    return mass


def _fill(mass: FloatArray, trials: _Trials, low: int, stop: float) -> None:
    """Fill ``mass`` in place from ``low`` to ``n - 1``, until the rest is negligible.

    Each tilt is trusted where its mass is not far below its maximum; the next one is centred so
    that the stretches meet. The chance of its centre or more is at most exp(log_scale) (Chernoff),
    so nothing is missing after one below ``stop``.
    """
    n = trials.n
    centre, reach = low, 0
    while low < n:
        theta = _tilt(trials, float(centre))
        first, tilted, log_scale = _tilted(trials, theta, centre)
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
        if log_scale < stop:
            break
        reach = high - centre
        low = high + 1
        centre = min(low + reach, n - 1)
