"""A secret from a prior: the world of every game in which one number is to be named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import distribution
from narcissus.worlds.base import Array, Draw, Enumeration


@dataclass(frozen=True, eq=False)
class Secret:
    """One of the numbers ``0 .. k - 1``; a data set is the number itself.

    Parameters
    ----------
    prior
        Probability of each number, shape (k,).
    """

    prior: Sequence[float] | NDArray[np.float64]

    def __post_init__(self) -> None:
        distribution("prior", self.prior)

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """The prior as an array, shape (k,)."""
        return np.asarray(self.prior, dtype=np.float64)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw secrets, shape (trials,)."""
        chances = self.chances / self.chances.sum()  # the sampler wants the sum exactly
        return Draw(rng.choice(chances.size, size=trials, p=chances))

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw independent secrets."""
        return self.draw(draw.trials, rng).data

    def count(self) -> int:
        """Return the number of secrets."""
        return self.chances.size

    def enumerate(self) -> Enumeration:
        """Write out all secrets."""
        return Enumeration.of(np.arange(self.chances.size), self.chances)
