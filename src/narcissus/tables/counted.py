"""A table with too many people to hold row by row: its distinct records and their counts.

Records are mixed-radix keys, counted in bounded memory as the table is read in parts, and coded as
if it were held whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError, TooLargeError, refuse
from narcissus.observer import Observer
from narcissus.tables.bins import Bins
from narcissus.tables.coding import Coding, coding_of, mixed, reading_of
from narcissus.tables.parts import Parts
from narcissus.tables.spelling import HOW_MISSING, LABELS, ColumnReading, ReadAs
from narcissus.tables.table import Heads, Table, unknown_column
from narcissus.tables.tally import RawColumn, ValueTally

MOST_BYTES = 2**30
"""Most bytes that distinct records may take while they are merged."""
_WAITING = 2**22  # records that are merged at a time
_LATER = 38  # bits of a word that is not the first: what is merged at a time has fewer than 2**26

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Packing:
    """Records of columns with given numbers of values, as one word of 64 bits or several.

    Keys are in the order of the records: by the first column, then the second.
    """

    sizes: tuple[int, ...]  # number of values of each column

    @cached_property
    def words(self) -> list[range]:
        """The columns of each word: as many as fit, with room for a rank in all but the first."""
        words, first, radix = list[range](), 0, 1
        for column, size in enumerate(self.sizes):
            if radix * size > (2**_LATER if words else 2**64):
                words.append(range(first, column))
                first, radix = column, 1
            radix *= size
        return [*words, range(first, len(self.sizes))]

    def pack(self, columns: Sequence[NDArray[np.integer]]) -> Keys:
        """Compute the keys of records, shape (n, words), from columns of shape (n,)."""
        keys = np.zeros((len(columns[0]), len(self.words)), dtype=np.uint64, order="F")
        for word, word_columns in enumerate(self.words):
            for column in word_columns:
                keys[:, word] *= np.uint64(self.sizes[column])
                keys[:, word] += columns[column].astype(np.uint64)
        return keys

    def unpack(self, keys: Keys) -> NDArray[np.unsignedinteger]:
        kind = np.min_scalar_type(max(self.sizes) - 1)
        codes = np.empty((len(keys), len(self.sizes)), dtype=kind, order="F")
        for word, word_columns in zip(keys.T, self.words, strict=True):
            rest = word.copy()
            for column in reversed(word_columns):
                rest, codes[:, column] = np.divmod(rest, np.uint64(self.sizes[column]))
        return codes


def _order(keys: Keys, kind: Literal["quicksort", "stable"]) -> NDArray[np.intp]:
    order = np.argsort(keys[:, 0], kind=kind)
    for word in range(1, keys.shape[1]):
        # the rank among the words before is as good as these, and leaves room for the next
        is_new = np.ones(len(keys), dtype=np.uint64)
        is_new[1:] = (keys[order[1:], :word] != keys[order[:-1], :word]).any(axis=1)
        numbers = np.empty(len(keys), dtype=np.uint64)
        numbers[order] = np.cumsum(is_new) << np.uint64(_LATER)
        numbers += keys[:, word]
        order = np.argsort(numbers, kind=kind)
    return order


def tallied(keys: Keys, counts: Counts | None = None) -> tuple[Keys, Counts]:
    """Return the distinct keys, rising, and how often each comes; by default once each."""
    if keys.shape[1] == 1 and counts is None:
        keys = np.sort(keys, axis=0)
    else:  # sorted runs one after the other are merged in linear time by a stable sort
        order = _order(keys, "quicksort" if counts is None else "stable")
        keys, counts = keys[order], None if counts is None else counts[order]
        del order
    is_new = np.ones(len(keys), dtype=bool)
    is_new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    first = np.flatnonzero(is_new)
    if counts is None:
        return keys[first], np.diff(first, append=len(keys))
    return keys[first], np.add.reduceat(counts, first)


def tallied_columns(
    columns: Sequence[NDArray[np.integer]], sizes: Sequence[int], counts: Counts
) -> tuple[NDArray[np.unsignedinteger], Counts]:
    packing = Packing(tuple(sizes))
    keys, totals = tallied(packing.pack(columns), counts)
    return packing.unpack(keys), totals


class Distinct:
    """The distinct records added so far, and how often each came; ``expected`` rows will come."""

    def __init__(self, sizes: Sequence[int], expected: int) -> None:
        self.expected = expected
        self.packing = Packing(tuple(sizes))
        words = len(self.packing.words)
        each = 24 * words + 40  # as measured: keys, counts and order, before a merge and after
        self.most = MOST_BYTES // each - _WAITING
        self.rows = 0
        self._keys: list[Keys] = []
        self._counts: list[Counts] = []
        self._waiting = 0

    def add(self, columns: Sequence[NDArray[np.integer]]) -> None:
        if not len(columns[0]):
            return
        keys, counts = tallied(self.packing.pack(columns))
        self.rows += len(columns[0])
        self._keys.append(keys)
        self._counts.append(counts)
        self._waiting += len(keys)
        if self._waiting > _WAITING:
            self._merge()

    def records(self) -> tuple[NDArray[np.unsignedinteger], Counts]:
        """Return the distinct records in their order, shape (m, columns), and their counts."""
        self._merge()
        return self.packing.unpack(self._keys[0]), self._counts[0]

    def _merge(self) -> None:
        keys, counts = np.concatenate(self._keys), np.concatenate(self._counts)
        self._keys, self._counts, self._waiting = [], [], 0
        keys, counts = tallied(keys, counts)
        if len(keys) > self.most:
            raise TooLargeError(
                f"the first {self.rows:,} of {self.expected:,} rows have {len(keys):,} distinct "
                f"records of {len(self.packing.sizes)} columns; at most {self.most:,} are counted, "
                f"in {MOST_BYTES / 2**30:.3g} GiB: take coarser bins or fewer columns, "
                "or a sample of the rows"
            )
        self._keys, self._counts = [keys], [counts]


MOST_CELLS = 250_000_000
"""Most cells that are written out, one row a person."""
EXAMINED = 12_000
"""Rows that are kept as they appear in the file: the first ones, and as many that are drawn."""


@dataclass(frozen=True)
class KeptRows:
    """Some rows of a table that is not held, in the order of its file.

    first: Value numbers of the first rows, shape (n, columns).
    places, drawn: Where rows are that were drawn randomly, shape (m,), rising, and their value
        numbers, shape (m, columns).
    """

    first: NDArray[np.int32]
    places: NDArray[np.int64]
    drawn: NDArray[np.int32]

    def select(self, columns: Sequence[int]) -> KeptRows:
        """Return the same rows of these columns only."""
        keep = list(columns)
        return KeptRows(self.first[:, keep], self.places, self.drawn[:, keep])


class RowKeeper:
    """Keeps some of the rows of a table that is read in parts; the same in every reading."""

    def __init__(self, rows: int) -> None:
        many = min(EXAMINED, rows)
        self._first = np.arange(many)
        self._drawn = np.sort(np.random.default_rng(0).choice(rows, many, replace=False))
        self._kept: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        self._rows = 0

    def add(self, columns: Sequence[NDArray[np.integer]]) -> None:
        """Take the next rows, value numbers of each column."""
        here = [
            np.stack([column[rows] for column in columns], axis=1).astype(np.int32)
            for places in (self._first, self._drawn)
            for rows in [within(places, self._rows, len(columns[0]))]
        ]
        self._kept.append((here[0], here[1]))
        self._rows += len(columns[0])

    def rows(self) -> KeptRows:
        """Return what was kept."""
        first, drawn = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        return KeptRows(first, self._drawn, drawn)


def within(places: NDArray[np.int64], start: int, rows: int) -> NDArray[np.int64]:
    """Return which rows of a part are at some of the rising ``places`` of all rows."""
    low, high = np.searchsorted(places, [start, start + rows])
    return places[low:high] - start


class CountedTable(Table):
    """A table without row order: distinct records, and how many people have each.

    It can replace any `Table`. Code that uses `records` and `counts` needs no more memory than
    these; `codes` writes all rows out, if they are not too many. Cell (i, j) of ``records``, which
    are all different, is a position in ``labels[j]``.
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
        remarks: tuple[str, ...] = (),
        sample: KeptRows | None = None,
    ) -> None:
        for name, value in (
            ("names", names),
            ("labels", labels),
            ("ordered", ordered),
            ("values", values),
            ("notes", dict(notes or {})),
            ("readings", dict(readings or {})),
            ("remarks", remarks),
            ("_kept", sample),
        ):
            object.__setattr__(self, name, value)
        matrix, times = np.asarray(records), np.asarray(counts)
        self._settle(matrix, "records")
        is_whole = np.issubdtype(times.dtype, np.integer)
        if times.shape != matrix.shape[:1] or not is_whole or times.min() < 1:
            raise InputError(
                f"`counts` must be a whole number above 0 for each of {len(matrix):,} records"
            )
        kind = np.min_scalar_type(max(self.sizes) - 1)
        codes = np.array(matrix, dtype=kind, order="F")
        people = np.array(times, dtype=np.int64)
        object.__setattr__(self, "_rows", int(people.sum()))
        for name, array in (("_records", codes), ("_counts", people)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    _records: NDArray[np.integer]
    _counts: NDArray[np.int64]
    _rows: int
    _kept: KeptRows | None

    @property
    def places(self) -> NDArray[np.int64] | None:
        return None if self._kept is None else self._kept.places

    @property
    def examined(self) -> NDArray[np.integer] | None:
        return None if self._kept is None else self._kept.drawn

    def first_rows(self, most: int) -> NDArray[np.integer] | None:
        """Return the first rows in the order of the file, those that were kept at most."""
        return None if self._kept is None else self._kept.first[:most]

    @property
    def records(self) -> NDArray[np.integer]:
        return self._records

    @property
    def counts(self) -> NDArray[np.int64]:
        return self._counts

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def codes(self) -> NDArray[np.int32]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All rows, shape (rows, columns), by the order of the records; `TooLargeError` for too
        many.
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
        heads = self._heads(keep)
        sample = None if self._kept is None else self._kept.select(keep)
        return CountedTable(*heads[:3], records, counts, *heads[3:], self.remarks, sample)

    def __repr__(self) -> str:
        return (
            f"CountedTable({self.rows:,} rows, {len(self._counts):,} distinct records, "
            f"{self.columns} columns: {', '.join(self.names)})"
        )


@dataclass(frozen=True)
class Reading:
    """How values become codes, whether a table is held whole or read in parts."""

    bins: Mapping[str, Bins]  # of columns of numbers, by name
    missing: str  # "refuse", "drop" or "category"
    max_values: int  # most labels of a column
    dropped: Sequence[str]  # columns that are left out
    # declared ways to read columns, by name
    read_as: Mapping[str, ReadAs] = field(default_factory=dict[str, ReadAs])
    fewest: int = 2  # labels of a column: 1 where one that tells nobody apart is no mistake

    def check(self, names: Sequence[str]) -> None:
        """Refuse bins, and declared ways of reading, of columns that do not exist."""
        problems: list[InputError] = []
        for argument, named in (("bins", self.bins), ("read_as", self.read_as)):
            for column in [name for name in named if name not in names]:
                is_dropped = column in self.dropped
                reason = "it is dropped" if is_dropped else unknown_column(column, names)
                problems.append(InputError(f"`{argument}` names the column `{column}`: {reason}"))
        refuse(problems)

    def codings(self, name: str, tallies: Sequence[ValueTally]) -> list[Coding]:
        """Code each column's values; raise for all columns at the same time that cannot be used."""
        problems = _missing(name, tallies) if self.missing == "refuse" else []
        if self.missing == "drop" and tallies[0].rows == 0:
            raise InputError(f"every row of {name} has a missing value: drop a column instead")
        codings: list[Coding] = []
        for tally in tallies:
            bins, read_as = self.bins.get(tally.name), self.read_as.get(tally.name)
            try:
                codings.append(coding_of(tally, bins, self.max_values, read_as, self.fewest))
            except InputError as error:
                problems.append(error)
        refuse(problems)
        return codings

    def heads(self, tallies: Sequence[ValueTally], codings: Sequence[Coding]) -> Heads:
        """Return what a table holds of its columns, warnings of mixed ones included."""
        both = list(zip(tallies, codings, strict=True))
        notes = {
            t.name: mixed(t, c, self.bins.get(t.name), of_files=self.read_as.get(t.name) == LABELS)
            for t, c in both
        }
        return (
            tuple(t.name for t in tallies),
            tuple(c.labels for c in codings),
            tuple(c.values is not None for c in codings),
            tuple(c.values for c in codings),
            {name: text for name, text in notes.items() if text},
            {t.name: reading_of(t, c.spelled, c.settled) for t, c in both},
        )


def complete(part: Sequence[RawColumn]) -> list[RawColumn]:
    """Leave out the rows with missing values."""
    keep = ~np.logical_or.reduce([column.gaps for column in part])
    return [RawColumn(c.name, c.distinct, c.codes[keep]) for c in part]


def count_records(parts: Parts, reading: Reading, observer: Observer) -> CountedTable:
    """Read a table twice: its values, column by column, then its records."""
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
    keeper = RowKeeper(tallies[0].rows)
    for part in _told(parts, reading, tallies[0].rows, "records", observer):
        try:
            coded = [
                coding.codes[tally.places(column)][column.codes]
                for coding, tally, column in zip(codings, tallies, part, strict=True)
            ]
        except KeyError:
            raise _changed(parts.name) from None
        distinct.add(coded)
        keeper.add(coded)
    if distinct.rows != tallies[0].rows:
        raise _changed(parts.name)
    records, counts = distinct.records()
    observer.note(f"{parts.name}: {distinct.rows:,} rows, {len(records):,} distinct records")
    heads = reading.heads(tallies, codings)
    remarks, sample = tuple(parts.remarks), keeper.rows()
    return CountedTable(*heads[:3], records, counts, *heads[3:], remarks, sample)


def _told(
    parts: Parts, reading: Reading, rows: int | None, what: str, observer: Observer
) -> Iterator[list[RawColumn]]:
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


def _missing(name: str, tallies: Sequence[ValueTally]) -> list[InputError]:
    texts: list[str] = []
    for tally in tallies:
        if tally.missing:
            first = ", ".join(str(row + 1) for row in tally.gaps)
            first += ", ..." if tally.missing > len(tally.gaps) else ""
            texts.append(f"{tally.missing:,} in `{tally.name}` (row {first})")
    if not texts:
        return []
    shown = "; ".join(texts[:5]) + (f"; and {len(texts) - 5} more columns" * (len(texts) > 5))
    below = "rows counted from 1 below the header"
    return [InputError(f"{name} has missing values: {shown} ({below}): {HOW_MISSING}")]
