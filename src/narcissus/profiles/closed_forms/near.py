"""Dimensions at which no attacker comes near a row of an average, under the Tardos prior.

Given the average, the ones of each column sit at random rows, and a column with ``c`` ones
disagrees with the attempt in a given row with chance at least ``min(c, n - c) / n``; a union bound
over the rows does the rest. ``c`` is uniform on ``0 .. n`` and columns are independent, so the tail
is a binomial one, where the paper has a Chernoff bound. Noise does not help an attacker.

Source: Kaplan et al. 2025, Lemma 3.5, with its tail computed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction

from narcissus._validation import between, fraction, integer
from narcissus.bounds.binomial import lower_tail
from narcissus.errors import InputError

LEAST = sys.float_info.min
"""A tail that is too small for a float is bounded by the least one: no bound is 0 by underflow."""


def places(gamma: float | Fraction, d: int) -> int:
    """Compute ``floor(gamma d)``: exactly for a rational, else as the relation `hamming` counts.

    Examples
    --------
    >>> places(0.29, 100), math.floor(0.29 * 100), places(1 / 3, 3)
    (29, 28, 1)
    """
    return math.floor(gamma * d if isinstance(gamma, Fraction) else gamma * d + 1e-9)


def disagreement(n: int) -> Fraction:
    """Compute the chance that a row of ``n`` disagrees with the likelier bit of its column.

    It is the mean of ``min(c, n - c) / n`` over the number of ones ``c``, uniform on ``0 .. n``:
    ``n / (4 (n + 1))`` for even ``n``, ``(n - 1) / (4 n)`` for odd.

    Examples
    --------
    >>> disagreement(4), disagreement(5)
    (Fraction(1, 5), Fraction(1, 5))
    """
    n = integer("n", n, low=1)
    return Fraction(n - 1, 4 * n) if n % 2 else Fraction(n, 4 * (n + 1))


def limit_given_rows(n: int, d: int, gamma: float | Fraction, known: int = 0) -> float:
    """Bound the chance to come near an unknown row, for an attacker who knows some of the rows.

    Parameters
    ----------
    n, d
        Rows and attributes.
    gamma
        Share of the attributes that may differ.
    known
        Number of known rows of the data set, below ``n``. Rows near a known one do not count: fresh
        data hold the known ones as well.

    Returns
    -------
    float
        ``(n - known) Pr[Bin(d, q) <= gamma d]``, ``q`` the `disagreement` of the unknown rows, at
        most 1: of their average alone, since what is known can be subtracted. It bounds delta of
        Definition 4.1 at every epsilon; with no known row, of Definition 3.1.

    Notes
    -----
    Source: Kaplan et al. 2025, Lemma 3.5 and Definition 4.1.

    Examples
    --------
    >>> limit_given_rows(40, 400, 0.04) < limit_given_rows(40, 400, 0.04, 30) < 1e-9
    True
    >>> limit_given_rows(40, 400, 0.04, 39)
    1.0
    """
    n = integer("n", n, low=1)
    left = n - integer("known", known, low=0, high=n - 1)
    share = disagreement(left)
    if share == 0:  # one row: the average is the row
        return 1.0
    odds = math.log(share / (1 - share))
    return min(1.0, left * max(LEAST, float(lower_tail(d, places(gamma, d), odds))))


def dimensions(n: int, gamma: float | Fraction, delta: float) -> tuple[int, int]:
    """Find the first ``d`` whose bound is at most delta, and the first from which all are.

    Parameters
    ----------
    n, gamma
        As for `limit_given_rows`.
    delta
        Largest accepted bound, in (0, 1).

    Returns
    -------
    tuple
        The two differ because ``floor(gamma d)`` jumps: between jumps the bound falls. About
        ``ln(n / delta) / KL(gamma | q)``, which no larger ``d`` exceeds (Chernoff).

    Raises
    ------
    InputError
        ``gamma`` is at least `disagreement`: the bound is void for all numbers of attributes.

    Examples
    --------
    >>> dimensions(20, 0.04, 1e-6)
    (93, 102)
    """
    between("gamma", float(gamma), 0, 1)
    fraction("delta", delta)
    share, part = disagreement(n), Fraction(gamma).limit_denominator(10**9)
    if part >= share:
        raise InputError(
            f"`gamma` must be below {float(share):g} for n = {n}, got {float(gamma):g}: who names "
            "the likelier bits comes as near as that"
        )
    apart = math.log((1 - part) / (1 - share)) * float(1 - part)
    apart += float(part) * math.log(part / share) if part else 0.0
    last = math.ceil(math.log(n / delta) / apart) + 1

    def good(d: int) -> bool:
        return limit_given_rows(n, d, part) <= delta

    # blocks of d with the same floor, in which the bound falls
    starts = [max(1, math.ceil(k / part)) for k in range(places(part, last) + 1)] if part else [1]
    ends = [*(start - 1 for start in starts[1:]), last]
    blocks = list(zip(starts, ends, strict=True))
    opening = next(block for block in blocks if good(block[1]))
    closing = next((block for block in reversed(blocks) if not good(block[0])), (1, 1))
    return _first(good, *opening), _first(good, *closing)


def _first(good: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first good ``d`` of a block, or the one after the block."""
    high += 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low
