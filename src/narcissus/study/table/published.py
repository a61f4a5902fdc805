"""A release that was already made, or is about to be: attacked as it stands, about real people.

The file holds rows, or counts: a line for each cell, with the values of the columns of its table,
nothing in the other columns, and the count in the column ``count`` (empty where it is withheld).
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import file_size
from narcissus.errors import InputError
from narcissus.mechanisms import Counts, Microdata, ProtectedCounts, TableQueries
from narcissus.mechanisms.table.releases import CellRule
from narcissus.mechanisms.table.rounding import RoundedTo
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.prepare import bins_of
from narcissus.study.table.schema import TableStudy
from narcissus.tables import Table, read_table
from narcissus.tables.sources import open_source
from narcissus.tables.tally import RawColumn

Floats = NDArray[np.float64]
COUNT = "count"
"""The column of a file of counts that holds them."""


def read_published(study: TableStudy, experiment: Experiment, path: Path) -> tuple[Any, str]:
    """Read a release that was made, as the mechanism of the study makes them.

    Returns
    -------
    tuple
        The release, and the SHA-256 of its file.

    Raises
    ------
    InputError
        The file does not hold what the mechanism releases about this table: what is missing or
        not known is named.
    """
    mechanism = experiment.settings[0].mechanism
    if len(experiment.settings) > 1:
        raise InputError(
            "`release` is one release: give [mechanism] the one level that it was made with"
        )
    file_size(path)  # of a regular file, and not too large to be read
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if mechanism.releases is Microdata:
        return _rows(study, experiment.table, path), digest
    if mechanism.releases is Counts:
        cells = _cells(experiment, path)
        if np.isnan(cells).any():
            raise InputError(f"{path.name} withholds counts, and the mechanism withholds none")
        assert mechanism.noise is not None
        if mechanism.noise.scale == 0:
            _require_possible(experiment, RoundedTo(1), cells, path)
        return Counts(experiment.queries, mechanism.noise, cells), digest
    if mechanism.releases is ProtectedCounts:
        rule: CellRule = mechanism.rule  # pyright: ignore  (of those that release such counts)
        cells = _cells(experiment, path)
        _require_possible(experiment, rule, cells, path)
        return ProtectedCounts(experiment.queries, rule, cells, mechanism.cellwise), digest
    raise InputError(
        "`release`: nobody can say how a file of the user's own mechanism is to be read; a "
        "release of rows or of counts can be"
    )


def _rows(study: TableStudy, table: Table, path: Path) -> Microdata:
    """Read rows, in the same bins as the table."""
    released = read_table(
        path, columns=list(table.names), bins=bins_of(study), missing=study.data.missing
    )
    columns: list[NDArray[np.int32]] = []
    for c, name in enumerate(table.names):
        known = {label: number for number, label in enumerate(table.labels[c])}
        strange = [label for label in released.labels[c] if label not in known]
        if strange:
            raise InputError(
                f"column `{name}` of {path.name} has values that were not in the data: "
                f"{', '.join(strange[:5])}" + (" ..." if len(strange) > 5 else "")
            )
        place = np.array([known[label] for label in released.labels[c]], dtype=np.int32)
        columns.append(place[released.codes[:, c]])
    rows = np.stack(columns, axis=1)
    rows.setflags(write=False)
    return Microdata(rows)


def _cells(experiment: Experiment, path: Path) -> Floats:
    """Read counts, one line a cell; every cell of every table must be there."""
    table, queries = experiment.table, experiment.queries
    if queries.coarse:
        raise InputError("`release`: files of tables with coarser columns cannot be read")
    _, raw = open_source(str(path), None, (), 100 * queries.cells + 1)
    by_name = {column.name: column for column in raw}
    if COUNT not in by_name:
        raise InputError(
            f"{path.name} has no column `{COUNT}`: it must hold one line for each cell"
        )
    if strange := [name for name in by_name if name not in (*table.names, COUNT)]:
        raise InputError(f"{path.name} has columns that were not in the data: {', '.join(strange)}")
    counts = _numbers(by_name[COUNT], path)
    found = [_codes(by_name.get(n), table.labels[c], path) for c, n in enumerate(table.names)]
    codes = np.stack([np.broadcast_to(one, counts.shape) for one in found], axis=1)
    cells, seen = np.full(queries.cells, np.nan), np.zeros(queries.cells, dtype=bool)
    given = codes >= 0
    unread: NDArray[np.bool_] = np.asarray(given[:, list(queries.unknown)].any(axis=1))
    lines = _lines_by_columns(given)
    for columns, first, places in _tables(queries):
        here = lines.get(columns.tobytes())
        if here is None:
            names = ", ".join(n for n, used in zip(table.names, columns, strict=True) if used)
            raise InputError(f"{path.name} has no table of {names}")
        at = first + codes[here].clip(0) @ places
        if not unread[here].all():
            raise InputError("`release`: a table that `sets` lists twice cannot be read twice")
        if np.unique(at).size < at.size:
            raise InputError(f"{path.name} has a cell twice: write one line for each")
        cells[at], seen[at], unread[here] = counts[here], True, False
    if not seen.all():
        raise InputError(
            f"{path.name} lacks {np.count_nonzero(~seen):,} of {queries.cells:,} cells: write "
            "those that are 0 as well, and withheld ones with an empty count"
        )
    if unread.any():
        raise InputError(
            f"{path.name} has {np.count_nonzero(unread):,} cells of other tables with unknown "
            "columns: [mechanism] must say all that was released"
        )
    cells.setflags(write=False)
    return cells


def _lines_by_columns(given: NDArray[np.bool_]) -> dict[bytes, NDArray[np.intp]]:
    """Give the lines of each table, by the columns that it has, as bytes of booleans."""
    kinds, kind_of = np.unique(given, axis=0, return_inverse=True)
    order = np.argsort(kind_of.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(kind_of.ravel()))[:-1]
    return {kind.tobytes(): rows for kind, rows in zip(kinds, np.split(order, ends), strict=True)}


def _require_possible(experiment: Experiment, rule: CellRule, cells: Floats, path: Path) -> None:
    """Refuse cells that the rule cannot have made of the people: attacks would learn nothing."""
    counts = experiment.queries.counts(experiment.table.codes).astype(np.float64)
    wrong = np.flatnonzero(np.isneginf(rule.log_likelihood(cells, counts)))
    if wrong.size:
        said = "withheld" if np.isnan(cells[wrong[0]]) else f"{cells[wrong[0]]:g}"
        raise InputError(
            f"{path.name} has {wrong.size:,} cells that cannot come from the people of [data], "
            f"{rule.title}: one is {said} where the count is {counts[wrong[0]]:g}. Say in "
            "[mechanism] how it was made, and in [data] of whom"
        )


def _tables(
    queries: TableQueries,
) -> list[tuple[NDArray[np.bool_], int, NDArray[np.int64]]]:
    """Give of each table its columns, its first cell, and what a step in each column adds."""
    found: list[tuple[NDArray[np.bool_], int, NDArray[np.int64]]] = []
    for pattern in queries.patterns:
        steps = np.cumprod([1, *pattern.shape[:0:-1]])[::-1]
        for table in range(pattern.tables):
            columns = np.zeros(len(queries.sizes), dtype=bool)
            places = np.zeros(len(queries.sizes), dtype=np.int64)
            own = [queries.unknown[c] for c in pattern.columns]
            columns[own] = columns[pattern.knowns[table]] = True
            places[own] = steps
            places[pattern.knowns[table]] = pattern.strides[table]
            found.append((columns, int(pattern.offsets[table]), places))
    return found


def _codes(column: RawColumn | None, labels: tuple[str, ...], path: Path) -> NDArray[np.int64]:
    """Give the values of a column as numbers, -1 where a cell's table has not got it."""
    if column is None:
        return np.array([-1])
    known = {label: number for number, label in enumerate(labels)}
    texts = [None if value is None else str(value).strip() for value in column.distinct]
    if strange := [text for text in texts if text is not None and text not in known]:
        raise InputError(
            f"column `{column.name}` of {path.name} has values that were not in the data: "
            f"{', '.join(strange[:5])}" + (" ..." if len(strange) > 5 else "")
        )
    places = np.array([-1 if text is None else known[text] for text in texts], dtype=np.int64)
    return places[column.codes]


def _numbers(column: RawColumn, path: Path) -> Floats:
    """Give the counts; NaN where a cell is withheld."""
    found = np.full(len(column.distinct), np.nan)
    for place, value in enumerate(column.distinct):
        try:
            found[place] = np.nan if value is None else float(value)
        except ValueError:
            raise InputError(f"{path.name} has a count that is no number: {value!r}") from None
    if np.isinf(found).any():
        raise InputError(f"{path.name} has a count that is infinite")
    return found[column.codes]
