"""Read a table: choose and bin columns, and refuse with one clear message what cannot be used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narcissus._validation import integer, one_of
from narcissus.errors import InputError
from narcissus.tables.bins import Bins, number_label
from narcissus.tables.sources import RawColumn, kept_columns, open_source
from narcissus.tables.table import Table, unknown_column

MissingPolicy = Literal["refuse", "drop", "category"]

MISSING_LABEL = "(missing)"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)


def read_table(
    source: Path | str | pd.DataFrame | Table,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    bins: Mapping[str, Bins] | None = None,
    missing: MissingPolicy = "refuse",
    max_rows: int = 2_000_000,
    max_values: int = 200,
) -> Table:
    """Read a table of people.

    Parameters
    ----------
    source
        A text file (.csv, .tsv, .txt, each also with .gz; UTF-8, first line the names; cells
        separated by commas, or by what the header has instead of them: semicolons, tabs), a
        Parquet file (.parquet, .pq; extra ``parquet``), a table that statsmodels carries, such as
        ``"statsmodels:fair"`` (extra ``examples``), a data frame, or a `Table`, which has its bins
        already. Files of more than 1 GiB are refused.
    columns
        The columns to keep, in this order; None keeps all.
    drop
        Columns to leave out.
    bins
        How to bin columns of numbers, by name.
    missing
        What to do about missing values (in text files: empty cells, NA, N/A, #N/A, NaN, NULL):
        "refuse" the table, "drop" the rows, or make them a value of their own, the "category"
        "(missing)"; a column with that value has no distances any more (``ordered`` is false).
    max_rows
        Refuse tables with more rows.
    max_values
        Refuse columns with more different values, after binning: each value is a cell of every
        marginal, and every one needs people in it.

    Returns
    -------
    The table; a column is ordered where all its values are numbers, or binned.

    Raises
    ------
    InputError
        The table cannot be used as it stands: the message says why and what to do.
    TooLargeError
        The file or the table is beyond the limits above.
    MissingExtraError
        The package that reads this source is not installed.
    """
    chosen = None if columns is None else _names("columns", columns)
    dropped = _names("drop", drop)
    limit = integer("max_rows", max_rows, low=1)
    most = integer("max_values", max_values, low=2)
    one_of("missing", missing, ("refuse", "drop", "category"))
    if chosen is not None:
        if not chosen:
            raise InputError("`columns` must name at least one column; leave it out to keep all")
        if repeated := sorted({c for c in chosen if chosen.count(c) > 1}):
            raise InputError(f"`columns` names {', '.join(f'`{c}`' for c in repeated)} twice")
    binning = _checked_bins(bins)
    if isinstance(source, Table):
        return _selected(source, chosen, dropped, binning)
    name, raw = open_source(source, chosen, dropped, limit)
    known = [column.name for column in raw]
    for column in [name for name in binning if name not in known]:
        reason = "it is dropped" if column in dropped else unknown_column(column, known)
        raise InputError(f"`bins` names the column `{column}`: {reason}")
    if missing == "refuse":
        _refuse_missing(name, raw)
    if missing == "drop":
        raw = _drop_missing(name, raw)
    coded = [_coded(column, binning.get(column.name), most) for column in raw]
    return Table(
        names=tuple(column.name for column in raw),
        labels=tuple(c.labels for c in coded),
        ordered=tuple(c.values is not None for c in coded),
        codes=np.column_stack([c.codes for c in coded]),
        values=tuple(c.values for c in coded),
        notes={column.name: text for column in raw if (text := _mixed(column))},
    )


def _selected(
    table: Table, chosen: list[str] | None, dropped: list[str], bins: Mapping[str, Bins]
) -> Table:
    """Give the kept columns of a table that was read before."""
    if bins:
        raise InputError("`bins` are for numbers: a Table has its values in bins already")
    return table.select(table.names[j] for j in kept_columns(table.names, chosen, dropped))


def _names(argument: str, names: Sequence[str]) -> list[str]:
    """Give names as a list; a lone string is a mistake, not a list of letters."""
    if isinstance(names, str):
        raise InputError(f'`{argument}` must be a list of column names: write ["{names}"]')
    return [str(name) for name in names]


def _checked_bins(bins: Mapping[str, Any] | None) -> dict[str, Bins]:
    checked = dict(bins or {})
    for name, way in checked.items():
        if not isinstance(way, Bins):
            raise InputError(
                f"`bins` of column `{name}` must be Bins(width=...), Bins(edges=...), "
                f"Bins(quantiles=...) or Bins(above=...), got {way!r}"
            )
    return checked


def _missing_rows(column: RawColumn) -> NDArray[np.bool_]:
    """Say which rows have no value, shape (rows,)."""
    if None not in column.distinct:
        return np.zeros(len(column.codes), dtype=np.bool_)
    return column.codes == column.distinct.index(None)


def _refuse_missing(name: str, raw: Sequence[RawColumn]) -> None:
    found: list[str] = []
    for column in raw:
        rows = np.flatnonzero(_missing_rows(column)) + 1
        if rows.size:
            first = ", ".join(map(str, rows[:3])) + (", ..." if rows.size > 3 else "")
            found.append(f"{rows.size:,} in `{column.name}` (row {first})")
    if found:
        shown = "; ".join(found[:5]) + (f"; and {len(found) - 5} more columns" * (len(found) > 5))
        raise InputError(
            f"{name} has missing values: {shown} (rows counted from 1 below the header). "
            "Leave those rows out with missing = 'drop', make them a value of their own with "
            "missing = 'category', or drop the column"
        )


def _drop_missing(name: str, raw: Sequence[RawColumn]) -> list[RawColumn]:
    """Leave out rows with missing values, and the values that nobody has any more."""
    keep = ~np.logical_or.reduce([_missing_rows(column) for column in raw])
    if not keep.any():
        raise InputError(f"every row of {name} has a missing value: drop a column instead")
    kept: list[RawColumn] = []
    for column in raw:
        used, codes = np.unique(column.codes[keep], return_inverse=True)
        kept.append(RawColumn(column.name, [column.distinct[u] for u in used], codes))
    return kept


@dataclass(frozen=True)
class _Coded:
    """A finished column; ``values`` are its numbers if it is ordered, else None."""

    labels: tuple[str, ...]
    codes: NDArray[np.int32]
    values: NDArray[np.float64] | None


def _coded(column: RawColumn, bins: Bins | None, max_values: int) -> _Coded:
    """Turn a raw column into codes of sorted labels, or say why it cannot be used."""
    present = [i for i, value in enumerate(column.distinct) if value is not None]
    if not present:
        raise InputError(f"column `{column.name}` has no value at all: drop it")
    distinct = [column.distinct[i] for i in present]
    numbers = _as_numbers(column.name, distinct)
    if numbers is None:
        if bins is not None:
            raise InputError(
                f"`bins` names the column `{column.name}`, which is not numbers"
                f"{_culprits(distinct)}"
            )
        coded = _coded_text(column, distinct, max_values)
    else:
        coded = _coded_numbers(column, numbers, bins, max_values)
    codes = np.full(len(column.distinct), -1, dtype=np.int32)
    codes[present] = coded.codes
    every = codes[column.codes]
    labels, values = coded.labels, coded.values
    if len(present) < len(column.distinct):
        label = MISSING_LABEL
        while label in labels:
            label = f"({label})"
        every[every < 0] = len(labels)
        labels, values = (*labels, label), None
    if np.unique(every).size < 2:
        only = labels[every[0]]
        raise InputError(
            f"column `{column.name}` has one value only ({only!r}), so there is nothing to learn "
            f'from it or about it: drop it (drop = ["{column.name}"])'
        )
    if len(labels) > max_values:
        raise InputError(
            f"column `{column.name}` has {len(labels):,} bins, more than `max_values` = "
            f"{max_values}: take wider ones"
        )
    return _Coded(labels, every, values)


def _as_numbers(name: str, distinct: Sequence[Any]) -> NDArray[np.float64] | None:
    """Give the values as finite numbers, or None where they are not all numbers."""
    if any(isinstance(value, bool | np.bool_) for value in distinct):
        return None
    if not all(
        isinstance(value, int | float | Decimal | np.number)
        or (isinstance(value, str) and _NUMBER.fullmatch(value))
        for value in distinct
    ):
        return None
    numbers = np.array([float(value) for value in distinct])
    if not np.isfinite(numbers).all():
        raise InputError(
            f"column `{name}` holds infinite values: replace them, or drop the rows or the column"
        )
    return numbers


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, int | float | Decimal | np.number) and not isinstance(value, bool)


def _mixed(column: RawColumn) -> str:
    """Say that a column mostly of numbers is read as text, or nothing."""
    texts = [i for i, v in enumerate(column.distinct) if v is not None and not _is_number(v)]
    present = sum(value is not None for value in column.distinct)
    if not texts or 2 * (present - len(texts)) < present:
        return ""
    strange = np.isin(column.codes, texts)
    first = int(strange.argmax())
    word = column.distinct[column.codes[first]]
    return (
        f"most of its values are numbers, but {int(strange.sum()):,} of {len(column.codes):,} "
        f"cells are not ({word!r} in row {first + 1:,}), so all are taken as categories without "
        "order or distance"
    )


def _culprits(distinct: Sequence[Any]) -> str:
    """Name values that keep a column of numbers from being one, or nothing."""
    strange = [repr(v) for v in distinct if not (isinstance(v, str) and _NUMBER.fullmatch(v))]
    return f": it holds {', '.join(strange[:3])}{', ...' * (len(strange) > 3)}"


def _coded_text(column: RawColumn, distinct: Sequence[Any], max_values: int) -> _Coded:
    labels, codes = np.unique(
        np.array([str(v) for v in distinct], dtype=object), return_inverse=True
    )
    if len(labels) == len(column.codes) > 2:  # two people with two answers prove nothing
        raise InputError(
            f"column `{column.name}` has another text in each of {len(labels):,} rows: it "
            "identifies people and has no distribution to learn; drop it "
            f'(drop = ["{column.name}"])'
        )
    if len(labels) > max_values:
        mostly = sum(1 for v in distinct if isinstance(v, str) and _NUMBER.fullmatch(v))
        hint = ""
        if 2 * mostly > len(distinct):
            hint = f" (most are numbers, but not all{_culprits(distinct)})"
        raise InputError(
            f"column `{column.name}` has {len(labels):,} different texts, more than "
            f"`max_values` = {max_values}{hint}: group them into fewer, drop the column, or raise "
            "`max_values`"
        )
    return _Coded(tuple(labels.tolist()), codes.astype(np.int32), None)


def _coded_numbers(
    column: RawColumn, numbers: NDArray[np.float64], bins: Bins | None, max_values: int
) -> _Coded:
    if bins is not None:
        people = np.bincount(column.codes, minlength=len(column.distinct))
        people = people[[value is not None for value in column.distinct]]
        try:
            codes, labels = bins.apply(numbers, people)
        except InputError as error:
            raise InputError(f"`bins` of column `{column.name}`: {error}") from error
        return _Coded(labels, codes, np.arange(len(labels), dtype=np.float64))
    values, codes = np.unique(numbers, return_inverse=True)
    if len(values) > max_values:
        raise InputError(
            f"column `{column.name}` has {len(values):,} different numbers, more than "
            f"`max_values` = {max_values}: bin it, by equal widths (width = "
            f"{number_label(_round_width(values))}), at chosen edges (edges = [...]), into groups "
            "of equal size (quantiles = 5) or in two (above = ...); or drop it"
        )
    return _Coded(tuple(number_label(v) for v in values.tolist()), codes.astype(np.int32), values)


def _round_width(values: NDArray[np.float64]) -> float:
    """Suggest a round bin width that makes some ten bins."""
    span = float(values[-1] - values[0])
    size = 10.0 ** np.floor(np.log10(span / 10))
    return float(size * min((1, 2, 5, 10), key=lambda m: abs(span / (m * size) - 10)))
