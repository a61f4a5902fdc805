"""Sketches: what the columns of a table hold, from a pass over its rows or the first of them."""

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
    """What is known of a column.

    Attributes
    ----------
    name
        Of the column.
    tally
        Its values and how many people have each, in the rows that were looked at.
    is_whole
        Whether ``tally`` is about all rows of the sketch: not where its values are too many to be
        remembered; then it ends early, and ``tally.rows`` says where.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.tally = ValueTally(name)
        self.is_whole = True

    def add(self, part: RawColumn) -> None:
        """Look at further rows."""
        if len(self.tally.values) < REMEMBERED:
            self.tally.add(part)
        else:
            self.is_whole = False

    @property
    def people(self) -> int:
        """How many people with a value were looked at."""
        return self.tally.rows - self.tally.missing


@dataclass(frozen=True)
class TableSketch:
    """What is known of a table.

    Attributes
    ----------
    source
        What it was read from: a path or a packaged table's name; "" for a data frame.
    rows
        Rows that were looked at, the first ones.
    all_rows
        Rows that there are; None where more than ``rows``, and nobody knows before they are read.
    columns
        Those with a name that were not left out, in the table's order.
    left_out
        Columns that were not looked at, because that was asked for.
    unnamed
        How many columns have no name.
    """

    source: str
    rows: int
    all_rows: int | None
    columns: tuple[ColumnSketch, ...]
    left_out: tuple[str, ...]
    unnamed: int

    @property
    def is_whole(self) -> bool:
        """Whether all rows were looked at."""
        return self.rows == self.all_rows

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]


def sketch_table(
    source: Path | str | pd.DataFrame,
    *,
    drop: Sequence[str] = (),
    rows: int = ROWS,
    observer: Observer = SILENT,
) -> TableSketch:
    """Look at the values of every column of a table.

    Parameters
    ----------
    source
        As for `read_table`.
    drop
        Columns that are not looked at.
    rows
        Most rows that are looked at, from the first; a part that was begun is looked at whole.
    observer
        Hears of the rows.

    Raises
    ------
    InputError
        The table cannot be read, has no rows, or there is no such column.
    TooLargeError
        It is beyond what `read_table` takes.
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
    """Give the share of people that have the most common value."""
    return float(np.max(counts) / np.sum(counts))
