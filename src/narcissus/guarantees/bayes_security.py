"""Bayes security of the channel from one record, as a guarantee."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from narcissus._validation import probability
from narcissus.guarantees.approximate import ApproximateDP
from narcissus.guarantees.base import FloatArray, Guarantee


@dataclass(frozen=True)
class BayesSecurity(Guarantee):
    """Bayes security of the channel from one record, the others fixed.

    Equivalent to (0, 1 - beta_star)-DP: the total variation distance between any two values of the
    record is at most ``1 - beta_star``.

    Source: Chatzikokolakis et al., Proposition 2.

    Parameters
    ----------
    beta_star
        In [0, 1]; 1 reveals nothing. A value computed over whole data sets implies it; the converse
        is only ``beta_star >= 1 - n delta``.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.
    """

    beta_star: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta_star", probability("beta_star", self.beta_star))

    @property
    def as_approximate(self) -> ApproximateDP:
        """The equivalent (0, 1 - beta_star)-DP."""
        return ApproximateDP(0.0, 1.0 - self.beta_star, adjacency=self.adjacency)

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        """Return ``1 - beta_star`` for every epsilon of at least 0; any shape."""
        return self.as_approximate.profile(epsilon)

    def power(self, alpha: ArrayLike) -> FloatArray:
        """Return ``min(1, alpha + 1 - beta_star)``; any shape."""
        return self.as_approximate.power(alpha)

    def trade_off(self, alpha: ArrayLike) -> FloatArray:
        """Return ``max(0, beta_star - alpha)``; any shape."""
        return self.as_approximate.trade_off(alpha)

    def tangents(self, count: int = 40) -> FloatArray:
        """Return ``[0]``: this one point implies the whole profile."""
        return self.as_approximate.tangents(count)

    def describe(self) -> str:
        return f"Bayes security with beta* {self.beta_star:g} ({self.neighbours})"
