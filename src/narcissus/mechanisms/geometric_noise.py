"""Two-sided geometric noise: the Laplace distribution on whole numbers, its chances in full."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LOST = 40.0  # of the noise beyond so many scales there is e^-40 = 4e-18: below all rounding


@dataclass(frozen=True)
class TwoSidedGeometric:
    """Whole numbers ``z`` with weight ``e^(-|z| / scale)``; at scale 0, always 0.

    Parameters
    ----------
    scale
        At least 0.

    Notes
    -----
    Source: Ghosh, Roughgarden and Sundararajan 2009. With scale ``D / epsilon`` a whole number that
    changes by at most ``D`` is released with epsilon-differential privacy.
    """

    scale: float

    def sample(self, rng: np.random.Generator) -> int:
        """Draw one."""
        if self.scale == 0:
            return 0
        stop = -math.expm1(-1 / self.scale)
        return int(rng.geometric(stop) - rng.geometric(stop))

    def at_least(self, value: ArrayLike) -> NDArray[np.float64]:
        """Return the chance of ``value`` or more, both tails to the last digit; any shape."""
        z = np.asarray(value, dtype=np.float64)
        if self.scale == 0:
            return np.where(z <= 0, 1.0, 0.0)
        rate = 1 / self.scale
        inner = 1 / (1 + math.exp(-rate))
        with np.errstate(over="ignore"):
            above = inner * np.exp(-rate * np.maximum(z, 0))
            below = inner * np.exp(-rate * np.maximum(1 - z, 0))
        return np.where(z > 0, above, 1 - below)

    def at(self, value: ArrayLike) -> NDArray[np.float64]:
        """Return the chance of ``value``; any shape."""
        z = np.abs(np.asarray(value, dtype=np.float64))
        if self.scale == 0:
            return np.where(z == 0, 1.0, 0.0)
        rate = 1 / self.scale
        return np.exp(-rate * z) * -math.expm1(-rate) / (1 + math.exp(-rate))

    @property
    def reach(self) -> int:
        """How far from 0 the noise goes, but for ``e^-40`` of it."""
        return math.ceil(_LOST * self.scale)
