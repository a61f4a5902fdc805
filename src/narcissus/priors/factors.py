"""A prior of many unknown columns as factors, so that their joint values are never listed.

Given a person's known columns, ``P(x) = exp(sum_f T_f(x on the scope of f)) / Z``: each factor
depends on a few of the unknown columns. `narcissus.priors.elimination` computes with factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Factors:
    """Unnormalised logarithms of the unknown columns' probabilities, for several people.

    Each table has shape (rows, size of each column of its scope ...), minus infinity where a value
    is impossible. People with the same row share it.
    """

    shape: tuple[int, ...]  # sizes of the unknown columns
    # columns of each factor, as ascending positions in ``shape``; all different, none empty
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]  # logarithms of each factor
    rows: NDArray[np.intp]  # the row of each person, shape (n,)

    @property
    def people(self) -> int:
        return len(self.rows)

    def of_rows(self, rows: NDArray[np.intp]) -> Factors:
        """Return the factors of one person for each of some rows; shared rows stay shared."""
        count = len(rows)
        tables = tuple(
            np.broadcast_to(t[0], (count, *t.shape[1:])) if t.strides[0] == 0 else t[rows]
            for t in self.tables
        )
        return Factors(self.shape, self.scopes, tables, np.arange(count))

    def log_weights(self, split: NDArray[np.integer]) -> Floats:
        """Compute everybody's unnormalised logarithm of one joint value each, shape (n,)."""
        total = np.zeros(self.people)
        for scope, table in zip(self.scopes, self.tables, strict=True):
            total += table[(self.rows, *(split[:, c] for c in scope))]
        return total


@runtime_checkable
class Factored(Protocol):
    """A record prior that can describe many unknown columns without their joint distribution."""

    def factors(self, codes: ArrayLike, unknown: Sequence[int]) -> Factors:
        """Compute the factors of the unknown columns, all different, given the others."""
        ...
