"""Counts of the distinct records of a table read in parts, coded as if it were held whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus.tables.bins import Bins
from narcissus.tables.coding import Coding, coding_of, mixed, reading_of
from narcissus.tables.counted import CountedTable
from narcissus.tables.packing import Distinct
from narcissus.tables.parts import Parts
from narcissus.tables.spelling import LABELS, ReadAs
from narcissus.tables.table import unknown_column
from narcissus.tables.tally import RawColumn, ValueTally


@dataclass(frozen=True)
class Reading:
    """How values become codes, whether a table is held whole or read in parts."""

    bins: Mapping[str, Bins]  # of columns of numbers, by name
    missing: str  # "refuse", "drop" or "category"
    max_values: int  # most labels of a column
    dropped: Sequence[str]  # columns that are left out
    # declared ways to read columns, by name
    read_as: Mapping[str, ReadAs] = field(default_factory=dict[str, ReadAs])

    def check(self, names: Sequence[str]) -> None:
        """Refuse bins, and declared ways of reading, of columns that do not exist."""
        for argument, named in (("bins", self.bins), ("read_as", self.read_as)):
            for column in [name for name in named if name not in names]:
                is_dropped = column in self.dropped
                reason = "it is dropped" if is_dropped else unknown_column(column, names)
                raise InputError(f"`{argument}` names the column `{column}`: {reason}")

    def codings(self, name: str, tallies: Sequence[ValueTally]) -> list[Coding]:
        """Code each column's values; raise where the table cannot be used."""
        if self.missing == "refuse":
            _refuse_missing(name, tallies)
        if self.missing == "drop" and tallies[0].rows == 0:
            raise InputError(f"every row of {name} has a missing value: drop a column instead")
        return [
            coding_of(tally, self.bins.get(name), self.max_values, self.read_as.get(name))
            for tally in tallies
            for name in (tally.name,)
        ]

    def notes(self, tallies: Sequence[ValueTally], codings: Sequence[Coding]) -> dict[str, str]:
        """Return the warnings about columns mostly of numbers that are read as text, by name."""
        found = {
            t.name: mixed(t, c, self.bins.get(t.name), of_files=self.read_as.get(t.name) == LABELS)
            for t, c in zip(tallies, codings, strict=True)
        }
        return {name: text for name, text in found.items() if text}


def complete(part: Sequence[RawColumn]) -> list[RawColumn]:
    """Leave out the rows with missing values."""
    keep = ~np.logical_or.reduce([column.gaps for column in part])
    return [RawColumn(c.name, c.distinct, c.codes[keep]) for c in part]


def count_records(parts: Parts, reading: Reading, observer: Observer) -> CountedTable:
    """Read a table twice: its values, column by column, then its records.

    Raises `InputError` as for a table held whole, or where the file changed in between, and
    `TooLargeError` for too many different values or records.
    """
    tallies: list[ValueTally] = []
    for part in _told(parts, reading, parts.rows, "values", observer):
        if not tallies:
            reading.check([column.name for column in part])
            tallies = [ValueTally(column.name) for column in part]
        for tally, column in zip(tallies, part, strict=True):
            tally.add(column)
            tally.require_room()
    codings = reading.codings(parts.name, tallies)
    distinct = Distinct([len(coding.labels) for coding in codings], tallies[0].rows)
    for part in _told(parts, reading, tallies[0].rows, "records", observer):
        try:
            distinct.add(
                [
                    coding.codes[tally.places(column)][column.codes]
                    for coding, tally, column in zip(codings, tallies, part, strict=True)
                ]
            )
        except KeyError:
            raise _changed(parts.name) from None
    if distinct.rows != tallies[0].rows:
        raise _changed(parts.name)
    records, counts = distinct.records()
    observer.note(f"{parts.name}: {distinct.rows:,} rows, {len(records):,} distinct records")
    return CountedTable(
        names=tuple(tally.name for tally in tallies),
        labels=tuple(coding.labels for coding in codings),
        ordered=tuple(coding.values is not None for coding in codings),
        records=records,
        counts=counts,
        values=tuple(coding.values for coding in codings),
        notes=reading.notes(tallies, codings),
        readings={
            t.name: reading_of(t, c.spelled, c.settled)
            for t, c in zip(tallies, codings, strict=True)
        },
    )


def _told(
    parts: Parts, reading: Reading, rows: int | None, what: str, observer: Observer
) -> Iterator[list[RawColumn]]:
    """Yield the parts, and report how many rows have been read."""
    if rows is None:
        observer.note(f"counting the rows of {parts.name}")
    else:
        observer.start(f"rows of {parts.name}, {what}", rows)
    for part in parts.read():
        yield complete(part) if reading.missing == "drop" else part
        if rows is not None:
            observer.advance(len(part[0].codes))
    if rows is not None:
        observer.finish()


def _changed(name: str) -> InputError:
    return InputError(f"{name} was changed while it was read: read it again")


def _refuse_missing(name: str, tallies: Sequence[ValueTally]) -> None:
    found: list[str] = []
    for tally in tallies:
        if tally.missing:
            first = ", ".join(str(row + 1) for row in tally.gaps)
            first += ", ..." if tally.missing > len(tally.gaps) else ""
            found.append(f"{tally.missing:,} in `{tally.name}` (row {first})")
    if found:
        shown = "; ".join(found[:5]) + (f"; and {len(found) - 5} more columns" * (len(found) > 5))
        raise InputError(
            f"{name} has missing values: {shown} (rows counted from 1 below the header). "
            "Leave those rows out with missing = 'drop', make them a value of their own with "
            "missing = 'category', or drop the column"
        )
