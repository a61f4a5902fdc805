"""Pure differential privacy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from narcissus._validation import non_negative
from narcissus.guarantees.base import FloatArray, Guarantee, alphas, epsilons


def randomized_response_profile(epsilon: FloatArray, epsilon_0: float) -> FloatArray:
    """Return the profile of randomized response at ``epsilon_0``, the worst under pure DP.

    ``max(0, 1 - e^e, (e^e0 - e^e) / (1 + e^e0))``, written so that nothing overflows or cancels.
    """
    with np.errstate(over="ignore"):
        floor = -np.expm1(epsilon)
        middle = -np.expm1(epsilon - epsilon_0) * special.expit(epsilon_0)
    return np.maximum(np.maximum(floor, middle), 0.0)


@dataclass(frozen=True)
class PureDP(Guarantee):
    """Pure differential privacy: ``P(E) <= exp(epsilon) P'(E)`` for every event.

    Source: Dwork et al. 2006; profile: randomized response (Narcissus theory 3).

    Parameters
    ----------
    epsilon
        At least 0 and finite.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.

    Examples
    --------
    >>> round(float(PureDP(1.0).profile(0.0)), 6)
    0.462117
    """

    epsilon: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        return randomized_response_profile(epsilons("epsilon", epsilon), self.epsilon)

    def power(self, alpha: ArrayLike) -> FloatArray:
        """Return ``min(1, e^epsilon alpha, 1 - e^-epsilon (1 - alpha))``; any shape."""
        rate = alphas(alpha)
        with np.errstate(divide="ignore"):
            steep = np.exp(np.minimum(np.log(rate) + self.epsilon, 0.0))
        return np.minimum(steep, 1.0 - np.exp(-self.epsilon) * (1.0 - rate))

    def trade_off(self, alpha: ArrayLike) -> FloatArray:
        """Return ``max(0, 1 - e^epsilon alpha, e^-epsilon (1 - alpha))``; any shape."""
        rate = alphas(alpha)
        with np.errstate(divide="ignore"):
            steep = -np.expm1(np.minimum(np.log(rate) + self.epsilon, 0.0))
        return np.maximum(steep, np.exp(-self.epsilon) * (1.0 - rate))

    def least_alpha(self, power: ArrayLike) -> FloatArray:
        """Return ``max(e^-epsilon power, 1 - e^epsilon (1 - power))``; any shape."""
        rate = alphas(power)
        with np.errstate(divide="ignore"):
            steep = -np.expm1(np.minimum(np.log1p(-rate) + self.epsilon, 0.0))
        return np.maximum(np.exp(-self.epsilon) * rate, steep)

    def tangents(self, count: int = 40) -> FloatArray:
        """Return ``[epsilon]``: this one point implies the whole profile."""
        return np.array([self.epsilon])

    def describe(self) -> str:
        return f"pure DP with epsilon {self.epsilon:g} ({self.neighbours})"
