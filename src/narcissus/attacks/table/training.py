"""What an attack may learn from before it is played: releases that were simulated.

The attacker knows the mechanism and how likely people are, so they may play the release against
people whom they made up, and learn how it gives secrets away. Nothing that is scored is ever
learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table.base import Guesser, OwnTableAttack, TableAttack
from narcissus.errors import InputError, NarcissusError, raised_where
from narcissus.knowledge.columns import Targets


@dataclass(frozen=True, eq=False)
class Simulated:
    """One release about people who were drawn from the prior.

    Attributes
    ----------
    targets
        The people as the attacker would know them. Where joint values are too many for a list, an
        own attack gets `FactoredTargets`.
    release
        What was released about them.
    secrets
        Everybody's joint value of the unknown columns, shape (n,); without such a list the
        columns' values, shape (n, columns).
    """

    targets: Targets
    release: Any
    secrets: NDArray[np.int64]


@runtime_checkable
class Trainable(Protocol):
    """An attack that learns from simulated releases before it is played."""

    @property
    def learns_from(self) -> tuple[type, ...]:
        """The kinds of release that it learns something from."""
        ...

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> TableAttack:
        """Return the attack to play; what it is depends on the arguments alone."""
        ...


class Learner(Guesser, Protocol):
    """A user's own attack that learns before it guesses."""

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> Guesser:
        """Return the attack to play."""
        ...


@dataclass(frozen=True)
class OwnLearner(OwnTableAttack):
    """A user's class that learns, from whatever is released; its errors name it."""

    own: Learner
    learns_from = (object,)

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> OwnTableAttack:
        """Let the class learn; its guesses are checked as before.

        Raises
        ------
        InputError
            It raised, or what it gave cannot guess.
        """
        try:
            learned = self.own.train(simulated, rng)
        except NarcissusError:
            raise
        except Exception as error:
            raise InputError(
                f"attack `{self.name}` did not learn: {raised_where(error)}"
            ) from error
        if not hasattr(learned, "guess"):
            raise InputError(
                f"attack `{self.name}`: `train` must give what is to `guess`, such as "
                f"`dataclasses.replace(self, ...)`; got {type(learned).__name__}"
            )
        return OwnTableAttack(self.name, learned)
