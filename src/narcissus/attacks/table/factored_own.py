"""A user's own attack where no joint values are listed: it guesses column by column.

The view is as ever, but its targets are `FactoredTargets`: they have no list ``prior``, but each
column's exact chances (``marginals``), the prior as ``factors``, and the exact chance of a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table.base import OwnTableAttack, TableAttack
from narcissus.attacks.table.training import OwnLearner, Simulated
from narcissus.errors import InputError
from narcissus.knowledge.columns import FactoredTargets
from narcissus.mechanisms.marginals import Counts
from narcissus.mechanisms.noise import Noise
from narcissus.success.table import Codes, CodesRight


@dataclass(frozen=True)
class FactoredView:
    """Everything an attack may use where many columns are unknown; as `View`.

    Attributes
    ----------
    targets
        The people as known beforehand, their prior as factors.
    noise
        The noise on every cell, where there is such.
    release
        The released cells, or the release itself.
    """

    targets: FactoredTargets
    noise: Noise | None
    release: Any


@dataclass(frozen=True)
class FactoredOwn:
    """A user's class, whose errors name it and whose guesses of columns are checked.

    Parameters
    ----------
    attack
        The class under its name.
    """

    attack: OwnTableAttack
    informed = False
    reads = (object,)

    @property
    def title(self) -> str:
        """What the class says."""
        return self.attack.title

    @property
    def uses(self) -> str:
        """What the class says."""
        return self.attack.uses

    def attempt(
        self, release: Sequence[Any], known: Sequence[FactoredTargets], rng: np.random.Generator
    ) -> Codes:
        """Let the class guess about each release, shape (trials, n, columns).
        Raises InputError: it raised, or what it gave are no guesses.
        """
        pairs = zip(release, known, strict=True)
        return np.stack([self._one(one, told, rng) for one, told in pairs])

    def _one(self, release: Any, told: FactoredTargets, rng: np.random.Generator) -> Codes:
        seen = FactoredView(told, None, release)
        if isinstance(release, Counts):
            seen = FactoredView(told, release.noise, release.cells)
        shape = told.queries.unknown_shape
        try:
            attempt = self.attack.asked(seen, rng)
        except InputError as error:
            if not isinstance(error.__cause__, AttributeError):
                raise
            raise InputError(
                f"{error} (the {len(shape)} unknown columns have too many joint values for a "
                "list: `view.targets` is a `FactoredTargets`, see docs/extending.md)"
            ) from error
        if not _are_guesses(attempt, told.people, told.success):
            limits = " x ".join(map(str, told.success.guess_shape))
            raise InputError(
                f"attack `{self.attack.name}` must give a guess of each of the {len(shape)} "
                f"unknown columns of {told.people} people, integers from 0 to below {limits}; got "
                f"shape {attempt.shape}, type {attempt.dtype} (their joint values are too many "
                "for a list, see docs/extending.md)"
            )
        return attempt.astype(np.int32)


@dataclass(frozen=True)
class FactoredOwnLearner(FactoredOwn):
    """A user's class that learns first, from releases with everybody's columns."""

    attack: OwnLearner
    learns_from = (object,)

    def train(self, simulated: Sequence[Simulated], rng: np.random.Generator) -> FactoredOwn:
        """Let the class learn; its guesses are checked as before."""
        return FactoredOwn(self.attack.train(simulated, rng))


def factored_own(attack: OwnTableAttack) -> TableAttack:
    """Let a user's attack guess column by column."""
    return FactoredOwnLearner(attack) if isinstance(attack, OwnLearner) else FactoredOwn(attack)


def _are_guesses(attempt: NDArray[Any], people: int, success: CodesRight) -> bool:
    """Return whether these are guesses of every column of everybody."""
    return (
        attempt.shape == (people, len(success.shape))
        and np.issubdtype(attempt.dtype, np.integer)
        and bool((attempt >= 0).all())
        and bool((attempt < np.array(success.guess_shape)).all())
    )
