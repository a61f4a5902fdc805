"""A table with too many people to hold row by row: its distinct records and their counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError, TooLargeError
from narcissus.tables.packing import tallied_columns
from narcissus.tables.spelling import ColumnReading
from narcissus.tables.table import Table

MOST_CELLS = 250_000_000
"""Most cells that are written out, one row a person."""


class CountedTable(Table):
    """A table without row order: distinct records, and how many people have each.

    It can replace any `Table`. Code that uses `records` and `counts` needs no more memory than
    these; `codes` writes all rows out, if they are not too many.

    Parameters
    ----------
    names, labels, ordered, values, notes, readings
        As of a `Table`.
    records
        Shape (records, columns), all different; cell (i, j) is a position in ``labels[j]``.
    counts
        People with each record, shape (records,), above 0.

    Raises
    ------
    InputError
        The parts do not fit together.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        labels: tuple[tuple[str, ...], ...],
        ordered: tuple[bool, ...],
        records: NDArray[np.integer],
        counts: NDArray[np.int64],
        values: tuple[NDArray[np.float64] | None, ...] = (),
        notes: Mapping[str, str] | None = None,
        readings: Mapping[str, ColumnReading] | None = None,
    ) -> None:
        for name, value in (
            ("names", names),
            ("labels", labels),
            ("ordered", ordered),
            ("values", values),
            ("notes", dict(notes or {})),
            ("readings", dict(readings or {})),
        ):
            object.__setattr__(self, name, value)
        given, times = np.asarray(records), np.asarray(counts)
        self._settle(given, "records")
        is_whole = np.issubdtype(times.dtype, np.integer)
        if times.shape != given.shape[:1] or not is_whole or times.min() < 1:
            raise InputError(
                f"`counts` must be a whole number above 0 for each of {len(given):,} records"
            )
        kind = np.min_scalar_type(max(self.sizes) - 1)
        kept = np.array(given, dtype=kind, order="F")
        people = np.array(times, dtype=np.int64)
        object.__setattr__(self, "_rows", int(people.sum()))
        for name, array in (("_records", kept), ("_counts", people)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    _records: NDArray[np.integer]
    _counts: NDArray[np.int64]
    _rows: int

    @property
    def records(self) -> NDArray[np.integer]:
        """The distinct records, shape (records, columns), in the smallest type that holds them."""
        return self._records

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of people with each record, shape (records,)."""
        return self._counts

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def codes(self) -> NDArray[np.int32]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All rows, shape (rows, columns), by the order of the records.

        Raises
        ------
        TooLargeError
            They are too many to be written out.
        """
        if self.rows * self.columns > MOST_CELLS:
            raise TooLargeError(
                f"{self.rows:,} rows of {self.columns} columns are "
                f"{4 * self.rows * self.columns / 1e9:.1f} GB when they are written out; at most "
                f"{4 * MOST_CELLS / 1e9:.1f} GB are: draw fewer people from the table, "
                "take fewer columns, or a sample of the rows"
            )
        return np.repeat(self._records.astype(np.int32), self._counts, axis=0)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of names, labels, records and counts, in hexadecimal."""
        head = json.dumps([self.names, self.labels, self._records.shape, "counted"])
        content = hashlib.sha256(head.encode())
        for column in self._records.T:
            content.update(column.astype(f"<u{column.itemsize}").tobytes())
        content.update(self._counts.astype("<i8").tobytes())
        return content.hexdigest()

    def select(self, columns: Iterable[str]) -> CountedTable:
        """Return the table of these columns only, in this order, with its own distinct records."""
        keep = [self.index(name) for name in columns]
        if not keep:
            raise InputError("`columns` must name at least one column")
        records, counts = tallied_columns(
            [self._records[:, j] for j in keep], [self.sizes[j] for j in keep], self._counts
        )
        return CountedTable(
            tuple(self.names[j] for j in keep),
            tuple(self.labels[j] for j in keep),
            tuple(self.ordered[j] for j in keep),
            records,
            counts,
            tuple(self.values[j] for j in keep),
            *self._told_of(keep),
        )

    def __repr__(self) -> str:
        return (
            f"CountedTable({self.rows:,} rows, {len(self._counts):,} distinct records, "
            f"{self.columns} columns: {', '.join(self.names)})"
        )
