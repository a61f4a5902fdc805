"""Sums over the cells that each person could fall into, and sums over people in each cell.

All that a posterior needs of noisy tables are two linear maps: from a number in every cell to the
sum over a person's cells, for each value that the person may have (*gather*), and from beliefs to
the expected count of every cell (*scatter*). Three things make them fast:

* people who are alike are one weighted type (`narcissus.knowledge.columns`);
* known columns are merged into groups, so that the tables of one set of groups become one larger
  table: 105 tables of two known columns and the unknown one become 15 to 21, whose cells are sums
  of cells of the 105. How large a group may be is chosen by what the sums will cost;
* both maps are products with sparse matrices of zeros and ones, over all values at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus.attacks.table.base import Floats
from narcissus.knowledge.columns import Targets, Types, row_keys
from narcissus.mechanisms import TableQueries
from narcissus.mechanisms.patterns import Cells, Pattern

LIMITS = (1, 10, 20, 40, 80, 160, 320)
"""Most joint values of a group of columns, of which the cheapest is taken."""

BLOCK = 1 << 19
"""Beliefs that are worked on at a time: 4 MB."""

NARROW = 400
"""Values of all patterns up to which sums over joint values are products with a full matrix."""

RANGE = 1 << 22
"""Keys up to which those that occur are found by a list of all."""

Set = frozenset[int]


@dataclass(frozen=True, eq=False)
class _Merged:
    """The tables of a pattern, looked up in fewer and larger ones."""

    # The row of the larger tables in which each type is, shape (types, larger tables)
    rows: NDArray[np.int32]
    sums: sparse.csr_array  # Which known parts of the released tables each of these rows adds up
    parts: Cells  # The first cell of each known part, shape (known parts,)


class Gathers:
    """The two maps between cells and types of people.

    Numbers of cells are a vector over the cells within somebody's reach (`cells`); those of types
    come in blocks.

    Attributes
    ----------
    types
        Who is alike.
    cells
        The numbers of the cells within reach, in the order of all vectors over cells.
    blocks
        The blocks of types.
    """

    def __init__(self, targets: Targets, types: Types | None = None) -> None:
        self.queries = targets.queries
        self.types = targets.types if types is None else types
        self.patterns = self.queries.patterns
        codes = targets.codes[self.types.first]
        about = 1 << (self.types.number - 1).bit_length()  # so that trials share a plan
        plan = _plan(self.queries, about, LIMITS)
        merged = [_merge(self.queries, pattern, codes, plan) for pattern in self.patterns]
        self._sums = [one.sums for one in merged]
        self._shapes = [
            (len(one.parts), pattern.size)
            for one, pattern in zip(merged, self.patterns, strict=True)
        ]
        self.cells = np.concatenate(
            [
                (one.parts[:, None] + np.arange(pattern.size)).ravel()
                for one, pattern in zip(merged, self.patterns, strict=True)
            ]
        )
        every = self.queries.split(np.arange(self.queries.values))
        self._selectors: list[Floats] | None = None
        if sum(pattern.size for pattern in self.patterns) <= NARROW:
            self._selectors = [
                (p.values(every)[:, None] == np.arange(p.size)).astype(np.float64)
                for p in self.patterns
            ]
        step = max(1, BLOCK // self.queries.values)
        number = self.types.number
        self.blocks = [slice(a, min(a + step, number)) for a in range(0, number, step)]
        self._rows = [
            [_zero_one(one.rows[block], one.sums.shape[0]) for one in merged]
            for block in self.blocks
        ]

    @property
    def reads(self) -> int:
        """How many values one gather reads, which is what a pass costs."""
        return sum(
            rows.nnz * pattern.size
            for block in self._rows
            for rows, pattern in zip(block, self.patterns, strict=True)
        )

    def raised(self, vector: Floats) -> list[Floats]:
        """Return a vector over cells as the larger tables that `gathered` looks it up in."""
        return [s @ part for s, part in zip(self._sums, self.parts(vector), strict=True)]

    def gathered(self, block: int, raised: list[Floats]) -> list[Floats]:
        """Sum over the cells of a block's types: for each pattern, shape (types, size)."""
        return [rows @ table for rows, table in zip(self._rows[block], raised, strict=True)]

    def summed(self, joint: Floats) -> list[Floats]:
        """Sum over joint values to those of each pattern: (types, values) -> (types, size)."""
        if self._selectors is None:
            return [pattern.sum_to(joint) for pattern in self.patterns]
        return [
            joint if pattern.whole else joint @ selector
            for pattern, selector in zip(self.patterns, self._selectors, strict=True)
        ]

    def nothing(self) -> list[Floats]:
        """Return larger tables of zeros, which `scatter` adds to."""
        return [
            np.zeros((sums.shape[0], shape[1]))
            for sums, shape in zip(self._sums, self._shapes, strict=True)
        ]

    def scatter(self, block: int, tables: list[Floats], parts: Iterable[Floats]) -> None:
        """Add what a block's types put into their cells: for each pattern, shape (types, size)."""
        for index, (rows, part) in enumerate(zip(self._rows[block], parts, strict=True)):
            tables[index] += rows.T @ part

    def lowered(self, tables: list[Floats]) -> Floats:
        """Return the sums in larger tables as a vector over cells."""
        pairs = zip(self._sums, tables, strict=True)
        return np.concatenate([(sums.T @ table).ravel() for sums, table in pairs])

    def incidence(self) -> list[sparse.csr_array]:
        """Return for each pattern which known parts each type has: (types, known parts)."""
        return [
            sparse.csr_array(sparse.vstack([rows[index] for rows in self._rows]) @ sums)
            for index, sums in enumerate(self._sums)
        ]

    def parts(self, vector: Floats) -> list[Floats]:
        """Return a vector over cells pattern by pattern, shape (known parts, size)."""
        edges = np.cumsum([a * b for a, b in self._shapes])[:-1]
        pairs = zip(np.split(vector, edges), self._shapes, strict=True)
        return [part.reshape(shape) for part, shape in pairs]


def _zero_one(columns: NDArray[np.int32], width: int) -> sparse.csr_array:
    """Return the matrix with a one in each of the columns that a row names."""
    rows, each = columns.shape
    starts = np.arange(0, rows * each + 1, each, dtype=np.int32)
    ones = np.ones(rows * each)
    return sparse.csr_array((ones, columns.ravel(), starts), shape=(rows, width))


def _base(queries: TableQueries, column: int) -> int:
    d = len(queries.sizes)
    return column if column < d else queries.coarse[column - d].of


def _groups(queries: TableQueries, limit: int) -> list[tuple[int, ...]]:
    """Put the known columns into groups of at most ``limit`` joint values, the largest first."""
    groups: list[list[int]] = []
    sizes = queries.sizes
    for column in sorted(queries.known, key=lambda c: -sizes[c]):
        for group in groups:
            if sizes[column] * prod(sizes[c] for c in group) <= limit:
                group.append(column)
                break
        else:
            groups.append([column])
    return [tuple(group) for group in groups]


@lru_cache(maxsize=32)
def _plan(queries: TableQueries, types: int, limits: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Choose the groups with which the two maps cost least, in values that are read."""
    plans = [_groups(queries, limit) for limit in limits]
    costs: list[int] = []
    for groups in plans:
        cost = 0
        for pattern in queries.patterns:
            larger, home = _larger(queries, pattern, groups)
            held = np.bincount(home, minlength=len(larger))
            sizes = [prod(queries.sizes[c] for g in one for c in groups[g]) for one in larger]
            rows = sum(min(types, a) * int(b) for a, b in zip(sizes, held, strict=True))
            cost += pattern.size * (types * len(larger) + rows)
        costs.append(cost)
    return plans[int(np.argmin(costs))]


def _larger(
    queries: TableQueries, pattern: Pattern, groups: list[tuple[int, ...]]
) -> tuple[list[Set], list[int]]:
    group_of = {column: index for index, group in enumerate(groups) for column in group}
    sets = [
        frozenset(group_of[_base(queries, column)] for column in table)
        for table in pattern.knowns.tolist()
    ]
    found: dict[Set, int] = {}
    home: dict[Set, int] = {}
    for one in sorted(set(sets), key=lambda s: (-len(s), sorted(s))):
        within = (n for other, n in found.items() if len(other) > len(one) and one <= other)
        home[one] = next(within, len(found))
        if home[one] == len(found):
            found[one] = len(found)
    return list(found), [home[one] for one in sets]


def _merge(
    queries: TableQueries,
    pattern: Pattern,
    codes: NDArray[np.int32],
    groups: list[tuple[int, ...]],
) -> _Merged:
    """Lay out the larger tables of a pattern, of the rows that somebody is in."""
    larger, home = _larger(queries, pattern, groups)
    coarse = [grouping.numbers[codes[:, grouping.of]] for grouping in queries.coarse]
    codes = np.column_stack([codes, *coarse]) if coarse else codes
    rows = np.empty((len(codes), len(larger)), dtype=np.int32)
    held: list[NDArray[np.int64]] = []
    start = 0
    starts: list[int] = [0]
    for index, one in enumerate(larger):
        columns = [c for group in sorted(one) for c in groups[group]]
        sizes = [queries.sizes[c] for c in columns]
        number, someone = _numbered(row_keys(codes[:, columns], sizes), prod(sizes))
        rows[:, index] = start + number
        start += len(someone)
        tables = np.flatnonzero(np.array(home) == index)
        own = codes[someone][:, pattern.knowns[tables]] * pattern.strides[tables]
        held.append((pattern.offsets[tables] + own.sum(axis=2)).ravel())
        starts.extend(starts[-1] + len(tables) * np.arange(1, len(someone) + 1))
    parts, column = np.unique(np.concatenate(held), return_inverse=True)
    sums = sparse.csr_array(
        (np.ones(len(column)), column.astype(np.int32), np.array(starts, dtype=np.int32)),
        shape=(start, len(parts)),
    )
    return _Merged(rows, sums, parts)


def _numbered(keys: NDArray[np.int64], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the keys that occur numbers: that of each person's, and somebody for each number."""
    if most > RANGE:
        _, someone, number = np.unique(keys, return_index=True, return_inverse=True)
        return number, someone
    someone = np.full(most, -1, dtype=np.intp)
    someone[keys] = np.arange(len(keys))
    occurring = np.flatnonzero(someone >= 0)
    number = np.empty(most, dtype=np.intp)
    number[occurring] = np.arange(len(occurring))
    return number[keys], someone[occurring]
