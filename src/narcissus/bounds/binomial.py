"""Binomial tails and masses, relatively accurate down to the smallest float.

SciPy's incomplete beta function is right to twelve digits while the tail is above about 1e-240, and
off by up to a factor of three below. Far out the tail is therefore its mass times a continued
fraction, with the mass in a form in which no large numbers cancel.

Source: Loader 2000 (fast and accurate computation of binomial probabilities), for the mass; the
continued fraction is the incomplete beta function's (modified Lentz).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

FloatArray = NDArray[np.float64]

_LIKELY = 0.75  # above it 1 - p has fewer digits than the failure's own probability
_DEEP = 1e-200  # below it the incomplete beta function is not asked
_SMALLEST_LOG = -745.2  # log of the smallest positive float
_FRACTIONS = 5000  # of the continued fraction, at most; some hundreds at a million trials
_CONVERGED = 1e-15  # a factor so near 1 changes nothing
_SERIES = 16  # from here on Stirling's series is right to the last digit


def upper_tail(r: int, v: ArrayLike, log_odds: ArrayLike) -> FloatArray:
    """Return ``Pr[Bin(r, p) >= v]`` for ``v`` in [0, r + 1].

    All arguments broadcast; ``log_odds`` is ``log(p / (1 - p))``, possibly infinite, which keeps
    the digits of both ``p`` and ``1 - p``.

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
    """Return ``Pr[Bin(r, p) <= v]`` for ``v`` in [-1, r]; see `upper_tail`.

    >>> lower_tail(2, [-1, 0, 1, 2], 0.0).tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    return upper_tail(r, r - np.asarray(v), -np.asarray(log_odds, dtype=np.float64))


def _deep_tail(r: int, v: NDArray[np.int64], log_odds: FloatArray) -> FloatArray:
    """Return tiny upper tails, shape (k,); a tail is at most ``r`` times its mass."""
    height = log_mass(r, v, log_odds)
    found = np.zeros(height.shape)
    seen = height > _SMALLEST_LOG - np.log(r)
    found[seen] = np.exp(height[seen]) * tail_over_mass(r, v[seen], log_odds[seen])
    return found


def log_mass(r: int, v: ArrayLike, log_odds: ArrayLike) -> FloatArray:
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
    most = k / (k + j)
    step = np.where(count <= rest, odds, -odds) - np.log(k / j)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.where(
            np.abs(step) < 1,
            np.log1p(most * np.expm1(np.clip(step, -1, 1))),
            np.logaddexp(np.log1p(-most), np.log(most) + step),
        )
        middle = np.where(np.isinf(odds), -np.inf, _log_peak(r, k, j) + k * step - r * grown)
    if inside.all():
        return middle
    # At the ends no term may be 0 times an infinite log.
    ends = np.where(rest == 0, _times(count, odds), _times(rest, -odds))
    return np.where(inside, middle, ends)


def _log_peak(r: int, k: FloatArray, j: FloatArray) -> FloatArray:
    """Return ``log Pr[Bin(r, k / r) = k]`` with ``k + j = r``, both at least 1."""
    errors = _stirling_error(np.asarray(float(r))) - _stirling_error(k) - _stirling_error(j)
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

    The prefactor of the continued fraction is the mass itself, so the ratio is right even where
    both underflow.
    """
    count, odds = np.broadcast_arrays(
        np.asarray(v, dtype=np.float64), np.asarray(log_odds, dtype=np.float64)
    )
    shape, a, p = odds.shape, count.ravel(), special.expit(odds).ravel()
    b = r - a + 1
    d = 1.0 / (1.0 - (a + b) * p / (a + 1.0))
    c, h = np.ones_like(p), d.copy()
    found, left = np.empty_like(p), np.arange(p.size)
    for m in range(1, _FRACTIONS):
        for step in (
            m * (b - m) * p / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * p / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / (1.0 + step * d)
            c = 1.0 + step / c
            h = h * c * d
        found[left] = h
        # Each stops when it has converged: the last digits of all may never rest together.
        moving = np.abs(c * d - 1.0) >= _CONVERGED
        if not moving.any():
            break
        if not moving.all():
            left = left[moving]
            a, b, p, c, d, h = (x[moving] for x in (a, b, p, c, d, h))
    return special.expit(-odds) * found.reshape(shape)
