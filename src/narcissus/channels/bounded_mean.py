"""An upper limit of the mean of values in [0, 1], from their sum alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special


def mean_high(total: float, size: int, alpha: float, *, most: float = 1.0) -> float:
    """Limit a mean from above, whatever the values' laws.

    Parameters
    ----------
    total
        Sum of the values, each in [0, 1]. They are independent with that mean on average; or each
        has at least that mean given those before it; or the sum is at least such a sum.
    size
        How many there are.
    alpha
        Chance that the limit is too low, in (0, 1).
    most
        The largest mean there can be.

    Notes
    -----
    Zeros and ones spread most, with equal chances most of all: the mean of a convex function of
    the sum that falls is no larger than that of a binomial (Hoeffding 1956, theorem 3; value by
    value where they adapt). ``max(0, c - k) / (c - total)`` is one, at least 1 up to ``total``. At
    most a fifth farther from the truth than Clopper and Pearson's limit, which needs zeros and
    ones.

    Examples
    --------
    >>> round(mean_high(10.5, 100, 0.025), 3)
    0.191
    """
    if total >= size * most:
        return most
    reach = np.unique(np.geomspace(1, 6 * math.sqrt(size) + 10, 200).astype(np.int64))
    ends = np.minimum(math.floor(total) + reach, size).astype(np.float64)

    def above(p: float) -> float:
        chances: NDArray[np.float64] = ends * special.bdtr(ends - 1, size, p)
        chances -= size * p * special.bdtr(np.maximum(ends - 2, 0), size - 1, p) * (ends > 1)
        return math.log(max(float((chances / (ends - total)).min()), 1e-300)) - math.log(alpha)

    if above(most) > 0:
        return most
    low = total / size
    return min(most, float(optimize.brentq(above, low, most, xtol=1e-12)) + 1e-12)
