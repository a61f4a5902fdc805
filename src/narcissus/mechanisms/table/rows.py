"""A mechanism that releases rows, from a function that makes rows of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.guarantees import Guarantee
from narcissus.mechanisms.marginals import MarginalQueries
from narcissus.mechanisms.queries import Codes, TableQueries
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.releases import Microdata

READ_AS = 3
"""Columns of the tables that released rows are counted into, where the table has as many."""


@dataclass(frozen=True)
class PreparedRows:
    """A mechanism that turns the rows of a data set into released rows."""

    queries: TableQueries  # Tables that the rows are counted into, to be read as counts
    # From value numbers, shape (n, d), and a generator to released ones, shape (m, d)
    make: Callable[[Codes, np.random.Generator], Codes]
    guarantee: Guarantee | None = None  # What it guarantees; None for nothing
    # What must hold for the guarantee to do so, each a phrase that can be refuted
    assumes: tuple[str, ...] = ()
    # Whether two equal releases of the same people show a fixed seed; see `require_varied`
    must_vary: bool = False
    fixed: bool = False  # Whether two releases of the same people have the same rows, in any order
    releases = Microdata
    noise = None
    cellwise = False

    @classmethod
    def of(
        cls,
        columns: Columns,
        make: Callable[[Codes, np.random.Generator], Codes],
        guarantee: Guarantee | None = None,
        *,
        assumes: tuple[str, ...] = (),
        must_vary: bool = False,
    ) -> PreparedRows:
        """Read the rows as all tables of three columns that touch an unknown one."""
        k = min(READ_AS, len(columns.names))
        queries = MarginalQueries(columns.sizes, columns.unknown, k)
        return cls(queries, make, guarantee, assumes, must_vary)

    def release(self, data: NDArray[np.integer], rng: np.random.Generator) -> list[Microdata]:
        released: list[Microdata] = []
        for codes in data:
            rows = np.ascontiguousarray(self.make(codes.astype(np.int32), rng), dtype=np.int32)
            rows.setflags(write=False)
            released.append(Microdata(rows))
        return released
