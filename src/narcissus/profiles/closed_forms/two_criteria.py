"""Two criteria: an attempt near a row of an average is nearly as near to a row of fresh data.

Source: Kaplan et al. 2025, Lemma 3.7, with its constants computed. Proof: Narcissus theory 8.2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import fraction, integer
from narcissus.bounds.binomial import lower_tail, upper_tail
from narcissus.errors import InputError
from narcissus.profiles.closed_forms.near import LEAST, limit_given_rows, places

Floats = NDArray[np.float64]

_CELLS, _ROUNDS = 256, 40
_NEAR = 1e-4  # how far the bound may be above the largest value found, relatively


def two_criteria_limit(n: int, d: int, near: int, looser: int) -> float:
    """Bound delta at every epsilon where the criterion is looser for fresh data than for the data.

    Parameters
    ----------
    n, d
        Rows and attributes. The population may have any number of rows, ``n`` or more.
    near
        Number of bits in which a row of the data may differ, ``floor(gamma d)``.
    looser
        Number of bits in which a fresh row may differ, at least ``near``.

    Notes
    -----
    Source: Kaplan et al. 2025, Lemma 3.7: the exact average, or a noisy one, where the attacker is
    told nothing else. The largest over ``mu``, the mean disagreement of the attempt with the rows,
    of ``min(1, n L) U``: some row is near, a fresh one is not, each by Hoeffding's comparison with
    a binomial (1956). It is computed on intervals of ``mu``, ``L`` at the left end and ``U`` at
    the right: a bound whatever the grid. The smaller of it and Lemma 3.5.

    Examples
    --------
    >>> two_criteria_limit(10, 5000, 1150, 1574) <= 1e-6 < two_criteria_limit(10, 5000, 1150, 1573)
    True
    """
    n, d = integer("n", n, low=1), integer("d", d, low=1)
    near = integer("near", near, low=0, high=d)
    looser = integer("looser", looser, low=near, high=d)
    alone = limit_given_rows(n, d, Fraction(near, d))
    edges = np.linspace(0, 1, _CELLS + 1)
    low, high = edges[:-1], edges[1:]
    settled = 0.0
    for _ in range(_ROUNDS):
        hit, found = _hit(n, d, near, low), _hit(n, d, near, high)
        missed = _missed(n, d, looser, high)
        value, reached = hit * missed, float((found * missed).max())
        enough = max(reached * (1 + _NEAR), settled)
        open_ = value > enough
        settled = max(settled, float(value[~open_].max(initial=0.0)))
        if not open_.any():
            return min(alone, max(LEAST, settled))
        middle = (low[open_] + high[open_]) / 2
        low, high = np.r_[low[open_], middle], np.r_[middle, high[open_]]
    left = float((_hit(n, d, near, low) * _missed(n, d, looser, high)).max())
    return min(alone, max(LEAST, settled, left))


def _hit(n: int, d: int, near: int, mean: Floats) -> Floats:
    """Bound the chance that some row is near, given the mean disagreement."""
    with np.errstate(divide="ignore"):
        tail = lower_tail(d, near, np.log(mean) - np.log1p(-mean))
    return np.minimum(1.0, n * np.where(near <= d * mean - 1, tail, 1.0))


def _missed(n: int, d: int, looser: int, mean: Floats) -> Floats:
    """Bound the chance that a fresh row is not near: its bits follow the rule of succession."""
    fresh = (n * mean + 1) / (n + 2)
    tail = upper_tail(d, looser + 1, np.log(fresh) - np.log1p(-fresh))
    return np.where(looser >= d * fresh, tail, 1.0)


def looser_gamma(n: int, d: int, gamma: float | Fraction, delta: float) -> Fraction:
    """Compute the least share of places for fresh data at which the bound is at most delta.

    Parameters
    ----------
    n, d
        Rows and attributes.
    gamma
        Share of the places for the data.
    delta
        In (0, 1).

    Raises
    ------
    InputError
        No share is enough.

    Notes
    -----
    Source: Kaplan et al. 2025, Lemma 3.7, whose ``(1 + O(sqrt(ln(d / delta) / n))) gamma`` it is.
    """
    fraction("delta", delta)
    near = places(gamma, d)
    low, high = near, d
    if two_criteria_limit(n, d, near, high) > delta:
        raise InputError(f"no share of {d} places brings delta to {delta:g} for n = {n}")
    while low < high:
        middle = (low + high) // 2
        if two_criteria_limit(n, d, near, middle) <= delta:
            high = middle
        else:
            low = middle + 1
    return Fraction(low, d)
