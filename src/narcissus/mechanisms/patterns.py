"""Released tables that have the same unknown columns, and coarser versions of columns.

All tables of a pattern are indexed alike, so that one array operation serves them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]
Floats = NDArray[np.float64]
AnyT = TypeVar("AnyT", bound=np.generic)


@dataclass(frozen=True)
class Grouping:
    """A coarser version of a column: its values in groups.

    Parameters
    ----------
    of
        Position of the column.
    groups
        The group of each value of the column, numbered from 0.
    """

    of: int
    groups: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many groups there are."""
        return max(self.groups) + 1

    @cached_property
    def numbers(self) -> NDArray[np.int32]:
        """The group of each value, shape (values,)."""
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
        """Return people's joint values of the pattern, shape (people,).

        split: codes of all unknown columns, shape (people, unknown columns).
        """
        axes = [
            split[:, c] if grouping is None else grouping.numbers[split[:, c]]
            for c, grouping in zip(self.columns, self.groupings, strict=True)
        ]
        return np.ravel_multi_index(tuple(axes), self.shape).astype(np.int64)

    def parts(self, columns: NDArray[np.integer]) -> Iterator[Cells]:
        """Yield where everybody's known part falls in each table, shape (people,).

        Numbered from 0 in each: ``offsets + size * part`` is the first cell.

        columns: the columns one by one, as `TableQueries.columns` gives them.
        """
        steps = self.strides // self.size
        for knowns, own in zip(self.knowns, steps, strict=True):
            part = np.zeros(columns.shape[1], dtype=np.int64)
            for column, step in zip(knowns, own, strict=True):
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
