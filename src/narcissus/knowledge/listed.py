"""Side information that is listed: a number that ``Nature``, the data set and coins decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import distribution
from narcissus.errors import InputError
from narcissus.knowledge.base import no_world
from narcissus.worlds.base import Array, Batch, Draw, Enumeration, World, distinct, key_of
from narcissus.worlds.finite import Finite


@dataclass(frozen=True)
class Listed:
    """A table of chances of what is told, for the world `finite`: 0 or 1 for a function.

    Source: Kaplan et al. 2025, Definition 4.1 (``K = SideInfo(Nature, S)``, with coins).

    chances: The chance of each of k values for each of D data sets, shape (D, k); or one such table
        for each of V natures, shape (V, D, k).
    """

    chances: Sequence[Any]

    def __post_init__(self) -> None:
        try:
            table = np.asarray(self.chances, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.zeros(0)
        if table.ndim not in (2, 3) or not table.size:
            raise InputError(
                "`chances` must be a list of numbers for each data set, all of one length, or such "
                f"a table for each nature; got {str(self.chances)[:80]}"
            )
        for row in table.reshape(-1, table.shape[-1]):
            distribution("chances", row)

    def check(self, world: World) -> None:
        if not isinstance(world, Finite):
            raise no_world("listed", world, "finite")
        shape = np.shape(self.chances)
        if shape[:-1] not in (world.table.shape[1:], world.table.shape):
            raise InputError(
                "`chances` must have a list for each of {1} data sets, or that for each of {0} "
                "natures; got shape {2}".format(*world.table.shape, shape)
            )
        if len(distinct(world.sets)[0]) < len(world.sets):
            raise InputError("side information `listed` needs data sets that are all different")

    def kernel(self, world: Enumeration) -> NDArray[np.float64]:
        """Return the chance of each value for each ``Nature`` and data set, shape (V, D, k)."""
        table = np.asarray(self.chances, dtype=np.float64)
        return np.broadcast_to(table, (len(world.weight), *table.shape[-2:]))

    def reveal(self, world: Any, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw the number of the value that is told in each trial."""
        places = {key_of(one): place for place, one in enumerate(world.sets)}
        index = np.array([places[key_of(one)] for one in draw.data])
        return _drawn(self.kernel(world.enumerate())[draw.nature, index], rng)

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Array:
        told = self.kernel(world.enumerate())[draw.nature, :, np.asarray(known)]
        return world.sets[_drawn(world.table[draw.nature] * told, rng)]


def _drawn(weights: Array, rng: np.random.Generator) -> Array:
    """Draw a number by each row of weights, never one whose weight is 0."""
    steps = np.cumsum(weights, axis=1)
    return (rng.random(len(weights))[:, None] * steps[:, -1:] >= steps).sum(axis=1)
