"""Tables read in parts, with a few of their many rows in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from narcissus._files import WORTH, file_size
from narcissus._pandas import is_frame, pd
from narcissus._parquet import parquet_parts, read_footer
from narcissus.errors import InputError, TooLargeError
from narcissus.tables.sources import (
    MAX_BYTES,
    chooser,
    factorized,
    frame_columns,
    is_parquet,
    packaged,
    parquet_columns,
    text_parts,
    too_many_rows,
)
from narcissus.tables.tally import RawColumn

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
    """Open a source that `open_source` found too large to be held.

    Raises `TooLargeError` for more than ``max_rows`` rows (before reading, where their number is
    known), too many cells, or too much memory at a time.
    """
    if isinstance(source, str) and source.startswith("statsmodels:"):
        return _of_frame(source, packaged(source), choose, drop, max_rows)
    if is_frame(source):
        return _of_frame("the data frame", source, choose, drop, max_rows)
    path = Path(source)
    if is_parquet(path):
        return _of_parquet(path, choose, drop, max_rows)
    is_packed = path.name.lower().endswith(".gz")
    size = file_size(path, largest=2**63)
    largest = max(MAX_BYTES, WORTH * size) if is_packed else max(MAX_BYTES, size)
    read = partial(text_parts, path, chooser(str(path), choose, drop), largest=largest)
    return Parts(str(path), None, partial(_limited, str(path), read, max_rows))


def column_names(source: Any) -> list[str]:
    """Return the names of all columns of a source of `read_table`, empty ones included."""
    if isinstance(source, str) and source.startswith("statsmodels:"):
        source = packaged(source)
    if is_frame(source):
        return [str(column) for column in source.columns]
    path = Path(source)
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
    """Read parts until there are too many rows."""
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
