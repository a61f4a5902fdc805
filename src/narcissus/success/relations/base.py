"""When an attempt counts: a relation between a data set and an attempt, scored in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.worlds.base import Array, Batch


class Relation(Protocol):
    """Says of each trial whether its attempt is a reconstruction of its data set.

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
    """A relation that knows the exact chance of an attempt against a fresh data set."""

    def baseline(self, world: Any, attempt: Any) -> NDArray[np.float64] | None:
        """Give each attempt's chance where nothing is told, shape (trials,); None: no formula."""
        ...


@runtime_checkable
class ManyTargets(Protocol):
    """A relation that scores an attempt about every record of a data set, each by itself."""

    def holds(
        self, data: Batch, attempt: Batch, rng: np.random.Generator
    ) -> NDArray[np.bool_ | np.float64]:
        """Score a batch, shape (trials, targets): true or false, or how much each is worth."""
        ...

    def chance(self, known: Batch, attempt: Batch) -> NDArray[np.float64]:
        """Give the exact chance of each against a fresh data set, given what was told."""
        ...


@runtime_checkable
class Targeted(Protocol):
    """A relation about a single row, where ``targeted`` is true."""

    targeted: bool

    def matches(self, data: Array, attempt: Array) -> NDArray[np.bool_]:
        """Tell which rows an attempt recovers, shape (trials, rows)."""
        ...


@runtime_checkable
class Weighted(Protocol):
    """Attempts that are predicates and know their weight."""

    def weight(self, world: Any) -> NDArray[np.float64] | None:
        """Give the chance of each for a record of the world; None where the world has no law."""
        ...


@dataclass(frozen=True)
class Attempts:
    """Attempts of a batch of which some were not made; those count as failures everywhere.

    Attributes
    ----------
    values
        The attempts; what stands in place of one not made is never looked at.
    made
        Which ones were made, shape (trials,).
    """

    values: Batch
    made: NDArray[np.bool_]


def take(batch: Any, index: Array) -> Any:
    """Take entries of a batch: an array, a list, or an object with a method ``take``."""
    if isinstance(batch, np.ndarray):
        return batch[index]
    if isinstance(batch, list):
        return [batch[i] for i in index]
    return batch.take(index)


def table(relation: Any, data: Batch, guesses: Batch, index: Array) -> NDArray[np.float64]:
    """Give the chance that each of some guesses holds for each data set, shape (guesses, D).

    Parameters
    ----------
    relation
        The relation.
    data
        All data sets of a world, a batch of D.
    guesses
        All guesses, a batch.
    index
        Which of them.
    """
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
    """Give the distinct records of all data sets: of shape (k,) or (k, d)."""
    return np.unique(data.reshape(-1, *data.shape[2:]), axis=0)


def needs_rows(name: str, data: Any) -> Array:
    """Give ``data`` as an array of data sets with rows of attributes, or refuse."""
    if not isinstance(data, np.ndarray) or data.ndim != 3:
        raise InputError(
            f"the relation `{name}` needs rows of attributes, got data of shape "
            f"{np.shape(data)[1:]}"
        )
    return data
