"""Confidence limits on an advantage, the share of the remaining gain that an attack achieved."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from narcissus._validation import fraction, integer, same_trials, unit_vector
from narcissus.evidence.betting import plug_in, usual
from narcissus.results import Estimate


def advantage_limits(
    shares: ArrayLike,
    baselines: ArrayLike,
    *,
    confidence: float = 0.95,
    people: int = 1,
    quantity: str = "",
) -> Estimate:
    """Compute confidence limits on the advantage ``(E[share] - E[baseline]) / (1 - E[baseline])``.

    0 is no gain over the baseline, 1 is all that the baseline leaves. The mean baseline is unknown,
    and dividing by its estimate invalidates the limits. The advantage ``a`` solves ``E[share -
    baseline - a (1 - baseline)] = 0``: gamblers bet against each ``a``, and the limits enclose
    those not rejected. As ``baseline`` is at most 1, the payoff falls with ``a``, so the accepted
    set is an interval. An advantage below -1 counts as -1.

    The number of trials, the confidence and ``people`` must be fixed beforehand, as for
    `mean_limits`.

    Parameters
    ----------
    shares
        Recovered share per trial in [0, 1], shape (trials,).
    baselines
        Baseline of the same trials (the same people), in [0, 1]; an exact chance, or a count.
    confidence
        Level in (0, 1) of both limits together.
    people
        Number of independent targets averaged per trial; see `mean_limits`.
    quantity
        The estimated quantity, in words.

    Examples
    --------
    >>> found = advantage_limits([0.9, 0.5] * 100, [0.8, 0.0] * 100)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.5, 0.465, 0.518)
    """
    won, fair = unit_vector("shares", shares), unit_vector("baselines", baselines)
    same_trials(shares=won, baselines=fair)
    level = fraction("confidence", confidence)
    some = integer("people", people, low=1)
    room, missed = 1 - fair, 1 - won
    hurdle = math.log(2 / (1 - level))
    gamblers = plug_in(won - fair, room, middle=0.0, tempers=usual(some), hurdle=hurdle)
    # A unit at stake loses most where the share is 0 and the baseline 1: one unit.
    low = gamblers.refused_up_to(lambda a: won - fair - a * room, lambda _: 1.0, -1.0, 1.0)
    # The other way, in b = 1 - a: E[missed - b room] = 0, and a unit loses at most b.
    high = 1 - gamblers.refused_up_to(lambda b: missed - b * room, lambda b: b, 0.0, 2.0)
    left = float(room.mean())
    value = float(np.clip((won - fair).mean() / left, -1, 1)) if left > 0 else 0.0
    return Estimate(
        value,
        min(value, low),
        max(value, high),
        level,
        won.size,
        quantity or "advantage over the baseline",
        method="betting",
    )
