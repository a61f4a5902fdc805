"""The narrowest valid limits, and the number of trials needed."""

from __future__ import annotations

import math

from narcissus._validation import fraction, integer, non_negative, positive, probability


def narrowest_limits(mean: float, trials: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the narrowest limits of any valid method on a mean of values in [0, 1].

    Even if every observed value is ``mean``: values that are 0 with chance
    ``1 - (error / 2)^(1 / trials)``, else ``mean``, look the same with chance ``error / 2``, so no
    method may reject their mean. The same above, with 1 for 0.

    Parameters
    ----------
    mean
        Mean of the values, in [0, 1].
    trials
        Independent trials, at least 1.
    confidence
        Level in (0, 1) of both limits together.

    Returns
    -------
    tuple
        The highest lower limit and the lowest upper limit.

    Examples
    --------
    >>> low, high = narrowest_limits(0.87, 100)
    >>> round(0.87 - low, 4), round(high - 0.87, 4)
    (0.0315, 0.0047)
    """
    x, n = probability("mean", mean), integer("trials", trials, low=1)
    level = fraction("confidence", confidence)
    kept = ((1 - level) / 2) ** (1 / n)
    return x * kept, 1 - (1 - x) * kept


def trials_for(
    distance: float, variance: float, *, room: float = 1.0, confidence: float = 0.95
) -> int:
    """Estimate the number of trials that brings a limit on a mean to within ``distance``; never a
    claim.

    The minimum for any valid limit if all values are equal (see `narrowest_limits`), plus
    ``2 log(2 / error) variance / distance^2`` for their spread. To decide whether a mean is below a
    threshold, ``distance`` is the gap between the estimate and the threshold.

    Parameters
    ----------
    distance
        Between the estimate and its limit, above 0.
    variance
        Variance of one trial's value.
    room
        Distance of the mean from the end of the range on the side of the limit: ``1 - mean`` for an
        upper limit, ``mean`` for a lower one, 1 if unknown.
    confidence
        Level in (0, 1) of both limits together.

    Examples
    --------
    >>> trials_for(0.0315, 0.0, room=0.87)
    101
    >>> trials_for(0.01, 0.25)
    18812
    """
    reach, room = positive("distance", distance), positive("room", room)
    spread = non_negative("variance", variance)
    level = fraction("confidence", confidence)
    hurdle = math.log(2 / (1 - level))
    if reach >= room:
        return 1
    alike = hurdle / -math.log1p(-reach / room)
    return math.ceil(alike + 2 * hurdle * spread / reach**2)
