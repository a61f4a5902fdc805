"""Approximate differential privacy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from narcissus._validation import non_negative, probability
from narcissus.guarantees.base import FloatArray, Guarantee, alphas, epsilons
from narcissus.guarantees.pure import randomized_response_profile


@dataclass(frozen=True)
class ApproximateDP(Guarantee):
    """Approximate differential privacy: ``P(E) <= exp(epsilon) P'(E) + delta`` for every event.

    Source: Dwork et al. 2006; trade-off function: Wasserman and Zhou 2010.

    Parameters
    ----------
    epsilon
        At least 0 and finite.
    delta
        In [0, 1].
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))
        object.__setattr__(self, "delta", probability("delta", self.delta))

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        """Return delta; worst case: all is revealed with probability ``delta``, else randomized
        response.
        """
        pure = randomized_response_profile(epsilons("epsilon", epsilon), self.epsilon)
        return self.delta + (1.0 - self.delta) * pure

    def power(self, alpha: ArrayLike) -> FloatArray:
        """Return ``min(1, delta + e^epsilon alpha, 1 - e^-epsilon (1 - delta - alpha))``."""
        rate = alphas(alpha)
        with np.errstate(divide="ignore"):
            steep = self.delta + np.exp(np.minimum(np.log(rate) + self.epsilon, 0.0))
        flat = 1.0 - np.exp(-self.epsilon) * np.maximum(1.0 - self.delta - rate, 0.0)
        return np.minimum(steep, flat)

    def trade_off(self, alpha: ArrayLike) -> FloatArray:
        """Return ``max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha))``."""
        rate = alphas(alpha)
        with np.errstate(divide="ignore"):
            steep = 1.0 - self.delta - np.exp(np.minimum(np.log(rate) + self.epsilon, 0.0))
        flat = np.exp(-self.epsilon) * (1.0 - self.delta - rate)
        return np.maximum(np.maximum(steep, flat), 0.0)

    def least_alpha(self, power: ArrayLike) -> FloatArray:
        """Return ``max(0, e^-epsilon (power - delta), 1 - delta - e^epsilon (1 - power))``."""
        rate = alphas(power)
        flat = np.exp(-self.epsilon) * np.maximum(rate - self.delta, 0.0)
        with np.errstate(divide="ignore"):
            steep = -np.expm1(np.minimum(np.log1p(-rate) + self.epsilon, 0.0))
        return np.maximum(flat, steep - self.delta)

    def tangents(self, count: int = 40) -> FloatArray:
        """Return ``[epsilon]``: this one point implies the whole profile."""
        return np.array([self.epsilon])

    def describe(self) -> str:
        return (
            f"approximate DP with epsilon {self.epsilon:g} and delta {self.delta:g} "
            f"({self.neighbours})"
        )
