"""Attackers of one-way functions: try inputs, or undo the function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from narcissus._options import FilledIn
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Array, Batch

SEED = 2024
"""Of the inputs that are tried: independent of all trials, whatever their seed."""


@dataclass(frozen=True)
class TryInputs:
    """Compute the function at random inputs until one has the released image.

    Parameters
    ----------
    budget
        Inputs to try. They are drawn once, by a seed of their own, and serve for every release: a
        table of images is as good as new. So trials are independent, which they would not be if
        the inputs were drawn anew for some of them together.
    """

    budget: int = 4096
    function: Annotated[Any, FilledIn()] = None
    inputs: Annotated[Any, FilledIn()] = None

    def __post_init__(self) -> None:
        integer("budget", self.budget, low=1)

    def prepare(self, game: Any) -> TryInputs:
        """Take the function from the game, and inputs from its world."""
        inputs = game.world.draw(self.budget, np.random.default_rng(SEED)).data
        return TryInputs(self.budget, game.mechanism, inputs)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Attempts:
        """Return inputs, shape (trials, n); none where nothing was found."""
        if self.function is None:
            raise InputError("call `prepare` first: the attack needs the world and the function")
        images = self.function.release(self.inputs, np.random.default_rng(SEED))
        table = {image.tobytes(): place for place, image in enumerate(images)}
        found = np.asarray([table.get(image.tobytes(), -1) for image in np.asarray(release)])
        return Attempts(self.inputs[np.maximum(found, 0)], found >= 0)


@dataclass(frozen=True)
class Inversion:
    """Undo a function that can be undone: the mechanism's own ``invert``."""

    function: Annotated[Any, FilledIn()] = None

    def prepare(self, game: Any) -> Inversion:
        """Take the function from the game."""
        if not hasattr(game.mechanism, "invert"):
            raise InputError(
                f"{type(game.mechanism).__name__} has no inverse that is known; "
                "use the attack `try-inputs`"
            )
        return Inversion(game.mechanism)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Return inputs, shape of the releases."""
        return self.function.invert(release)
