"""The files of an audit, read so that a value has the same code in all of them."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._pandas import pd
from narcissus._validation import did_you_mean
from narcissus.errors import InputError, for_each
from narcissus.tables import Bins, Table
from narcissus.tables.coding import MISSING_LABEL, reading_of
from narcissus.tables.counted import Reading, complete
from narcissus.tables.parts import column_names, open_source
from narcissus.tables.read import MissingPolicy, checked_bins, held
from narcissus.tables.sources import has_index
from narcissus.tables.spelling import (
    HOW_MISSING,
    LABELS,
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
class GivenFiles:
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

    def rows(self, which: str) -> NDArray[np.int64]:
        """Return the positions of "real", "synthetic" or "control" in the table."""
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
    unit: column of ``real`` and ``control`` that names the person or household of a row, no column
        of the data. Rows of one unit depend on one another, so one of each is tried.

    >>> real = pd.DataFrame({"age": [30, 40, 50], "ill": ["no", "yes", "no"]})
    >>> read_files(real, real[::-1]).table.labels
    (('30', '40', '50'), ('no', 'yes'))
    """
    given = {"real": real, "synthetic": synthetic, "control": control}
    sources = {name: source for name, source in given.items() if source is not None}
    reading = Reading(checked_bins(bins), missing, 3 * MOST_ROWS, drop, read_as or {})
    raws, left_out, named = _opened(sources, columns, drop, unit)
    reading.check(list(raws["real"]))
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
    as_read = replace(reading, read_as=dict.fromkeys(raws["real"], LABELS))
    table = held("the files", [column for column, _, _ in read], as_read)
    sizes = {name: len(next(iter(raw.values())).codes) for name, raw in raws.items()}
    file_of = np.repeat(np.arange(len(sizes)), list(sizes.values()))
    units = np.concatenate([named.get(name, np.zeros(sizes[name], np.int64)) for name in sizes])
    order = np.lexsort((units, keys_of(table.codes), file_of))
    table = replace(table, codes=table.codes[order])
    if unit is not None:
        many = (
            f"{len(np.unique(c)):,} of {len(c):,} rows in the {n} file" for n, c in named.items()
        )
        left_out.append(f"One row of each `{unit}` is tried: {', '.join(many)}")
    notes = [note for _, _, notes in read for note in notes]
    found = GivenFiles(
        replace(table, values=tuple(map(_spaced, table.values, table.labels))),
        sizes["real"],
        sizes["synthetic"],
        sizes.get("control", 0),
        np.column_stack([_coarse(table, j) for j in range(table.columns)]).astype(np.int32),
        (*_lines([readings for _, readings, _ in read], list(raws["real"])), *left_out, *notes),
        units[order] if unit is not None else None,
    )
    _refuse_itself(found)
    return found


def _opened(
    sources: Mapping[str, Source],
    columns: Sequence[str] | None,
    drop: Sequence[str],
    unit: str | None,
) -> tuple[dict[str, Raw], list[str], dict[str, NDArray[np.int64]]]:
    """Read the files unconverted, list columns dropped without request, number each row's unit."""
    names = {name: _names(name, source) for name, source in sources.items()}
    for column in drop:
        if not any(column in there for there in names.values()):
            raise InputError(f"the real file: {unknown_column(column, names['real'])}")
    found: dict[str, Raw] = {}
    left_out: list[str] = []
    named: dict[str, RawColumn] = {}
    for name, source in sources.items():
        here = [column for column in drop if column in names[name]]
        if unit is not None and unit in names[name]:
            if unit in (*drop, *(columns or ())):
                raise InputError(f"`{unit}` is the unit of a row, no column: do not name it twice")
            if name != "synthetic":
                (named[name],), _ = _raw(name, source, [unit], ())
            here.append(unit)
        elif unit is not None and name != "synthetic":
            raise InputError(f"the {name} file: {unknown_column(unit, names[name])}")
        if columns is None and has_index(names[name]) and names[name][0] not in drop:
            left_out.append(f"Left out of the {name} file: its first column, an index")
        raw, remarks = _raw(name, source, columns, here)
        found[name] = {column.name: column for column in raw}
        left_out += [f"Of the {name} file: {text}" for text in remarks]
    _same_columns(found)
    order = sorted(found["real"])
    ordered = {name: {c: raw[c] for c in order} for name, raw in found.items()}
    return ordered, left_out, _numbered(unit or "", named)


def _numbered(unit: str, named: Mapping[str, RawColumn]) -> dict[str, NDArray[np.int64]]:
    """Assign numbers to units in the order of their names; refuse those that both files have."""
    for name, column in named.items():
        if column.gaps.any():
            row = int(column.gaps.argmax()) + 1
            raise InputError(f"the {name} file: row {row:,} has no `{unit}`; give each row one")
    names = {name: [plain_name(value) for value in one.distinct] for name, one in named.items()}
    real, *others = (set(one) for one in names.values()) if names else [set[str]()]
    if others and (both := real & others[0]):
        raise InputError(
            f"{len(both):,} values of `{unit}` stand in the real and in the control file, such as "
            f"{min(both)!r}: leave the rows of these units out of both, so that no person or "
            "household is on two sides"
        )
    place = {key: at for at, key in enumerate(sorted(real.union(*others)))}
    return {
        name: np.array([place[key] for key in names[name]], np.int64)[one.codes]
        for name, one in named.items()
    }


@contextmanager
def file_named(name: str) -> Generator[None]:
    """Name the file in errors."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"the {name} file: {error}") from error


def _names(name: str, source: Source) -> list[str]:
    """Return the names of a file's columns; unreadable files are refused later."""
    if isinstance(source, Table):
        return list(source.names)
    with file_named(name):
        return column_names(source)


def _raw(
    name: str, source: Source, columns: Sequence[str] | None, drop: Sequence[str]
) -> tuple[list[RawColumn], Sequence[str]]:
    """Read a file unconverted; return its columns, and how it was read."""
    with file_named(name):
        if not isinstance(source, Table):
            opened = open_source(source, columns, drop, MOST_ROWS)
            return opened.columns, opened.remarks
        kept = source.select(c for c in columns or source.names if c not in drop)
        return [
            RawColumn(n, list(labels), codes.astype(np.int64))
            for n, labels, codes in zip(kept.names, kept.labels, kept.codes.T, strict=True)
        ], source.remarks


def _together(
    column: str, raws: Mapping[str, Raw], reading: Reading
) -> tuple[RawColumn, dict[str, ColumnReading], list[str]]:
    """Read a column of all files as in the real one; return it and its reading in each."""
    read_as, bins = reading.read_as.get(column), reading.bins.get(column)
    is_binned = bins is not None and bins.common is None
    kind = "numbers" if is_binned and read_as is None else None
    readings: dict[str, ColumnReading] = {}
    like: Spelled | None = None
    people: dict[str, dict[Value, int]] = {}
    notes: list[str] = []
    place: dict[Value | None, int] = {}
    codes: list[NDArray[np.int64]] = []
    for name, raw in raws.items():
        tally = ValueTally(column)
        tally.add(raw[column])
        with file_named(name):
            found = spelled(column, tally.values, read_as, like=like, kind=kind)
        readings[name] = reading_of(tally, found)
        meant = tally.meaning(list(found.values)).merged()
        people[name] = dict(zip(meant.values, meant.counts, strict=True))
        if like is not None and read_as is None:
            pair = ("real", name)
            note = require_overlap(column, pair, people["real"], people[name], binned=is_binned)
            notes += [note] * bool(note)
        like = like or found
        places = [place.setdefault(value, len(place)) for value in found.values]
        places.append(place.setdefault(None, len(place)) if tally.missing else -1)  # place -1
        codes.append(np.array(places)[tally.places(raw[column])][raw[column].codes])
    return RawColumn(column, list(place), np.concatenate(codes)), readings, notes


def _lines(readings: Sequence[Mapping[str, ColumnReading]], names: Sequence[str]) -> Iterator[str]:
    """Describe how columns were read, and which files write them differently."""
    real = {n: one["real"] for n, one in zip(names, readings, strict=True)}
    yield f"Columns read as {described(real)}"
    for file in readings[0]:
        if said := respellings({n: one[file] for n, one in zip(names, readings, strict=True)}):
            yield f"In the {file} file {said}"


def _same_columns(raws: Mapping[str, Raw]) -> None:
    known = list(raws["real"])
    for name, raw in raws.items():
        there = list(raw)
        lacking = [c for c in known if c not in there]
        strange = [c for c in there if c not in known]
        if lacking or strange:
            said = [f"lacks {_listed(lacking)}"] if lacking else []
            said += [f"has {_listed(strange)}, which the real file has not"] if strange else []
            near = did_you_mean(lacking[0], strange) if lacking and strange else ""
            raise InputError(
                f"the {name} file {' and '.join(said)}{near}: leave out what not all "
                f"files have (drop = {strange + lacking!r}; --drop {','.join(strange + lacking)})"
            )


def _complete(name: str, raw: Raw) -> Raw:
    kept = {column.name: column for column in complete(list(raw.values()))}
    if not len(next(iter(kept.values())).codes):
        raise InputError(f"every row of the {name} file has a missing value: drop a column instead")
    return kept


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
            "every row of the control file stands in the real file too: the control must be people "
            "whose records were not used to make the synthetic file"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
