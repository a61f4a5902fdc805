"""Limits in closed form that hold at every number of independent trials."""

from __future__ import annotations

from scipy import special

from narcissus._validation import fraction, integer
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
