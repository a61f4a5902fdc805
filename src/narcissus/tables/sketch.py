"""Sketches of the columns of a table, from a pass over all rows or the first of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from narcissus._pandas import is_frame, pd
from narcissus._validation import integer
from narcissus.observer import SILENT, Observer
from narcissus.tables.parts import column_names, open_parts
from narcissus.tables.tally import RawColumn, ValueTally

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
    """Sketches of the columns of a table."""

    source: str  # a path or a packaged table's name; "" for a data frame
    rows: int  # number of rows examined, the first ones
    all_rows: int | None  # None where there are more than ``rows``, of unknown number
    # those with a name that were not left out, in the table's order
    columns: tuple[ColumnSketch, ...]
    left_out: tuple[str, ...]  # columns skipped on request
    unnamed: int  # number of columns without a name

    @property
    def is_whole(self) -> bool:
        """Whether all rows were examined."""
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

    ``source`` is as for `read_table`. A part that was begun is examined whole. Raises `InputError`
    for a table that cannot be read, has no rows, or lacks a column of ``drop``; `TooLargeError` for
    one beyond the limits of `read_table`.
    """
    most = integer("rows", rows, low=1)
    names = column_names(source)
    unnamed = names.count("")
    left_out = [*drop, *[""] * (unnamed > 0)]
    parts = open_parts(source, None, left_out, LARGEST_TABLE)
    observer.note(f"looking at the columns of {parts.name}")
    columns: list[ColumnSketch] = []
    seen, ended = 0, True
    with closing(cast(Any, parts.read())) as read:
        for part in cast("Iterator[list[RawColumn]]", read):
            if seen >= most:
                ended = False
                break
            columns = columns or [ColumnSketch(column.name) for column in part]
            for column, found in zip(columns, part, strict=True):
                column.add(found)
            seen += len(part[0].codes)
            observer.note(f"{seen:,} rows") if seen % 2**20 == 0 else None
    name = "" if is_frame(source) else str(source)
    return TableSketch(
        name, seen, seen if ended else parts.rows, tuple(columns), tuple(drop), unnamed
    )


def share_of_most(counts: Sequence[int]) -> float:
    return float(np.max(counts) / np.sum(counts))
