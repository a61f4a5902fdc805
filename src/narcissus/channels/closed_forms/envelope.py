"""The best guess under noise on a line, for any prior: which number wins where.

Two scaled copies of a log-concave density change hands at most once, the one on the left first. So
the numbers that are ever the best guess win on intervals in their own order, as the upper envelope
of lines does, and the attacker's error is a sum of tails: no integral is left.

Source: Narcissus theory 6.11.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Crossing = Callable[[float, float], float]
"""Distance of two numbers and log odds of the left one -> where it loses the lead, measured from
it; infinite if it never does, minus infinite if it never has it."""


def intervals(places: Floats, prior: Floats, crossing: Crossing) -> list[tuple[int, float, float]]:
    """Give where each number is the best guess.

    Parameters
    ----------
    places
        The numbers, ascending, shape (n,).
    prior
        Of each, shape (n,).
    crossing
        See `Crossing`.

    Returns
    -------
    list
        Number, start and end of its interval, from left to right; they cover the line.
    """
    kept: list[tuple[int, float]] = []
    for new in np.flatnonzero(prior > 0).tolist():
        start = -math.inf
        while kept:
            last, began = kept[-1]
            odds = math.log(prior[last]) - math.log(prior[new])
            start = places[last] + crossing(places[new] - places[last], odds)
            if start > began:
                break
            kept.pop()
            start = -math.inf
        if start < math.inf:
            kept.append((new, start))
    ends = [start for _, start in kept[1:]] + [math.inf]
    return [(i, start, end) for (i, start), end in zip(kept, ends, strict=True)]


def risk(
    places: Floats, prior: Floats, crossing: Crossing, tail: Callable[[float], float]
) -> float:
    """Give the error of the best attacker.

    Parameters
    ----------
    places, prior, crossing
        As in `intervals`.
    tail
        Chance that the noise is at least so large; the noise is symmetric.

    Returns
    -------
    float
        A sum of positive terms, so that a risk near 0 keeps its digits.
    """
    found = {i: (start, end) for i, start, end in intervals(places, prior, crossing)}
    lost: list[float] = []
    for i, weight in enumerate(prior.tolist()):
        if i not in found:
            lost.append(weight)
            continue
        start, end = found[i]
        lost += [weight * tail(places[i] - start), weight * tail(end - places[i])]
    return math.fsum(lost)
