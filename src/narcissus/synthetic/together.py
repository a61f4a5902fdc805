"""The rows of each person beside one another: whole histories, where people have several rows.

A row of a panel tells little by itself, and one row of each person is what is counted elsewhere.
Whoever puts histories back, each row changed a little, is seen by the rows of a person together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from narcissus.synthetic.files import Raw
from narcissus.tables.spelling import number_in
from narcissus.tables.tally import RawColumn

Positions = NDArray[np.int64]
FEWEST_PEOPLE = 20
"""Fewest people of a file whose rows are put together."""
MOST_CELLS = 60
"""Most cells of a person that are compared."""
_MOST_ROWS_EACH = 50
_REPEATED = 0.8  # share of the rows of a column's value that another row has, where it names people


def numbering_column(raws: Mapping[str, Raw]) -> str | None:
    """Return a column that numbers people of several rows each, in the data and the file.

    That is one whose values most rows share with another, where a second column numbers the rows
    of each value. None where no column does.
    """
    real, made = raws["real"], raws["synthetic"]
    for name in real:
        if name in made and all(_names_several(raw[name]) for raw in (real, made)):
            others = {n: c for n, c in real.items() if n != name}
            if _order_column(others, real[name]) is not None:
                return name
    return None


def _names_several(column: RawColumn) -> bool:
    """Return whether most rows share a value, a whole number or a text: measures name nobody."""
    times = np.bincount(column.codes[~column.gaps].astype(np.int64))
    times = times[times > 0]
    many = len(column.codes)
    return (
        all(isinstance(number_in(value), int | None) for value in column.distinct)
        and len(times) >= FEWEST_PEOPLE
        and int(times.max()) <= _MOST_ROWS_EACH
        and float(times[times > 1].sum()) >= _REPEATED * many
    )


def _order_column(raw: Raw, unit: RawColumn) -> str | None:
    """Return a column of few values that no two rows of a person share."""
    longest = int(np.bincount(unit.codes.astype(np.int64)).max())
    for name, column in raw.items():
        few = len(np.unique(column.codes))
        if 1 < few <= 2 * longest:
            pairs = unit.codes.astype(np.int64) * (1 + int(column.codes.max())) + column.codes
            if len(np.unique(pairs)) == len(pairs):
                return name
    return None


def rows_together(raws: Mapping[str, Raw], units: Mapping[str, RawColumn]) -> dict[str, Raw] | None:
    """Return each file with a row for each person, and the cells of all their rows in it.

    raws: The files without the columns that number people.
    units: These, by file.

    Rows of a person are in the order of the column that numbers them, or else of the file. None
    where the people of the data or of the file are too few, or have one row each. A control of too
    few people, or without a column that both have, is left out: it takes no finding away.
    """
    names = [name for name in raws["real"] if name in raws["synthetic"]]
    enough = {file: len(np.unique(unit.codes)) >= FEWEST_PEOPLE for file, unit in units.items()}
    if not (names and enough["real"] and enough["synthetic"]):
        return None
    files = [file for file in raws if enough[file] and all(name in raws[file] for name in names)]
    counts = np.bincount(units["real"].codes.astype(np.int64))
    usual = int(np.quantile(counts[counts > 0], 0.9))
    rows_each = min(usual, MOST_CELLS // len(names))
    if rows_each < 2:
        return None
    order = _order_column(raws["real"], units["real"])
    return {file: _wide(raws[file], units[file], names, order, rows_each) for file in files}


def _wide(raw: Raw, unit: RawColumn, names: list[str], order: str | None, rows_each: int) -> Raw:
    who = np.unique(unit.codes, return_inverse=True)[1].ravel()
    place = np.arange(len(who)) if order is None else _ranks(raw[order])
    rows = np.lexsort([place, who])
    starts = np.searchsorted(who[rows], np.arange(int(who.max()) + 1))
    number = np.arange(len(rows)) - starts[who[rows]]
    is_in = number < rows_each
    wide: Raw = {}
    for name in names:
        column = raw[name]
        distinct = column.distinct if None in column.distinct else [*column.distinct, None]
        cells = np.full((len(starts), rows_each), distinct.index(None), np.int64)
        cells[who[rows[is_in]], number[is_in]] = column.codes[rows[is_in]]
        for at in range(rows_each):
            label = f"{name} ({at + 1})"
            wide[label] = replace(column, name=label, distinct=distinct, codes=cells[:, at])
    return wide


def _ranks(column: RawColumn) -> Positions:
    """Return the rank of each row's value, numbers before texts."""
    keys = [(number_in(value), str(value)) for value in column.distinct]
    ordered = sorted(
        range(len(keys)),
        key=lambda at: (keys[at][0] is None, keys[at][0] or 0.0, keys[at][1]),
    )
    rank = np.empty(len(keys), np.int64)
    rank[ordered] = np.arange(len(keys))
    return rank[column.codes]
