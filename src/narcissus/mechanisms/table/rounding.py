"""Conventional rounding: every cell to the nearest multiple of a base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus._options import Level
from narcissus._validation import integer
from narcissus.mechanisms.queries import Floats, TableQueries
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.protected import PreparedCells, ProtectedTables


@dataclass(frozen=True)
class RoundedTo:
    """A cell is the multiple of the base nearest to its count; halves are rounded up."""

    base: int

    @property
    def title(self) -> str:
        return f"rounded to multiples of {self.base}"

    def rounded(self, counts: Floats) -> Floats:
        """Round counts, any shape."""
        return np.floor_divide(2 * counts + self.base, 2 * self.base) * self.base

    def log_likelihood(self, cells: Floats, counts: Floats) -> Floats:
        """Return 0 where a count is rounded to the published value, minus infinity elsewhere."""
        return np.where(self.rounded(counts) == cells, 0.0, -np.inf)


@dataclass(frozen=True)
class Rounding(ProtectedTables):
    """Tables whose cells are rounded to the nearest multiple of a base, halves upwards.

    Nothing is drawn at random, and nothing is guaranteed.

    Parameters
    ----------
    base
        What cells are multiples of, a whole number of at least 1; 1 leaves them as they are. A
        list is a sweep.
    """

    base: Level

    def __post_init__(self) -> None:
        """Refuse a base that is no whole number, and two ways to say which tables."""
        integer("base", self.base, low=1)
        super().__post_init__()

    @property
    def label(self) -> str:
        """The base."""
        return f"base {self.base:g}"

    @property
    def title(self) -> str:
        """That they are rounded, and how many columns each has."""
        return f"Rounded {self.tables}"

    @property
    def strength(self) -> float:
        """The base."""
        return float(self.base)

    def prepare(self, columns: Columns) -> PreparedCells:
        """Lay out the tables."""
        rule = RoundedTo(int(self.base))
        return PreparedCells(self.queries_of(columns), rule, self._change, fixed=True)

    def _change(self, queries: TableQueries, counts: Floats, rng: np.random.Generator) -> Floats:
        return RoundedTo(int(self.base)).rounded(counts)
