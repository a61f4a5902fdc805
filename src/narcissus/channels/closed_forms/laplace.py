"""Laplace noise on numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from narcissus._validation import non_negative, positive
from narcissus.channels.closed_forms.location import LocationFamily


@dataclass(frozen=True)
class Laplace(LocationFamily):
    """Laplace noise of scale ``scale`` on secrets between 0 and ``span``.

    Source: Chatzikokolakis et al. 2023, Proposition 3: ``beta* = exp(-span / (2 scale))``.

    Examples
    --------
    >>> round(Laplace(span=1, scale=10).beta_star, 6)  # epsilon = 0.1
    0.951229
    """

    span: float = 1.0
    scale: float = 1.0
    points: int = 2

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "scale", positive("scale", self.scale))

    def _overlap(self, distance: float) -> float:
        return math.exp(-distance / (2 * self.scale))

    def _tail(self, size: float) -> float:
        if size < 0:
            return 1 - math.exp(size / self.scale) / 2
        return math.exp(-size / self.scale) / 2

    def _crossing(self, distance: float, log_odds: float) -> float:
        if abs(log_odds) * self.scale >= distance:  # beyond the numbers the odds change no more
            return math.copysign(math.inf, log_odds)
        return (distance + self.scale * log_odds) / 2

    @property
    def local_epsilon(self) -> float:
        """``span / scale``."""
        return self.span / self.scale

    def delta(self, epsilon: float) -> float:
        """``1 - exp((epsilon - span / scale) / 2)``, at least 0."""
        epsilon = non_negative("epsilon", epsilon)
        return max(0.0, -math.expm1((epsilon - self.local_epsilon) / 2))
