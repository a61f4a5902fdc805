"""Limits in closed form that hold at every number of independent trials."""

from __future__ import annotations

import math

from scipy import special

from narcissus._validation import between, fraction, integer
from narcissus.results import Estimate


def clopper_pearson(
    successes: int, trials: int, *, confidence: float = 0.95, quantity: str = ""
) -> Estimate:
    """Limit a success probability from independent trials, exactly (Clopper and Pearson 1934).

    Parameters
    ----------
    successes, trials
        How many of how many independent trials succeeded; ``0 <= successes <= trials``.
    confidence
        Level in (0, 1); each side gets half of what is left.
    quantity
        What succeeded, in words.

    Returns
    -------
    Estimate
        With ``low`` and ``high`` in [0, 1].

    Examples
    --------
    >>> round(clopper_pearson(0, 100).high, 4)
    0.0362
    """
    trials = integer("trials", trials, low=1)
    successes = integer("successes", successes, low=0, high=trials)
    level = fraction("confidence", confidence)
    tail = (1 - level) / 2
    low = float(special.betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = (
        float(special.betainccinv(successes + 1, trials - successes, tail))
        if successes < trials
        else 1.0
    )
    return Estimate(
        successes / trials, low, high, level, trials, quantity, method="Clopper-Pearson"
    )


def bernstein_limits(
    total: float, squares: float, count: int, *, confidence: float = 0.95, quantity: str = ""
) -> Estimate:
    """Limit the mean of many independent values in [0, 1] from their sums alone.

    The empirical Bernstein limits (Maurer and Pontil 2009, Theorem 4), for values that are too
    many to keep.

    Parameters
    ----------
    total, squares
        Sum of the values, and of their squares.
    count
        How many there are, at least 2; independent and alike.
    confidence
        Level in (0, 1) of both limits together.
    quantity
        What is averaged, in words.

    Examples
    --------
    >>> limits = bernstein_limits(5000.0, 2600.0, 10_000)
    >>> round(limits.low, 4), round(limits.high, 4)
    (0.496, 0.504)
    """
    n = integer("count", count, low=2)
    total = between("total", total, 0, n)
    squares = between("squares", squares, 0, total * (1 + 1e-9))
    level = fraction("confidence", confidence)
    mean = total / n
    variance = max(0.0, (squares - n * mean**2) / (n - 1))
    log = math.log(4 / (1 - level))  # ln(2 / alpha) of the theorem, on either side
    reach = math.sqrt(2 * variance * log / n) + 7 * log / (3 * (n - 1))
    return Estimate(
        mean,
        max(0.0, mean - reach),
        min(1.0, mean + reach),
        level,
        n,
        quantity,
        method="empirical Bernstein",
    )
