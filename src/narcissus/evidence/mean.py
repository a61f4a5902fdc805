"""Confidence limits on a mean of values in [0, 1] by betting."""

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
    """Compute confidence limits on the mean of independent values in [0, 1], whatever their
    distribution.

    By betting (Waudby-Smith and Ramdas 2023, Theorem 3, the hedged capital with predictable plug-in
    stakes): a mean is rejected once gamblers against it have multiplied their capital by ``2 / (1 -
    confidence)``. Close to the normal limits with many trials; with few no valid limits can be
    narrow, see `narrowest_limits`.

    The number of trials, the confidence and ``people`` must be fixed before the first trial is
    seen: the stakes depend on them. For a run that may stop early see `anytime_limits`.

    Parameters
    ----------
    values
        One value per trial, shape (trials,), each in [0, 1]; trials independent and alike, in the
        order of play (the stakes of a trial depend on the ones before it).
    confidence
        Level in (0, 1) of both limits together.
    people
        Number of independent targets averaged per trial. Any is valid; the right one is sharpest.
    quantity
        The averaged quantity, in words.

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
