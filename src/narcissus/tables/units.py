"""Tables in which a person or household has several rows: one row of each is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.tables.bins import Bins
from narcissus.tables.counted import Reading, complete
from narcissus.tables.parts import open_source
from narcissus.tables.read import MissingPolicy, checked_bins, held
from narcissus.tables.sources import TableSource
from narcissus.tables.spelling import ReadAs
from narcissus.tables.table import Table, unknown_column
from narcissus.tables.tally import RawColumn, plain_name


def read_one_of_each(
    source: TableSource,
    unit: str,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    bins: Mapping[str, Bins] | None = None,
    missing: MissingPolicy = "refuse",
    read_as: Mapping[str, ReadAs] | None = None,
    max_rows: int = 200_000_000,
) -> Table:
    """Read a table of people, and keep one row of each person or household.

    The row is drawn at random, always the same one, in whatever order rows stand.

    unit: The column that names them; it is no column of the table.
    source, columns, drop, bins, missing, read_as, max_rows: As for `read_table`.

    InputError, TooLargeError: The table cannot be used, or is too large to be held.

    >>> read_one_of_each({"house": [1, 1, 2], "age": [30, 40, 50]}, "house").rows
    2
    """
    if isinstance(source, Table):
        raise InputError("`unit` says how to read a file: a Table has been read already")
    wanted = None if columns is None else list(dict.fromkeys([*columns, unit]))
    left = [name for name in drop if name != unit]
    opened = open_source(source, wanted, left, max_rows)
    raw = complete(opened.columns) if missing == "drop" else opened.columns
    by_name = {column.name: column for column in raw}
    if unit not in by_name:
        raise InputError(f"`unit`: {unknown_column(unit, by_name)}")
    own = by_name.pop(unit)
    if not by_name:
        raise InputError(f"{opened.name} has no column beside the unit `{unit}`")
    kept, many = one_of_each(list(by_name.values()), own), len(own.codes)
    remark = (
        f"One row of each `{unit}` is kept, drawn at random: {len(kept):,} of {many:,} rows. What "
        "is found and proved is about a release of these rows"
    )
    rows = [RawColumn(one.name, one.distinct, one.codes[kept]) for one in by_name.values()]
    reading = Reading(checked_bins(bins), missing, 200, left, read_as or {})
    return held(opened.name, rows, reading, [*opened.remarks, remark])


def one_of_each(columns: Sequence[RawColumn], unit: RawColumn) -> NDArray[np.intp]:
    """Return one row of each unit, drawn at random: the same ones in any order of the rows.

    Raises `InputError` where a row has no unit.
    """
    if unit.gaps.any():
        row = int(unit.gaps.argmax()) + 1
        raise InputError(f"row {row:,} has no `{unit.name}`; give each row one")
    ranks = [
        np.unique([plain_name(value) for value in one.distinct], return_inverse=True)[1][one.codes]
        for one in (*columns, unit)
    ]
    order = np.lexsort(ranks)
    drawn = order[np.random.default_rng(0).permutation(len(order))]
    return np.sort(drawn[np.unique(ranks[-1][drawn], return_index=True)[1]])
