"""The interface of a relation between a data set and an attempt, scored in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.worlds.base import Array, Batch


class Relation(Protocol):
    """A relation that decides for each trial whether its attempt reconstructs its data set.

    A relation may also offer

    * ``guesses(data)``: all attempts worth making, given all data sets of a small world;
    * ``probability(data, attempt)``: for a relation with coins of its own, its chance to hold;

    and be one of `HasBaseline`, `ManyTargets` and `Targeted`.
    """

    def holds(self, data: Batch, attempt: Batch, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch, shape (trials,)."""
        ...


@runtime_checkable
class HasBaseline(Protocol):
    """A relation with the exact chance of an attempt against a fresh data set."""

    def baseline(self, world: Any, attempt: Any) -> NDArray[np.float64] | None:
        """Compute each attempt's chance with nothing told, shape (trials,); None: no formula."""
        ...


@runtime_checkable
class ManyTargets(Protocol):
    """A relation that scores an attempt about every record of a data set separately."""

    def holds(
        self, data: Batch, attempt: Batch, rng: np.random.Generator
    ) -> NDArray[np.bool_ | np.float64]:
        """Score a batch, shape (trials, targets): true or false, or each attempt's worth."""
        ...

    def chance(self, known: Batch, attempt: Batch) -> NDArray[np.float64]:
        """Compute the exact chance of each against a fresh data set, given what was told."""
        ...


@runtime_checkable
class Targeted(Protocol):
    """A relation about a single row, where ``targeted`` is true."""

    targeted: bool

    def matches(self, data: Array, attempt: Array) -> NDArray[np.bool_]:
        """Check which rows an attempt recovers, shape (trials, rows)."""
        ...


@runtime_checkable
class Weighted(Protocol):
    """Attempts that are predicates of known weight."""

    def weight(self, world: Any) -> NDArray[np.float64] | None:
        """Compute the chance of each for a record of the world; None where the world has no law."""
        ...


@dataclass(frozen=True)
class Attempts:
    """Attempts of a batch, some perhaps not made; those count as failures everywhere."""

    values: Batch  # the attempts; entries of attempts not made are ignored
    made: NDArray[np.bool_]  # which were made, shape (trials,)


def take(batch: Any, index: Array) -> Any:
    """Take entries of a batch: an array, a list, or an object with a method ``take``."""
    if isinstance(batch, np.ndarray):
        return batch[index]
    if isinstance(batch, list):
        return [batch[i] for i in index]
    return batch.take(index)


def table(relation: Any, data: Batch, guesses: Batch, index: Array) -> NDArray[np.float64]:
    """Compute the chance that guesses at ``index`` hold for each data set, (guesses, D)."""
    rng = np.random.default_rng(0)
    count = len(data)
    chance = getattr(relation, "probability", None)
    rows = np.empty((len(index), count))
    for place, number in enumerate(index):
        attempt = take(guesses, np.full(count, number))
        rows[place] = (
            relation.holds(data, attempt, rng) if chance is None else chance(data, attempt)
        )
    return rows


def distinct_rows(data: Array) -> Array:
    """Return the distinct records of all data sets, of shape (k,) or (k, d)."""
    return np.unique(data.reshape(-1, *data.shape[2:]), axis=0)


def needs_rows(name: str, data: Any) -> Array:
    """Return ``data`` as an array of data sets with rows of attributes, or refuse."""
    if not isinstance(data, np.ndarray) or data.ndim != 3:
        raise InputError(
            f"the relation `{name}` needs rows of attributes, got data of shape "
            f"{np.shape(data)[1:]}"
        )
    return data
