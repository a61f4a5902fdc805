"""The attackers who do not look: one attempt, always the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from narcissus.worlds.base import Array, Batch


@dataclass(frozen=True)
class FixedGuess:
    """Always the same attempt, such as the Mona Lisa.

    Parameters
    ----------
    guess
        The attempt: a number, a row, or an array that the relation understands.
    """

    guess: float | Sequence[Any]

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Array:
        """Repeat the attempt."""
        guess = np.asarray(self.guess)
        return np.broadcast_to(guess, (len(release), *guess.shape)).copy()


@dataclass(frozen=True)
class ReleasedRow:
    """Name a row that was released: the first one, or the release itself.

    Parameters
    ----------
    row
        Which row of the release, from 0; "all" for the whole release, as a list of guesses.
    """

    row: int | Literal["all"] = 0

    def attempt(self, release: Batch, known: Batch, rng: np.random.Generator) -> Array:
        """Copy it from the release."""
        table = np.asarray(release)
        return table if self.row == "all" else table[:, self.row]


@dataclass(frozen=True)
class RareRow:
    """Name the first released row that is not all zeros: somebody, not the Mona Lisa."""

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Look for such a row; where there is none, name the row of zeros."""
        somebody = release.any(axis=2)
        return release[np.arange(len(release)), somebody.argmax(axis=1)]


@dataclass(frozen=True)
class ReleasedPlaces:
    """Pin the first ``k`` places as a release of all entries shows them.

    Parameters
    ----------
    k
        Places to name.
    """

    k: int = 1

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Name places ``0 .. k - 1`` with the released entries."""
        places = np.broadcast_to(np.arange(self.k), (len(release), self.k))
        return np.stack([places, release[:, : self.k]], axis=1)
