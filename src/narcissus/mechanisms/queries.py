"""Which tables are released of a data set, and where a person falls in them.

Tables are grouped by their **pattern**, the unknown columns in them: all tables of a pattern are
indexed alike, so that one array operation serves them all. Tables without an unknown column are not
laid out: an attacker who knows the other columns learns nothing from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus._validation import integer
from narcissus.errors import InputError, TooLargeError

Cells = NDArray[np.int64]
Codes = NDArray[np.int32]
Layout = Iterator[tuple[tuple[int, ...], Sequence[tuple[int, ...]]]]
AnyT = TypeVar("AnyT", bound=np.generic)

MAX_CELLS = 50_000_000  # 400 MB of counts
BLOCK = 1 << 14  # people who are counted at a time: their columns stay in the cache


@dataclass(frozen=True)
class Grouping:
    """A coarser version of a column: its values in groups.

    of: Position of the column.
    groups: The group of each value of the column, numbered from 0.
    """

    of: int
    groups: tuple[int, ...]

    @property
    def size(self) -> int:
        return max(self.groups) + 1

    @cached_property
    def numbers(self) -> NDArray[np.int32]:
        return np.array(self.groups, dtype=np.int32)

    @cached_property
    def members(self) -> Floats:
        """One where a value is in a group, zero elsewhere, shape (values, groups)."""
        return (self.numbers[:, None] == np.arange(self.size)).astype(np.float64)


@dataclass(frozen=True)
class Pattern:
    """The released tables that contain exactly these unknown columns."""

    columns: tuple[int, ...]  # Positions within the unknown columns, ascending
    # Sizes of those columns; of one that is released in groups, how many groups it has
    shape: tuple[int, ...]
    # The known columns of each table, shape (tables, known columns of a table)
    knowns: NDArray[np.intp]
    strides: Cells  # What one step in each known column adds to a cell's number; same shape
    offsets: Cells  # Number of the first cell of each table, shape (tables,)
    unknown_shape: tuple[int, ...]  # Sizes of all unknown columns
    # For each of ``columns``, its groups; None where its own values are released
    groupings: tuple[Grouping | None, ...]

    @cached_property
    def size(self) -> int:
        """How many joint values the unknown columns of the pattern have."""
        return prod(self.shape)

    @property
    def tables(self) -> int:
        return len(self.offsets)

    @cached_property
    def whole(self) -> bool:
        """Whether its joint values are those of all unknown columns."""
        return self.shape == self.unknown_shape and not any(self.groupings)

    @cached_property
    def _others(self) -> tuple[int, ...]:
        return tuple(c for c in range(len(self.unknown_shape)) if c not in self.columns)

    @cached_property
    def _broadcast(self) -> tuple[int, ...]:
        return tuple(s if c in self.columns else 1 for c, s in enumerate(self.unknown_shape))

    def values(self, split: NDArray[np.integer]) -> Cells:
        """Return joint values of the pattern, shape (people,), from `TableQueries.split`."""
        axes = [
            split[:, c] if grouping is None else grouping.numbers[split[:, c]]
            for c, grouping in zip(self.columns, self.groupings, strict=True)
        ]
        return np.ravel_multi_index(tuple(axes), self.shape).astype(np.int64)

    def parts(self, columns: NDArray[np.integer]) -> Iterator[Cells]:
        """Yield where everybody's known part falls in each table, shape (people,).

        Numbered from 0 in each: ``offsets + size * part`` is the first cell. ``columns`` are those
        of `TableQueries.columns`.
        """
        steps = self.strides // self.size
        for knowns, table_steps in zip(self.knowns, steps, strict=True):
            part = np.zeros(columns.shape[1], dtype=np.int64)
            for column, step in zip(knowns, table_steps, strict=True):
                part += columns[column] * step
            yield part

    def sum_to(self, joint: Floats) -> Floats:
        """Sum over joint values of all unknown columns: (..., values) -> (..., size)."""
        if self.whole:
            return joint
        people = joint.shape[:-1]
        lead = len(people)
        table = joint.reshape(*people, *self.unknown_shape)
        if self._others:
            table = table.sum(axis=tuple(lead + c for c in self._others))
        for axis, grouping in enumerate(self.groupings, lead):
            if grouping is not None:
                table = np.moveaxis(np.moveaxis(table, axis, -1) @ grouping.members, -1, axis)
        return table.reshape(*people, self.size)  # not -1: there may be nobody

    def spread(self, part: NDArray[AnyT]) -> NDArray[AnyT]:
        """Repeat over the values of all unknown columns: (..., size) -> (..., *unknown_shape).

        The columns that are not in the pattern have length one, to be broadcast.
        """
        people = part.shape[:-1]
        if any(self.groupings):
            part = part.reshape(*people, *self.shape)
            for axis, grouping in enumerate(self.groupings, len(people)):
                if grouping is not None:
                    part = part.take(grouping.numbers, axis=axis)
        return part.reshape(*people, *self._broadcast)


@dataclass(frozen=True)
class TableQueries(ABC):
    """Tables that are released of people, some of whose columns an attacker does not know.

    A subclass says which: `tables`, `cells`, `_layout`.

    sizes: How many values each column has.
    unknown: Indices of the columns that the attacker does not know.
    coarse: Coarser versions of columns, which tables name by numbers from ``len(sizes)`` on.
    """

    sizes: tuple[int, ...]
    unknown: tuple[int, ...]
    coarse: tuple[Grouping, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        d = len(self.sizes)
        if not self.unknown:
            raise InputError("`unknown` must name at least one column that the attacker wants")
        if len(set(self.unknown)) != len(self.unknown) or not all(0 <= c < d for c in self.unknown):
            raise InputError(f"`unknown` must be distinct columns below {d}, got {self.unknown}")
        if self.cells > MAX_CELLS:
            raise TooLargeError(
                f"the {self.tables} tables have {self.cells:,} cells "
                f"({8 * self.cells / 1e9:.1f} GB); the limit is {MAX_CELLS:,}: "
                "take a smaller k or narrower tables, fewer columns or coarser bins"
            )

    @property
    @abstractmethod
    def tables(self) -> int:
        """How many tables are released, those that are not laid out included."""

    @cached_property
    @abstractmethod
    def cells(self) -> int:
        """How many cells the tables that are laid out have together."""

    @abstractmethod
    def _layout(self) -> Layout:
        """Yield the unknown and the known columns of the tables, pattern by pattern.

        The tables of a pattern have the same unknown columns, in the order of ``unknown``, and
        equally many known ones. Numbers from ``len(sizes)`` on are those of `coarse`.
        """

    @property
    def known(self) -> tuple[int, ...]:
        return tuple(c for c in range(len(self.sizes)) if c not in self.unknown)

    @property
    def unknown_shape(self) -> tuple[int, ...]:
        """Sizes of the unknown columns, in the order of ``unknown``."""
        return tuple(self.sizes[c] for c in self.unknown)

    @property
    def values(self) -> int:
        """How many joint values the unknown columns have."""
        return prod(self.unknown_shape)

    @property
    def _widths(self) -> tuple[int, ...]:
        """Sizes of the columns and of their coarser versions."""
        return self.sizes + tuple(grouping.size for grouping in self.coarse)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The tables by pattern, in a fixed order."""
        layouts: list[Pattern] = []
        start, d, widths = 0, len(self.sizes), np.array(self._widths, dtype=np.int64)
        for axes, sets in self._layout():
            groupings = tuple(None if c < d else self.coarse[c - d] for c in axes)
            columns = tuple(
                self.unknown.index(c if grouping is None else grouping.of)
                for c, grouping in zip(axes, groupings, strict=True)
            )
            shape = tuple(self._widths[c] for c in axes)
            knowns = np.array(sets, dtype=np.intp).reshape(len(sets), -1)
            sizes = widths[knowns]
            # C order with the unknown part fastest: strides are products of what follows.
            after = np.cumprod(sizes[:, ::-1], axis=1)[:, ::-1]
            strides = np.ones_like(sizes)
            strides[:, :-1] = after[:, 1:]
            cells = prod(shape) * sizes.prod(axis=1)
            offsets = start + np.concatenate([[0], np.cumsum(cells)[:-1]]).astype(np.int64)
            start += int(cells.sum())
            strides *= prod(shape)
            unknown = self.unknown_shape
            layouts.append(Pattern(columns, shape, knowns, strides, offsets, unknown, groupings))
        return tuple(layouts)

    def joint(self, codes: Codes) -> NDArray[np.int64]:
        """Return joint value of the unknown columns of each person, shape (people,), C order."""
        columns = tuple(codes[:, c] for c in self.unknown)
        return np.ravel_multi_index(columns, self.unknown_shape).astype(np.int64)

    def split(self, joint: NDArray[np.integer]) -> Codes:
        """Return the unknown columns' codes of joint values, shape (people, unknown columns)."""
        return np.stack(np.unravel_index(joint, self.unknown_shape), axis=-1).astype(np.int32)

    def spread(self, parts: Sequence[Floats]) -> Floats:
        """Add up what each pattern says of its joint values: (..., sizes) -> (..., values)."""
        if len(parts) == 1 and self.patterns[0].whole:
            return parts[0]
        lead = parts[0].shape[:-1]
        total = np.zeros((*lead, *self.unknown_shape))
        for pattern, part in zip(self.patterns, parts, strict=True):
            total += pattern.spread(part)
        return total.reshape(*lead, self.values)

    def bases(self, codes: Codes) -> tuple[Cells, ...]:
        """Return the first cell of each person in each table: (people, tables) for each pattern.

        A person with joint value ``u`` of the pattern falls into cell ``base + u``.
        """
        columns = self.columns(codes)
        cells: list[Cells] = []
        for pattern in self.patterns:
            base = np.empty((len(codes), pattern.tables), dtype=np.int64)
            for table, part in enumerate(pattern.parts(columns)):
                base[:, table] = pattern.offsets[table] + pattern.size * part
            cells.append(base)
        return tuple(cells)

    def columns(self, codes: Codes) -> Codes:
        """Return the columns and their coarser versions one by one, shape (columns, people)."""
        grouped = [grouping.numbers[codes[:, grouping.of]] for grouping in self.coarse]
        return np.ascontiguousarray(np.vstack([codes.T, *grouped]))

    def shared(self, codes: Codes) -> tuple[NDArray[np.int32], ...]:
        """Return for each pattern in how many tables two people share the known part, (n, n)."""
        counts: list[NDArray[np.int32]] = []
        for base in self.bases(codes):
            count = np.zeros((len(codes), len(codes)), dtype=np.int32)
            for table in base.T:
                count += table[:, None] == table
            counts.append(count)
        return tuple(counts)

    def cells_of(self, codes: Codes) -> Cells:
        """Return the cells that each person falls into, shape (people, tables laid out)."""
        split = codes[:, self.unknown]
        parts = [
            base + pattern.values(split)[:, None]
            for pattern, base in zip(self.patterns, self.bases(codes), strict=True)
        ]
        return np.concatenate(parts, axis=1)

    def counts(self, codes: Codes) -> Floats:
        """Return the exact count of every cell, shape (cells,).

        Some people at a time, table by table: nothing of people times tables is held.
        """
        totals = np.zeros(self.cells)
        step = max(BLOCK, self.cells // 64)
        for block in (codes[start : start + step] for start in range(0, len(codes), step)):
            columns = self.columns(block).astype(np.int64)
            for pattern in self.patterns:
                values = pattern.values(block[:, self.unknown])
                for start, part in zip(pattern.offsets, pattern.parts(columns), strict=True):
                    counted = np.bincount(pattern.size * part + values)
                    totals[start : start + counted.size] += counted
        return totals

    def arrays(self, cells: Floats) -> Iterator[Floats]:
        """Yield the cells of each table as an array with an axis for each column, views.

        Axes are the known columns of the table, then those of its pattern.
        """
        widths = self._widths
        for pattern in self.patterns:
            for knowns, start in zip(pattern.knowns.tolist(), pattern.offsets, strict=True):
                shape = (*(widths[c] for c in knowns), *pattern.shape)
                yield cells[start : start + prod(shape)].reshape(shape)


@dataclass(frozen=True)
class MarginalQueries(TableQueries):
    """Every k-way table that touches an unknown column.

    World and notation of Narcissus theory 9 (Swanberg et al. 2025, section 6).

    sizes: How many values each column has.
    unknown: Indices of the columns that the attacker does not know.
    k: Columns in each table, ``1 <= k <= len(sizes)``.

    InputError: ``k`` is out of range, or no column is unknown, or one that is not there.
    TooLargeError: The tables together have more than 50 million cells.

    >>> queries = MarginalQueries((2, 3, 2), unknown=(2,), k=2)
    >>> queries.tables, queries.cells
    (2, 10)
    """

    k: int

    def __post_init__(self) -> None:
        integer("k", self.k, low=1, high=len(self.sizes))
        super().__post_init__()

    @property
    def tables(self) -> int:
        """How many tables are released: ``C(d, k) - C(d - d', k)``."""
        return comb(len(self.sizes), self.k) - comb(len(self.known), self.k)

    @cached_property
    def cells(self) -> int:
        # Sums of products over k-subsets are elementary symmetric polynomials, so that the number
        # is known without listing the tables.
        known = [self.sizes[c] for c in self.known]
        return _symmetric(self.sizes, self.k) - _symmetric(known, self.k)

    def _layout(self) -> Layout:
        for count in range(1, min(self.k, len(self.unknown)) + 1):
            if self.k - count <= len(self.known):
                sets = list(combinations(self.known, self.k - count))
                for axes in combinations(self.unknown, count):
                    yield axes, sets

    def shared(self, codes: Codes) -> tuple[NDArray[np.int32], ...]:
        """Return for each pattern in how many tables two people share the known part, (n, n).

        ``C(a, k - |P|)`` where they agree on ``a`` known columns (Narcissus theory 9).
        """
        agreements = np.zeros((len(codes), len(codes)), dtype=np.int64)
        for column in self.known:
            agreements += codes[:, column, None] == codes[:, column]
        counts = range(len(self.known) + 1)
        return tuple(
            np.array([comb(a, p.knowns.shape[1]) for a in counts], dtype=np.int32)[agreements]
            for p in self.patterns
        )


def _symmetric(sizes: Sequence[int], k: int) -> int:
    """Return the elementary symmetric polynomial of degree ``k``."""
    sums = [1] + [0] * k
    for size in sizes:
        for degree in range(k, 0, -1):
            sums[degree] += size * sums[degree - 1]
    return sums[k]


@dataclass(frozen=True)
class ChosenQueries(TableQueries):
    """A list of tables; one that is listed twice is released twice.

    sizes, unknown: As in `TableQueries`.
    sets: The columns of each table; from ``len(sizes)`` on, those of ``coarse``.
    coarse: Coarser versions of columns.

    >>> halves = Grouping(of=2, groups=(0, 0, 1, 1))
    >>> queries = ChosenQueries((2, 3, 4), (2,), sets=((0, 2), (1, 3)), coarse=(halves,))
    >>> queries.tables, queries.cells
    (2, 14)
    """

    sets: tuple[tuple[int, ...], ...]
    coarse: tuple[Grouping, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for grouping in self.coarse:
            size = self.sizes[grouping.of]
            if len(grouping.groups) != size or min(grouping.groups) < 0:
                raise InputError(f"`coarse` must give {size} groups, got {grouping.groups}")
        for table in self.sets:
            if not table or not all(0 <= c < len(self._widths) for c in table):
                raise InputError(
                    f"`sets` must be of columns below {len(self._widths)}, got {table}"
                )
            if len({self._column(c) for c in table}) != len(table):
                raise InputError(f"a table must not have a column twice, got {table}")
        super().__post_init__()
        if not self.cells:
            raise InputError("`sets` must have a table with an unknown column")

    def _column(self, number: int) -> int:
        d = len(self.sizes)
        return number if number < d else self.coarse[number - d].of

    @property
    def tables(self) -> int:
        return len(self.sets)

    @cached_property
    def cells(self) -> int:
        reached = (s for s in self.sets if any(self._column(c) in self.unknown for c in s))
        return sum(prod(self._widths[c] for c in table) for table in reached)

    def _layout(self) -> Layout:
        place = {column: number for number, column in enumerate(self.unknown)}
        tables: dict[tuple[int, tuple[tuple[int, int], ...], int], list[tuple[int, ...]]] = {}
        for table in self.sets:
            column = {c: self._column(c) for c in table}
            axes = tuple(sorted((place[o], c) for c, o in column.items() if o in place))
            knowns = tuple(sorted(c for c, o in column.items() if o not in place))
            if axes:
                tables.setdefault((len(axes), axes, len(knowns)), []).append(knowns)
        for _, axes, width in sorted(tables):
            yield tuple(c for _, c in axes), tables[len(axes), axes, width]
