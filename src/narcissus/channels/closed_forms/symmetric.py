"""Mechanisms that treat all values alike: what randomized response, subsets and bits share."""

from __future__ import annotations

import math

from narcissus._validation import integer, non_negative
from narcissus.channels.channel import ClosedForm


class SymmetricForm(ClosedForm):
    """A mechanism on ``values`` values of which every two are told apart as well as any two.

    No dataclass itself, so that each mechanism keeps its own order of fields.
    """

    values: int
    epsilon: float

    def _check(self) -> None:
        object.__setattr__(self, "values", integer("values", self.values, low=2))
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))

    @property
    def secrets(self) -> int:
        """Number of values."""
        return self.values

    @property
    def indices(self) -> tuple[int, ...]:
        """The first two values; all pairs are tied."""
        return 0, 1

    @property
    def local_epsilon(self) -> float:
        return self.epsilon

    @property
    def _telling(self) -> float:
        """Mass of the outputs that are likelier under one secret than under a given other."""
        raise NotImplementedError

    def delta(self, epsilon: float) -> float:
        """Mass of the outputs that tell two secrets apart, times ``1 - e^(epsilon - epsilon0)``.

        All those outputs have the same ratio, ``e^epsilon0``.
        """
        epsilon = non_negative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        return self._telling * -math.expm1(epsilon - self.epsilon)
