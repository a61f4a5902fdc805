"""The files as they are published: every column, to the last digit, never binned or left out.

Copies are sought here. What a study guesses, bins or leaves out does not matter to them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import some_of
from narcissus.errors import InputError, TooLargeError
from narcissus.synthetic.coarsening import coarse_of
from narcissus.synthetic.days import dates_of
from narcissus.synthetic.extra_columns import HeldPeople, people_held
from narcissus.synthetic.files import (
    Covers,
    Raw,
    Sides,
    Source,
    all_columns,
    column_names_of,
    folded,
    index_of,
    numbered_units,
    raw_columns,
)
from narcissus.synthetic.histories import (
    RowsBound,
    groups_of_rows,
    numbering_column,
    rows_bound,
    rows_of_groups,
    rows_together,
)
from narcissus.synthetic.names_in_values import (
    NamesInside,
    NamesOfSeveral,
    names_inside,
    names_of_several,
    names_put_back,
)
from narcissus.synthetic.notation import RULES, Written, day_of, ways_of
from narcissus.synthetic.repetition import RepeatedRows, agreeing_columns, repeated_rows
from narcissus.synthetic.side_texts import KnownValues, tell_people
from narcissus.tables.formats import (
    AMONG_NUMBERS,
    LEFT_OVER,
    LINES,
    NAMES,
    ORDER,
    REPEATED,
    TEXTS,
    UNDER_NULLS,
    PartBeside,
    is_part_beside,
    is_sheet,
    name_of_place,
    name_of_unread,
    parts_beside,
)
from narcissus.tables.metadata import (
    STRICT,
    VALUE_LABELS,
    Metadata,
    metadata_of_frame,
    read_metadata,
)
from narcissus.tables.packages import NAMES_INSIDE, list_contents
from narcissus.tables.parts import lines_of
from narcissus.tables.sources import has_index
from narcissus.tables.spelling import ReadAs, Spelled, Value, number_in, spelled
from narcissus.tables.tally import RawColumn, ValueTally

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]
SAME = 0.5
"""Share of a column's values that are in another where these are one under two names."""
_FEWEST = 10  # of these values
_FEWEST_NUMBERS = 11  # different numbers that can all be exchanged, five up and down
_LOOKED_AT = 200  # values by which a column is known to be of numbers
ALIKE_COUNTS = 0.95
"""Share of the rows that have the same values where two columns are one under two names."""
DISTINCT = 0.9
"""Share of the people with a separate value from which on a column names them."""
DENSE = 0.02
"""Share of the numbers between the least and the largest that a dense column has."""
COUNTED = 0.5
"""The same of a column that counts."""
LONG = 8
"""Digits from which on numbers that are all as long name people."""
_CODE = re.compile(r"(\D*)(\d{1,15})(\D*)")
_CALLED = {"real": "data", "synthetic": "file"}
_LONG_NAME = 40  # letters of a name that the data have as well
MOST_CODED = 50
"""Most values of a column whose codes may be those of a table."""
LARGE = 200_000
"""Rows of all files beyond which only all columns, those left out and each of these are tried."""
MOST_LINES = 10
"""Most lines above and below a table that are taken for titles and notes."""
_LINES = re.compile(r"Lines? (\d+)(?: to (\d+))? (?:above the header|below the last row) left out")
_DATED = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class ColumnLevels:
    """How a column's values become as coarse as cells of the file are."""

    levels: Codes  # of each value of the file; 0: as fine as the data's
    maps: tuple[Codes, ...]  # of each level from 1: the value that stands for each
    # of each level, the same by each rule that may have written it; None: no other reading
    by_rule: tuple[tuple[Codes | None, ...], ...] = ()

    def has_rule(self, level: int, rule: int) -> bool:
        """Whether a rule of `RULES` is another reading of a level, and writes some otherwise."""
        return 0 < level <= len(self.by_rule) and self._reading(level, rule) is not None

    def at_level(self, level: int) -> Codes:
        """Return the value of a level that stands for each value; below 0 by another rule."""
        if level < 0:
            reading = self._reading(*divmod(-level, len(RULES)))
            assert reading is not None
            return reading
        return self.maps[level - 1] if level else np.arange(len(self.levels))

    def _reading(self, level: int, rule: int) -> Codes | None:
        readings = self.by_rule[level - 1]
        return readings[rule] if rule < len(readings) else None


@dataclass(frozen=True)
class WholeColumn:
    """One column of all files."""

    name: str
    kind: str  # of the data's values: "numbers", "dates", "texts"
    codes: Codes  # of each row, shape (rows,)
    numbers: Numbers | None  # behind each value; of dates their day; None of texts
    step: float  # between two neighbouring numbers, as finely as the data write them
    cover: ColumnLevels | Covers | None
    written: tuple[str, ...]  # how the file writes it, where that is coarser
    names_people: bool  # nearly everybody has another, and it measures nothing
    is_dense: bool  # everybody has another, and these lie close together
    counts: bool  # the same, one after the other
    texts: int = 0  # rows of the file with a text, where the data have numbers alone
    values: tuple[Value | None, ...] = ()  # behind the codes

    @property
    def may_number(self) -> bool:
        """Whether it is dense, and measures people as likely as it numbers them."""
        return self.is_dense and not self.names_people


@dataclass(frozen=True)
class WholeFiles(Sides):
    """Every column that the data and the file have, of all rows in a fixed order."""

    columns: tuple[WholeColumn, ...]  # by name
    real: int
    synthetic: int
    control: int
    units: Codes | None = None
    strange: tuple[str, ...] = ()  # columns of the file alone that nothing is known of
    absent: tuple[str, ...] = ()  # columns of the data alone
    unread: Mapping[str, str] = field(default_factory=dict[str, str])  # with the reason
    # what the files hold beside their tables, with the reason why it may matter
    beside: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: tuple[str, ...] = ()  # lines above and below the tables, a phrase for each
    unseen: tuple[str, ...] = ()  # what the file has beside its table and no reader gives
    lacking: tuple[str, ...] = ()  # columns of the data and the file that the control lacks
    without_control: WholeFiles | None = None  # with all columns, where the control lacks some
    inside: tuple[NamesInside, ...] = ()  # names of people inside other values
    places: Codes | None = None  # of each row, in the order in which its file has it
    repeated: RepeatedRows | None = None  # rows that are equal as those of one person are
    with_repeated: WholeFiles | None = None  # with all of these rows, where one of each is kept
    # columns of numbers in which the file has texts as well, and that nobody declared
    with_texts: tuple[str, ...] = ()
    agreeing: tuple[str, ...] = ()  # columns in which rows agree as those of one person do
    together: PeopleTogether | None = None  # where people have several rows in all files
    groups: tuple[PeopleTogether, ...] = ()  # of rows: households, classes, addresses
    held: HeldPeople | None = None  # in columns of the file alone
    is_in_memory: bool = False  # the file is a data frame, and what is written of it holds more
    put_back: tuple[NamesInside, ...] = ()  # names of people in columns declared irrelevant
    # columns of few values that the file writes in another way than the data: letters for numbers
    otherwise: tuple[WholeColumn, ...] = ()
    # column of the data, and the control, that numbers people of several rows; None where one is
    # named, or none is there
    numbering: str | None = None
    bound: RowsBound | None = None  # what binds rows of the data to one another
    unit: str | None = None  # column that names each row's person, as the user says
    several: NamesOfSeveral = field(default_factory=NamesOfSeveral)

    @property
    def counts_rows(self) -> str:
        """The column that shows that people have several rows, where no unit is named."""
        return self.numbering or next(iter(() if self.unit else self.several.columns), "")

    @property
    def unit_of_several(self) -> str:
        """The unit that the user names, where some have several rows in the data; else empty."""
        if self.units is None or self.unit is None:
            return ""
        units = self.units[self.rows("real")]
        return self.unit if len(np.unique(units)) < len(units) else ""

    @property
    def is_large(self) -> bool:
        """Check whether files have so many rows that some copies are not sought."""
        return self.real + self.synthetic + self.control > LARGE

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def covers(self) -> dict[int, ColumnLevels | Covers]:
        each = enumerate(self.columns)
        return {j: column.cover for j, column in each if column.cover is not None}

    @property
    def aside(self) -> list[str]:
        """Columns that only name or number people, where there are others."""
        some = [column.name for column in self.columns if column.names_people]
        return some if len(some) < len(self.columns) else []

    def column(self, name: str) -> WholeColumn:
        """Return a column by its name."""
        return self.columns[self.names.index(name)]

    def select(self, names: Sequence[str]) -> WholeFiles:
        """Return the same rows with some columns alone."""
        return replace(self, columns=tuple(c for c in self.columns if c.name in names))

    def fine(self, column: int) -> Codes:
        """Return the codes of a column as its rows are written, shape (rows,)."""
        return self.columns[column].codes

    def shuffled(self, column: int, rng: np.random.Generator) -> WholeFiles:
        """Return the files with one column of the synthetic file shuffled among its rows."""
        rows, codes = self.rows("synthetic"), self.columns[column].codes.copy()
        codes[rows] = rng.permutation(codes[rows])
        columns = list(self.columns)
        columns[column] = replace(columns[column], codes=codes)
        return replace(self, columns=tuple(columns))

    def numberings(self) -> list[int]:
        """Return the columns that may number people, or groups of rows and the rows of each."""
        return [j for j, column in enumerate(self.columns) if self._may_number(column)]

    def _may_number(self, column: WholeColumn) -> bool:
        is_whole = column.step > 0 and not column.names_people
        many = len(np.unique(column.codes[self.rows("synthetic")]))
        return column.may_number or (is_whole and many >= _FEWEST_NUMBERS)

    def moved(self, column: int, by: int) -> WholeFiles:
        """Return the files with each number of the file in the place of the one so many on."""
        rows, base = self.rows("synthetic"), self.columns[column]
        kinds, place = np.unique(base.codes[rows], return_inverse=True)
        order = np.argsort(kinds if base.numbers is None else base.numbers[kinds], kind="stable")
        exchanged = np.empty_like(kinds)
        exchanged[order] = kinds[np.roll(order, by)]
        codes = base.codes.copy()
        codes[rows] = exchanged[place.ravel()]
        columns = list(self.columns)
        columns[column] = replace(base, codes=codes)
        return replace(self, columns=tuple(columns))

    def of_control(self) -> WholeFiles:
        """Return the data with the control in the place of the file, as both are written."""
        rows = np.concatenate([self.rows("real"), self.rows("control")])
        columns = tuple(replace(c, codes=c.codes[rows], cover=None) for c in self.columns)
        units = None if self.units is None else self.units[rows]
        places = None if self.places is None else self.places[rows]
        return replace(
            self, columns=columns, synthetic=self.control, control=0, units=units, places=places
        )


@dataclass(frozen=True)
class PeopleTogether:
    """The files with one row for each person, which has the cells of all rows of that person."""

    by: str  # the column that numbers people, or names or counts off the rows of a group
    files: WholeFiles
    is_clear: bool = True  # whether rows stand together, and not only may
    is_in_order: bool = True  # whether something tells which row of a group comes first


def read_whole(
    real: Source,
    synthetic: Source,
    control: Source | None = None,
    *,
    irrelevant: Sequence[str] = (),
    read_as: Mapping[str, ReadAs] | None = None,
    unit: str | None = None,
    same: Mapping[str, str] | None = None,
) -> WholeFiles:
    """Read every column of the data that the file has too, under this or a similar name.

    irrelevant: Columns that the user declared to be of no matter.
    read_as: How to read columns whose values do not settle it.
    unit: Column of the data and the control that names each row's person or household.
    same: Columns of the data that the file has under another name, and that name.
    """
    inputs = {"real": real, "synthetic": synthetic, "control": control}
    sources = {name: source for name, source in inputs.items() if source is not None}
    raws, beside, left_out, unseen = _opened(sources, irrelevant)
    put_back = _put_back(sources, raws, irrelevant)
    beside |= {name_of_unread(part): "nobody can say what it holds" for part in unseen}
    for column, other in (same or {}).items():
        if other in raws["synthetic"]:
            raws["synthetic"][column] = raws["synthetic"].pop(other)
    several = names_of_several(raws, unit)
    units = {n: raws[n].pop(unit) for n in ("real", "control") if unit and unit in raws.get(n, {})}
    theirs = raws["synthetic"].pop(unit or "", None)
    history = _people_together(raws, units | ({} if theirs is None else {"synthetic": theirs}))
    groups = _grouped(raws, irrelevant, read_as)
    bound = rows_bound(raws["real"])
    numbering = None if unit else _numbering(raws)
    names = _paired(raws["real"], raws["synthetic"])
    lacking = tuple(sorted(c for c in names if c not in raws.get("control", raws["real"])))
    unread: dict[str, str] = {}
    otherwise: dict[str, WholeColumn] = {}
    others = [c for c in raws["synthetic"] if c not in names.values()]
    strange = [c for c in others if not _is_plain(raws["synthetic"][c])]

    def read_rows(raws: Mapping[str, Raw]) -> WholeFiles:
        sizes = {name: len(next(iter(raw.values())).codes) for name, raw in raws.items()}

        def read_columns(files: Sequence[str], wanted: Iterable[str]) -> tuple[WholeColumn, ...]:
            read: list[WholeColumn] = []
            for name in sorted(wanted):
                each = {f: raws[f][names[name] if f == "synthetic" else name] for f in files}
                column = _column_or_why(name, each, (read_as or {}).get(name))
                if isinstance(column, WholeColumn):
                    read.append(_as_numbering(column, each) if name == numbering else column)
                else:
                    unread[name] = column
                    otherwise.update(_coded(name, each))
            return tuple(read)

        columns = read_columns(list(raws), set(names).difference(lacking))
        without_control = None
        absent = lacking
        if lacking:
            without_control = _in_order(
                WholeFiles(
                    read_columns(("real", "synthetic"), names),
                    sizes["real"],
                    sizes["synthetic"],
                    0,
                    _units(
                        {n: c for n, c in units.items() if n == "real"},
                        {n: many for n, many in sizes.items() if n != "control"},
                        unit,
                    ),
                )
            )
            absent = tuple(name for name in lacking if name in without_control.names)
        files = WholeFiles(
            columns,
            sizes["real"],
            sizes["synthetic"],
            sizes.get("control", 0),
            _units(units, sizes, unit),
            tuple(strange),
            tuple(c for c in raws["real"] if c not in names and c not in irrelevant),
            unread,
            {part: why for part, why in beside.items() if part not in irrelevant},
            left_out,
            unseen,
            absent,
            without_control,
            (
                *names_inside(raws, {name: names[name] for name in names if name not in lacking}),
                *several.there,
            ),
            otherwise=tuple(c for n, c in otherwise.items() if n not in lacking),
        )
        return _in_order(files)

    files = read_rows(raws) if unit else _one_row_each(raws, read_rows, irrelevant)
    if AMONG_NUMBERS not in irrelevant:
        files = replace(files, with_texts=tuple(c.name for c in files.columns if c.texts))
    if files.control and not unit and files.columns:
        places = agreeing_columns(_by_side(files, files.columns))
        files = replace(files, agreeing=tuple(files.names[j] for j in places))
    files = replace(files, held=people_held(raws["real"], raws["synthetic"], strange))
    files = replace(files, together=_whole_people(history, irrelevant, read_as), put_back=put_back)
    files = _with_codes(replace(files, groups=groups, several=several))
    is_in_memory = not isinstance(synthetic, str | Path)
    files = replace(files, bound=bound, unit=unit, numbering=numbering, is_in_memory=is_in_memory)
    return replace(files, places=None, with_repeated=None) if ORDER in irrelevant else files


def _put_back(
    sources: Mapping[str, Source], raws: Mapping[str, Raw], irrelevant: Sequence[str]
) -> tuple[NamesInside, ...]:
    """Seek names of people in columns of the file that are declared to say nothing about anybody.

    sources: The files, with all of their columns.
    raws: The same without those that are declared.
    """
    if not any(not is_part_beside(name) for name in irrelevant):
        return ()
    whole: dict[str, Raw] = {}
    for name, source in sources.items():
        columns, _ = all_columns(name, source, ())
        whole[name] = {column.name: column for column in columns}
    declared = {n: c for n, c in whole["synthetic"].items() if n not in raws["synthetic"]}
    declared = {n: c for n, c in declared.items() if n in irrelevant}
    return names_put_back(whole | {"synthetic": declared}) if declared else ()


def _numbering(raws: Mapping[str, Raw]) -> str | None:
    """Return the column of the data, and of the control, that numbers people of several rows."""
    real = raws["real"]
    return numbering_column({"real": real, "synthetic": raws.get("control", real)})


def _as_numbering(column: WholeColumn, each: Mapping[str, RawColumn]) -> WholeColumn:
    """Return a column of people's numbers, which tells nothing of them where it counts.

    Whoever counts people begins anywhere, so numbers of one file meet those of any other, as they
    are or moved. Numbers that are no count are as telling as they were.
    """
    for raw in each.values():
        numbers = [number_in(value) for value in raw.distinct if value is not None]
        if not all(isinstance(number, int) for number in numbers):
            return column
        known = np.array(numbers, np.int64)
        if len(known) < COUNTED * (int(np.ptp(known)) + 1 if len(known) else 1):
            return column
    return replace(column, cover=None, written=(), names_people=True, is_dense=True)


def _people_together(
    raws: Mapping[str, Raw], units: Mapping[str, RawColumn]
) -> tuple[str, dict[str, Raw]] | None:
    """Return which column numbers people of several rows, and these with all rows of each.

    units: The named column, by file; none where none is named: then one is sought.
    """
    some, named = dict(raws), dict(units)
    if not named and (column := numbering_column(raws)) is not None:
        named = {file: raw[column] for file, raw in raws.items() if column in raw}
        some = {
            file: {name: each for name, each in raws[file].items() if name != column}
            for file in named
        }
    if not {"real", "synthetic"} <= named.keys():
        return None
    # rows are counted off in the order of the files, whichever way the units were read
    named = {file: named[file] for file in raws if file in named}
    together = rows_together({file: some[file] for file in named}, named)
    return None if together is None else (named["real"].name, together)


def _whole_people(
    history: tuple[str, Mapping[str, Raw]] | None,
    irrelevant: Sequence[str],
    read_as: Mapping[str, ReadAs] | None,
) -> PeopleTogether | None:
    """Read the files with one row of each person that has the cells of all rows."""
    if history is None:
        return None
    by, raws = history
    columns: list[WholeColumn] = []
    for name in raws["real"]:
        base = name.rpartition(" (")[0]
        if base in irrelevant or all(_is_plain(raw[name]) for raw in raws.values()):
            continue
        with suppress(InputError, TooLargeError):  # told of the column itself
            each = {file: raw[name] for file, raw in raws.items()}
            columns.append(_column(name, each, (read_as or {}).get(base)))
    if not columns:
        return None
    sizes = {name: len(next(iter(raw.values())).codes) for name, raw in raws.items()}
    files = WholeFiles(tuple(columns), sizes["real"], sizes["synthetic"], sizes.get("control", 0))
    return PeopleTogether(by, _in_order(files))


def _with_codes(files: WholeFiles) -> WholeFiles:
    """Compare columns that are written otherwise, where there are no others: codes are sought."""
    if files.columns:
        return files
    return replace(files, columns=files.otherwise, otherwise=())


def _grouped(
    raws: Mapping[str, Raw], irrelevant: Sequence[str], read_as: Mapping[str, ReadAs] | None
) -> tuple[PeopleTogether, ...]:
    """Read the files with one row for each household, class or address of several rows."""
    read: list[PeopleTogether] = []
    for groups in groups_of_rows(raws):
        wide = rows_of_groups(raws, groups)
        history = None if wide is None else (groups.by, wide)
        if (together := _whole_people(history, irrelevant, read_as)) is not None:
            read.append(
                replace(together, is_clear=groups.is_clear, is_in_order=groups.is_counted_off)
            )
    return tuple(read)


def _one_row_each(
    raws: Mapping[str, Raw],
    read_rows: Callable[[Mapping[str, Raw]], WholeFiles],
    irrelevant: Sequence[str],
) -> WholeFiles:
    """Read the files, of equal rows that are surely of one person one."""
    files = read_rows(raws)
    repeated = None if REPEATED in irrelevant else _repeated(files, raws)
    if repeated is not None and repeated.kept:
        one_of_each = {name: _kept(raw, repeated.kept.get(name)) for name, raw in raws.items()}
        files = replace(read_rows(one_of_each), with_repeated=files)
    return replace(files, repeated=repeated)


def _kept(raw: Raw, places: Codes | None) -> Raw:
    """Return the rows at some places; None: all."""
    if places is None:
        return raw
    return {name: replace(column, codes=column.codes[places]) for name, column in raw.items()}


def _repeated(files: WholeFiles, raws: Mapping[str, Raw]) -> RepeatedRows | None:
    """Test whether equal rows of the data or the control are of one person.

    What numbers the rows of a table is none of its values.
    """
    columns = [column for column in files.columns if not column.counts]
    sides = _by_side(files, columns)
    others: dict[str, Codes] = {}
    for name in sides:
        more = [c for n, c in raws[name].items() if n not in files.names and not _is_plain(c)]
        none = np.zeros(len(sides[name]), np.int64)
        others[name] = np.column_stack([none, *(c.codes for c in more)]).astype(np.int64)
    return repeated_rows(sides, others) if columns else None


def _by_side(files: WholeFiles, columns: Sequence[WholeColumn]) -> dict[str, Codes]:
    """Return the codes of the data and of the control, with their rows as the files have them."""
    assert files.places is not None
    sides: dict[str, Codes] = {}
    for name in ("real", "control") if files.control else ("real",):
        rows = files.rows(name)
        rows = rows[np.argsort(files.places[rows])]
        codes = [c.codes[rows] for c in columns] or [np.zeros(len(rows), np.int64)]
        sides[name] = np.column_stack(codes)
    return sides


def _opened(
    sources: Mapping[str, Source], irrelevant: Sequence[str]
) -> tuple[dict[str, Raw], dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Read all columns of the files.

    Return these, what else the files hold, lines left out, and what no reader gives.
    """
    raws: dict[str, Raw] = {}
    metadata = Metadata()
    beside: dict[str, str] = {}
    sheets: dict[str, list[PartBeside]] = {}
    left_out: list[str] = []
    index: dict[str, str] = {}
    for name, source in sources.items():
        there = column_names_of(name, source)
        there += index_of(name, source, there)
        columns, remarks = all_columns(name, source, [*irrelevant])
        raws[name] = {column.name: column for column in columns}
        if has_index(there):
            index[name] = there[0] or name_of_place(0)
        lines, places = _left_out(name, remarks)
        left_out += lines
        if (many := sum(last - first + 1 for first, last in places)) > MOST_LINES:
            beside[LINES] = f"there are {many:,} in the {name} file"
        path = Path(source) if isinstance(source, str | Path) else None
        if path is not None and is_sheet(path):
            sheets[name] = parts_beside(path)
        if name == "synthetic":
            metadata = _metadata(source)
            beside |= _texts_beside(path, there, places, raws, metadata)
            beside |= _not_read(metadata, raws["real"])
    if all(_numbers_rows(raws[name].get(column)) for name, column in index.items()):
        for name, column in index.items():
            raws[name].pop(column, None)
    for name, parts in sheets.items():
        other = "real" if name == "synthetic" else "synthetic"
        for part in parts:
            many = _rows_in_both(part.rows, raws[other])
            rows = f"{many:,} of its rows are rows of the {_CALLED[other]}"
            reason = f"{part.what} (the {name} file){f'; {rows}' if many else ''}"
            beside.setdefault(part.name, reason)
    return raws, beside, tuple(left_out), metadata.unread


def _texts_beside(
    path: Path | None,
    names: Sequence[str],
    places: Sequence[tuple[int, int]],
    raws: Mapping[str, Raw],
    metadata: Metadata,
) -> dict[str, str]:
    """Return texts of a file that tell values of the data's people, each with the reason."""
    real = raws["real"]
    texts = [(NAMES, name) for name in names if name not in real or len(name) > _LONG_NAME]
    if path is not None and places:
        texts.append((LINES, "\n".join(lines_of(path, places))))
    if path is not None and is_sheet(path):
        contents = list_contents(path, with_names=True)
        texts += [(f"{TEXTS}: {kind}", text) for kind, text in contents.texts]
    texts += [(f"{TEXTS}: {kind}", text) for kind, text in metadata.texts]
    in_table = {name: _counted(column).keys() for name, column in raws["synthetic"].items()}
    texts += [
        (f"{TEXTS}: {VALUE_LABELS}", text)
        for variable, text in metadata.value_labels
        if folded(text) not in in_table.get(variable, ())
    ]
    strict = {f"{TEXTS}: {kind}" for kind in (NAMES_INSIDE, *STRICT)}
    counts = tell_people(KnownValues(real), texts, strict) if texts else {}
    reasons: dict[str, str] = {}
    for kind, many in counts.items():
        place = f" ({kind[len(TEXTS) + 2 :]})" if kind.startswith(TEXTS) else ""
        some = f"{many:,} values" if many > 1 else "1 value"
        verb = "appear" if many > 1 else "appears"
        reason = f"{some} of people of the data {verb} in them{place}"
        reasons.setdefault(kind.partition(":")[0], reason)
    return reasons


def _not_read(metadata: Metadata, real: Raw) -> dict[str, str]:
    """Return what a file holds and no reader of its table reads, each with the reason."""
    reasons: dict[str, str] = {}
    if under := metadata.under_nulls:
        columns = some_of([f"`{name}`" for name in under], 4)
        many = sum(map(len, under.values()))
        told = KnownValues(real).told_by(" ; ".join(v for each in under.values() for v in each), 0)
        of_people = f", {told:,} of them values of people of the data" if told else ""
        reasons[UNDER_NULLS] = (
            f"cells of {columns} that have no value hold {many:,} different ones{of_people}"
        )
    if metadata.left_over is None:
        reasons[LEFT_OVER] = "nobody can say which bytes of the file its table is"
    elif many := metadata.left_over:
        some = f"{many:,} bytes" if many > 1 else "1 byte"
        reasons[LEFT_OVER] = f"the file has {some} that no reader of its table reads"
    return reasons


def _metadata(source: Source) -> Metadata:
    """Read what a file or a data frame says next to its table; a packaged table says nothing."""
    if isinstance(source, str | Path):
        return read_metadata(Path(source)) if Path(source).is_file() else Metadata()
    return metadata_of_frame(source)


def _numbers_rows(column: RawColumn | None) -> bool:
    """Check whether a column has the numbers of its rows, one after the other, or is not there."""
    if column is None:
        return True
    numbers = [number_in(value) for value in column.distinct]
    is_whole = all(isinstance(number, int) for number in numbers)
    if not is_whole or len(numbers) != len(column.codes):
        return False
    return bool((np.diff(np.array(numbers)[column.codes]) == 1).all())


def _left_out(name: str, remarks: Sequence[str]) -> tuple[list[str], list[tuple[int, int]]]:
    """Return a phrase on the lines next to a table that were left out, and where these are."""
    matches = [_LINES.fullmatch(text) for text in remarks]
    phrases = [
        f"l{match[0][1:].removesuffix(' left out')} of the {name} file"
        for match in matches
        if match
    ]
    return phrases, [(int(match[1]), int(match[2] or match[1])) for match in matches if match]


def _rows_in_both(rows: Sequence[Sequence[str]], raw: Raw) -> int:
    """Count the rows of a sheet that equal a row of a file, in the columns that both have."""
    header, *below = rows or [()]
    places = [(at, raw[name]) for at, name in enumerate(header) if name in raw]
    if len(places) < 2:
        return 0
    columns = [[_plain(value) for value in column.distinct] for _, column in places]
    codes = np.column_stack([column.codes for _, column in places]).tolist()
    known = {
        tuple(values[code] for values, code in zip(columns, row, strict=True)) for row in codes
    }
    width = 1 + max(at for at, _ in places)
    whole = (row for row in below if len(row) >= width)
    return sum(tuple(_plain(row[at]) for at, _ in places) in known for row in whole)


def _plain(value: Value | None) -> Value:
    if value is None:
        return ""
    number = number_in(value)
    return folded(str(value)) if number is None else float(number)


def _units(
    named: Mapping[str, RawColumn], sizes: Mapping[str, int], unit: str | None
) -> Codes | None:
    if not named:
        return None
    numbers = numbered_units(unit or "", named)
    each = [numbers.get(name, np.zeros(size, np.int64)) for name, size in sizes.items()]
    return np.concatenate(each)


def _in_order(files: WholeFiles) -> WholeFiles:
    """Put the rows of each file in the order of their values: draws depend on nothing else."""
    sizes = [files.real, files.synthetic, files.control]
    keys = [column.codes for column in reversed(files.columns)]
    keys += [np.repeat(np.arange(3), sizes)]
    if files.units is not None:
        keys.insert(0, files.units)
    order = np.lexsort(keys)
    columns = [replace(c, codes=c.codes[order]) for c in files.columns]
    otherwise = tuple(replace(c, codes=c.codes[order]) for c in files.otherwise)
    units = None if files.units is None else files.units[order]
    places = np.concatenate([np.arange(size) for size in sizes])[order]
    return replace(files, columns=tuple(columns), units=units, places=places, otherwise=otherwise)


def _plainly(name: str) -> str:
    return re.sub(r"[\W_]+", "", normalize("NFC", name).casefold()) or name


def paired_columns(real: Source, synthetic: Source) -> dict[str, str]:
    """Return the columns of the data that the file has under another name, and that name."""
    raws: list[Raw] = []
    for name, source in (("real", real), ("synthetic", synthetic)):
        drop = [column for column in column_names_of(name, source) if not column]
        columns, _ = raw_columns(name, source, None, drop)
        raws.append({column.name: column for column in columns})
    return {name: other for name, other in _paired(*raws).items() if name != other}


def _paired(real: Raw, synthetic: Raw) -> dict[str, str]:
    """Return which column of the file is which of the data, by name, spelling or values."""
    pairs = {name: name for name in real if name in synthetic}
    left = [name for name in synthetic if name not in pairs]
    plain = {_plainly(name): name for name in left}
    for name in real:
        if name not in pairs and (other := plain.get(_plainly(name))) in left:
            assert other is not None
            pairs[name] = other
            left.remove(other)
    for other in list(left):
        theirs = _texts(synthetic[other])
        if len(theirs) < _FEWEST:
            continue
        for name in real:
            ours = set[Value]() if name in pairs else _texts(real[name])
            if len(theirs & ours) >= SAME * len(theirs) and not _lie_close(ours):
                pairs[name] = other
                left.remove(other)
                break
    for other in left:  # of few values: as many rows of each, or texts that are the same
        alike = [n for n in real if n not in pairs and _are_alike(real[n], synthetic[other])]
        rivals = [o for o in left if any(_are_alike(real[n], synthetic[o]) for n in alike)]
        if len(alike) == len(rivals) == 1:
            pairs[alike[0]] = other
    return pairs


def _are_alike(real: RawColumn, synthetic: RawColumn) -> bool:
    """Check whether two columns have the same texts, or as many rows of each value."""
    ours, theirs = (_counted(column) for column in (real, synthetic))
    if min(len(ours), len(theirs)) < 2:
        return False
    if ours.keys() == theirs.keys() and all(isinstance(value, str) for value in ours):
        return True
    totals = sum(ours.values()), sum(theirs.values())
    share = sum(
        min(ours[value] / totals[0], theirs[value] / totals[1])
        for value in ours.keys() & theirs.keys()
    )
    return len(ours) >= _FEWEST and share >= ALIKE_COUNTS


def _counted(column: RawColumn) -> dict[Value, int]:
    """Count the rows of each value, numbers as numbers."""
    times = np.bincount(column.codes, minlength=len(column.distinct)).tolist()
    counts: dict[Value, int] = {}
    for value, many in zip(column.distinct, times, strict=True):
        if value is not None and many:
            number = number_in(value)
            key = folded(str(value)) if number is None else number
            counts[key] = counts.get(key, 0) + many
    return counts


def _lie_close(values: set[Value]) -> bool:
    """Check whether values are whole numbers that any other column may have as well."""
    numbers = [value for value in values if isinstance(value, int)]
    return len(numbers) == len(values) >= DENSE * (max(numbers) - min(numbers) + 1)


def _texts(column: RawColumn) -> set[Value]:
    """Return the values of a column, numbers as numbers."""
    texts: set[Value] = set()
    for value in column.distinct:
        if value is not None:
            number = number_in(value)
            texts.add(folded(str(value)) if number is None else number)
    return texts


def _is_plain(column: RawColumn) -> bool:
    """Check whether a column of the file alone has one value, or numbers its rows."""
    values = _texts(column)
    if len(values) < 2:
        return True
    numbers = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
    is_numbered = len(numbers) == len(values) == len(column.codes)
    return is_numbered and max(numbers) - min(numbers) == len(numbers) - 1


def _read(
    name: str, tally: ValueTally, read_as: ReadAs | None, like: Spelled | None
) -> tuple[Spelled, list[Value]]:
    """Read the values of one file; texts in any case and with any blanks are one."""
    ways: list[ReadAs | None] = [None, "text"]
    if read_as not in ways:
        ways.insert(1, read_as)
    for way in ways:
        try:
            spelling = spelled(name, tally.values, way, like=like)
        except InputError:
            if way == "text":
                raise
            continue
        values = [folded(v) if isinstance(v, str) else v for v in spelling.values]
        return spelling, values
    raise AssertionError(name)


def _column(name: str, each: Mapping[str, RawColumn], read_as: ReadAs | None) -> WholeColumn:
    """Read one column of all files."""
    place: dict[Value | None, int] = {}
    codes: list[Codes] = []
    sides: dict[str, dict[Value | None, int]] = {}
    like: Spelled | None = None
    each = _as_dates(name, each) if read_as is None else each
    for file, raw in each.items():
        tally = ValueTally(name)
        tally.add(raw)
        spelling, values = _read(name, tally, read_as, like)
        like = like or spelling
        places = [place.setdefault(value, len(place)) for value in values]
        places.append(place.setdefault(None, len(place)) if tally.missing else -1)
        known_places = np.maximum(tally.places(raw), -1)  # values of no row are below that
        codes.append(np.array(places, np.int64)[known_places][raw.codes])
        there = list(place)
        many = np.bincount(codes[-1], minlength=len(place))
        sides[file] = {there[at]: int(many[at]) for at in np.flatnonzero(many)}
    assert like is not None
    whole, values = np.concatenate(codes), list(place)
    known = list(dict.fromkeys(v for f, there in sides.items() if f != "synthetic" for v in there))
    coarse = coarse_of(name, known, list(sides["synthetic"]), like.kind)
    cover: ColumnLevels | Covers | None = None
    written: tuple[str, ...] = ()
    if coarse is not None:
        number = {value: at for at, value in enumerate(coarse.values)}
        whole = np.array([number[value] for value in values], np.int64)[whole]
        cover, values = Covers(whole, coarse.covers, coarse.levels), coarse.values
        written = (_coarse_words(coarse.found, sides["synthetic"]),)
    else:
        order = sorted(range(len(values)), key=lambda at: _order(values[at]))
        rank = np.empty(len(values), np.int64)
        rank[order] = np.arange(len(values))
        whole, values = rank[whole], [values[at] for at in order]
        some = [value for value in known if value is not None]
        ways = ways_of(like.kind, some, sides["synthetic"], sides["real"])
        cover = _levels(values, known, list(sides["synthetic"]), ways) if ways else None
        written = tuple(dict.fromkeys(_words(way, sides["synthetic"], like.kind) for way in ways))
    texts: set[Value | None] = set()
    if coarse is None and like.kind == "numbers" and not any(isinstance(v, str) for v in known):
        texts = {value for value in values if isinstance(value, str)}
    numbers, step = _placed([None if value in texts else value for value in values])
    named = _names_people(values, whole, each["real"])
    if numbers is None:  # a running number is one in all files
        named = named[0], False, False
    step = 1.0 if named[1] else step  # of dense numbers, whatever the file makes of them
    if not (written or any(named)):
        _require_common(like.kind, sides)
    many = sum(sides["synthetic"].get(text, 0) for text in texts)
    column = WholeColumn(name, like.kind, whole, numbers, step, cover, written, *named, many)
    return replace(column, values=tuple(values))


def _column_or_why(
    name: str, each: Mapping[str, RawColumn], read_as: ReadAs | None
) -> WholeColumn | str:
    """Read one column of all files, or say why it cannot be read."""
    try:
        return _column(name, each, read_as)
    except (InputError, TooLargeError) as error:
        return str(error)


def _coded(name: str, each: Mapping[str, RawColumn]) -> dict[str, WholeColumn]:
    """Read a column as codes of a table, whatever they are, where its values are few."""
    if any(len(raw.distinct) > MOST_CODED for raw in each.values()):
        return {}
    values = {_plain(value) for raw in each.values() for value in raw.distinct}
    # in their order, so that columns of the same values have the same codes
    ordered = sorted(values, key=_order)
    place = {value: at for at, value in enumerate(ordered)}
    codes = [
        np.array([place[_plain(value)] for value in raw.distinct])[raw.codes]
        for raw in each.values()
    ]
    whole = np.concatenate(codes).astype(np.int64)
    plain = WholeColumn(name, "texts", whole, None, 0.0, None, (), False, False, False)
    return {name: replace(plain, values=tuple(ordered))}


def _words(way: Written, there: Mapping[Value | None, int], kind: str) -> str:
    """Say how cells are written, and of how many rows it is seen where these are not most."""
    values = [v for v in there if v is not None and (kind == "dates" or not isinstance(v, str))]
    if len(values) != len(way.own):
        return way.words
    is_so = way.members.tolist()
    if way.words.startswith(("moved", "in other units")):
        known = set(way.known.tolist())
        is_so = [key in known for key in way.own.tolist()]
    seen = sum(there[value] for value, so in zip(values, is_so, strict=True) if so)
    total = sum(there[value] for value in values)
    return way.words if seen >= DISTINCT * total else f"{way.words}, in {seen:,} of {total:,} rows"


def _coarse_words(coarse: Sequence[Value | None], there: Mapping[Value | None, int]) -> str:
    """Say that values are coarser, and in how many rows where these are not most."""
    seen, total = sum(there.get(value, 0) for value in coarse), sum(there.values())
    rows = "" if seen >= DISTINCT * total else f", in {seen:,} of {total:,} rows"
    return f"in coarser values{rows}"


def _as_dates(name: str, each: Mapping[str, RawColumn]) -> Mapping[str, RawColumn]:
    """Write numbers, days of weeks and days of years as dates, where another file has dates."""
    known = {file: _dates_in(name, raw) for file, raw in each.items()}
    dates = set[str]().union(*known.values())
    columns = dict(each)
    for file, raw in each.items():
        if dates and not known[file] and any(value is not None for value in raw.distinct):
            texts = dates_of(raw.distinct, dates)
            columns[file] = raw if texts is None else replace(raw, distinct=texts)
            if texts is None and file == "real" and known["synthetic"]:
                raise InputError(
                    "the file has dates, and the data write them in another way; write dates as "
                    "2020-03-31 in all files"
                )
    return columns


def _dates_in(name: str, raw: RawColumn) -> set[str]:
    """Return the dates of a column of dates; none of another column."""
    values = [value for value in raw.distinct if value is not None]
    if not values or all(number_in(value) is not None for value in values[:_LOOKED_AT]):
        return set()
    try:
        spelling = spelled(name, values)
    except InputError:
        return set()
    texts = {str(value) for value in spelling.values} if spelling.kind == "dates" else set[str]()
    return {text for text in texts if _DATED.match(text)}


def _require_common(kind: str, sides: Mapping[str, Mapping[Value | None, int]]) -> None:
    """Refuse a column that the file writes in another way than the data, so nothing agrees."""
    ours: dict[Value, int] = {}
    theirs = {v: n for v, n in sides["synthetic"].items() if v is not None}
    for file, there in sides.items():
        if file != "synthetic":
            ours |= {v: n for v, n in there.items() if v is not None}
    if min(len(ours), len(theirs)) < 2:
        return
    here, there = (_measured(kind, side) for side in (ours, theirs))
    if here is None and there is None:
        if 2 * len(ours) <= sum(ours.values()) and not ours.keys() & theirs.keys():
            raise InputError("the file has none of the data's values: it may write other words")
    elif here is None or there is None:
        how = "; write dates as 2020-03-31 in all files" if kind == "dates" else ""
        raise InputError(f"the data have {kind}, and the file has others or none{how}")
    else:
        low, high = min(here), max(here)
        inside = sum(times for number, times in there.items() if low <= number <= high)
        if 2 * inside < sum(there.values()):
            raise InputError("few numbers of the file lie among the data's: units may differ")


def _measured(kind: str, side: Mapping[Value, int]) -> dict[float, int] | None:
    """Count the rows of each number, or day of a date; None where most rows have none."""
    counts: dict[float, int] = {}
    for value, times in side.items():
        number = day_of(value) if kind == "dates" and isinstance(value, str) else value
        if isinstance(number, int | float) and math.isfinite(number):
            counts[number] = counts.get(number, 0) + times
    return counts if 2 * sum(counts.values()) >= sum(side.values()) else None


def _order(value: Value | None) -> tuple[int, float, str]:
    if value is None:
        return 2, 0.0, ""
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")


def _levels(
    values: Sequence[Value | None],
    known: Sequence[Value | None],
    own: Sequence[Value | None],
    ways: Sequence[Written],
) -> ColumnLevels:
    """Return, for each way, which values it makes one."""
    is_number = any(isinstance(value, int | float) for value in values)
    ours, theirs = (
        [v for v in side if v is not None and (not is_number or not isinstance(v, str))]
        for side in (known, own)
    )
    at = {value: number for number, value in enumerate(values)}
    levels = np.zeros(len(values), np.int64)
    maps: list[Codes] = []
    by_rule: list[tuple[Codes | None, ...]] = []

    def mapped(theirs_read: Sequence[Any], known: Sequence[Any]) -> Codes:
        same: dict[Any, int] = {}
        codes = np.arange(len(values))
        for value, key in zip((*theirs, *ours), (*theirs_read, *known), strict=True):
            codes[at[value]] = same.setdefault(key, at[value])
        return codes

    for number, way in enumerate(ways, start=1):
        maps.append(mapped(list(way.own), list(way.known)))
        readings = [None if r is None else mapped(list(way.own), list(r)) for r in way.by_rule]
        by_rule.append(tuple(readings))
        for value, is_so in zip(theirs, way.members, strict=True):
            levels[at[value]] = number if is_so else levels[at[value]]
    return ColumnLevels(levels, tuple(maps), tuple(by_rule))


def _placed(values: Sequence[Value | None]) -> tuple[Numbers | None, float]:
    """Return the number behind each value, and the step between neighbours; of codes as well."""
    texts = [value for value in values if isinstance(value, str)]
    if not texts:
        numbers = np.array([np.nan if v is None else float(v) for v in values])
        return numbers, _step(numbers)
    if any(isinstance(value, int | float) for value in values):
        return None, 0.0
    dates = [_DATED.match(text) for text in texts]
    if all(dates):
        days = [np.nan if v is None else day_of(str(v)) for v in values]
        return np.array(days), 1.0
    codes = [_CODE.fullmatch(text) for text in texts]
    if not all(codes) or len({(c[1], c[3]) for c in codes if c}) != 1:
        return None, 0.0
    return np.array(
        [np.nan if v is None else float(re.sub(r"\D", "", str(v))) for v in values]
    ), 1.0


def _step(numbers: Numbers) -> float:
    known = np.sort(numbers[np.isfinite(numbers)])
    if not len(known) or (known != np.floor(known)).any():
        return 0.0
    return 1.0


def _names_people(
    values: Sequence[Value | None], codes: Codes, real: RawColumn
) -> tuple[bool, bool, bool]:
    """Say whether a column of the data names people, is dense, and counts."""
    people = len(real.codes)
    times = np.bincount(codes[:people], minlength=len(values))
    there = [v for v, n in zip(values, times.tolist(), strict=True) if n and v is not None]
    if people < _FEWEST or len(there) < DISTINCT * people:
        return False, False, False
    numbers, step = _placed(there)
    if numbers is None:
        return True, False, False
    known = numbers[np.isfinite(numbers)]
    if not step or not len(known):
        return False, False, False
    share = len(known) / ((known.max() - known.min()) / step + 1)
    is_text = any(isinstance(value, str) for value in there)
    is_date = is_text and _DATED.match(str(there[0])) is not None
    lengths = {len(str(value)) for value in there}
    are_names = not is_date and (is_text or (len(lengths) == 1 and max(lengths) >= LONG))
    # a date is a number of rows only where one follows the other
    is_dense = share >= (COUNTED if is_date else DENSE)
    return are_names or share >= COUNTED, is_dense, share >= COUNTED


def plain_words(columns: Iterable[WholeColumn]) -> list[str]:
    """Return a line on each way that the file writes columns in, coarser than the data."""
    ways: dict[str, list[str]] = {}
    for column in columns:
        for words in column.written:
            ways.setdefault(words, []).append(f"`{column.name}`")
    return [f"{some_of(names)} {words}" for words, names in ways.items()]
