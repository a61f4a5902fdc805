"""The attacker is told ``Nature``, or the rates behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.knowledge.base import no_world
from narcissus.worlds.base import Array, Batch, Draw, World
from narcissus.worlds.finite import Finite
from narcissus.worlds.tardos import Tardos
from narcissus.worlds.trivial import Superset


def nature_of(world: Any, draw: Draw, rng: np.random.Generator) -> Any:
    """Return the ``Nature`` of each trial as somebody may be told it."""
    return world.told(draw, rng) if hasattr(world, "told") else draw.nature


@dataclass(frozen=True)
class Hidden:
    """The attacker is told ``Nature`` itself.

    Of the world ``superset`` that is the list of possible rows (Kaplan et al. 2025, Example 1.5),
    of ``tardos`` the whole population (Definition 3.3), of ``finite`` the number of the list.
    """

    whole = True

    def check(self, world: World) -> None:
        """Refuse worlds without a ``Nature``; a pair is none, it holds the data set itself."""
        shipped = type(world).__module__.startswith("narcissus.")
        if not isinstance(world, Finite | Superset | Tardos) and (
            shipped or world.draw(1, np.random.default_rng(0)).nature is None
        ):
            raise no_world("nature", world, "worlds with a meta-prior: superset, tardos, finite")

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> Any:
        """Return ``Nature``; of the Tardos prior, the populations, shape (trials, N, d)."""
        return nature_of(world, draw, rng)

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets from the same ``Nature``: knowing it changes nothing."""
        return world.fresh(draw, rng)

    def surprisal(self, world: Any, draw: Draw, known: Array, index: Array) -> NDArray[np.float64]:
        """Return ``h(x | population, the other rows)`` in bits under the Tardos prior.

        The row is one of the ``N - n + 1`` people who are not the others.
        """
        if not isinstance(world, Tardos):
            raise no_world("nature with surprisal", world, "tardos")
        row = draw.data[np.arange(draw.trials), index][:, None]
        others = (draw.data == row).all(axis=2).sum(axis=1) - 1
        left = (known == row).all(axis=2).sum(axis=1) - others
        return np.log2((world.N - world.n + 1) / left)


@dataclass(frozen=True)
class Rates:
    """The attacker is told the rates of the Tardos prior, but not the population."""

    def check(self, world: World) -> None:
        """Refuse all worlds but the Tardos prior."""
        if not isinstance(world, Tardos):
            raise no_world("rates", world, "tardos")

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the rates, shape (trials, d)."""
        return draw.nature.rates

    def fresh(self, world: World, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets of the same population: the rates say nothing beyond it."""
        return world.fresh(draw, rng)

    def surprisal(self, world: Any, draw: Draw, known: Array, index: Array) -> NDArray[np.float64]:
        """Return ``h(x | rates)`` in bits; the other rows say nothing more."""
        row = draw.data[np.arange(draw.trials), index]
        with np.errstate(divide="ignore"):
            return -np.log2(np.where(row == 1, known, 1 - known)).sum(axis=1)
