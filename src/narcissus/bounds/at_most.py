"""Upper bounds, with a confidence, on the number of targets that fall.

Source: Narcissus theory 4, "Which bound?".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import between
from narcissus.bounds.swap import LARGEST_PROGRAM, PROGRAM_POINTS, SWAP_PROGRAM, swap_program
from narcissus.bounds.theorem import Question
from narcissus.bounds.theorems import best, bounds_on
from narcissus.bounds.threat import Threat
from narcissus.guarantees import Guarantee
from narcissus.results import Bound

FloatArray = NDArray[np.float64]


def at_most(threat: Threat, guarantee: Guarantee, confidence: float) -> Bound:
    """Bound the number of fallen targets; it is exceeded with probability at most ``1 -
    confidence``.

    The value is a whole number; ``confidence`` is in [0, 1).
    """
    level = between("confidence", confidence, 0, 1, open_high=True)
    allowed = 1.0 - level

    def closed(v: int) -> Bound:
        return best(bounds_on(threat, guarantee, v, dear=False))

    low, high = -1, threat.guesses
    chosen: Bound | None = None
    while high - low > 1:
        middle = (low + high) // 2
        bound = closed(middle + 1)
        if bound.value <= allowed:
            high, chosen = middle, bound
        else:
            low = middle
    # The closed forms say no more. The program is sharper and dear, so every third point of the
    # profile, which is cheaper and never below all of them, first comes near the answer.
    for points in _program_points(threat, guarantee):
        fewer = _fewer(threat, guarantee, allowed, high, points)
        if fewer < high:
            high = fewer
            q = Question(threat, guarantee, high + 1)
            chosen = SWAP_PROGRAM.claim(0.0, "", SWAP_PROGRAM.assumptions(q))
    if chosen is None:
        chosen = Bound(0.0, "", "every target may fall")
    said = f"number of {threat.targets} targets that fall, with confidence {level:g}"
    return replace(chosen, value=float(high), quantity=said)


def _program_points(threat: Threat, guarantee: Guarantee) -> list[FloatArray]:
    """Points for the swap program, few first; none if the program cannot improve the bound."""
    points = guarantee.tangents(PROGRAM_POINTS)
    several = guarantee.tangents(2).size > 1
    return [points[::3], points] if several and threat.guesses <= LARGEST_PROGRAM else []


def _fewer(
    threat: Threat, guarantee: Guarantee, allowed: float, high: int, points: FloatArray
) -> int:
    """Descend from ``high`` by doubling steps, then bisect, while the program's tail is
    ``allowed``.
    """
    low, step, doubling = -1, 1, True
    while high - low > 1:
        middle = max(high - step, low + 1) if doubling else (low + high) // 2
        if swap_program(threat, guarantee, middle + 1, epsilons=points) <= allowed:
            high, step = middle, 2 * step
        else:
            low, doubling = middle, False
    return high
