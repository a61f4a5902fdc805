"""Limits of a mean of values in [0, 1] by betting, and of a mean of paired differences."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from narcissus._validation import fraction, integer, unit_vector
from narcissus.evidence.betting import plug_in, usual
from narcissus.results import Estimate


def mean_limits(
    values: ArrayLike, *, confidence: float = 0.95, people: int = 1, quantity: str = ""
) -> Estimate:
    """Limit the mean of independent values in [0, 1], whatever their distribution.

    By betting (Waudby-Smith and Ramdas 2023, Theorem 3, the hedged capital with predictable
    plug-in stakes): a mean is refused once gamblers who bet against it have multiplied their
    stake by ``2 / (1 - confidence)``. Near the normal limits when there are many trials; with few
    no valid limits can be narrow, see `narrowest_limits`.

    The number of trials, the confidence and ``people`` must be fixed before the first trial is
    seen: the stakes depend on them. For a run that may stop early see `anytime_limits`.

    Parameters
    ----------
    values
        One value a trial, shape (trials,), each in [0, 1]; trials independent and alike, in the
        order in which they were played (the stakes of a trial look at the ones before it).
    confidence
        Level in (0, 1) of both limits together.
    people
        Over how many independent targets each value is a mean. Any number is valid; the right one
        gives the narrowest limits.
    quantity
        What is averaged, in words.

    Examples
    --------
    >>> mean_limits([0.4, 0.6] * 50).low < 0.5 < mean_limits([0.4, 0.6] * 50).high
    True
    """
    array = unit_vector("values", values)
    level = fraction("confidence", confidence)
    some = integer("people", people, low=1)
    mean = float(array.mean())
    hurdle = math.log(2 / (1 - level))
    gamblers = plug_in(array, np.ones_like(array), middle=0.5, tempers=usual(some), hurdle=hurdle)

    def edge(seen: np.ndarray) -> float:
        return gamblers.refused_up_to(lambda m: seen - m, lambda m: m, 0.0, 1.0)

    # A run that drifts can refuse its own mean; the limits are widened to hold it.
    low, high = min(mean, edge(array)), max(mean, 1 - edge(1 - array))
    return Estimate(mean, low, high, level, array.size, quantity, method="betting")
