"""Randomized response on any number of values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from narcissus.channels.channel import Channel, channel
from narcissus.channels.closed_forms.base import check_size, numbered
from narcissus.channels.closed_forms.symmetric import SymmetricForm


@dataclass(frozen=True)
class KaryRandomizedResponse(SymmetricForm):
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
    >>> round(KaryRandomizedResponse(1_000_000, 10).beta_star, 7)
    0.9784492
    """

    values: int
    epsilon: float

    def __post_init__(self) -> None:
        self._check()

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
    def capacity(self) -> float:
        """``n e^epsilon / (e^epsilon + n - 1)``."""
        return self.values / (1 + (self.values - 1) * math.exp(-self.epsilon))

    @property
    def bayes_risk(self) -> float:
        """``(n - 1) / (e^epsilon + n - 1)`` for a uniform prior."""
        return (self.values - 1) * self._other

    @property
    def _telling(self) -> float:
        return 1 / (1 + (self.values - 1) * math.exp(-self.epsilon))

    def channel(self) -> Channel:
        """Return the ``n`` by ``n`` channel."""
        n = self.values
        check_size(n, n)
        matrix = np.full((n, n), self._other)
        np.fill_diagonal(
            matrix, self._other * math.exp(self.epsilon) if self.epsilon < 700 else 1.0
        )
        return channel(matrix, secrets=numbered(n), outputs=numbered(n))
