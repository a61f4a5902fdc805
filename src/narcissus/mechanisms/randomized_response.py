"""Randomized response on every record."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from narcissus._validation import integer, non_negative
from narcissus.errors import InputError
from narcissus.mechanisms.base import ReleaseChannel
from narcissus.worlds.base import Array, all_tuples


@dataclass(frozen=True)
class RandomizedResponse:
    """Keep each record with probability ``e^eps / (e^eps + k - 1)``, else give another value.

    Parameters
    ----------
    epsilon
        Privacy of one record; the whole release is (epsilon, 0)-differentially private.
    values
        Number ``k`` of values ``0 .. k - 1`` of a record.
    """

    epsilon: float
    values: int = 2

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        integer("values", self.values, low=2)

    @property
    def keep(self) -> float:
        """Probability that a record is released as it is."""
        return 1 / (1 + (self.values - 1) * math.exp(-self.epsilon))

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the noisy records, shape of ``data``."""
        self._check(data)
        lie = rng.random(data.shape) >= self.keep
        step = rng.integers(1, self.values, data.shape) if self.values > 2 else 1
        return np.where(lie, (data + step) % self.values, data).astype(data.dtype)

    def _check(self, data: Array) -> None:
        if data.dtype.kind == "f" or data.min() < 0 or data.max() >= self.values:
            raise InputError(
                f"randomized response on {self.values} values needs records 0 .. "
                f"{self.values - 1}, got {data.min()} to {data.max()} of type {data.dtype}"
            )

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out."""
        self._check(data)
        flat = data.reshape(len(data), -1)
        outputs = all_tuples(self.values, flat.shape[1]).astype(data.dtype)
        lie = (1 - self.keep) / (self.values - 1)
        wrong = (flat[:, None, :] != outputs[None]).sum(axis=2)
        chance = self.keep ** (flat.shape[1] - wrong) * lie**wrong
        return ReleaseChannel(outputs.reshape(-1, *data.shape[1:]), sparse.csr_array(chance))

    def outcomes(self, n: int) -> int:
        """Return how many releases a data set of ``n`` records can have."""
        return self.values**n

    def privacy(self, data: Array) -> tuple[float, float]:
        """Return (epsilon, delta) of the whole release, replace-one."""
        entries = int(np.prod(data.shape[2:])) if data.ndim > 2 else 1
        return self.epsilon * entries, 0.0
