"""The best attacker of a secret that went through a channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._options import FilledIn
from narcissus.errors import InputError
from narcissus.mechanisms.through_channel import ThroughChannel
from narcissus.worlds.base import Array, Batch
from narcissus.worlds.finite import Secret


@dataclass(frozen=True, eq=False)
class BayesGuess:
    """Name the likeliest secret given the output.

    Attributes
    ----------
    guesses
        The secret named for each output, shape (outputs,); `prepare` finds them.

    Source: Chatzikokolakis et al. 2023, section II.
    """

    guesses: Annotated[NDArray[np.intp] | None, FilledIn()] = None

    def prepare(self, game: Any) -> BayesGuess:
        """Find the likeliest secret for every output.

        Raises
        ------
        InputError
            The game is not one of a secret that goes through a channel.
        """
        if not (isinstance(game.world, Secret) and isinstance(game.mechanism, ThroughChannel)):
            raise InputError(
                "the Bayes guess needs the world `Secret` and the mechanism `ThroughChannel`"
            )
        joint = game.mechanism.matrix.scaled(game.world.chances)
        return BayesGuess(np.asarray(joint.argmax(axis=0)).ravel())

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Look the guesses up, shape (trials,)."""
        if self.guesses is None:
            raise InputError("call `prepare` first: the attack needs the prior and the channel")
        return self.guesses[release]
