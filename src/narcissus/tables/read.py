"""Reading a table: choosing and binning columns, with one clear message for each refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, one_of, repeated
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer
from narcissus.tables.bins import Bins
from narcissus.tables.counted import Reading, complete, count_records, within
from narcissus.tables.parts import Parts, open_parts, open_source
from narcissus.tables.sources import TableSource, kept_columns
from narcissus.tables.spelling import ReadAs
from narcissus.tables.table import Table, unknown_column
from narcissus.tables.tally import RawColumn, ValueTally, joined, plain_name
from narcissus.tables.text import cleaned

MissingPolicy = Literal["refuse", "drop", "category"]


def read_table(
    source: TableSource,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    bins: Mapping[str, Bins] | None = None,
    missing: MissingPolicy = "refuse",
    read_as: Mapping[str, ReadAs] | None = None,
    max_rows: int = 200_000_000,
    max_values: int = 200,
    count_above: int = 2_000_000,
    observer: Observer = SILENT,
) -> Table:
    """Read a table of people.

    source: A text file (.csv, .tsv, .txt; UTF-8, UTF-16 with a byte order mark, other bytes as
        Windows-1252; commas, semicolons or tabs separate; the second ``x`` is ``x (2)``; what is
        above and below the table by the rules of `narcissus.tables.heads`), JSON (.json), JSON
        lines (.jsonl, .ndjson), all also packed (.gz, .xz, .zst, .zip); Parquet (.parquet, .pq;
        extra ``parquet``); a sheet of Excel (.xlsx), Arrow (.feather, .arrow), Stata (.dta), SPSS
        (.sav, .zsav, .por) or SAS (.sas7bdat, .xpt), all with the extra ``formats``; ``"-"``,
        standard input; a table that statsmodels carries, such as ``"statsmodels:fair"`` (extra
        ``examples``); a data frame of pandas, polars, pyarrow or DuckDB, or whatever Arrow can
        read; a dictionary of columns; or a `Table`, which is binned.
    columns: The columns to keep, in this order; None keeps all.
    drop: Columns to leave out; ``""`` names those without a name, if any.
    bins: How to bin columns of many values, by name.
    missing: What to do about missing values (in text files: empty cells, NA, N/A, #N/A, NaN, NULL):
        "refuse" the table, "drop" the rows, or make them a separate value, the "category"
        "(missing)"; a column with that value is no longer ordered.
    read_as: How to read columns, by name, where their values do not settle it: "text" as they are,
        "numbers" (a point is the decimal mark), "decimal-comma", dates "day-first" or
        "month-first". Other columns are read by the rules of `narcissus.tables.spelling`.
    max_rows: Refuse tables with more rows, or with more than 20 times as many cells: Parquet files
        before they are read.
    max_values: Refuse columns with more different values, after binning: each value is a cell of
        every marginal, and every one needs people in it.
    count_above: Tables of more rows (or 250 million cells, or 1 GiB of file) are not held row by
        row: they are read in parts, twice if they are large, and become a `CountedTable` of their
        distinct records. Labels, codes and refusals are the same.
    observer: Receives the number of rows read in parts.

    Returns
    -------
    The table; a column is ordered where all its values are numbers, or binned.

    InputError: The table cannot be used as it stands: the message says why and what to do.
    TooLargeError: The file or the table is beyond the limits above.
    MissingExtraError: The package that reads this source is not installed.
    """
    chosen = _chosen(columns)
    dropped = names_of("drop", drop)
    limit = integer("max_rows", max_rows, low=1)
    value_limit = integer("max_values", max_values, low=2)
    above = integer("count_above", count_above, low=0)
    one_of("missing", missing, ("refuse", "drop", "category"))
    binning = checked_bins(bins)
    if isinstance(source, Table):
        return _selected(source, chosen, dropped, {**binning, **(read_as or {})})
    reading = Reading(binning, missing, value_limit, dropped, dict(read_as or {}))
    parts = open_parts(source, chosen, dropped, limit)
    raw = parts.whole(above)
    if raw is None:
        return count_records(parts, reading, observer)
    return held(parts.name, raw, reading, parts.remarks)


def read_labels(
    source: TableSource,
    columns: Sequence[str],
    *,
    bins: Mapping[str, Bins] | None = None,
    read_as: Mapping[str, ReadAs] | None = None,
    max_values: int = 200,
) -> Table:
    """Read what people are published by: one value in a column is no mistake, as in `read_table`.

    Raises `InputError` for a table that cannot be used, or that is not held row by row.
    """
    parts = open_parts(source, _chosen(columns), [], 200_000_000)
    raw = parts.whole(2_000_000)
    if raw is None:
        raise InputError(f"{parts.name} has too many rows: draw 2,000,000 of them or fewer")
    how = Reading(checked_bins(bins), "category", max_values, [], dict(read_as or {}), fewest=1)
    return held(parts.name, raw, how, parts.remarks)


def held(name: str, raw: list[RawColumn], reading: Reading, remarks: Sequence[str] = ()) -> Table:
    """Build the table of columns that are in memory as a whole."""
    reading.check([column.name for column in raw])
    if reading.missing == "drop":
        raw = complete(raw)
    tallies = [ValueTally(column.name) for column in raw]
    for tally, column in zip(tallies, raw, strict=True):
        tally.add(column)
    codings = reading.codings(name, tallies)
    codes = np.empty((len(raw[0].codes), len(raw)), dtype=np.int32, order="F")
    for j, (coding, tally, column) in enumerate(zip(codings, tallies, raw, strict=True)):
        np.take(coding.codes[tally.places(column)], column.codes, out=codes[:, j], mode="clip")
    heads = reading.heads(tallies, codings)
    return Table(*heads[:3], codes, *heads[3:], tuple(remarks))


def _selected(
    table: Table, chosen: list[str] | None, dropped: list[str], ways: Mapping[str, object]
) -> Table:
    if ways:
        raise InputError(
            "`bins` and `read_as` say how to read a file: a Table has its values in bins already"
        )
    return table.select(table.names[j] for j in kept_columns(table.names, chosen, dropped))


def _chosen(columns: Sequence[str] | None) -> list[str] | None:
    chosen = None if columns is None else names_of("columns", columns)
    if chosen is not None:
        if not chosen:
            raise InputError("`columns` must name at least one column; leave it out to keep all")
        if twice := sorted(repeated(chosen)):
            raise InputError(f"`columns` names {', '.join(f'`{c}`' for c in twice)} twice")
    return chosen


def names_of(argument: str, names: object) -> list[str]:
    """Return names of columns as texts: a list of them, or one alone, which may be a number."""
    if isinstance(names, str | int | float):
        return [str(names)]
    if not isinstance(names, Iterable) or isinstance(names, bytes | Mapping):
        raise InputError(f"`{argument}` must be a list of names, got {names!r}")
    return [str(name) for name in cast("Iterable[object]", names)]


def checked_bins(bins: Mapping[str, Any] | None) -> dict[str, Bins]:
    checked = dict(bins or {})
    for name, way in checked.items():
        if not isinstance(way, Bins):
            raise InputError(
                f"`bins` of column `{name}` must be Bins(width=...), Bins(edges=...), "
                f"Bins(quantiles=...), Bins(above=...) or Bins(common=...), got {way!r}"
            )
    return checked


def read_one_of_each(source: TableSource, unit: str, **how: Any) -> Table:
    """Read a table of people, and keep one row of each person or household.

    The row is drawn at random, always the same one, in whatever order rows are.

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
        raise InputError(f"{opened.name} has no column next to the unit `{unit}`")
    if by_name[unit].gaps.any():
        row = int(by_name[unit].gaps.argmax()) + 1
        raise InputError(f"row {row:,} has no `{unit}`; give each row one")
    places, many = _one_of_each(by_name, unit), len(by_name[unit].codes)
    remark = (
        f"One row of each `{unit}` is kept, drawn at random: {len(places):,} of {many:,} rows. "
        "What is found and proved is about a release of these rows"
    )
    rows = [RawColumn(n, c.distinct, c.codes[places]) for n, c in by_name.items() if n != unit]
    bins, read_as = checked_bins(how.get("bins")), how.get("read_as") or {}
    reading = Reading(bins, missing, 200, left, read_as)
    return held(opened.name, rows, reading, [*opened.remarks, remark])


def _one_of_each(by_name: Mapping[str, RawColumn], unit: str) -> NDArray[np.intp]:
    """Draw a row of each unit, the same in whatever order rows are; return them sorted."""
    ranks = {
        name: np.unique([plain_name(v) for v in column.distinct], return_inverse=True)[1][
            column.codes
        ]
        for name, column in by_name.items()
    }
    order = np.lexsort([ranks[name] for name in (*sorted(by_name), unit)])
    drawn = order[np.random.default_rng(0).permutation(len(order))]
    return np.sort(drawn[np.unique(ranks[unit][drawn], return_index=True)[1]])


def read_as_it_stands(
    source: TableSource,
    names: Sequence[str],
    unit: str | None = None,
    places: NDArray[np.int64] | None = None,
    *,
    is_as_written: bool = False,
    **how: Any,
) -> list[RawColumn]:
    """Read columns as they are in a file, of those rows that a table of it keeps.

    names: The columns, which the table may have or leave out; they are returned in this order.
    places: Which of the rows, rising, of a table that is read in parts; None reads all.
    is_as_written: Keep the cells of a text as they are written: the blanks around them, and each
        way to write a missing value. `narcissus.tables.text.cleaned` reads them.
    unit, how: As for `read_table` and `read_one_of_each`: ``columns``, ``drop``, ``missing`` and
        ``max_rows``.

    InputError, TooLargeError: The table cannot be used, or is too large to be held.
    """
    columns, drop = how.get("columns"), list(how.get("drop", ()))
    units = [] if unit is None else [unit]
    wanted = None if columns is None else list(dict.fromkeys([*columns, *units, *names]))
    left = [name for name in drop if name not in (*units, *names)]
    limit = how.get("max_rows", 200_000_000)

    def is_of_table(name: str) -> bool:
        return name in units or (name not in drop and (columns is None or name in columns))

    def kept(part: Sequence[RawColumn]) -> list[RawColumn]:
        rows = np.arange(len(part[0].codes))
        if how.get("missing") == "drop":
            gaps = [cleaned(column).gaps for column in part if is_of_table(column.name)]
            rows = np.flatnonzero(~np.any(gaps, axis=0))
        return [replace(column, codes=column.codes[rows]) for column in part]

    if places is not None:
        parts = open_parts(source, wanted, left, limit, is_as_written=is_as_written)
        return _at(parts, kept, names, places)
    opened = {
        raw_column.name: raw_column
        for raw_column in kept(
            open_source(source, wanted, left, limit, is_as_written=is_as_written).columns
        )
    }
    rows = np.arange(len(opened[names[0]].codes))
    if unit is not None:
        rows = _one_of_each(
            {n: cleaned(raw_column) for n, raw_column in opened.items() if is_of_table(n)}, unit
        )
    return [replace(opened[n], codes=opened[n].codes[rows]) for n in names]


def _at(
    parts: Parts,
    kept: Callable[[Sequence[RawColumn]], list[RawColumn]],
    names: Sequence[str],
    places: NDArray[np.int64],
) -> list[RawColumn]:
    """Read some rows of a table in parts, given by their places among those that are kept."""
    columns: dict[str, list[RawColumn]] = {name: [] for name in names}
    start = 0
    for part in parts.read():
        named = {column.name: column for column in kept(part)}
        many = len(named[names[0]].codes)
        rows = within(places, start, many)
        start += many
        for name, some in columns.items():
            present, codes = np.unique(named[name].codes[rows], return_inverse=True)
            values = [named[name].distinct[place] for place in present.tolist()]
            some.append(replace(named[name], distinct=values, codes=np.ravel(codes)))
    return [joined(some) for some in columns.values()]
