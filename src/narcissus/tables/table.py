"""A table of people: every column a list of labels, every cell the number of one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import did_you_mean, repeated, some_of
from narcissus.errors import InputError
from narcissus.tables.spelling import ColumnReading

Heads = tuple[
    tuple[str, ...],
    tuple[tuple[str, ...], ...],
    tuple[bool, ...],
    tuple[NDArray[np.float64] | None, ...],
    dict[str, str],
    dict[str, ColumnReading],
]
"""Names, labels, ordered, values, notes and readings of columns, as of a `Table`."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of records with finitely many values in every column.

    names: Names of the columns, all different.
    labels: Labels of each column's values in their natural order (numbers by size).
    ordered: Whether a column's values have distances: numbers and bins do, text does not.
    codes: Shape (rows, columns), int32; cell (i, j) is a position in ``labels[j]``. Read-only.
    values: For every ordered column the number behind each label, whose differences are L1
        distances: the number itself, or for bins the ordinal position (neighbouring bins are one
        apart, whatever their width). None for unordered columns. By default numbers where all
        labels are, else positions.
    notes: By column, remarks on how it was read; not part of the digest.
    readings: By column, how it was read; not part of the digest.
    remarks: What was left out of the file or read otherwise, a line each; not part of the digest.

    InputError: The parts do not fit together, there is no row or no column, or a code has no label.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    ordered: tuple[bool, ...]
    codes: NDArray[np.int32]
    values: tuple[NDArray[np.float64] | None, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    readings: Mapping[str, ColumnReading] = field(default_factory=dict[str, ColumnReading])
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        matrix = np.asarray(self.codes)
        self._settle(matrix, "codes")
        codes = np.array(matrix, dtype=np.int32, order="C")
        codes.setflags(write=False)
        object.__setattr__(self, "codes", codes)

    def _settle(self, given: NDArray[Any], what: str) -> None:
        names = tuple(self.names)
        labels = tuple(tuple(column) for column in self.labels)
        ordered = tuple(bool(o) for o in self.ordered)
        if not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"`{what}` must be integers, got {given.dtype}")
        if given.ndim != 2 or 0 in given.shape:
            raise InputError(
                f"`{what}` must have shape (rows, columns), none empty, got {given.shape}"
            )
        width = given.shape[1]
        if not len(names) == len(labels) == len(ordered) == width:
            raise InputError(
                f"`names`, `labels` and `ordered` must have one entry for each of {width} columns, "
                f"got {len(names)}, {len(labels)} and {len(ordered)}"
            )
        if twice := sorted(repeated(names)):
            raise InputError(f"`names` must differ, got {some_of(twice)} more than once")
        for name, known, low, high in zip(
            names, labels, given.min(axis=0), given.max(axis=0), strict=True
        ):
            if len(set(known)) < len(known):
                raise InputError(f"the labels of column `{name}` must differ")
            if low < 0 or high >= len(known):
                raise InputError(
                    f"the {what} of column `{name}` must be in 0..{len(known) - 1}, "
                    f"got {low} to {high}"
                )
        values = tuple(self.values) or tuple(
            _numbers(column) if has_order else None
            for column, has_order in zip(labels, ordered, strict=True)
        )
        if [None if v is None else len(v) for v in values] != [
            len(column) if has_order else None
            for column, has_order in zip(labels, ordered, strict=True)
        ]:
            raise InputError(
                "`values` must hold a number per label for exactly the ordered columns"
            )
        for name, value in zip(
            ("names", "labels", "ordered", "values"), (names, labels, ordered, values), strict=True
        ):
            object.__setattr__(self, name, value)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(column) for column in self.labels)

    @property
    def rows(self) -> int:
        return self.codes.shape[0]

    @property
    def columns(self) -> int:
        return len(self.names)

    @property
    def records(self) -> NDArray[np.integer]:
        """Records of people, shape (records, columns), each with its `counts`."""
        return self.codes

    @property
    def counts(self) -> NDArray[np.int64] | None:
        """Number of people with each of the `records`, shape (records,); None: one each."""
        return None

    @property
    def places(self) -> NDArray[np.int64] | None:
        """Where the rows of `examined` are among all rows; None: they are all rows."""
        return None

    @property
    def examined(self) -> NDArray[np.integer] | None:
        """Rows to hold next to the file, in its order: all, or some; None where it is not known."""
        return self.codes

    def first_rows(self, most: int) -> NDArray[np.integer] | None:
        """Return the first rows, in the order of the file; None where it is not known."""
        return np.ascontiguousarray(self.codes[:most])

    @property
    def in_order(self) -> NDArray[np.integer]:
        """The `records` sorted by their codes, so independent of the order of rows in a file."""
        counted = self.counts is not None  # then they are in order
        return self.records if counted else self.codes[np.lexsort(self.codes.T[::-1])]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of names, labels and codes, in hexadecimal."""
        head = json.dumps([self.names, self.labels, self.codes.shape])
        content = hashlib.sha256(head.encode())
        content.update(self.codes.astype("<i4").tobytes())
        return content.hexdigest()

    def index(self, name: str) -> int:
        if name in self.names:
            return self.names.index(name)
        raise InputError(unknown_column(name, self.names))

    def select(self, columns: Iterable[str]) -> Table:
        """Return the table of these columns only, in this order."""
        keep = [self.index(name) for name in columns]
        if not keep:
            raise InputError("`columns` must name at least one column")
        heads = self._heads(keep)
        return Table(*heads[:3], self.codes[:, keep], *heads[3:], self.remarks)

    def _heads(self, columns: Sequence[int]) -> Heads:
        names = tuple(self.names[j] for j in columns)
        return (
            names,
            tuple(self.labels[j] for j in columns),
            tuple(self.ordered[j] for j in columns),
            tuple(self.values[j] for j in columns),
            {name: self.notes[name] for name in names if name in self.notes},
            {name: self.readings[name] for name in names if name in self.readings},
        )

    def __repr__(self) -> str:
        return f"Table({self.rows:,} rows, {self.columns} columns: {', '.join(self.names)})"


def unknown_column(name: object, names: Iterable[str]) -> str:
    known = list(names)
    hint = did_you_mean(str(name), known) or f"; the columns are {some_of(known)}"
    return f"there is no column `{name}`{hint}"


def _numbers(labels: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the labels as numbers where all are finite, otherwise their positions."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return np.arange(len(labels), dtype=np.float64)
    if np.isfinite(numbers).all():
        return numbers
    return np.arange(len(labels), dtype=np.float64)
