"""Relations about recovered rows: one exactly, closely or uniquely, or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._options import OfRoom
from narcissus._validation import between, integer, non_negative
from narcissus.bounds.binomial import lower_tail
from narcissus.errors import InputError
from narcissus.success.relations.base import distinct_rows, needs_rows
from narcissus.worlds.base import Array, all_tuples
from narcissus.worlds.products import Bits, MonaLisa, Records, Uniform


@dataclass(frozen=True)
class Member:
    """Some record of the data set is the attempt, exactly."""

    targeted = True

    def matches(self, data: Array, attempt: Array) -> NDArray[np.bool_]:
        """Check which records are the attempt, shape (trials, n)."""
        equal = data == np.asarray(attempt)[:, None]
        return equal if equal.ndim == 2 else np.asarray(equal.all(axis=tuple(range(2, equal.ndim))))

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts are records, shape (trials,) or (trials, d)."""
        return np.asarray(self.matches(data, attempt).any(axis=1))

    def guesses(self, data: Array) -> Array:
        """Return all records of the data sets."""
        return distinct_rows(data)

    def baseline(self, world: Any, attempt: Array) -> NDArray[np.float64] | None:
        """Compute the exact chance for worlds of independent rows."""
        if isinstance(world, MonaLisa):
            trivial = (np.asarray(attempt) == 0).all(axis=1)
            chance = trivial * world.rate + (1 - world.rate) * 2.0**-world.d
        elif isinstance(world, Uniform):
            chance = np.full(len(attempt), float(world.levels) ** -world.d)
        elif isinstance(world, Records) and world.alike:
            hit = self.matches(
                np.broadcast_to(world.support, (len(attempt), *world.support.shape)), attempt
            )
            chance = (hit * world.table[0]).sum(axis=1)
        else:
            return None
        return -np.expm1(world.n * np.log1p(-np.minimum(chance, 1 - 1e-16)))

    def best(self, world: Any) -> float | None:
        """Compute the chance of the best fixed guess, where it has a formula."""
        if isinstance(world, MonaLisa | Uniform):  # the Mona Lisa; any row
            guess = np.zeros((1, world.d))
        elif isinstance(world, Records) and world.alike:
            guess = world.support[[int(world.table[0].argmax())]]
        else:
            return None
        chance = self.baseline(world, guess)
        return None if chance is None else float(chance[0])


@dataclass(frozen=True)
class Hamming:
    """Some row of bits differs from the attempt in at most ``gamma d`` places.

    Parameters
    ----------
    gamma
        Share of the places, in [0, 1].

    Notes
    -----
    Source: Kaplan et al. 2025, Definition 3.4. For data sets that are one string of bits, the
    string is the only row.
    """

    gamma: float
    targeted = True

    def __post_init__(self) -> None:
        between("gamma", self.gamma, 0, 1)

    def matches(self, data: Array, attempt: Array) -> NDArray[np.bool_]:
        """Check which rows are close, shape (trials, n)."""
        rows = data if data.ndim == 3 else data[:, None]
        distance = (rows != attempt[:, None]).sum(axis=2, dtype=np.int32)
        return distance <= self.gamma * rows.shape[2] + 1e-9

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts are rows of bits, shape (trials, d)."""
        return np.asarray(self.matches(data, attempt).any(axis=1))

    def guesses(self, data: Array) -> Array:
        """Return all rows of bits, whether or not a data set holds them."""
        width = data.shape[-1]
        if width > 16:
            raise InputError(
                f"rows of {width} bits make 2^{width} guesses, at most 2^16 are written out"
            )
        return all_tuples(2, width).astype(data.dtype)

    def baseline(self, world: Any, attempt: Array) -> NDArray[np.float64] | None:
        """Compute the exact chance for uniform rows of bits, and for fair bits."""
        if isinstance(world, Bits) and (world.rates == 0.5).all():  # the string is the only row
            rows, places = 1, world.n
        elif isinstance(world, Uniform) and world.levels == 2:
            rows, places = world.n, world.d
        else:
            return None
        chance = float(lower_tail(places, int(self.gamma * places + 1e-9), 0.0))
        return np.full(len(attempt), -np.expm1(rows * np.log1p(-min(chance, 1 - 1e-16))))


def _distances(data: Array, attempt: Array) -> NDArray[np.float64]:
    """Compute Euclidean distances from rows (trials, n, d) to attempts (trials, m, d)."""
    gap = data[:, :, None].astype(np.float64) - attempt[:, None].astype(np.float64)
    return np.sqrt((gap**2).sum(axis=3))


@dataclass(frozen=True)
class CloseAndUnique:
    """Some row within ``close`` of the attempt is farther than ``unique`` from all other rows.

    Parameters
    ----------
    close
        Largest Euclidean distance of the row to the attempt.
    unique
        The row's Euclidean distance to all other rows must be above this.

    Notes
    -----
    Source: Cohen et al. 2024, appendix D.3 (the criterion for diffusion models).
    """

    close: float
    unique: float

    def __post_init__(self) -> None:
        non_negative("close", self.close)
        non_negative("unique", self.unique)

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts are rows, shape (trials, d)."""
        rows = needs_rows("close-and-unique", data)
        near = _distances(rows, np.asarray(attempt)[:, None])[:, :, 0] <= self.close
        between_rows = _distances(rows, rows)
        places = np.arange(rows.shape[1])
        between_rows[:, places, places] = np.inf
        return (near & (between_rows.min(axis=2) > self.unique)).any(axis=1)


@dataclass(frozen=True)
class AtLeast:
    """At least ``count`` of the rows are within ``close`` of some guess of the list.

    Parameters
    ----------
    count
        Rows that must be found.
    close
        Largest Euclidean distance; 0 requires the rows themselves.

    Notes
    -----
    Source: Cohen et al. 2024, appendix D.3 (the criterion for classifiers).
    """

    count: int
    close: float = 0.0

    def __post_init__(self) -> None:
        integer("count", self.count, low=1)
        non_negative("close", self.close)

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts are lists of rows, shape (trials, m, d) or a list of arrays."""
        rows = needs_rows("at-least", data)
        found = np.zeros(len(rows), dtype=np.int64)
        for trial, guesses in enumerate(attempt):
            if not len(guesses):
                continue
            if self.close == 0:
                hit = (rows[trial][:, None] == np.asarray(guesses)[None]).all(axis=2)
            else:
                hit = _distances(rows[trial][None], np.asarray(guesses)[None])[0] <= self.close
            found[trial] = hit.any(axis=1).sum()
        return found >= self.count


@dataclass(frozen=True)
class AnyOf:
    """The attempt is a list of guesses, of which at least ``count`` satisfy another relation.

    Parameters
    ----------
    relation
        The relation for one guess.
    count
        Guesses of the list that must satisfy it.
    """

    relation: Annotated[Any, OfRoom("relation")]
    count: int = 1

    def __post_init__(self) -> None:
        integer("count", self.count, low=1)

    def holds(self, data: Any, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts have an axis of guesses after the one of trials."""
        lengths = [len(guesses) for guesses in attempt]
        found = np.zeros(len(lengths), dtype=np.int64)
        for place in range(max(lengths, default=0)):
            has = np.asarray([trial for trial, size in enumerate(lengths) if size > place])
            guess = [attempt[trial][place] for trial in has]
            some = data[has] if isinstance(data, np.ndarray) else [data[trial] for trial in has]
            batch = np.asarray(guess) if isinstance(data, np.ndarray) else guess
            found[has] += self.relation.holds(some, batch, rng)
        return found >= self.count
