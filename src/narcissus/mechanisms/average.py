"""The average of the rows: exact, or with Laplace noise on each attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus._validation import positive
from narcissus.mechanisms.base import ReleaseChannel, deterministic
from narcissus.worlds.base import Array


@dataclass(frozen=True)
class ExactAverage:
    """Release the mean of the rows, exactly; of a vector of bits, its mean."""

    exchangeable = True

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the means, shape (trials, d) for data of shape (trials, n, d)."""
        # Sums of bytes in one pass; converting the data first would cost eight times the memory.
        return data.sum(axis=1, dtype=_sum_type(data)) / data.shape[1]

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out."""
        return deterministic(self.release(data, np.random.default_rng(0)))


def _sum_type(data: Array) -> type[np.generic]:
    if data.dtype.kind == "f":
        return np.float64
    return np.uint16 if data.dtype == np.uint8 and data.shape[1] <= 257 else np.int64


@dataclass(frozen=True)
class NoisyAverage:
    """Release the mean of rows in [0, 1], plus Laplace noise on each attribute.

    Parameters
    ----------
    epsilon
        Privacy of one attribute: the noise has scale ``1 / (epsilon n)``. The whole release is
        ``(epsilon d, 0)``-differentially private (Kaplan et al. 2025, Theorem 4.7).
    """

    epsilon: float

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the noisy means, shape (trials, d)."""
        mean = ExactAverage().release(data, rng)
        return mean + rng.laplace(scale=1 / (self.epsilon * data.shape[1]), size=mean.shape)

    def privacy(self, data: Array) -> tuple[float, float] | None:
        """Get (epsilon, delta) of the whole release, replace-one; None for data beyond [0, 1]."""
        if data.min() < 0 or data.max() > 1:
            return None
        attributes = int(np.prod(data.shape[2:])) if data.ndim > 2 else 1
        return self.epsilon * attributes, 0.0
