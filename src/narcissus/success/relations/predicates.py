"""Relations whose attempts are predicates, for singling out and for membership inference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.success.relations.base import distinct_rows
from narcissus.worlds.base import Array, all_tuples, distinct


@dataclass(frozen=True)
class TablePredicate:
    """Predicates given by the list of records that satisfy them."""

    support: Array  # the records, shape (k,) or (k, d)
    holds: NDArray[np.bool_]  # whether each satisfies each predicate, shape (trials, k)
    exact = True

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        said = np.zeros(rows.shape[:2], dtype=bool)
        for place, value in enumerate(self.support):
            equal = rows == value
            equal = equal.all(axis=tuple(range(2, equal.ndim))) if equal.ndim > 2 else equal
            said |= equal & self.holds[:, place, None]
        return said

    def __len__(self) -> int:
        return len(self.holds)

    def take(self, index: Array) -> TablePredicate:
        return TablePredicate(self.support, self.holds[index])

    def weight(self, world: Any) -> NDArray[np.float64] | None:
        law = getattr(world, "law", None)
        if law is None:
            return None
        chance = np.zeros(len(self.support))
        for value, probability in zip(law.values, law.chances, strict=True):
            chance[np.all((self.support == value).reshape(len(chance), -1), axis=1)] += probability
        return self.holds @ chance


@dataclass(frozen=True)
class FunctionPredicates:
    """Predicates from a user's attacker, one Python function a trial."""

    functions: Sequence[Callable[[Any], Any] | None]
    exact = False

    def __call__(self, rows: Array) -> NDArray[np.float64]:
        """Call each function on each row; a predicate not made holds nowhere."""
        said = np.zeros(rows.shape[:2])
        for trial, function in enumerate(self.functions):
            if function is not None:
                said[trial] = [float(function(row)) for row in rows[trial]]
        return said

    def __len__(self) -> int:
        return len(self.functions)


def as_predicates(attempt: Any) -> Any:
    """Convert attempts to predicates: an object that can be called on rows, or a list of functions.

    Called on rows (trials, m, ...) it returns where each trial's predicate holds, shape (trials,
    m). It may offer ``weight(world)``: the chance that it holds for a record of the world, or an
    upper limit of it, shape (trials,); ``exact`` distinguishes the two.
    """
    if callable(attempt):
        return attempt
    if isinstance(attempt, list | tuple) and all(f is None or callable(f) for f in attempt):
        return FunctionPredicates(attempt)
    raise InputError(
        f"this relation needs attempts that are predicates on records, got {type(attempt).__name__}"
    )


def _subsets(data: Array) -> TablePredicate:
    support = distinct_rows(data)
    if len(support) > 12:
        raise InputError(
            f"{len(support)} records make 2^{len(support)} predicates, at most 2^12 are written out"
        )
    return TablePredicate(support, all_tuples(2, len(support)).astype(bool))


@dataclass(frozen=True)
class Isolates:
    """The predicate holds for exactly one row (Cohen et al. 2024, Definitions 2.4 and 2.5)."""

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        return as_predicates(attempt)(data).sum(axis=1) == 1

    def guesses(self, data: Array) -> TablePredicate:
        """Return all predicates on the records of the world."""
        return _subsets(data)

    def baseline(self, world: Any, attempt: Any) -> NDArray[np.float64] | None:
        """Compute ``n w (1 - w)^(n - 1)`` where the weight ``w`` is known exactly."""
        predicates = as_predicates(attempt)
        if not getattr(predicates, "exact", False):
            return None
        weight = predicates.weight(world)
        return None if weight is None else world.n * weight * (1 - weight) ** (world.n - 1)


@dataclass(frozen=True)
class RandomRow:
    """The predicate holds for a row of the data set that is drawn at random.

    ``R_MI`` of Cohen et al. 2024, Definition 2.2: resilience at epsilon 0 is resilience to
    membership inference (Theorem 2.3).
    """

    additive = True
    """The best predicate is put together row by row: the exact profile adds up over records."""

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch of predicates; probabilities are tossed for."""
        trials = np.arange(len(data))
        rows = data[trials, rng.integers(0, data.shape[1], len(data))]
        said = as_predicates(attempt)(rows[:, None])[:, 0]
        return said if said.dtype == np.bool_ else rng.random(len(data)) < said

    def probability(self, data: Array, attempt: Any) -> NDArray[np.float64]:
        """Compute the share of rows for which each predicate holds."""
        return as_predicates(attempt)(data).mean(axis=1)

    def guesses(self, data: Array) -> TablePredicate:
        """Return the predicates that hold for one record only."""
        support, _ = distinct(distinct_rows(data))
        return TablePredicate(support, np.eye(len(support), dtype=bool))

    def baseline(self, world: Any, attempt: Any) -> NDArray[np.float64] | None:
        """Return the weight where it is known exactly."""
        predicates = as_predicates(attempt)
        return predicates.weight(world) if getattr(predicates, "exact", False) else None
