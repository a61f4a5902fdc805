"""Tables in which a person or household has several rows: one row of each is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from narcissus.errors import InputError
from narcissus.tables.counted import Reading, complete
from narcissus.tables.parts import open_source
from narcissus.tables.read import checked_bins, held
from narcissus.tables.sources import TableSource
from narcissus.tables.table import Table, unknown_column
from narcissus.tables.tally import RawColumn, plain_name


def read_one_of_each(source: TableSource, unit: str, **how: Any) -> Table:
    """Read a table of people, and keep one row of each person or household.

    The row is drawn at random, always the same one, in whatever order rows stand.

    unit: The column that names them; it is no column of the table.
    source, how: As for `read_table`: ``columns``, ``drop``, ``bins``, ``missing``, ``read_as`` and
        ``max_rows``.

    InputError, TooLargeError: The table cannot be used, or is too large to be held.

    >>> read_one_of_each({"house": [1, 1, 2], "age": [30, 40, 50]}, "house").rows
    2
    """
    if isinstance(source, Table):
        raise InputError("`unit` says how to read a file: a Table has been read already")
    columns, missing = how.get("columns"), how.get("missing", "refuse")
    wanted = None if columns is None else list(dict.fromkeys([*columns, unit]))
    left = [name for name in how.get("drop", ()) if name != unit]
    opened = open_source(source, wanted, left, how.get("max_rows", 200_000_000))
    raw = complete(opened.columns) if missing == "drop" else opened.columns
    by_name = {column.name: column for column in raw}
    if unit not in by_name:
        raise InputError(f"`unit`: {unknown_column(unit, by_name)}")
    if len(by_name) == 1:
        raise InputError(f"{opened.name} has no column beside the unit `{unit}`")
    if by_name[unit].gaps.any():
        row = int(by_name[unit].gaps.argmax()) + 1
        raise InputError(f"row {row:,} has no `{unit}`; give each row one")
    ranks = {
        name: np.unique([plain_name(v) for v in one.distinct], return_inverse=True)[1][one.codes]
        for name, one in by_name.items()
    }
    order = np.lexsort([ranks[name] for name in (*sorted(by_name), unit)])
    drawn = order[np.random.default_rng(0).permutation(len(order))]
    kept = np.sort(drawn[np.unique(ranks[unit][drawn], return_index=True)[1]])
    remark = (
        f"One row of each `{unit}` is kept, drawn at random: {len(kept):,} of {len(order):,} rows. "
        "What is found and proved is about a release of these rows"
    )
    rows = [RawColumn(n, c.distinct, c.codes[kept]) for n, c in by_name.items() if n != unit]
    bins, read_as = checked_bins(how.get("bins")), how.get("read_as") or {}
    reading = Reading(bins, missing, 200, left, read_as)
    return held(opened.name, rows, reading, [*opened.remarks, remark])
