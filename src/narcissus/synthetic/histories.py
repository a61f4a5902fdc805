"""The rows of each person next to one another: whole histories, where people have several rows.

A row of a panel tells little by itself, and one row of each person is what is counted elsewhere.
Whoever puts histories back, each row changed a little, is seen by the rows of a person together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.synthetic.files import Raw
from narcissus.tables.spelling import Value, number_in
from narcissus.tables.tally import RawColumn

Positions = NDArray[np.int64]
FEWEST_PEOPLE = 20
"""Fewest people of a file whose rows are put together."""
MOST_CELLS = 60
"""Most cells of a person that are compared."""
MOST_GROUPED = 50_000
"""Most rows of a file whose groups are put together."""
MOST_WAYS = 5
"""Most ways in which rows are together, the clearest of all."""
_MOST_ROWS_EACH = 50
_COUNTED_OFF = 0.95  # share of the rows in groups whose places are 1, 2, 3 and so on
_FEWEST_SECOND = 0.1  # share of the rows that are second in their group
_FEWEST_EACH = 2  # rows of the middle one of all groups
_CONSTANT = 0.95  # share of the groups in which a column of the whole group has one value
_MIXED = 0.9  # of that share, at most, where a column is in common and not nearly constant
_BOUND = 0.5  # share of the rows of a column's value that another row has, where groups agree
_STANDARD_ERRORS = 5.0  # by which rows agree more often than chance explains
_MOST_BY = 4  # columns that tell groups apart
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
    return _may_name(column, _REPEATED)


def _may_name(column: RawColumn, repeated: float) -> bool:
    """Return whether so many of the rows share a value, a whole number or a text."""
    times = np.bincount(column.codes[~column.gaps].astype(np.int64))
    times = times[times > 0]
    many = len(column.codes)
    return (
        all(isinstance(number_in(value), int | None) for value in column.distinct)
        and len(times) >= FEWEST_PEOPLE
        and int(times.max()) <= _MOST_ROWS_EACH
        and float(times[times > 1].sum()) >= repeated * many
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


@dataclass(frozen=True)
class RowGroups:
    """Which rows belong together, in all files."""

    by: str  # the column that names a group, or that counts off the rows of each
    units: Mapping[str, RawColumn]
    common: tuple[str, ...]  # columns in which the rows of a group have one value
    is_counted_off: bool
    is_clear: bool  # whether rows stand together, and not only may


def groups_of_rows(raws: Mapping[str, Raw]) -> list[RowGroups]:
    """Return the ways in which rows are together: households, classes, addresses.

    A column counts off the rows of a group, 1, 2, 3 and again from 1. Which rows are of one group
    follows from their order, or by the columns that groups have in common. Or the value of a column
    names the group, as many rows share it.
    """
    ways: list[RowGroups] = []
    rows = max((len(next(iter(raw.values())).codes) for raw in raws.values() if raw), default=0)
    for name in raws["real"] if rows <= MOST_GROUPED else ():
        each = {file: raw[name] for file, raw in raws.items() if name in raw}
        units: dict[str, RawColumn] = {}
        is_place = _counts_off(raws["real"][name])
        for file, column in each.items():
            if is_place and _counts_off(column):
                by_place = _units_by_place(raws[file], name)
                units |= {} if by_place is None else {file: by_place}
            elif not is_place and _names_groups(column):
                units[file] = column
        if {"real", "synthetic"} <= units.keys():
            common = _common(raws["real"], units["real"], name)
            is_clear = is_place or _stand_together(raws["real"], name)
            ways.append(RowGroups(name, units, common, is_place, is_clear))
    ways.sort(key=lambda way: not way.is_clear)
    return ways[:MOST_WAYS]


@dataclass(frozen=True)
class RowsBound:
    """What binds rows of the data to one another, so that they may be of one person or group."""

    by: tuple[str, ...]  # columns under whose values rows stand together
    common: tuple[str, ...]  # what rows of the first of these have in common
    is_by_order: bool  # rows that stand next to one another are more alike than others


def rows_bound(raw: Raw) -> RowsBound | None:
    """Return what binds rows of the data, whatever the file has; None where nothing does.

    A column that names or numbers groups is one of whose groups nearly all have a value of another
    column in common, which rows in another order have not. Or neighbours agree in a column, more
    often than rows in another order, and no column is sorted.
    """
    rows = max((len(column.codes) for column in raw.values()), default=0)
    if not 0 < rows <= MOST_GROUPED:
        return None
    named = {n: _telling(raw, c, n) for n, c in raw.items() if _may_name(c, _BOUND)}
    by = sorted((n for n, some in named.items() if some), key=lambda name: -len(named[name]))
    common = named[by[0]] if by else ()
    is_by_order = _are_neighbours_alike(raw)
    return RowsBound(tuple(by), common, is_by_order) if by or is_by_order else None


def _stand_together(raw: Raw, name: str) -> bool:
    """Check whether rows with one value of a column are alike: then it names groups of them.

    A measure of few values, a day or a batch is shared by rows that have nothing else in common.
    """
    letters = any(re.search(r"[^\W\d_]", str(value)) for value in raw[name].distinct)
    is_name = letters and _are_alike(raw, raw[name], name)
    return is_name or bool(_telling(raw, raw[name], name))


def _telling(raw: Raw, units: RawColumn, by: str) -> tuple[str, ...]:
    """Return the columns that groups have in common, and that rows in another order have not."""
    common = _common(raw, units, by)
    if not common:
        return ()
    order = child(len(units.codes), 1).permutation(len(units.codes))
    mixed = replace(units, codes=units.codes[order])
    return tuple(
        n
        for n in common
        if _share_common(raw[n], mixed) < _MIXED * _CONSTANT and not _is_binned(raw[n], units)
    )


def _is_binned(column: RawColumn, units: RawColumn) -> bool:
    """Check whether a column follows from the values that it goes with: an age group, a region.

    Along these values, in their order, it then changes far less often than among people.
    """
    rank = _ranks(units)
    first = np.unique(rank, return_index=True)[1]
    codes = column.codes[first]
    mixed = child(len(codes), 2).permutation(codes)
    changes, chance = (int((each[1:] != each[:-1]).sum()) for each in (codes, mixed))
    return 2 * changes < chance


def _are_alike(raw: Raw, units: RawColumn, by: str) -> bool:
    """Check whether rows of one group agree in another column more often than chance explains."""
    # rows of a group in no order: a sorted file has others that are alike next to one another
    order = child(len(units.codes), 3).permutation(len(units.codes))
    order = order[np.argsort(units.codes[order], kind="stable")]
    codes = units.codes[order]
    is_pair = (codes[1:] == codes[:-1]) & ~units.gaps[order][1:]
    return any(
        _agree(column.codes[order], is_pair) and not _is_binned(column, units)
        for name, column in raw.items()
        if name != by
    )


def _are_neighbours_alike(raw: Raw) -> bool:
    """Check whether neighbours agree in a column more often than chance explains.

    Rows in the order of a column agree in others that hang together with it, so they are none.
    """
    every = np.ones(len(next(iter(raw.values())).codes) - 1, np.bool_)
    if not any(_agree(column.codes, every) for column in raw.values()):
        return False
    steps = (np.diff(_ranks(column)) for column in raw.values() if len(column.distinct) > 1)
    return all((each < 0).any() and (each > 0).any() for each in steps)


def _agree(codes: NDArray[np.integer], is_pair: NDArray[np.bool_]) -> bool:
    """Check whether the rows of some pairs of neighbours agree more often than chance explains."""
    many = int(is_pair.sum())
    share = np.bincount(codes) / max(1, len(codes))
    chance = float((share**2).sum())
    spread = np.sqrt(many * chance * (1 - chance))
    agreeing = int(((codes[1:] == codes[:-1]) & is_pair).sum())
    return agreeing - many * chance > _STANDARD_ERRORS * max(1.0, float(spread))


def _names_groups(column: RawColumn) -> bool:
    """Return whether a column may name groups of a few rows each: most rows share their value."""
    times = np.bincount(column.codes[~column.gaps].astype(np.int64))
    return _names_several(column) and float(np.median(times[times > 0])) >= _FEWEST_EACH


def _counts_off(column: RawColumn) -> bool:
    """Return whether a column may count off the rows of groups, from 1 on."""
    if not 2 <= len(column.distinct) <= _MOST_ROWS_EACH:
        return False
    numbers = [number_in(value) for value in column.distinct]
    if sorted(n for n in numbers if n is not None) != list(range(1, len(numbers) + 1)):
        return False
    times = np.bincount(_ranks(column), minlength=len(numbers))
    return bool((np.diff(times) <= 0).all()) and times[1] >= _FEWEST_SECOND * len(column.codes)


def _units_by_place(raw: Raw, name: str) -> RawColumn | None:
    """Return the group of each row, by the order of rows or else by what groups have in common."""
    place = _ranks(raw[name])
    is_first = place == 0
    if (place[0] == 0) and (is_first[1:] | (np.diff(place) == 1)).mean() >= _COUNTED_OFF:
        return _numbered(np.cumsum(is_first) - 1)
    codes: dict[str, Positions] = {n: c.codes.astype(np.int64) for n, c in raw.items() if n != name}
    units, share = np.zeros(len(place), np.int64), 0.0
    for _ in range(_MOST_BY):
        finer = {n: _crossed(units, each) for n, each in codes.items()}
        shares = {n: _counted_off(each, place) for n, each in finer.items()}
        best = max(shares, key=lambda n: shares[n], default=None)
        if best is None or shares[best] <= share:
            break
        units, share = finer[best], shares[best]
    return _numbered(units) if share >= _COUNTED_OFF else None


def _numbered(units: Positions) -> RawColumn:
    numbers, codes = np.unique(units, return_inverse=True)
    return RawColumn("group", numbers.tolist(), codes.ravel())


def _crossed(units: Positions, codes: Positions) -> Positions:
    both = units * (1 + int(codes.max(initial=0))) + codes
    return np.unique(both, return_inverse=True)[1].ravel()


def _counted_off(units: Positions, place: Positions) -> float:
    """Return the share of rows in groups whose rows are 1, 2, 3 and so on."""
    size = np.bincount(units)
    last = np.zeros(len(size), np.int64)
    np.maximum.at(last, units, place)
    pairs = np.unique(np.stack([units, place]), axis=1)
    different = np.bincount(pairs[0], minlength=len(size))
    is_whole = (different == size) & (last == size - 1)
    return float(is_whole[units].mean())


def rows_of_groups(raws: Mapping[str, Raw], groups: RowGroups) -> dict[str, Raw] | None:
    """Return each file with a row for each group of several rows, and the cells of all of these.

    Columns that groups have in common, or that tell them, are left out: of each row they tell as
    much. Rows that nothing counts off are in the order of their values. None where groups of the
    data or of the file are too few; a control of too few, or without a column, is left out.
    """
    units: dict[str, Positions] = {}
    several: dict[str, Raw] = {}
    for file, column in groups.units.items():
        raw, codes = raws[file], column.codes.astype(np.int64)
        is_in = (np.bincount(codes)[codes] > 1) & ~column.gaps
        if len(np.unique(codes[is_in])) >= FEWEST_PEOPLE:
            units[file] = codes[is_in]
            several[file] = {n: replace(c, codes=c.codes[is_in]) for n, c in raw.items()}
    if not {"real", "synthetic"} <= units.keys():
        return None
    names = [n for n in several["real"] if n not in (groups.by, *groups.common)]
    names = [n for n in names if n in several["synthetic"]]
    several = {file: raw for file, raw in several.items() if {*names, groups.by} <= raw.keys()}
    counts = np.bincount(units["real"])
    rows_each = min(int(np.quantile(counts[counts > 0], 0.9)), MOST_CELLS // max(1, len(names)))
    if not names or rows_each < 2:
        return None
    order = None if groups.is_counted_off else _joint_order(several, names)
    numbered = {file: _numbered(units[file]) for file in several}
    wide: dict[str, Raw] = {}
    for file, raw in several.items():
        at = np.arange(len(units[file])) if order is None else order[file]
        rows = {n: replace(raw[n], codes=raw[n].codes[at]) for n in (*names, groups.by)}
        unit = replace(numbered[file], codes=numbered[file].codes[at])
        by = groups.by if groups.is_counted_off else None
        wide[file] = _wide(rows, unit, names, by, rows_each)
    return wide


def _joint_order(raws: Mapping[str, Raw], names: Sequence[str]) -> dict[str, Positions]:
    """Return the rows of each file in the order of their values, the same in all files."""
    keys: dict[str, list[Positions]] = {file: [] for file in raws}
    for name in names:
        texts = {file: [str(_plain(v)) for v in raw[name].distinct] for file, raw in raws.items()}
        place = {text: at for at, text in enumerate(sorted(set().union(*texts.values())))}
        for file, raw in raws.items():
            ranks = np.array([place[text] for text in texts[file]], np.int64)
            keys[file].append(ranks[raw[name].codes])
    return {file: np.lexsort(each[::-1]) for file, each in keys.items()}


def _plain(value: Value | None) -> Value | None:
    number = None if value is None else number_in(value)
    return value if number is None else float(number)


def _common(raw: Raw, units: RawColumn, by: str) -> tuple[str, ...]:
    """Return the columns in which nearly all groups of several rows have one value."""
    common: list[str] = []
    for name, column in raw.items():
        if name != by and _share_common(column, units) >= _CONSTANT:
            common.append(name)
    return tuple(common)


def _share_common(column: RawColumn, units: RawColumn) -> float:
    """Return the share of the groups of several rows in which a column has one value."""
    codes = units.codes.astype(np.int64)
    rows = np.bincount(codes)
    width = 1 + int(column.codes.max(initial=0))
    pairs = np.unique(codes * width + column.codes) // width
    values = np.bincount(pairs, minlength=len(rows))[rows > 1]
    return float((values == 1).mean()) if len(values) else 0.0
