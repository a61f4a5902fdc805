"""Tests and limits that are valid at every stopping time.

A gambler starts with one unit and bets on each trial that a mean exceeds the claim. Under the claim
the capital is a supermartingale, so by Ville's inequality it ever reaches ``1 / alpha`` with
probability at most ``alpha``. So the run may be inspected after every trial, stopped at will, or
continued. The gambler spreads the unit over a fixed ladder of stakes and never moves it between
them, which is close to the best stake in hindsight.

Source: Waudby-Smith and Ramdas 2023 (betting); Ville 1939. The ladder is a universal portfolio
(Cover 1991) on a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import fraction, unit_vector
from narcissus.errors import InputError
from narcissus.results import Estimate

# Shares of the largest stake that cannot lose everything. The smallest finds a mean that is off
# by 1e-4 of the range.
LADDER = 0.98 * 2.0 ** -np.arange(14)


class Bets:
    """Capital of a gambler who bets that the mean of a sequence is above 0.

    Parameters
    ----------
    lowest
        The smallest possible value, below 0; known before the first trial.
    """

    def __init__(self, lowest: float) -> None:
        if not lowest < 0:
            raise InputError(f"`lowest` must be below 0, got {lowest!r}")
        self.stakes = LADDER / -lowest
        self.logs = np.zeros(len(LADDER))

    def update(self, values: ArrayLike) -> NDArray[np.float64]:
        """Bet on more trials; return the log capital after each, shape (trials,)."""
        array = np.asarray(values, dtype=np.float64)
        steps = np.log1p(self.stakes[:, None] * array)
        path = self.logs[:, None] + np.cumsum(steps, axis=1)
        if array.size:
            self.logs = path[:, -1].copy()
        return log_mean(path)

    def add_counts(self, values: ArrayLike, counts: ArrayLike) -> float:
        """Bet on many trials at once, given each value's count; return the log capital.

        The final capital does not depend on the order of the trials.
        """
        array, times = np.asarray(values, dtype=np.float64), np.asarray(counts, dtype=np.float64)
        self.logs = self.logs + np.log1p(self.stakes[:, None] * array) @ times
        return float(log_mean(self.logs[:, None])[0])


def log_mean(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the mean over the first axis of capitals given as logs."""
    top = logs.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(logs - safe).mean(axis=0))


def compress(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct values and their counts."""
    kept, counts = np.unique(values, return_counts=True)
    return kept, counts.astype(np.int64)


def anytime_limits(values: ArrayLike, *, confidence: float = 0.95, quantity: str = "") -> Estimate:
    """Compute limits on the mean of independent values in [0, 1], valid at any stopping time.

    The run may be inspected after every trial and stopped for any reason in the past. Wider than
    `narcissus.mean_limits`, which needs the number of trials fixed beforehand.

    Parameters
    ----------
    values
        One value per trial, shape (trials,), each in [0, 1].
    confidence
        Level in (0, 1) of both limits together.
    quantity
        The averaged quantity, in words.

    Examples
    --------
    >>> anytime_limits([0.0, 1.0] * 200).low < 0.5 < anytime_limits([0.0, 1.0] * 200).high
    True
    """
    array = unit_vector("values", values)
    level = fraction("confidence", confidence)
    kept, counts = compress(array)
    mean = float(array.mean())
    hurdle = math.log(2 / (1 - level))

    def above(claim: float) -> float:
        return Bets(-claim).add_counts(kept - claim, counts)

    def below(claim: float) -> float:
        return Bets(claim - 1).add_counts(claim - kept, counts)

    low = _edge(above, hurdle, inside=mean, outside=0.0) if mean > 0 else 0.0
    high = _edge(below, hurdle, inside=mean, outside=1.0) if mean < 1 else 1.0
    return Estimate(mean, low, high, level, array.size, quantity, method="anytime betting")


def _edge(
    capital: Callable[[float], float], hurdle: float, *, inside: float, outside: float
) -> float:
    """Bisect for the end of the interval; err outwards.

    Against the sample mean a gambler never wins, so the inside is never rejected.
    """
    near, far = inside, outside
    if far == 0.0:
        # Claims too small to be worth a bisection step are refused if the smallest one is.
        tiny = 1e-300
        if capital(tiny) < hurdle:
            return 0.0
        near, far = inside, tiny
    elif capital(1 - 1e-16) < hurdle:
        return 1.0
    for _ in range(60):
        middle = (near + far) / 2
        if far < near * 0.25:  # by factors; the product of the two may be too small for a float
            middle = math.sqrt(near * far) or math.sqrt(near) * math.sqrt(far)
        if capital(middle) >= hurdle:
            far = middle
        else:
            near = middle
    return far if outside != 0.0 or far > 1e-299 else 0.0
