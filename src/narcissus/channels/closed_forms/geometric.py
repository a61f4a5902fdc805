"""Geometric (discrete Laplace) noise on whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from narcissus._validation import integer, non_negative, positive
from narcissus.channels.channel import Channel, channel
from narcissus.channels.closed_forms.base import ClosedForm, check_size, numbered


@dataclass(frozen=True)
class Geometric(ClosedForm):
    """Two-sided geometric noise on whole numbers ``0 .. values - 1``, clamped to that range.

    The noise is ``z`` with probability ``(1 - a) / (1 + a) a^|z|``, ``a = e^-rate``; clamping
    changes neither ``beta*`` nor the capacity of the ends.

    Parameters
    ----------
    values
        Number of secrets.
    rate
        Privacy level of neighbouring secrets, above 0.
    """

    values: int
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", integer("values", self.values, low=2))
        object.__setattr__(self, "rate", positive("rate", self.rate))

    @property
    def secrets(self) -> int:
        """Number of values."""
        return self.values

    def _overlap(self, distance: int) -> float:
        if distance % 2 == 0:
            return math.exp(-self.rate * distance / 2)
        half = (distance + 1) / 2
        return 2 * math.exp(-self.rate * half) / (1 + math.exp(-self.rate))

    @property
    def beta_star(self) -> float:
        """The overlap of the two ends."""
        return self._overlap(self.values - 1)

    @property
    def capacity(self) -> float:
        """One plus ``n - 1`` times the distance of neighbours."""
        return 1 + (self.values - 1) * (1 - self._overlap(1))

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior."""
        return (self.values - 1) * self._overlap(1) / self.values

    @property
    def local_epsilon(self) -> float:
        """``(n - 1) rate``: the two ends."""
        return (self.values - 1) * self.rate

    def delta(self, epsilon: float) -> float:
        """Sum of what one end exceeds ``e^epsilon`` times the other by."""
        epsilon = non_negative("epsilon", epsilon)
        d, r = self.values - 1, self.rate
        # Outputs 0 .. t have a likelihood ratio of e^(r (d - 2 o)); take those above e^epsilon.
        t = math.ceil((d - epsilon / r) / 2) - 1
        if t < 0:
            return 0.0
        # P_0(o <= t) - e^epsilon P_d(o <= t), the mass at 0 including the clamped tail.
        scale = 1 / (1 + math.exp(-r))
        near = 1 - math.exp(-r * (t + 1)) * scale
        far = math.exp(epsilon - r * (d - t)) * scale
        return max(0.0, near - far)

    def channel(self) -> Channel:
        """Return the ``n`` by ``n`` channel."""
        n = self.values
        check_size(n, n)
        distance = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
        tails = np.exp(-self.rate * distance) / (1 + math.exp(-self.rate))
        matrix = tails * -math.expm1(-self.rate)
        matrix[:, 0], matrix[:, -1] = tails[:, 0], tails[:, -1]
        return channel(matrix, secrets=numbered(n), outputs=numbered(n))
