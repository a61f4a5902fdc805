"""The files of an audit, read so that a value has the same code in all of them."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._pandas import pd
from narcissus._validation import did_you_mean
from narcissus._visible import cell
from narcissus.errors import InputError, for_each
from narcissus.synthetic.coarsening import Coarse, coarse_of
from narcissus.synthetic.notation import as_known, ways_of
from narcissus.tables import Bins, Table
from narcissus.tables.coding import MISSING_LABEL, reading_of
from narcissus.tables.counted import Reading, complete
from narcissus.tables.formats import is_part_beside, name_of_place
from narcissus.tables.parts import column_names, names_with_index, open_source
from narcissus.tables.read import MissingPolicy, checked_bins, held
from narcissus.tables.sources import has_index
from narcissus.tables.spelling import (
    HOW_MISSING,
    LABELS,
    OVERLAP_ERROR,
    ColumnReading,
    ReadAs,
    Spelled,
    Value,
    described,
    number_in,
    require_overlap,
    respellings,
    spelled,
)
from narcissus.tables.table import unknown_column
from narcissus.tables.tally import RawColumn, ValueTally, plain_name

_LARGEST = 2**62
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
Source: TypeAlias = "Path | str | pd.DataFrame | Table"
MOST_ROWS = 2_000_000
"""Most rows of one file."""
MOST_CODES = 200
"""Most values of a column that is to be guessed, or that is counted value by value."""
Raw: TypeAlias = "dict[str, RawColumn]"


def keys_of(codes: ArrayLike) -> NDArray[np.int64]:
    """Return a number from 0 for each row of codes, equal for equal rows only; shape (rows,).

    >>> keys_of([[1, 2], [0, 5], [1, 2]]).tolist()
    [1, 0, 1]
    """
    array = np.asarray(codes, dtype=np.int64)
    keys, size = np.zeros(len(array), np.int64), 1
    for column in array.T:
        width = int(column.max(initial=0)) + 1
        if size * width > _LARGEST:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            size = int(keys.max(initial=0)) + 1
        keys, size = keys * width + column, size * width
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class Covers:
    """Which finer values the values of a column stand for, where the file is coarser."""

    codes: NDArray[np.int64]  # of each row, shape (rows,), as fine as it is written
    covers: NDArray[np.bool_]  # shape (values, values): whether the first is true of the second
    # of each value of the file; those of one level are true of nothing in common; else -1
    levels: NDArray[np.int64]

    def at_level(self, level: int) -> NDArray[np.int64]:
        """Return the value of a level that is true of each value, or the value itself."""
        values = np.arange(len(self.levels))
        for value in np.flatnonzero(self.levels == level):
            values[self.covers[value]] = value
        return values


class Sides:
    """Rows of three files, one after the other: of the data, the file and the control."""

    real: int
    synthetic: int
    control: int
    units: NDArray[np.int64] | None

    def rows(self, which: str) -> NDArray[np.int64]:
        """Return the positions of the rows of "real", "synthetic" or "control"."""
        ends = np.cumsum([0, self.real, self.synthetic, self.control])
        at = ("real", "synthetic", "control").index(which)
        return np.arange(ends[at], ends[at + 1])

    def people(self, which: str) -> int:
        """Return the number of units of a file; 0 where none are named."""
        return 0 if self.units is None else len(np.unique(self.units[self.rows(which)]))

    def one_of_each(self, rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Put rows in random order; of those of one unit, keep one at random."""
        drawn = rng.permutation(rows)
        if self.units is None:
            return drawn
        return rng.permutation(drawn[np.unique(self.units[drawn], return_index=True)[1]])


@dataclass(frozen=True)
class GivenFiles(Sides):
    """People in the data, a file made from them, and people outside the data."""

    # the columns, by name, of all rows: ``real``, then ``synthetic``, then ``control``, each
    # in the order of their codes
    table: Table
    real: int  # real, synthetic, control: number of rows of each; ``control`` is 0 if there is none
    synthetic: int
    control: int
    # shape (rows, columns): the codes, but numbers with more than `MOST_CODES` values in 20
    # groups of about equal size
    coarse: NDArray[np.int32]
    reading: tuple[str, ...] = ()  # how columns were read, a line each
    # the person or household of each row, shape (rows,), of no meaning for the synthetic file;
    # None where every row is a unit of its own
    units: NDArray[np.int64] | None = None
    covers: Mapping[int, Covers] = field(default_factory=dict[int, Covers])  # by column
    places: NDArray[np.int64] | None = None  # of each row, in the order in which its file has it

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    def fine(self, column: int) -> NDArray[np.int64]:
        """Return the codes of a column as its rows are written, shape (rows,)."""
        cover = self.covers.get(column)
        return self.table.codes[:, column].astype(np.int64) if cover is None else cover.codes

    def label(self, name: str, code: int) -> str:
        """Name of a coarse value: its label, or the ends of a group of numbers."""
        column = self.table.index(name)
        codes = self.table.codes[self.coarse[:, column] == code, column]
        labels = self.table.labels[column]
        first, last = labels[codes.min()], labels[codes.max()]
        return first if first == last else f"{first} to {last}"


def read_files(
    real: Source,
    synthetic: Source,
    control: Source | None = None,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    bins: Mapping[str, Bins] | None = None,
    missing: MissingPolicy = "refuse",
    read_as: Mapping[str, ReadAs] | None = None,
    unit: str | None = None,
    same: Mapping[str, str] | None = None,
    kept: Mapping[str, NDArray[np.int64]] | None = None,
) -> GivenFiles:
    """Read the files of an audit together.

    Columns of numbers stay numbers: attacks that search for the nearest record take their scaled
    distance, those that count take groups. ``bins`` are the same for all files, as in a table
    study; a column to guess needs them if it has more than 200 values. Quantiles are over all rows
    together.

    A value is the same however a file writes it (`narcissus.tables.spelling`). A first column
    without a name is left out. Columns are sorted by name, and rows of each file by value, so draws
    from them depend on nothing else.

    real: the people that the synthetic file was made from: any source for `read_table`.
    control: people of the same population who are not in the data; None if there are none.
    columns, drop, bins, missing, read_as: as for `read_table`; ``drop`` may name a column of only
        one file. A column in ``read_as`` is not checked for overlapping values.
    same: columns of ``real`` that ``synthetic`` has under another name, and that name.
    unit: column of ``real`` and ``control`` that names the person or household of a row, no column
        of the data. Rows of one unit depend on one another, so one of each is tried.
    kept: places of the rows of "real" and "control" that are used; None: all.

    >>> real = pd.DataFrame({"age": [30, 40, 50], "ill": ["no", "yes", "no"]})
    >>> read_files(real, real[::-1]).table.labels
    (('30', '40', '50'), ('no', 'yes'))
    """
    inputs = {"real": real, "synthetic": synthetic, "control": control}
    sources = {name: source for name, source in inputs.items() if source is not None}
    reading = Reading(checked_bins(bins), missing, 3 * MOST_ROWS, drop, read_as or {})
    raws, left_out, named = _opened(sources, columns, drop, unit, same or {})
    reading.check(list(raws["real"]))
    for name, places in (kept or {}).items():
        many = len(next(iter(raws[name].values())).codes)
        raws[name] = {n: replace(c, codes=c.codes[places]) for n, c in raws[name].items()}
        if many > len(places):
            line = f"Of the {name} file {len(places):,} of {many:,} rows: equal rows are one person"
            left_out.append(line)
    if missing == "drop":
        named = {n: c[~np.any([r.gaps for r in raws[n].values()], 0)] for n, c in named.items()}
        raws = {name: _complete(name, raw) for name, raw in raws.items()}
    for name, raw in raws.items():
        gaps = [column.name for column in raw.values() if column.gaps.any()]
        if missing == "refuse" and gaps:
            raise InputError(
                f"the {name} file has missing values in {_listed(gaps)}: {HOW_MISSING}"
            )
    read = for_each(lambda name: _together(name, raws, reading), list(raws["real"]))
    coarse = {j: series.coarse for j, series in enumerate(read) if series.coarse is not None}
    kept_bins = {n: b for n, b in reading.bins.items() if n not in {read[j].name for j in coarse}}
    as_read = replace(reading, read_as=dict.fromkeys(raws["real"], LABELS), bins=kept_bins)
    table = held("the files", [series.column for series in read], as_read)
    sizes = {name: len(next(iter(raw.values())).codes) for name, raw in raws.items()}
    file_of = np.repeat(np.arange(len(sizes)), list(sizes.values()))
    units = np.concatenate([named.get(name, np.zeros(sizes[name], np.int64)) for name in sizes])
    fine = keys_of(np.column_stack([read[j].codes for j in coarse])) if coarse else units
    order = np.lexsort((units, fine, keys_of(table.codes), file_of))
    table = replace(table, codes=table.codes[order])
    if unit is not None:
        many = (
            f"{len(np.unique(c)):,} of {len(c):,} rows in the {n} file" for n, c in named.items()
        )
        left_out.append(f"One row of each `{unit}` is tried: {', '.join(many)}")
    notes = [note for series in read for note in series.notes]
    files = GivenFiles(
        replace(table, values=tuple(map(_spaced, table.values, table.labels))),
        sizes["real"],
        sizes["synthetic"],
        sizes.get("control", 0),
        np.column_stack([_coarse(table, j) for j in range(table.columns)]).astype(np.int32),
        (*_lines([series.readings for series in read], list(raws["real"])), *left_out, *notes),
        units[order] if unit is not None else None,
        {
            j: Covers(read[j].codes[order], series.covers, series.levels)
            for j, series in coarse.items()
        },
        np.concatenate([np.arange(many) for many in sizes.values()])[order],
    )
    _refuse_itself(files)
    return files


def _opened(
    sources: Mapping[str, Source],
    columns: Sequence[str] | None,
    drop: Sequence[str],
    unit: str | None,
    same: Mapping[str, str],
) -> tuple[dict[str, Raw], list[str], dict[str, NDArray[np.int64]]]:
    """Read the files unconverted, list columns dropped without request, number each row's unit."""
    names = {name: column_names_of(name, source) for name, source in sources.items()}
    index = {name: index_of(name, source, names[name]) for name, source in sources.items()}
    named_in_data = {other: name for name, other in same.items()}
    names["synthetic"] = [named_in_data.get(name, name) for name in names["synthetic"]]
    for column in drop:
        is_there = any(column in names[name] + index[name] for name in names)
        if not is_there and not is_part_beside(column):
            raise InputError(f"the real file: {unknown_column(column, names['real'])}")
    raws: dict[str, Raw] = {}
    left_out: list[str] = []
    selection, line = (columns, "") if columns else _shared(names, [*drop, unit or ""])
    left_out += [line] * bool(line)
    named: dict[str, RawColumn] = {}
    for name, source in sources.items():
        here = [column for column in drop if column in names[name]]
        here += [""] * (columns is None and "" in names[name])
        if unit is not None and unit in names[name]:
            if unit in (*drop, *(columns or ())):
                raise InputError(f"`{unit}` is the unit of a row, no column: do not name it twice")
            if name != "synthetic":
                (named[name],), _ = raw_columns(name, source, [unit], [""])
            here.append(unit)
        elif unit is not None and name != "synthetic":
            raise InputError(f"the {name} file: {unknown_column(unit, names[name])}")
        if columns is None and has_index(names[name]) and names[name][0] not in drop:
            left_out.append(f"Left out of the {name} file: its first column, an index")
        if index[name]:
            left_out.append(
                f"Left out of the {name} file, but for copies: its index ({_listed(index[name])})"
            )
        theirs = same if name == "synthetic" else {}
        wanted = [theirs.get(column, column) for column in selection]
        raw, remarks = raw_columns(name, source, wanted, [theirs.get(c, c) for c in here])
        back = named_in_data if name == "synthetic" else {}
        raw = [replace(column, name=back.get(column.name, column.name)) for column in raw]
        raws[name] = {column.name: column for column in raw}
        left_out += [f"Of the {name} file: {text}" for text in remarks]
    order = sorted(raws["real"])
    ordered = {name: {c: raw[c] for c in order} for name, raw in raws.items()}
    return ordered, left_out, numbered_units(unit or "", named)


def numbered_units(unit: str, named: Mapping[str, RawColumn]) -> dict[str, NDArray[np.int64]]:
    """Assign numbers to units in the order of their names; refuse those that both files have."""
    for name, column in named.items():
        if column.gaps.any():
            row = int(column.gaps.argmax()) + 1
            raise InputError(f"the {name} file: row {row:,} has no `{unit}`; give each row one")
    names = {
        name: [plain_name(value) for value in series.distinct] for name, series in named.items()
    }
    real, *others = (set(series) for series in names.values()) if names else [set[str]()]
    if others and (both := real & others[0]):
        raise InputError(
            f"{len(both):,} values of `{unit}` appear in the real and in the control file, such as "
            f"{cell(min(both))}: leave the rows of these units out of both, so that no person or "
            "household is on two sides"
        )
    place = {key: at for at, key in enumerate(sorted(real.union(*others)))}
    return {
        name: np.array([place[key] for key in names[name]], np.int64)[series.codes]
        for name, series in named.items()
    }


@contextmanager
def file_named(name: str) -> Generator[None]:
    """Name the file in errors."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"the {name} file: {error}") from error


def column_names_of(name: str, source: Source) -> list[str]:
    """Return the names of a file's columns; unreadable files are refused later."""
    if isinstance(source, Table):
        return list(source.names)
    with file_named(name):
        return column_names(source)


def index_of(name: str, source: Source, columns: Sequence[str]) -> list[str]:
    """Return the names of the index that pandas stored in a file next to its columns."""
    if isinstance(source, Table):
        return []
    with file_named(name):
        return [each for each in names_with_index(source) if each not in columns]


def all_columns(
    name: str, source: Source, drop: Sequence[str]
) -> tuple[list[RawColumn], Sequence[str]]:
    """Read all columns of a file, those without a name by their places, and how it was read."""
    if isinstance(source, Table):
        return raw_columns(name, source, None, drop)
    with file_named(name):
        names = names_with_index(source)
        called = [each or name_of_place(j) for j, each in enumerate(names)]
        opened = open_source(source, None, drop, MOST_ROWS, unnamed=True)
        new_names = [new for each, new in zip(names, called, strict=True) if each not in drop]
        columns = [replace(c, name=new) for c, new in zip(opened.columns, new_names, strict=True)]
        return [column for column in columns if column.name not in drop], opened.remarks


def raw_columns(
    name: str, source: Source, columns: Sequence[str] | None, drop: Sequence[str]
) -> tuple[list[RawColumn], Sequence[str]]:
    """Read a file unconverted; return its columns, and how it was read."""
    with file_named(name):
        if not isinstance(source, Table):
            opened = open_source(source, columns, drop, MOST_ROWS)
            return opened.columns, opened.remarks
        table = source.select(c for c in columns or source.names if c not in drop)
        return [
            RawColumn(n, list(labels), codes.astype(np.int64))
            for n, labels, codes in zip(table.names, table.labels, table.codes.T, strict=True)
        ], source.remarks


@dataclass(frozen=True)
class _Together:
    """A column of all files, read as in the real one."""

    column: RawColumn
    readings: dict[str, ColumnReading]  # by file
    notes: list[str]
    coarse: Coarse | None  # where the synthetic file is coarser
    codes: NDArray[np.int64]  # as fine as each row is written

    @property
    def name(self) -> str:
        return self.column.name


def _together(column: str, raws: Mapping[str, Raw], reading: Reading) -> _Together:
    """Read a column of all files as in the real one."""
    read_as, bins = reading.read_as.get(column), reading.bins.get(column)
    is_binned = bins is not None and bins.common is None
    kind = "numbers" if is_binned and read_as is None else None
    readings: dict[str, ColumnReading] = {}
    like: Spelled | None = None
    people: dict[str, dict[Value, int]] = {}
    place: dict[Value | None, int] = {}
    file_values: dict[str, list[Value | None]] = {}
    codes: list[NDArray[np.int64]] = []
    for name, raw in raws.items():
        tally = ValueTally(column)
        tally.add(raw[column])
        with file_named(name):
            spelling = spelled(column, tally.values, read_as, like=like, kind=kind)
        spelling = _in_case(spelling, like) if read_as != "text" else spelling
        readings[name] = reading_of(tally, spelling)
        meant = tally.meaning(list(spelling.values)).merged()
        people[name] = dict(zip(meant.values, meant.counts, strict=True))
        like = like or spelling
        file_values[name] = [*spelling.values, *([None] if tally.missing else [])]
        places = [place.setdefault(value, len(place)) for value in spelling.values]
        places.append(place.setdefault(None, len(place)) if tally.missing else -1)  # place -1
        codes.append(np.array(places)[tally.places(raw[column])][raw[column].codes])
    known = dict.fromkeys(
        value for name in file_values if name != "synthetic" for value in file_values[name]
    )
    coarse = None
    if read_as != "text" and like is not None:
        coarse = coarse_of(column, list(known), file_values["synthetic"], like.kind)
    notes: list[str] = []
    for name, counts in people.items():
        if name != "real" and read_as is None:
            there = _as_known(counts, coarse)
            share = OVERLAP_ERROR / len(raws["real"]) / (len(people) - 1)
            try:
                note = require_overlap(
                    column, ("real", name), people["real"], there, binned=is_binned, error=share
                )
            except InputError:
                stands_for = _standing_for(like, counts, people["real"])
                if name != "synthetic" or not stands_for:
                    raise
                number = list(raws).index(name)
                codes[number], note = _replaced(column, codes[number], place, stands_for)
            notes += [note] * bool(note)
    whole, values = np.concatenate(codes), list(place)
    if coarse is None:
        used, whole = np.unique(whole, return_inverse=True)
        values = [values[at] for at in used]
        return _Together(RawColumn(column, values, whole), readings, notes, None, whole)
    number = {value: at for at, value in enumerate(coarse.values)}
    fine = np.array([number[value] for value in values], np.int64)[whole]
    blocks = {name: at for at, name in enumerate(dict.fromkeys(coarse.blocks))}
    block = np.array([blocks[name] for name in coarse.blocks], np.int64)
    shown = ", ".join(repr("" if value is None else value) for value in coarse.found[:3])
    notes.append(
        f"In the synthetic file `{column}` has coarser values ({len(coarse.found)}, such as "
        f"{shown}): each is matched with what it stands for"
    )
    return _Together(RawColumn(column, list(blocks), block[fine]), readings, notes, coarse, fine)


def _standing_for(
    like: Spelled | None, counts: Mapping[Value, int], people: Mapping[Value, int]
) -> tuple[str, dict[Value, Value]] | None:
    """Return how a file writes all numbers of the data, and which each stands for."""
    if like is None or like.kind != "numbers":
        return None
    ours, theirs = ([v for v in side if not isinstance(v, str)] for side in (people, counts))
    ways = ways_of("numbers", ours, {v: counts[v] for v in theirs}, {v: people[v] for v in ours})
    if len(ways) != 1:
        return None
    return ways[0].words, as_known(ways[0], ours, theirs)


def _replaced(
    column: str,
    codes: NDArray[np.int64],
    place: Mapping[Value | None, int],
    stands_for: tuple[str, Mapping[Value, Value]],
) -> tuple[NDArray[np.int64], str]:
    """Replace numbers of the file by those of the data that they stand for."""
    words, meant = stands_for
    places = np.arange(len(place))
    for value, known in meant.items():
        places[place[value]] = place[known]
    return places[codes], f"In the synthetic file `{column}` is {words}: read as the data's numbers"


def _in_case(found: Spelled, like: Spelled | None) -> Spelled:
    """Write texts as the first file does, where they differ in case or in blanks alone."""
    if like is None or like.kind not in ("texts", "numbers"):
        return found
    known = {value for value in like.values if isinstance(value, str)}
    plain: dict[str, list[str]] = {}
    for value in known:
        plain.setdefault(folded(value), []).append(value)
    values = list(found.values)
    for place, value in enumerate(values):
        if isinstance(value, str) and value not in known:
            same = plain.get(folded(value), [])
            values[place] = same[0] if len(same) == 1 else value
    return Spelled(found.kind, values)


def folded(text: str) -> str:
    """Return a text without what blanks and case make of it.

    >>> folded("  New   York ")
    'new york'
    """
    return " ".join(text.split()).casefold()


def _as_known(people: Mapping[Value, int], coarse: Coarse | None) -> dict[Value, int]:
    """Count people by value, those of a coarse one at a value that it stands for."""
    if coarse is None:
        return dict(people)
    counts: dict[Value, int] = {}
    place = {value: at for at, value in enumerate(coarse.values)}
    for value, times in people.items():
        at = place[value]
        others = [i for i in np.flatnonzero(coarse.covers[at]) if i != at]
        meant = coarse.values[others[0]] if others else value
        meant = value if meant is None else meant
        counts[meant] = counts.get(meant, 0) + times
    return counts


def _lines(readings: Sequence[Mapping[str, ColumnReading]], names: Sequence[str]) -> Iterator[str]:
    """Describe how columns were read, and which files write them differently."""
    real = {n: reading["real"] for n, reading in zip(names, readings, strict=True)}
    yield f"Columns read as {described(real)}"
    for file in readings[0]:
        if remark := respellings(
            {n: reading[file] for n, reading in zip(names, readings, strict=True)}
        ):
            yield f"In the {file} file {remark}"


def _shared(names: Mapping[str, Sequence[str]], aside: Sequence[str]) -> tuple[list[str], str]:
    """Return the columns that all files have, sorted, and a line about those that are left out."""
    index = {there[0] for there in names.values() if has_index(there)}
    columns = [[name for name in there if name and name not in index] for there in names.values()]
    shared = set(columns[0]).intersection(*columns[1:])
    if not shared:
        short = [f"{_listed(there[:5])} in the {file} file" for file, there in names.items()]
        raise InputError(
            f"the files share no column: {'; '.join(short)}: write the names alike in all files"
        )
    others = dict.fromkeys(n for there in columns for n in there if n not in shared.union(aside))
    near = did_you_mean(next(iter(others)), shared) if others else ""
    line = f"Left out, since not all files have them: {_listed(list(others))}{near}"
    return sorted(shared), line if others else ""


def _complete(name: str, raw: Raw) -> Raw:
    columns = {column.name: column for column in complete(list(raw.values()))}
    if not len(next(iter(columns.values())).codes):
        raise InputError(f"every row of the {name} file has a missing value: drop a column instead")
    return columns


def _spaced(
    values: NDArray[np.float64] | None, labels: tuple[str, ...]
) -> NDArray[np.float64] | None:
    """Scale numbers to [0, 1], so that the largest distance equals that of two texts."""
    if values is None or MISSING_LABEL in labels:
        return values
    return (values - values[0]) / (values[-1] - values[0])


def measurements(table: Table, column: int) -> NDArray[np.float64] | None:
    """Return the number behind each label of a column of numbers or dates, nan where none is.

    None for a column of texts.
    """
    if (values := table.values[column]) is not None:
        return values
    labels = table.labels[column]
    if 2 * sum(_DATE.match(label) is not None for label in labels) >= len(labels):
        return np.where(
            [_DATE.match(t) is not None for t in labels], np.arange(len(labels)), np.nan
        )
    numbers = [number_in(label) for label in labels]
    if 2 * sum(number is not None for number in numbers) < len(labels):
        return None
    return np.array([np.nan if n is None else n for n in numbers], dtype=np.float64)


def _coarse(table: Table, column: int) -> NDArray[np.int32]:
    """Return the codes of a column; numbers with many values in groups."""
    codes, values = table.codes[:, column], table.values[column]
    if values is None or len(values) <= MOST_CODES:
        return codes
    return Bins(quantiles=20).apply(values, np.bincount(codes, minlength=len(values)))[0][codes]


def _refuse_itself(files: GivenFiles) -> None:
    """Refuse a control that is the real data, or a part of it, in any order."""
    if not files.control:
        return
    codes = files.table.codes
    keys = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    size = int(keys.max()) + 1
    real = np.bincount(keys[files.rows("real")], minlength=size)
    control = np.bincount(keys[files.rows("control")], minlength=size)
    many = np.count_nonzero(control) > files.control / 2  # few different rows prove nothing
    if (real >= control).all() and (many or (real == control).all()):
        raise InputError(
            "every row of the control file appears in the real file too: the control must be "
            "people whose records were not used to make the synthetic file"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
