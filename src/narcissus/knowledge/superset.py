"""The rows of the data set among others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._validation import integer
from narcissus.knowledge.base import no_world
from narcissus.worlds.base import Array, Batch, Draw, World
from narcissus.worlds.products import Uniform


@dataclass(frozen=True)
class Hiding:
    """The rows of the data set hidden among random others (Kaplan et al. 2025, Example 1.4).

    Parameters
    ----------
    size
        Rows of the list, the ones of the data set included.
    """

    size: int

    def __post_init__(self) -> None:
        integer("size", self.size, low=1)

    def check(self, world: World) -> None:
        """Refuse all worlds but uniform rows, and lists shorter than the data set."""
        if not isinstance(world, Uniform):
            raise no_world("superset", world, "uniform")
        integer("size", self.size, low=world.n)

    def reveal(self, world: Any, draw: Draw, rng: np.random.Generator) -> Array:
        """Return the list, shape (trials, size, d), in random order."""
        others = world.rows((draw.trials, self.size - world.n), rng)
        rows = np.concatenate([draw.data, others], axis=1)
        order = np.argsort(rng.random((draw.trials, self.size)), axis=1)
        return rows[np.arange(draw.trials)[:, None], order]

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Array:
        """Draw ``n`` rows of the list without repetition: given the list, all are alike."""
        order = np.argsort(rng.random((draw.trials, self.size)), axis=1)[:, : world.n]
        return known[np.arange(draw.trials)[:, None], order]
