"""Side information that the user wrote as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._validation import arity, integer
from narcissus.errors import InputError
from narcissus.knowledge.base import no_world
from narcissus.knowledge.nature import nature_of
from narcissus.worlds.base import Batch, Draw, Enumeration, World
from narcissus.worlds.batches import gather, key_of

_TOGETHER = 16
"""Trials that are searched at a time: all rows that are looked at are kept until they are done."""


@dataclass(frozen=True)
class Told:
    """A function that the user wrote: ``K = function(data)``.

    Fresh data sets ``T`` are drawn from the trial's own ``Nature``, which stays what it is, until
    ``K(T) = K``; the coins of a random ``K`` are tossed anew for every ``T``. This is sampling
    from ``Nature`` given ``K``, exactly, but it takes ``1 / Pr[K]`` draws: where ``tries`` draws
    do not find one, the game is refused rather than played with something else.

    Parameters
    ----------
    function
        ``function(data)``, ``function(data, rng)`` with coins, or ``function(data, rng, nature)``
        that looks at ``Nature`` as well (of ``tardos`` the population, shape (N, d), of
        ``superset`` the list, of ``finite`` a number). What it gives is compared by value, so it
        must be discrete.
    tries
        Fresh data sets to draw for each trial, at most.
    """

    function: Callable[..., Any]
    tries: int = 10_000

    def __post_init__(self) -> None:
        integer("tries", self.tries, low=1)

    @property
    def arguments(self) -> int:
        """How many of (data, rng, nature) the function takes."""
        return arity(self.function, 3)

    def check(self, world: World) -> None:
        """Refuse a function that is random unannounced, and a ``Nature`` that is not there."""
        rng = np.random.default_rng(0)
        draw = world.draw(1, rng)
        if self.arguments == 3 and draw.nature is None:
            raise no_world("function of nature", world, "worlds with a meta-prior")
        if self.arguments == 1 and not self._same(
            self.function(draw.data[0]), self.function(draw.data[0])
        ):
            raise InputError(
                "side information must be a function of the data set, not random; one with coins "
                "takes the generator as its second argument"
            )

    def reveal(self, world: World, draw: Draw, rng: np.random.Generator) -> list[Any]:
        """Return the attacker about each trial."""
        return self._ask(draw.data, self._natures(world, draw, rng), rng)

    def fresh(self, world: Any, draw: Draw, known: Batch, rng: np.random.Generator) -> Batch:
        """Draw fresh data sets until each leads to what was told.

        Raises
        ------
        InputError
            None of ``tries`` did, for some trial.
        """
        result: list[Any] = [None] * draw.trials
        natures = self._natures(world, draw, rng)
        for start in range(0, draw.trials, _TOGETHER):
            left = np.arange(start, min(draw.trials, start + _TOGETHER))
            part = draw.take(left)
            again = getattr(world, "fresh_again", world.fresh)
            for _ in range(self.tries):
                fresh = again(part, rng)
                said = self._ask(fresh, None if natures is None else gather(natures, left), rng)
                fits = [
                    self._same(one, known[trial]) for one, trial in zip(said, left, strict=True)
                ]
                for place in np.flatnonzero(fits):
                    result[left[place]] = fresh[place]
                still = np.flatnonzero(~np.asarray(fits))
                left = left[still]
                if not left.size:
                    break
                if len(still) < len(fits):
                    part = part.take(still)
            if left.size:
                raise InputError(
                    f"side information contradicts every fresh data set that was tried: none of "
                    f"{self.tries} led to {known[left[0]]!r}. Tell less, raise `tries`, or write "
                    "a side information with its own `fresh`"
                )
        return np.asarray(result) if isinstance(draw.data, np.ndarray) else result

    def label(self, enumeration: Enumeration) -> list[Any]:
        """Return what is told of each data set of a world that is written out."""
        if self.arguments > 1:
            raise InputError(
                "side information with coins, or that looks at `Nature`, cannot be written out "
                "for an exact answer; play the study instead"
            )
        return [self.function(data) for data in enumeration.data]

    def _natures(self, world: World, draw: Draw, rng: np.random.Generator) -> Any:
        return nature_of(world, draw, rng) if self.arguments == 3 else None

    def _ask(self, data: Batch, natures: Any, rng: np.random.Generator) -> list[Any]:
        if self.arguments == 1:
            return [self.function(one) for one in data]
        if self.arguments == 2:
            return [self.function(one, rng) for one in data]
        return [self.function(one, rng, nature) for one, nature in zip(data, natures, strict=True)]

    @staticmethod
    def _same(left: Any, right: Any) -> bool:
        return key_of(left) == key_of(right)
