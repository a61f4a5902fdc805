"""What an attack offers: attempts from releases. And how a user's own function becomes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import arity
from narcissus.attacks.conversation import Conversation, Transcript
from narcissus.knowledge.base import MoreKnowledge
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Batch


@runtime_checkable
class Attack(Protocol):
    """Turns releases (and what the attacker was told) into attempts.

    It may also be `Preparable`, and `ToldMore`. Attempts may be wrapped in
    `narcissus.success.relations.Attempts` where some were not made.
    """

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Any:
        """Make one attempt for each trial of a batch."""
        ...


@runtime_checkable
class Asks(Protocol):
    """An attack on mechanisms that are talked with."""

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> Any:
        """Ask as much as it likes about one data set; give an attempt of any type, or None."""
        ...


@runtime_checkable
class Preparable(Protocol):
    """An attack that needs to know the world or the mechanism before it is played."""

    def prepare(self, game: Any) -> Attack: ...


@runtime_checkable
class ToldMore(Protocol):
    """An attack that is told more than the game tells: a limit on those that are not."""

    @property
    def knows(self) -> MoreKnowledge: ...


@dataclass(frozen=True)
class Failure:
    """An attack that raised: where, with which seed, and what it said.

    Attributes
    ----------
    trial
        Number of the trial in the run, from 0.
    seed
        Seed of the generator that the attack was given.
    error
        Type and text of the exception.
    """

    trial: int
    seed: int
    error: str


@dataclass(frozen=True)
class Answers(Attempts):
    """Attempts, with the trials at which none was made because something raised.

    Of conversations, also what was said in the first of them.
    """

    failures: list[Failure]
    transcripts: list[Transcript] = field(default_factory=list[Transcript], kw_only=True)


def one_by_one(
    seeds: NDArray[np.int64],
    call: Callable[[int, np.random.Generator], Any],
    passing: tuple[type[Exception], ...] = (),
) -> Answers:
    """Call something for each trial, with a generator of its own; None is no attempt.

    An error loses its trial, but for those of the kinds in ``passing``.
    """
    values: list[Any] = [None] * len(seeds)
    failures: list[Failure] = []
    for trial, seed in enumerate(seeds):
        try:
            values[trial] = call(trial, np.random.default_rng(int(seed)))
        except passing:
            raise
        except Exception as error:
            failures.append(Failure(trial, int(seed), f"{type(error).__name__}: {error}"))
    return Answers(values, np.asarray([value is not None for value in values]), failures)


@dataclass(frozen=True)
class OwnAttack:
    """An attack given by a Python function, called once a trial.

    Parameters
    ----------
    function
        ``function(release)``, ``function(release, known)`` or ``function(release, known, rng)``;
        gives an attempt, or None for no attempt. Where the mechanism is talked with, it gets the
        `Conversation` in place of a release. If it raises, the trial counts as a failure of
        the attack, is reported with its seed, and the run goes on.
    """

    function: Callable[..., Any]

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Answers:
        """Call the function for each trial."""
        count = arity(self.function, 3)

        def call(trial: int, own: np.random.Generator) -> Any:
            told = None if known is None else known[trial]
            return self.function(*(release[trial], told, own)[:count])

        return one_by_one(rng.integers(0, 2**63, len(release), dtype=np.int64), call)

    def converse(self, conversation: Conversation, known: Any, rng: np.random.Generator) -> Any:
        """Call the function with a conversation."""
        return self.function(*(conversation, known, rng)[: arity(self.function, 3)])
