"""Tables read in parts, a few of their many rows at a time, and sketches of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from narcissus._files import WORTH, file_size, is_packed
from narcissus._pandas import pd
from narcissus._parquet import parquet_parts, read_footer
from narcissus._validation import integer
from narcissus.errors import InputError, TooLargeError
from narcissus.observer import SILENT, Observer
from narcissus.tables.sources import (
    MAX_BYTES,
    MOST_CELLS,
    TableSource,
    chooser,
    factorized,
    frame_columns,
    index_names,
    is_parquet,
    located,
    parquet_columns,
    too_many_rows,
    with_index,
)
from narcissus.tables.tally import RawColumn, ValueTally, joined
from narcissus.tables.text import opened_text, text_parts

CELLS_A_ROW = 20
"""Most cells that are read, for each row that may be."""
KEPT = 2**28
"""Bytes of parsed columns up to which they are kept for a second reading."""
_A_VALUE = 100  # bytes of memory of a text
_CHUNK = 2**22  # cells of a data frame or a Parquet file that are looked at at a time


class Parts:
    """A table that can be read again and again, some rows at a time.

    What was parsed is kept as long as it is small, so that it is parsed once.
    """

    def __init__(
        self,
        name: str,
        rows: int | None,
        read: Callable[[], Iterator[list[RawColumn]]],
        remarks: list[str],
        *,
        is_held: bool = False,
        may_be_held: bool = True,
    ) -> None:
        self.name = name  # for messages
        self.rows = rows  # None where unknown before they are read
        self.remarks = remarks  # how it was read, complete when it was
        self._read = read
        self._may_be_held = may_be_held
        self._kept: list[list[RawColumn]] | None = None if is_held else []
        self._size = 0
        self._source: Iterator[list[RawColumn]] | None = None

    def read(self) -> Iterator[list[RawColumn]]:
        """Yield the kept columns, the next rows of each."""
        if self._kept is None:
            yield from self._read()
            return
        at = 0
        source = self._source = self._source or self._read()
        while True:
            parts = self._kept or []  # it may be given up meanwhile
            if at < len(parts):
                part = parts[at]
            elif (part := next(source, None)) is None:
                return
            else:
                self._keep(part)
            at += 1
            yield part

    def _keep(self, part: list[RawColumn]) -> None:
        self._size += sum(c.codes.nbytes + _A_VALUE * len(c.distinct) for c in part)
        if self._kept is not None and self._size <= KEPT:
            self._kept.append(part)
        else:
            self._kept = self._source = None  # whoever reads has the source

    def whole(self, most: int) -> list[RawColumn] | None:
        """Return all rows of the kept columns; None if there are more than ``most``, or too large.

        Too large to be held is what has more than `MOST_CELLS`, or 1 GiB of file.
        """
        if not self._may_be_held or max(self.rows or 0, 1) > most:
            return None
        parts: list[list[RawColumn]] = []
        rows = 0
        for part in self.read():
            rows += len(part[0].codes)
            if rows > most or rows * len(part) > MOST_CELLS:
                return None
            parts.append(part)
        return [joined(columns) for columns in zip(*parts, strict=True)]


@dataclass(frozen=True)
class Opened:
    """All rows of a table's kept columns."""

    name: str  # for messages
    columns: list[RawColumn]
    remarks: list[str]  # how it was read


def open_source(
    source: Any,
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
    *,
    unnamed: bool = False,
    is_as_written: bool = False,
) -> Opened:
    """Read the kept columns of a source as a whole; TooLargeError beyond the limits."""
    parts = open_parts(source, choose, drop, max_rows, unnamed=unnamed, is_as_written=is_as_written)
    columns = parts.whole(max_rows)
    if columns is None:
        raise TooLargeError(
            f"{parts.name} is too large to be held: it has more than {MOST_CELLS:,} cells in the "
            f"columns that are kept, or than {MAX_BYTES:,} bytes: drop columns, or give a sample "
            "of the rows"
        )
    return Opened(parts.name, columns, parts.remarks)


def open_parts(
    source: Any,
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
    *,
    unnamed: bool = False,
    is_as_written: bool = False,
) -> Parts:
    """Open a source, to be read in parts or as a whole.

    unnamed: Read columns without a name as well, and the index that pandas stored in a file.
    is_as_written: Keep the cells of a text as they are written.
    """
    name, path, remarks = located(source)
    if not isinstance(path, Path):
        path = with_index(path) if unnamed and isinstance(source, str | Path) else path
        places = frame_columns(name, path, choose, drop, unnamed=unnamed)
        return _of_frame(name, path, places, max_rows, remarks)
    if is_parquet(path):
        return _of_parquet(path, choose, drop, max_rows, unnamed)
    choosing = chooser(name, choose, drop, unnamed=unnamed)
    how = {"remarks": remarks, "is_as_written": is_as_written}
    read = partial(text_parts, path, choosing, largest=_most_bytes(path), **how)
    limited = partial(_limited, name, read, max_rows)
    return Parts(name, None, limited, remarks, may_be_held=_is_small(path))


def lines_of(path: Path, wanted: Sequence[tuple[int, int]]) -> list[str]:
    """Return the lines of a text, or of a sheet as text, from each first to each last, from 1."""
    lines: list[str] = []
    with opened_text(path, _most_bytes(path), []) as stream:
        for number, line in enumerate(stream, start=1):
            if any(first <= number <= last for first, last in wanted):
                lines.append(line.decode("utf-8", "replace"))
    return lines


def _is_small(path: Path) -> bool:
    return file_size(path, largest=2**63) <= MAX_BYTES


def _most_bytes(path: Path) -> int:
    size = file_size(path, largest=2**63)
    return max(MAX_BYTES, WORTH * size if is_packed(path) else size)


def column_names(source: Any) -> list[str]:
    """Return the names of all columns of a source of `read_table`, empty ones included."""
    _, path, _ = located(source)
    if not isinstance(path, Path):
        return [str(column) for column in path.columns]
    if is_parquet(path):
        footer = read_footer(path)
        return [name for name in footer.names if name not in footer.index]
    about = path.stat()
    return list(_names_in_text(path, about.st_ino, about.st_size, about.st_mtime_ns))


@lru_cache(maxsize=16)
def _names_in_text(path: Path, *_: int) -> tuple[str, ...]:
    """Return the names of the columns of a text; a file that was changed is read again."""
    columns: list[str] = []

    def choose(names: list[str]) -> Sequence[int]:
        columns.extend(names)
        return ()

    with closing(text_parts(path, choose, largest=_most_bytes(path))) as parts:
        next(parts)
    return tuple(columns)


def names_with_index(source: Any) -> list[str]:
    """Return the names of all columns of a source, and of the index that pandas stored in it."""
    _, path, _ = located(source)
    if not isinstance(path, Path):
        names = [str(column) for column in path.columns]
        return [*names, *(index_names(path) if isinstance(source, str | Path) else ())]
    return list(read_footer(path).names) if is_parquet(path) else column_names(source)


def _limited(
    name: str, read: Callable[[], Iterator[list[RawColumn]]], max_rows: int
) -> Iterator[list[RawColumn]]:
    rows = 0
    for part in read():
        rows += len(part[0].codes)
        if rows > max_rows:
            raise too_many_rows(name, max_rows)
        _require_few_cells(name, rows, len(part), max_rows)
        yield part


def _require_few_cells(name: str, rows: int, columns: int, max_rows: int) -> None:
    if rows * columns > CELLS_A_ROW * max_rows:
        raise TooLargeError(
            f"{name} has {rows * columns:,} cells in the columns that are kept, or more; at most "
            f"{CELLS_A_ROW * max_rows:,} are read: drop columns, give a sample of the rows, or "
            f"raise `max_rows`, of which there may be {CELLS_A_ROW} times as many cells"
        )


def _of_frame(
    name: str,
    frame: pd.DataFrame,
    kept: Sequence[int],
    max_rows: int,
    remarks: list[str],
) -> Parts:
    if len(frame) > max_rows:
        raise too_many_rows(name, max_rows, len(frame))
    step = max(1, _CHUNK // len(kept))

    def read() -> Iterator[list[RawColumn]]:
        for start in range(0, len(frame), step):
            yield factorized(name, frame.iloc[start : start + step], kept)

    return Parts(name, len(frame), read, remarks, is_held=True)


def _of_parquet(
    path: Path, choose: Sequence[str] | None, drop: Sequence[str], max_rows: int, unnamed: bool
) -> Parts:
    name = str(path)
    footer = read_footer(path)
    places = chooser(name, choose, drop, unnamed=unnamed)(list(footer.names))
    names = [footer.names[j] for j in places]
    if footer.rows > max_rows:
        raise too_many_rows(name, max_rows, footer.rows)
    if footer.rows == 0:
        raise InputError(f"{name} holds no rows")
    _require_few_cells(name, footer.rows, len(names), max_rows)
    step = max(1, _CHUNK // len(names))

    def read() -> Iterator[list[RawColumn]]:
        for frame in parquet_parts(path, names, step, largest=MAX_BYTES, plain=unnamed):
            columns = parquet_columns(name, frame, names, choose, unnamed=unnamed)
            yield factorized(name, frame, columns)

    return Parts(name, footer.rows, read, [], may_be_held=_is_small(path))


ROWS = 1_000_000
"""Most rows that are looked at, unless more are asked for."""
REMEMBERED = 100_000
"""Different values of a column from which on no further ones are looked for."""
LARGEST_TABLE = 200_000_000
"""Most rows that `read_table` reads, unless more are asked for."""


class ColumnSketch:
    """The tally of a column over the rows examined."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tally = ValueTally(name)
        self.is_whole = True  # else too many values: the tally ends early, at its ``rows``

    def add(self, part: RawColumn) -> None:
        if len(self.tally.values) < REMEMBERED:
            self.tally.add(part)
        else:
            self.is_whole = False

    @property
    def people(self) -> int:
        """Number of people examined that have a value."""
        return self.tally.rows - self.tally.missing


@dataclass(frozen=True)
class TableSketch:
    source: str  # a path or a packaged table's name; "" for a data frame
    rows: int  # number of rows examined, the first ones
    all_rows: int | None  # None where there are more than ``rows``, of unknown number
    # those with a name that were not left out, in the table's order
    columns: tuple[ColumnSketch, ...]
    left_out: tuple[str, ...]  # columns skipped on request
    unnamed: int  # number of columns without a name
    remarks: tuple[str, ...] = ()  # what was left out of the file, or read otherwise
    head: tuple[RawColumn, ...] = ()  # the first rows of the columns, as many as a part has

    @property
    def is_whole(self) -> bool:
        return self.rows == self.all_rows

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def sketch_table(
    source: TableSource, *, drop: Sequence[str] = (), rows: int = ROWS, observer: Observer = SILENT
) -> TableSketch:
    """Examine the values of every column of a table, in at most the first ``rows`` rows.

    ``source`` is as for `read_table`. A part that was begun is examined whole.
    """
    limit = integer("rows", rows, low=1)
    names = column_names(source)
    unnamed = names.count("")
    left_out = [*drop, *[""] * (unnamed > 0)]
    parts = open_parts(source, None, left_out, LARGEST_TABLE)
    observer.note(f"looking at the columns of {parts.name}")
    columns: list[ColumnSketch] = []
    head: tuple[RawColumn, ...] = ()
    seen, ended = 0, True
    with closing(cast(Any, parts.read())) as read:
        for part in cast("Iterator[list[RawColumn]]", read):
            if seen >= limit:
                ended = False
                break
            head = head or tuple(part)
            columns = columns or [ColumnSketch(column.name) for column in part]
            for column, raw_column in zip(columns, part, strict=True):
                column.add(raw_column)
            seen += len(part[0].codes)
            observer.note(f"{seen:,} rows") if seen % 2**20 == 0 else None
    name = str(source) if isinstance(source, str | Path) else ""
    there, remarks = seen if ended else parts.rows, tuple(parts.remarks)
    return TableSketch(name, seen, there, tuple(columns), tuple(drop), unnamed, remarks, head)


def share_of_most(counts: Sequence[float]) -> float:
    return float(np.max(counts) / np.sum(counts))
