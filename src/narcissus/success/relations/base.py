"""The interface of a relation between a data set and an attempt, and a user's own relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.worlds.base import Array, Batch, gather


class Relation(Protocol):
    """A relation that decides for each trial whether its attempt reconstructs its data set.

    It may also have ``guesses(data)``, all attempts worth making in a small world. With separate
    coins it may have ``probability(data, attempt)`` to hold; and be one of `HasBaseline`,
    `ManyTargets` and `Targeted`.
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
    return gather(batch, index) if isinstance(batch, np.ndarray | list) else batch.take(index)


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


def matched(relation: Targeted, data: Any, guesses: Any, number: Any) -> NDArray[np.bool_]:
    """Check which rows of each data set a guess recovers, shape (D, n)."""
    return relation.matches(data, take(guesses, np.full(len(data), number)))


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


@dataclass(frozen=True)
class Own:
    """A relation given by a Python function ``function(data, attempt) -> bool``.

    function: Takes one data set and one attempt.
    attempts: All attempts worth making, for an exact profile; empty if the game is only played.
    """

    function: Callable[[Any, Any], Any]
    attempts: Sequence[Any] = ()

    def holds(self, data: Batch, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch, one trial after the other; errors of the function name it."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        scores = np.zeros(len(data), dtype=bool)
        for trial, (dataset, guess) in enumerate(zip(data, attempt, strict=True)):
            if guess is None:
                continue
            try:
                answer = self.function(dataset, guess)
            except Exception as error:
                raise InputError(
                    f"the relation `{name}` raised {type(error).__name__}: {error} "
                    f"(attempt {guess!r})"
                ) from error
            if isinstance(answer, np.ndarray) and answer.ndim == 0:
                answer = answer[()]
            if not isinstance(answer, bool | np.bool_) and not (
                isinstance(answer, int | np.integer) and answer in (0, 1)
            ):
                raise InputError(
                    f"the relation `{name}` must return true or false, got {answer!r} "
                    f"(attempt {guess!r})"
                )
            scores[trial] = bool(answer)
        return scores

    def guesses(self, data: Batch) -> list[Any]:
        if not len(self.attempts):
            raise InputError(
                "an exact answer for a custom relation needs the list of all attempts worth "
                "making: `Own(function, attempts=[...])`"
            )
        return list(self.attempts)
