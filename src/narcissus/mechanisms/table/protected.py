"""Tables whose cells are changed without added noise: what rounding and suppression share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.mechanisms.queries import Floats, TableQueries
from narcissus.mechanisms.table.base import TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.layout import Coarser, Sets, chosen, k_way
from narcissus.mechanisms.table.releases import CellRule, ProtectedCounts

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
class ProtectedTables(TableMechanism):
    """Tables whose cells are changed by a rule; a subclass gives the rule.

    Parameters
    ----------
    k
        All tables of so many columns that touch an unknown one; 3 if neither `k` nor `sets` is
        given.
    sets
        Columns of each table instead, such as `[["age", "sex"], ["sex"]]`.
    coarser
        Coarser versions of columns, which `sets` can name: `{region = {of = "canton", groups =
        {west = ["GE", "VD"], east = ["SG"]}}}`.
    """

    k: int | None = None
    sets: Sets | None = None
    coarser: Coarser = field(default_factory=dict[str, dict[str, object]])

    def __post_init__(self) -> None:
        """Refuse two ways to say which tables are released."""
        if self.k is not None:
            integer("k", self.k, low=1)
        if self.sets is not None and (self.k is not None or not self.sets):
            raise InputError("`sets` must list at least one table, and stands instead of `k`")
        if self.sets is None and self.coarser:
            raise InputError("`coarser` columns are named by `sets`: list the tables")

    @property
    def tables(self) -> str:
        return "tables" if self.sets is not None else f"{self.k or 3}-way tables"

    def queries_of(self, columns: Columns) -> TableQueries:
        if self.sets is not None:
            return chosen(columns, self.sets, self.coarser)
        return k_way(columns, self.k or min(3, len(columns.names)))

    @abstractmethod
    def prepare(self, columns: Columns) -> PreparedCells:
        """Lay out the tables, and say what is done to their cells."""
