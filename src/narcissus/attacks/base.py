"""What an attack offers: attempts from releases. And how a user's own function becomes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import arity
from narcissus.worlds.base import Batch


@runtime_checkable
class Attack(Protocol):
    """Turns releases (and what the attacker was told) into attempts.

    An attack that needs to know the world or the mechanism has a method ``prepare(game)`` that
    gives the attack to play. Attempts may be wrapped in `narcissus.success.relations.Attempts`
    where some were not made.
    """

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Any:
        """Make one attempt for each trial of a batch."""
        ...


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
class Answers:
    """Attempts of a user's function, with the trials where it gave none."""

    values: list[Any]
    made: NDArray[np.bool_]
    failures: list[Failure]


@dataclass(frozen=True)
class OwnAttack:
    """An attack given by a Python function, called once a trial.

    Parameters
    ----------
    function
        ``function(release)``, ``function(release, known)`` or ``function(release, known, rng)``;
        gives an attempt, or None for no attempt. If it raises, the trial counts as a failure of
        the attack, is reported with its seed, and the run goes on.
    """

    function: Callable[..., Any]

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Answers:
        """Call the function for each trial."""
        count = arity(self.function, 3)
        seeds = rng.integers(0, 2**63, len(release), dtype=np.int64)
        values: list[Any] = [None] * len(release)
        failures: list[Failure] = []
        for trial, seed in enumerate(seeds):
            told = None if known is None else known[trial]
            arguments = (release[trial], told, np.random.default_rng(int(seed)))[:count]
            try:
                values[trial] = self.function(*arguments)
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                failures.append(Failure(trial, int(seed), said))
        made = np.asarray([value is not None for value in values])
        return Answers(values, made, failures)
