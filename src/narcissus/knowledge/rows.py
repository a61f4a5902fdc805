"""The attacker knows some rows of the data set."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.knowledge.base import no_world
from narcissus.worlds.base import Array, Batch, Draw, Enumeration, World, is_derived
from narcissus.worlds.tardos import succession


@dataclass(frozen=True)
class KnownRows:
    """The attacker knows the first ``rows`` rows of the data set (Observation 4.2: all but one).

    Parameters
    ----------
    rows
        Known rows.
    """

    rows: int

    def __post_init__(self) -> None:
        integer("rows", self.rows, low=1)

    def check(self, world: World) -> None:
        """Refuse worlds without conditional sampling, and more rows than there are."""
        n = getattr(world, "n", None)
        if not hasattr(world, "fresh_given_rows") or n is None:
            raise no_world("rows", world, "bits, records, uniform, mona-lisa, tardos")
        made: Any = type(world)
        if is_derived(world) and _ours(made.fresh_given_rows) and not _ours(made.draw):
            raise InputError(
                f"the world {made.__name__} draws in its own way, and how fresh data sets with "
                "known rows are drawn is that of the world that it is derived from: give it its "
                "own `fresh_given_rows(draw, rows, rng)`"
            )
        integer("rows", self.rows, high=n)

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Array:
        """Return the known rows, shape (trials, rows, ...)."""
        return draw.data[:, : self.rows]

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets with the same first rows."""
        return world.fresh_given_rows(draw, self.rows, rng)

    def label(self, enumeration: Enumeration) -> Array:
        """Return what is told of each data set of a world that is written out."""
        return enumeration.data[:, : self.rows]

    def surprisal(self, world: Any, draw: Draw, known: Array, index: Array) -> NDArray[np.float64]:
        """Return ``h(x | K, the other rows)`` in bits, under the Tardos prior.

        ``K`` is the first rows in their order; the other rows are a bag, in which nobody has a
        place. By Bayes' rule a row ``z`` with ``k`` copies among the known rows and ``s`` among
        the others has its weight by Laplace's rule times ``(s + 1) / (s + 1 - k)``; if the others
        lack a known row, the row is that one, and no surprise.
        """
        trials = np.arange(draw.trials)
        row = draw.data[trials, index]
        ones = draw.data.sum(axis=1, dtype=np.int64) - row
        plain = succession(row[:, None], ones, world.n - 1)[:, 0]
        weights = np.exp2(succession(known, ones, world.n - 1))
        bits = np.zeros(draw.trials)
        for trial in trials:
            others = Counter(one.tobytes() for one in draw.data[trial])
            own = row[trial].tobytes()
            others[own] -= 1
            names = [one.tobytes() for one in known[trial]]
            told = Counter(names)
            if others[own] < told[own]:
                continue
            # Each known row adds its weight over the copies of it that may be the missing one.
            spare = np.array([others[name] - told[name] + 1 for name in names])
            total = np.log1p((weights[trial] / spare).sum()) / np.log(2)
            factor = np.log2((others[own] + 1) / (others[own] + 1 - told[own]))
            bits[trial] = total - factor - plain[trial]
        return bits


def _ours(method: Any) -> bool:
    return method.__module__.startswith("narcissus.")
