"""Closed-form limits valid at every number of independent trials."""

from __future__ import annotations

from scipy import special

from narcissus._validation import fraction, integer
from narcissus.results import Estimate


def clopper_pearson(
    successes: int, trials: int, *, confidence: float = 0.95, quantity: str = ""
) -> Estimate:
    """Compute exact limits on a success probability from independent trials (Clopper and Pearson
    1934).

    Parameters
    ----------
    successes, trials
        ``0 <= successes <= trials``.
    confidence
        Level in (0, 1); each side gets half of the error.
    quantity
        The event, in words.

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
