"""Tables whose cells are changed without added noise: rounded, rounded at random, or withheld."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._options import Level
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.mechanisms.queries import TableQueries
from narcissus.mechanisms.table.base import CellRule, Columns, Named, ProtectedCounts
from narcissus.mechanisms.table.noisy import Coarser, Sets, chosen, k_way

Change = Callable[[TableQueries, Floats, np.random.Generator], Floats]
"""From the tables, their exact counts and a generator to what is published, NaN if withheld."""


@dataclass(frozen=True)
class PreparedCells:
    """A mechanism that publishes cells changed by a rule that everybody knows.

    Nothing is guaranteed when a person is replaced: given everybody else's records, some values
    of a person rule out what others lead to.
    """

    queries: TableQueries  # Which tables these are
    rule: CellRule  # How a published cell depends on its count
    change: Change  # What is done to the counts
    # Whether the rule is the exact chance of each cell, independent of the others; otherwise
    # it only says which counts a cell may have
    cellwise: bool = True
    fixed: bool = False  # Whether nothing is drawn: two releases of the same people are equal
    releases = ProtectedCounts
    guarantee = None
    noise = None
    assumes = ()
    must_vary = False

    def release(self, data: NDArray[np.integer], rng: np.random.Generator) -> list[ProtectedCounts]:
        released: list[ProtectedCounts] = []
        for codes in data:
            counts = self.queries.counts(codes.astype(np.int32))
            cells = self.change(self.queries, counts, rng)
            cells.setflags(write=False)  # no attack may change what the next one sees
            released.append(ProtectedCounts(self.queries, self.rule, cells, self.cellwise))
        return released


@dataclass(frozen=True, kw_only=True)
class ProtectedTables(Named):
    """Tables whose cells are changed by a rule; a subclass gives the rule.

    k: All tables of so many columns that touch an unknown one; 3 if neither `k` nor `sets` is
        given.
    sets: Columns of each table instead, such as `[["age", "sex"], ["sex"]]`.
    coarser: Coarser versions of columns, which `sets` can name: `{region = {of = "canton", groups =
        {west = ["GE", "VD"], east = ["SG"]}}}`.
    """

    k: int | None = None
    sets: Sets | None = None
    coarser: Coarser = field(default_factory=dict[str, dict[str, object]])

    def __post_init__(self) -> None:
        if self.k is not None:
            integer("k", self.k, low=1)
        if self.sets is not None and (self.k is not None or not self.sets):
            raise InputError("`sets` must list at least one table, and replaces `k`")
        if self.sets is None and self.coarser:
            raise InputError("`coarser` columns are named by `sets`: list the tables")

    @property
    def tables(self) -> str:
        """What the tables are called: '3-way tables'."""
        return "tables" if self.sets is not None else f"{self.k or 3}-way tables"

    def queries_of(self, columns: Columns) -> TableQueries:
        if self.sets is not None:
            return chosen(columns, self.sets, self.coarser)
        return k_way(columns, self.k or min(3, len(columns.names)))

    @abstractmethod
    def prepare(self, columns: Columns) -> PreparedCells: ...


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
        return np.where(self.rounded(counts) == cells, 0.0, -np.inf)


@dataclass(frozen=True)
class Rounding(ProtectedTables):
    """Tables whose cells are rounded to the nearest multiple of a base, halves upwards.

    Nothing is drawn at random, and nothing is guaranteed.

    base: What cells are multiples of, a whole number of at least 1; 1 leaves them as they are. A
        list is a sweep.
    """

    base: Level
    names = ("base {self.base:g}", "Rounded {self.tables}")
    ordered_by = "base"

    def __post_init__(self) -> None:
        integer("base", self.base, low=1)
        super().__post_init__()

    def prepare(self, columns: Columns) -> PreparedCells:
        rule = RoundedTo(int(self.base))
        return PreparedCells(self.queries_of(columns), rule, self._change, fixed=True)

    def _change(self, queries: TableQueries, counts: Floats, rng: np.random.Generator) -> Floats:
        return RoundedTo(int(self.base)).rounded(counts)


@dataclass(frozen=True)
class RandomlyRoundedTo:
    """A cell is the multiple below its count or the one above, so that its mean is the count.

    A count that is ``r`` above a multiple of the base goes up with probability ``r / base``; a
    multiple stays.
    """

    base: int

    @property
    def title(self) -> str:
        return f"randomly rounded to multiples of {self.base}, without bias"

    def log_likelihood(self, cells: Floats, counts: Floats) -> Floats:
        over = np.mod(counts, self.base)
        up = over / self.base
        chance = np.where(cells == counts - over, 1 - up, 0.0)
        chance = np.where(cells == counts - over + self.base, up, chance)
        with np.errstate(divide="ignore"):
            return np.log(chance)


@dataclass(frozen=True)
class RandomRounding(Rounding):
    """Tables whose cells are rounded at random, without bias, to a neighbouring multiple of a base.

    Nothing is guaranteed: given everybody else's records, a count that is a multiple of the base
    is published as it is, and a person more in the cell can lead to the next one.
    """

    names = ("base {self.base:g}", "Randomly rounded {self.tables}")

    def prepare(self, columns: Columns) -> PreparedCells:
        rule = RandomlyRoundedTo(int(self.base))
        return PreparedCells(self.queries_of(columns), rule, self._change)

    def _change(self, queries: TableQueries, counts: Floats, rng: np.random.Generator) -> Floats:
        over = np.mod(counts, self.base)
        up = rng.random(counts.size) * self.base < over
        return counts - over + np.where(up, float(self.base), 0.0)


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
        minimum = 1 if self.zeros else 0
        remark = ", and others so that they cannot be computed" if self.others else ""
        return f"withheld where counts are {minimum} to {self.threshold - 1}{remark}"

    def small(self, counts: Floats) -> NDArray[np.bool_]:
        """Return which counts are withheld, any shape."""
        small = counts < self.threshold
        return small & (counts > 0) if self.zeros else small

    def log_likelihood(self, cells: Floats, counts: Floats) -> Floats:
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

    threshold: The least count above 0 that is published, a whole number of at least 1; 1 withholds
        nothing unless zeros are. A list is a sweep.
    secondary: Whether further cells are withheld, so that small ones cannot be computed.
    zeros: Whether empty cells are published.
    """

    threshold: Level
    secondary: bool = False
    zeros: bool = True
    ordered_by = "threshold"

    def __post_init__(self) -> None:
        integer("threshold", self.threshold, low=1)
        super().__post_init__()

    @property
    def label(self) -> str:
        return f"threshold {self.threshold:g}"

    @property
    def title(self) -> str:
        less = "small cells and others that would tell them" if self.secondary else "small cells"
        return f"{self.tables[:1].upper()}{self.tables[1:]} without {less}"

    @property
    def rule(self) -> WithheldBelow:
        """How a cell depends on its count; with secondary suppression, what is possible."""
        return WithheldBelow(int(self.threshold), self.zeros, self.secondary)

    def prepare(self, columns: Columns) -> PreparedCells:
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
    """Withhold cells, as NaN in place, until no line of a table has a single withheld one."""
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
