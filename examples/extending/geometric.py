"""A table mechanism: noisy counts, with a noise that knows its guarantee."""

import math
from dataclasses import dataclass

import numpy as np

from narcissus._options import Level
from narcissus._validation import positive
from narcissus.guarantees import PureDP
from narcissus.mechanisms import PlannedCounts


@dataclass(frozen=True)
class GeometricNoise:
    """Two-sided geometric noise: whole numbers, ``z`` with weight ``e^(-|z| / scale)``."""

    scale: float
    kind = "geometric"

    def sample(self, size, rng):
        stop = -math.expm1(-1 / self.scale)
        return (rng.geometric(stop, size) - rng.geometric(stop, size)).astype(float)

    def gain(self, residual):
        return (np.abs(residual) - np.abs(residual - 1)) / self.scale

    def guarantee(self, marginals):
        return PureDP(2 * marginals / self.scale)


@dataclass(frozen=True)
class GeometricMarginals(PlannedCounts):
    """All k-way tables that touch an unknown column, with geometric noise on each cell.

    Parameters
    ----------
    epsilon
        Privacy level of the whole release, above 0.
    k
        Columns in each table.
    """

    epsilon: Level
    k: int = 2

    def __post_init__(self):
        positive("epsilon", self.epsilon)

    @property
    def label(self):
        return f"ε = {self.epsilon:g}"

    def noise_of(self, tables):
        return GeometricNoise(2 * tables / self.epsilon)
