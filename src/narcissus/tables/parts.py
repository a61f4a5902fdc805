"""Tables read in parts, a few of their many rows at a time, and sketches of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from narcissus._files import WORTH, file_size
from narcissus._pandas import is_frame, pd
from narcissus._parquet import parquet_parts, read_footer
from narcissus._validation import integer
from narcissus.errors import InputError, TooLargeError
from narcissus.observer import SILENT, Observer
from narcissus.tables.sources import (
    MAX_BYTES,
    chooser,
    factorized,
    frame_columns,
    is_parquet,
    located,
    parquet_columns,
    text_parts,
    too_many_rows,
)
from narcissus.tables.tally import RawColumn, ValueTally

CELLS_A_ROW = 20
"""Most cells that are read, for each row that may be."""
_CHUNK = 2**22  # cells of a data frame or a Parquet file that are looked at at a time


@dataclass(frozen=True)
class Parts:
    """A table that can be read again and again, some rows at a time."""

    name: str  # for messages
    rows: int | None  # None where unknown before they are read
    read: Callable[[], Iterator[list[RawColumn]]]  # yields the kept columns, the next rows of each


def open_parts(
    source: Any, choose: Sequence[str] | None, drop: Sequence[str], max_rows: int
) -> Parts:
    """Open a source that `open_source` found too large to be held."""
    name, path = located(source)
    if not isinstance(path, Path):
        return _of_frame(name, path, choose, drop, max_rows)
    if is_parquet(path):
        return _of_parquet(path, choose, drop, max_rows)
    is_packed = path.name.lower().endswith(".gz")
    size = file_size(path, largest=2**63)
    largest = max(MAX_BYTES, WORTH * size) if is_packed else max(MAX_BYTES, size)
    read = partial(text_parts, path, chooser(name, choose, drop), largest=largest)
    return Parts(name, None, partial(_limited, name, read, max_rows))


def column_names(source: Any) -> list[str]:
    """Return the names of all columns of a source of `read_table`, empty ones included."""
    _, path = located(source)
    if not isinstance(path, Path):
        return [str(column) for column in path.columns]
    if is_parquet(path):
        return list(read_footer(path).names)
    found: list[str] = []

    def choose(names: list[str]) -> Sequence[int]:
        found.extend(names)
        return ()

    largest = max(MAX_BYTES, WORTH * file_size(path, largest=2**63))
    with closing(text_parts(path, choose, largest=largest)) as parts:
        next(parts)
    return found


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
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
) -> Parts:
    kept = frame_columns(name, frame, choose, drop)
    if len(frame) > max_rows:
        raise too_many_rows(name, max_rows, len(frame))
    step = max(1, _CHUNK // len(kept))

    def read() -> Iterator[list[RawColumn]]:
        for start in range(0, len(frame), step):
            yield factorized(name, frame.iloc[start : start + step], kept)

    return Parts(name, len(frame), read)


def _of_parquet(
    path: Path, choose: Sequence[str] | None, drop: Sequence[str], max_rows: int
) -> Parts:
    name = str(path)
    footer = read_footer(path)
    kept = [footer.names[j] for j in chooser(name, choose, drop)(list(footer.names))]
    if footer.rows > max_rows:
        raise too_many_rows(name, max_rows, footer.rows)
    if footer.rows == 0:
        raise InputError(f"{name} holds no rows")
    _require_few_cells(name, footer.rows, len(kept), max_rows)
    step = max(1, _CHUNK // len(kept))

    def read() -> Iterator[list[RawColumn]]:
        for frame in parquet_parts(path, kept, step, largest=MAX_BYTES):
            yield factorized(name, frame, parquet_columns(name, frame, kept, choose))

    return Parts(name, footer.rows, read)


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
    head: tuple[RawColumn, ...] = ()  # the first rows of the columns, as many as a part has

    @property
    def is_whole(self) -> bool:
        return self.rows == self.all_rows

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def sketch_table(
    source: Path | str | pd.DataFrame,
    *,
    drop: Sequence[str] = (),
    rows: int = ROWS,
    observer: Observer = SILENT,
) -> TableSketch:
    """Examine the values of every column of a table, in at most the first ``rows`` rows.

    ``source`` is as for `read_table`. A part that was begun is examined whole.
    """
    most = integer("rows", rows, low=1)
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
            if seen >= most:
                ended = False
                break
            head = head or tuple(part)
            columns = columns or [ColumnSketch(column.name) for column in part]
            for column, found in zip(columns, part, strict=True):
                column.add(found)
            seen += len(part[0].codes)
            observer.note(f"{seen:,} rows") if seen % 2**20 == 0 else None
    name = "" if is_frame(source) else str(source)
    there = seen if ended else parts.rows
    return TableSketch(name, seen, there, tuple(columns), tuple(drop), unnamed, head)


def share_of_most(counts: Sequence[int]) -> float:
    return float(np.max(counts) / np.sum(counts))
