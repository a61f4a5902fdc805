"""Threshold suppression: small cells are withheld, and others so that they stay unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._options import Level
from narcissus._validation import integer
from narcissus.mechanisms.queries import Floats, TableQueries
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.protected import PreparedCells, ProtectedTables


@dataclass(frozen=True)
class WithheldBelow:
    """Small counts are withheld, all others are published as they are."""

    threshold: int  # Counts from 1 to ``threshold - 1`` are withheld
    zeros: bool = True  # Whether empty cells are published
    # Whether cells with larger counts may be withheld as well: then a withheld cell may have
    # any count, and the rule says which counts are possible, not how likely they are
    others: bool = False

    @property
    def title(self) -> str:
        least = 1 if self.zeros else 0
        more = ", and others so that they cannot be computed" if self.others else ""
        return f"withheld where counts are {least} to {self.threshold - 1}{more}"

    def small(self, counts: Floats) -> NDArray[np.bool_]:
        """Return which counts are withheld, any shape."""
        small = counts < self.threshold
        return small & (counts > 0) if self.zeros else small

    def log_likelihood(self, cells: Floats, counts: Floats) -> Floats:
        """Return 0 where a count can have led to the published value, minus infinity elsewhere."""
        small = self.small(counts)
        possible = np.where(np.isnan(cells), small | self.others, ~small & (cells == counts))
        return np.where(possible, 0.0, -np.inf)


@dataclass(frozen=True)
class Suppression(ProtectedTables):
    """Tables in which cells with small counts are withheld.

    Secondary suppression withholds further cells, so that in every line of a table (all cells
    that differ in one column alone) none or at least two are withheld: a line's sum, which other
    tables may tell, then gives no cell away by one subtraction. While a line has a single
    withheld cell, its smallest published cell is withheld too, an empty one last; of equals the
    first. Lines of one cell are left as they are. It does not protect against several sums taken
    together, nor across tables of different width. Nothing is drawn at random, and nothing is
    guaranteed.

    Parameters
    ----------
    threshold
        The least count above 0 that is published, a whole number of at least 1; 1 withholds
        nothing unless zeros are. A list is a sweep.
    secondary
        Whether further cells are withheld, so that small ones cannot be computed.
    zeros
        Whether empty cells are published.
    """

    threshold: Level
    secondary: bool = False
    zeros: bool = True

    def __post_init__(self) -> None:
        """Refuse a threshold that is no whole number, and two ways to say which tables."""
        integer("threshold", self.threshold, low=1)
        super().__post_init__()

    @property
    def label(self) -> str:
        """The threshold."""
        return f"threshold {self.threshold:g}"

    @property
    def title(self) -> str:
        """That small cells are withheld, and how many columns the tables have."""
        less = "small cells and others that would tell them" if self.secondary else "small cells"
        return f"{self.tables[:1].upper()}{self.tables[1:]} without {less}"

    @property
    def strength(self) -> float:
        """The threshold."""
        return float(self.threshold)

    @property
    def rule(self) -> WithheldBelow:
        """How a cell depends on its count; with secondary suppression, what is possible."""
        return WithheldBelow(int(self.threshold), self.zeros, self.secondary)

    def prepare(self, columns: Columns) -> PreparedCells:
        """Lay out the tables; with secondary suppression a cell depends on others too."""
        queries = self.queries_of(columns)
        alone = not self.secondary
        return PreparedCells(queries, self.rule, self._change, cellwise=alone, fixed=True)

    def _change(self, queries: TableQueries, counts: Floats, rng: np.random.Generator) -> Floats:
        cells = np.where(self.rule.small(counts), np.nan, counts)
        if self.secondary:
            for table in queries.arrays(cells):
                withhold_more(table)
        return cells


def withhold_more(table: Floats) -> None:
    """Withhold cells until no line of a table has a single withheld one; in place.

    table: counts with an axis for each column; NaN where withheld.
    """
    moved = True
    while moved:
        moved = False
        for axis in range(table.ndim):
            lines = np.moveaxis(table, axis, -1)  # a view
            withheld = np.isnan(lines)
            lone = (withheld.sum(axis=-1) == 1) & (lines.shape[-1] > 1)
            if lone.any():
                # A small cell costs least; an empty one is often known to be empty.
                cost = np.where(lines == 0, np.finfo(float).max, lines)
                smallest = np.where(withheld, np.inf, cost).argmin(axis=-1)
                lines[lone, smallest[lone]] = np.nan
                moved = True
