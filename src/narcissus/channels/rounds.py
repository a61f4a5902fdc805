"""An upper limit of `beta*` from rounds that each hold one sample of either secret.

Before each round an event is chosen by what came before; its miss and its false hit have chances
that sum to at least `beta*`, but may be shared out anew each time. How seldom the two can then
occur is found exactly, by dynamic programming over all ways to share them out.

Source: Narcissus theory 6.8.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, special

from narcissus.channels.bounded_mean import mean_high

MOST_ROUNDS = 20_000
"""Rounds up to which the program is solved; of more, a limit in closed form is taken."""
BAND = 8.0
"""Standard deviations that are followed on either side; beyond, chances are rounded up."""
NEAR = 1e-4
"""Tolerance of the limit, a share of what it may lie between; added to it."""


def rounds_high(total: int, rounds: int, alpha: float) -> float:
    """Limit `beta*` from above, from the number of misses and false hits together.

    total: misses and false hits in all rounds, 0 to ``2 rounds``.
    rounds: rounds, fixed before any output is seen.
    alpha: chance that the limit is too low, in (0, 1).
    """
    if total >= rounds:
        return 1.0
    high = convex_high(total, rounds, alpha)
    if rounds > MOST_ROUNDS:
        return high
    # Chances shared out evenly all the time are one way among all.
    low = min(1.0, 2 * float(special.betaincinv(total + 1, 2 * rounds - total, 1 - alpha)))
    aim = float(special.ndtri(alpha))

    def above(beta: float) -> float:
        return float(special.ndtri(max(fewest(total, rounds, beta), 1e-300))) - aim

    if low >= 1 or (high >= 1 and above(1.0) > 0):
        return 1.0
    room = NEAR * (high - low) + 1e-12
    if high - low <= room or above(low) <= 0:
        return min(1.0, low + room)
    if above(high) > 0:  # they agree but for rounding
        return min(1.0, high + room)
    root = float(optimize.brentq(above, low, high, xtol=room / 2, rtol=1e-12))
    return min(1.0, root + room)


def fewest(total: int, rounds: int, beta: float) -> float:
    """Return the largest chance of at most ``total`` misses and false hits, however chosen.

    Notes
    -----
    Let ``V(k)`` be that chance for at most k in the rounds that are left. With one round more, and
    chances p and q that sum to beta, it is
    ``(1 - beta) V(k) + beta V(k - 1) + p q (V(k) - 2 V(k - 1) + V(k - 2))``: p q is either as large
    or as small as it can be.
    """
    half = int(BAND * math.sqrt(rounds * beta * (1 - beta / 2))) + 20
    most, least = beta * beta / 4, max(0.0, beta - 1)
    start = math.floor(total - beta * rounds) - half
    value = (np.arange(start, start + 2 * half + 1) >= 0).astype(np.float64)
    padded = np.empty(value.size + 3)
    for left in range(1, rounds + 1):
        shifted = math.floor(total - beta * (rounds - left)) - half
        # Below the band the value at its end is too large a chance, above it one is.
        padded[:2] = 0.0 if start <= 0 else value[0]
        padded[2:-1] = value
        padded[-1] = 1.0
        move, start = shifted - start, shifted
        same, one, two = (padded[2 + move - k : 2 + move - k + value.size] for k in range(3))
        bend = same - 2 * one
        bend += two
        value = same + beta * (one - same) + np.where(bend > 0, most, least) * bend
    return float(value[total - start])


def convex_high(total: int, rounds: int, alpha: float) -> float:
    """Limit it in closed form, up to a fifth wider.

    Notes
    -----
    Shared out evenly, misses and false hits spread most: the mean of any convex function is largest
    then, round by round.
    """
    return 1.0 if total >= rounds else 2 * mean_high(total, 2 * rounds, alpha, most=0.5)
