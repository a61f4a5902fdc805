"""Randomized response on any number of values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from narcissus._validation import integer, non_negative
from narcissus.channels.channel import Channel, channel
from narcissus.channels.closed_forms.base import Mechanism, check_size, numbered


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """k-ary randomized response: the true value with weight ``e^epsilon``, any other with 1.

    Parameters
    ----------
    values
        Number of secrets.
    epsilon
        Privacy level.

    Notes
    -----
    Source: Chatzikokolakis et al. 2023, Equation 7: ``beta* = n / (e^epsilon + n - 1)``.

    Examples
    --------
    >>> round(RandomizedResponse(1_000_000, 10).beta_star, 7)
    0.9784492
    """

    values: int
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", integer("values", self.values, low=2))
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))

    @property
    def secrets(self) -> int:
        """Number of values."""
        return self.values

    @property
    def _other(self) -> float:
        """Probability of one given wrong value."""
        small = math.exp(-self.epsilon)
        return small / (1 + (self.values - 1) * small)

    @property
    def beta_star(self) -> float:
        """``n / (e^epsilon + n - 1)``."""
        return min(1.0, self.values * self._other)

    @property
    def pair(self) -> tuple[str, str]:
        """The first two values; all pairs are tied."""
        return "1", "2"

    @property
    def capacity(self) -> float:
        """``n e^epsilon / (e^epsilon + n - 1)``."""
        return self.values / (1 + (self.values - 1) * math.exp(-self.epsilon))

    @property
    def bayes_risk(self) -> float:
        """``(n - 1) / (e^epsilon + n - 1)`` for a uniform prior."""
        return (self.values - 1) * self._other

    @property
    def local_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon

    def delta(self, epsilon: float) -> float:
        """``max(0, e^epsilon0 - e^epsilon) / (e^epsilon0 + n - 1)``."""
        epsilon = non_negative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        gap = -math.expm1(epsilon - self.epsilon)
        return gap / (1 + (self.values - 1) * math.exp(-self.epsilon))

    def channel(self) -> Channel:
        """Give the ``n`` by ``n`` channel."""
        n = self.values
        check_size(n, n)
        matrix = np.full((n, n), self._other)
        np.fill_diagonal(
            matrix, self._other * math.exp(self.epsilon) if self.epsilon < 700 else 1.0
        )
        return channel(matrix, secrets=numbered(n), outputs=numbered(n))
