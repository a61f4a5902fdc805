"""Confidence limits on a median from order statistics."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from narcissus._validation import fraction, real
from narcissus.errors import InputError
from narcissus.results import Estimate


def median_limits(values: ArrayLike, *, confidence: float = 0.95, quantity: str = "") -> Estimate:
    """Compute confidence limits on the median of independent values, whatever their distribution.

    Two order statistics (Thompson 1936): the number of values at most the median is stochastically
    at least binomial with chance 1/2. So the limits hold for every median if there are several, and
    with ties. With few trials they are far narrower than valid limits on the mean, since outliers
    do not affect a median.

    Parameters
    ----------
    values
        One value per trial, shape (trials,), trials independent and alike.
    confidence
        Level in (0, 1) of both limits together.
    quantity
        The quantity, in words.

    Returns
    -------
    Estimate
        Without limits if there are too few values: at level .95 six are needed.

    Examples
    --------
    >>> found = median_limits(range(1, 21))
    >>> found.value, found.low, found.high
    (10.5, 6.0, 15.0)
    """
    array = np.sort(np.asarray(values, dtype=np.float64))
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"`values` must be a non-empty vector, got shape {array.shape}")
    real("values", array[-1])  # NaN is sorted to the end
    level = fraction("confidence", confidence)
    n = array.size
    # The k-th smallest is above the median only if fewer than k values are at most the median.
    chances = scipy.stats.binom.cdf(np.arange(n), n, 0.5)
    k = int(np.searchsorted(chances, (1 - level) / 2, side="right"))
    middle = float(np.median(array))
    if k == 0:
        few = f"{n} trials are too few for limits of a median at this level"
        return Estimate(middle, None, None, level, n, quantity, "order statistics", few)
    low, high = float(array[k - 1]), float(array[n - k])
    return Estimate(middle, low, high, level, n, quantity, "order statistics")
