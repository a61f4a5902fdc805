"""An upper limit of mutual information from samples, without a union over outputs.

The information that the samples themselves seem to give is no less than the mean of the true
density ``ln(p(s|o) / pi_s)`` on them, whose mean is the information itself. How seldom that mean
comes out small is bounded by its exponential moments, and these by the information alone.

Source: Narcissus theory 6.15.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from narcissus.channels.samples import Samples

Floats = NDArray[np.float64]

GRID = 300
"""Points of either grid; a finer one could only lower the limit."""


def seeming_information(data: Samples, prior: Floats) -> float:
    """Give the largest sum of ``ln(q(s|o) / pi_s)`` over samples that any rule q reaches, nats."""
    counts = data.counts().tocoo()
    output, secret = counts.coords
    each = np.bincount(output, weights=counts.data)
    terms = counts.data * np.log(counts.data / each[output] / prior[secret])
    return float(terms.sum())


def information_high(total: float, size: int, rarest: float, alpha: float) -> float:
    """Limit the mutual information from above.

    Parameters
    ----------
    total
        Sum of ``ln(p(s|o) / pi_s)`` over independent samples, or more than that.
    size
        How many samples.
    rarest
        The smallest probability of a secret, above 0.
    alpha
        Chance that the limit is too low, in (0, 1).

    Returns
    -------
    float
        In nats.

    Notes
    -----
    For 0 < l < 1 a sum below ``total`` has chance at most ``(e^(l total/size) E)^size``, where E is
    the mean of ``sum_s p^(1-l) pi^l`` over the posteriors p. For any m, E is at most
    ``max_p (sum_s p^(1-l) pi^l + m KL(p | pi)) - m I``; that maximum is reached by a posterior that
    raises the rarest secret alone, or at the prior.

    Examples
    --------
    >>> round(information_high(2000 * 0.1, 2000, 0.25, 0.025), 3)
    0.132
    """
    if rarest == 1:  # one secret alone is possible: nothing is to be told
        return 0.0
    power, slope, most = moments(rarest)
    least = np.exp(-power * total / size + math.log(alpha) / size)
    return min(float(np.nanmin((most - least) / slope)), -math.log(rarest))


@lru_cache(maxsize=8)
def moments(rarest: float) -> tuple[Floats, Floats, Floats]:
    """Give (l, m, M) with ``sum_s p^(1-l) pi^l + m KL(p | pi) <= M`` for every posterior p.

    Shapes (powers, 1), (powers, points), (powers, points); NaN where there is no tangent.
    """
    power = np.linspace(0.005, 0.99, GRID)[:, None]
    raised = np.unique(
        np.concatenate(
            [
                np.geomspace(rarest, 1, GRID)[1:-1],
                1 - np.geomspace(1e-12, 1 - rarest, GRID)[:-1],
                rarest + (1 - rarest) * np.geomspace(1e-6, 1, GRID)[:-1],
            ]
        )
    )[None, ::-1]
    up, down = raised / rarest, (1 - raised) / (1 - rarest)
    told = raised * np.log(up) + (1 - raised) * np.log(down)
    moment = raised * up**-power + (1 - raised) * down**-power
    slope = (1 - power) * (down**-power - up**-power) / np.log(up / down)
    # Beyond its smallest slope the curve bends the other way: no tangent there.
    tangent = np.arange(raised.size) < slope.argmin(axis=1)[:, None]
    slope = np.where(tangent, slope, np.nan)
    most = np.maximum(moment + slope * told, 1.0)
    for made in (power, slope, most):
        made.flags.writeable = False
    return power, slope, most
