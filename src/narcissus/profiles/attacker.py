"""The generic Bayes attacker, under a name that a study can use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._validation import integer, non_negative
from narcissus.profiles.write_out import write_out
from narcissus.worlds.base import Batch


@dataclass(frozen=True)
class Bayes:
    """The best attacker of a world that can be written out.

    Parameters
    ----------
    epsilon
        The ``epsilon`` of the statement under attack.
    limit
        Largest number of (data set, release) pairs to write out.
    """

    epsilon: float = 0.0
    limit: int = 2_000_000

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        integer("limit", self.limit, low=1)

    def prepare(self, game: Any) -> Any:
        """Write the game out and return its best attacker."""
        return write_out(game, limit=self.limit).attacker(self.epsilon)

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Any:
        """Refuse: the attacker must be prepared for a game first."""
        raise TypeError("call `prepare(game)` first; it gives the attack to play")
