"""A prior of many unknown columns as factors, so that their joint values are never listed.

Given a person's known columns, ``P(x) = exp(sum_f T_f(x on the scope of f)) / Z``: each factor
looks at a few of the unknown columns. What can be computed of that without listing the joint values
is in `narcissus.priors.elimination`.
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

    Attributes
    ----------
    shape
        Sizes of the unknown columns.
    scopes
        For each factor the columns that it looks at, as ascending positions in ``shape``; all
        different, none empty.
    tables
        For each factor its logarithms, shape (rows, size of each column of the scope ...); minus
        infinity where a value is impossible. People with the same row share them.
    rows
        The row of each person, shape (n,).
    """

    shape: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]
    rows: NDArray[np.intp]

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.rows)

    def of_rows(self, rows: NDArray[np.intp]) -> Factors:
        """Give the factors of one person for each of some rows.

        What all rows share stays shared.
        """
        count = len(rows)
        tables = tuple(
            np.broadcast_to(t[0], (count, *t.shape[1:])) if t.strides[0] == 0 else t[rows]
            for t in self.tables
        )
        return Factors(self.shape, self.scopes, tables, np.arange(count))

    def log_weights(self, split: NDArray[np.integer]) -> Floats:
        """Give everybody's unnormalised logarithm of one joint value each, shape (n,).

        Parameters
        ----------
        split
            Value numbers of the unknown columns, shape (n, columns).
        """
        total = np.zeros(self.people)
        for scope, table in zip(self.scopes, self.tables, strict=True):
            total += table[(self.rows, *(split[:, c] for c in scope))]
        return total


@runtime_checkable
class Factored(Protocol):
    """A record prior that can say what it knows of many unknown columns without a joint."""

    def factors(self, codes: ArrayLike, unknown: Sequence[int]) -> Factors:
        """Give the factors of the unknown columns given the others.

        Parameters
        ----------
        codes
            Shape (n, d); what stands in the unknown columns is ignored.
        unknown
            Positions of the unknown columns, all different; their order is that of
            `Factors.shape`.

        Raises
        ------
        InputError
            Codes or columns are wrong.
        """
        ...
