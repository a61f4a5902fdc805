"""What was released of a table, and how it may be read.

`narcissus.mechanisms.Counts` are cells with independent noise. `ProtectedCounts` are cells that
were rounded or withheld. `Microdata` are rows; they can be counted. Anything else is an object
that only the user's own attacks can read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus.mechanisms.queries import Codes, Floats, TableQueries


class CellRule(Protocol):
    """How a published cell depends on its true count; everybody knows the rule."""

    @property
    def title(self) -> str:
        """What was done to each cell, such as 'rounded to multiples of 5'."""
        ...

    def log_likelihood(self, cells: Floats, counts: Floats) -> Floats:
        """Return the log chance of published values given true counts.

        Parameters
        ----------
        cells
            Published values; NaN is a cell that is withheld.
        counts
            True counts, whole numbers as floats, at least 0; broadcast with ``cells``.

        Returns
        -------
        Floats
            At most 0; minus infinity where the count cannot have led to the value.
        """
        ...


@dataclass(frozen=True, eq=False)
class ProtectedCounts:
    """A release of counts, each cell changed by itself by a known rule, without added noise.

    Attributes
    ----------
    queries
        Which tables these are.
    rule
        How each cell depends on its count.
    cells
        The published values, shape (cells,); NaN where withheld; not to be written to.
    cellwise
        Whether the rule is the exact chance of each cell, independent of the others; otherwise it
        only says which counts a cell may have.
    """

    queries: TableQueries
    rule: CellRule
    cells: Floats
    cellwise: bool = True


@dataclass(frozen=True, eq=False)
class Microdata:
    """A release of rows, in the columns of the table.

    Attributes
    ----------
    rows
        Value numbers of every column, shape (m, d); not to be written to.
    """

    rows: Codes

    def counts(self, queries: TableQueries, people: int) -> NDArray[np.float64]:
        """Return the cells of tables of so many people, counted from the rows, shape (cells,)."""
        return queries.counts(self.rows) * (people / max(1, len(self.rows)))
