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


@dataclass(frozen=True)
class TryInputs:
    """Compute the function at random inputs until one has the released image.

    Parameters
    ----------
    budget
        Inputs to try. They are tried once for a whole batch, which an attacker may do as well:
        a table of images serves any number of releases.
    """

    budget: int = 4096
    world: Annotated[Any, FilledIn()] = None
    function: Annotated[Any, FilledIn()] = None

    def __post_init__(self) -> None:
        integer("budget", self.budget, low=1)

    def prepare(self, game: Any) -> TryInputs:
        """Take world and function from the game."""
        return TryInputs(self.budget, game.world, game.mechanism)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Attempts:
        """Give inputs, shape (trials, n); none where nothing was found."""
        if self.world is None:
            raise InputError("call `prepare` first: the attack needs the world and the function")
        inputs = self.world.draw(self.budget, rng).data
        images = self.function.release(inputs, rng)
        table = {image.tobytes(): place for place, image in enumerate(images)}
        found = np.asarray([table.get(image.tobytes(), -1) for image in np.asarray(release)])
        return Attempts(inputs[np.maximum(found, 0)], found >= 0)


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
        """Give inputs, shape of the releases."""
        return self.function.invert(release)
