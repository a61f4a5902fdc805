"""Attackers who know rows: subtract them from an average, or match them with parities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.knowledge import Hidden, Rates, Told
from narcissus.success.relations.base import Attempts
from narcissus.worlds.base import Array, Batch
from narcissus.worlds.finite import Finite


def _told(game: Any, attack: str) -> None:
    if game.side is None:
        raise InputError(f"the attack `{attack}` needs side information: the rows that it knows")


@dataclass(frozen=True)
class Subtraction:
    """Subtract the known rows from the average: what is left is the last row.

    Kaplan et al. 2025, Observation 4.2; the attacker knows all rows but one.
    """

    def prepare(self, game: Any) -> Subtraction:
        """Refuse games in which not all rows but one are known."""
        _told(game, "subtraction")
        rows, n = getattr(game.side, "rows", None), getattr(game.world, "n", None)
        shipped = type(game.side).__module__.startswith("narcissus.")
        if shipped and not isinstance(game.side, Told) and (rows is None or rows + 1 != n):
            raise InputError(
                "the attack `subtraction` needs all rows but one: the side information `rows` "
                + (f"with `rows` = {n - 1}" if n else "of a world with `n` rows")
            )
        return self

    def attempt(self, release: Array, known: Array, rng: np.random.Generator) -> Array:
        """Return the last rows, shape (trials, d)."""
        n = known.shape[1] + 1
        row = release * n - known.sum(axis=1, dtype=np.int64)
        return np.clip(np.rint(row), 0, 1).astype(np.uint8)


def fits(rows: Array, parities: Array) -> NDArray[np.bool_]:
    """Word which rows (trials, m, d) have the parities of some released row (trials, n, d / 2)."""
    own = rows[..., 0::2] ^ rows[..., 1::2]
    result = np.zeros(rows.shape[:2], dtype=bool)
    for place in range(parities.shape[1]):
        result |= (own == parities[:, place, None]).all(axis=2)
    return result


@dataclass(frozen=True)
class ParityPredicates:
    """Predicates "this row has the parities of a released row", one a trial."""

    parities: Array
    exact = False

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Match rows of shape (trials, m, d)."""
        return fits(rows, self.parities)

    def __len__(self) -> int:
        return len(self.parities)

    def take(self, index: Array) -> ParityPredicates:
        return ParityPredicates(self.parities[index])


@dataclass(frozen=True)
class ParityMembership:
    """Return "in" of a row whose parities were released (Kaplan et al. 2025, Example 1.3)."""

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> ParityPredicates:
        """Return predicates on rows."""
        return ParityPredicates(release)


@dataclass(frozen=True)
class ParityGuess:
    """Name a row that has the parities of the first released row, its other bits at random."""

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Return rows, shape (trials, d)."""
        first = release[:, 0]
        row = np.empty((len(first), 2 * first.shape[1]), dtype=first.dtype)
        row[:, 0::2] = rng.integers(0, 2, first.shape, dtype=np.uint8)
        row[:, 1::2] = row[:, 0::2] ^ first
        return row


@dataclass(frozen=True)
class SupersetMatching:
    """Of a list of rows that is known, name one whose parities were released, or all of them.

    Kaplan et al. 2025, Examples 1.4 and 1.5.

    Parameters
    ----------
    every
        Name all that fit, as a list of guesses, rather than the first.
    """

    every: bool = False

    def prepare(self, game: Any) -> SupersetMatching:
        """Refuse games in which no list of rows is told."""
        _told(game, "superset-matching")
        number = isinstance(game.side, Hidden) and isinstance(game.world, Finite)
        if number or isinstance(game.side, Rates):
            raise InputError(
                "the attack `superset-matching` needs a list of rows: the side information "
                "`superset`, or `nature` of the worlds `superset` and `tardos`"
            )
        return self

    def attempt(self, release: Array, known: Array, rng: np.random.Generator) -> Any:
        """Return rows, shape (trials, d), or a list of rows for each trial."""
        match = fits(known, release)
        if self.every:
            return [rows[mask] for rows, mask in zip(known, match, strict=True)]
        row = known[np.arange(len(known)), match.argmax(axis=1)]
        return Attempts(row, np.asarray(match.any(axis=1)))
