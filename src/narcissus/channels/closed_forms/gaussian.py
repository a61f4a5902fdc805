"""Gaussian noise on numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from narcissus._validation import between, non_negative, positive
from narcissus.channels.closed_forms.location import LocationFamily


@dataclass(frozen=True)
class Gaussian(LocationFamily):
    """Gaussian noise of standard deviation ``sigma`` on secrets between 0 and ``span``.

    Source: Chatzikokolakis et al. 2023, Proposition 4, as ``beta* = erfc(a / sqrt 2)`` with
    ``a = span / (2 sigma)``: it keeps its accuracy where ``1 - (Phi(a) - Phi(-a))`` has lost it.
    """

    span: float = 1.0
    sigma: float = 1.0
    points: int = 2

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))

    def _overlap(self, distance: float) -> float:
        return math.erfc(distance / (2 * self.sigma * math.sqrt(2)))

    def _tail(self, size: float) -> float:
        return math.erfc(size / (self.sigma * math.sqrt(2))) / 2

    def _crossing(self, distance: float, log_odds: float) -> float:
        return distance / 2 + self.sigma**2 * log_odds / distance

    @property
    def local_epsilon(self) -> float:
        """Infinite: Gaussian noise is LDP for no epsilon without a delta."""
        return math.inf

    def delta(self, epsilon: float) -> float:
        """``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)``, ``mu = span / sigma``."""
        epsilon = non_negative("epsilon", epsilon)
        mu = self.span / self.sigma
        first = float(special.log_ndtr(mu / 2 - epsilon / mu))
        second = epsilon + float(special.log_ndtr(-mu / 2 - epsilon / mu))
        return max(0.0, -math.exp(first) * math.expm1(second - first))

    @classmethod
    def classical(cls, epsilon: float, delta: float) -> Gaussian:
        """Return the mechanism with the classical calibration to (epsilon, delta)-DP, span 1.

        ``sigma = sqrt(2 ln(1.25 / delta)) / epsilon``, proved for epsilon below 1 only.

        Examples
        --------
        >>> round(Gaussian.classical(1, 1e-6).beta_star, 7)
        0.9248224
        """
        epsilon = positive("epsilon", epsilon)
        delta = between("delta", delta, 0, 1, open_low=True, open_high=True)
        return cls(1.0, math.sqrt(2 * math.log(1.25 / delta)) / epsilon)
