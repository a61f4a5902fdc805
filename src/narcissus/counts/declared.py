"""What is declared of published tables, in words of an option or a study file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field

from narcissus._files import csv_rows
from narcissus._options import MOST_COUNT
from narcissus._validation import did_you_mean, repeated
from narcissus._visible import visible
from narcissus.counts.alike import SameNames
from narcissus.counts.books import choose_sheets, list_sheets
from narcissus.counts.columns import DeclaredColumns, require_declared
from narcissus.counts.marks import Rules, read_cell_key
from narcissus.counts.order import ORDERS
from narcissus.counts.reading import MOST_CELLS, Cell, TableRead, Variable, read_table
from narcissus.counts.system import Structure, Within
from narcissus.counts.tables import PublishedTables, understand
from narcissus.errors import InputError, TooLargeError
from narcissus.tables.formats import is_sheet

_MOST_DECIMALS = 12
_ORDERS = "FILE=count or FILE=other, or FILE=falling or FILE=rising for a direction of counts"
AS_PRINTED = frozenset({"below", "no_zeros", "no_marks", "mark", "rounded", "cell_key", "decimals"})
"""Options that are rules of printing: every audit notes that tables are printed by them."""


@dataclass(frozen=True, kw_only=True)
class Publication:
    """How tables were made and what they are about: the options of ``narcissus tables``.

    Each has the name of its option and takes the same words; `rounded` is ``--round``.
    """

    below: Annotated[int, Field(le=MOST_COUNT)] | None = None
    no_zeros: bool = False
    no_marks: bool = False
    mark: Sequence[str] = ()
    rounded: str | None = None
    cell_key: Path | str | None = None
    total: Sequence[str] = ()
    across: Sequence[str] = ()
    within: Sequence[str] = ()
    others: Sequence[str] = ()
    hierarchy: Sequence[str] = ()
    variable: str | None = None
    decimals: Annotated[int, Field(ge=0, le=_MOST_DECIMALS)] | None = None
    magnitude: str | None = None
    count: str | Sequence[str] | None = None
    dimension: Sequence[str] = ()
    percent: Sequence[str] = ()
    group: Sequence[str] = ()
    code: Sequence[str] = ()
    irrelevant: Sequence[str] = ()
    part: Sequence[str] = ()
    flat: Sequence[str] = ()
    same: Sequence[str] = ()
    apart: Sequence[str] = ()
    texts_tell_nothing: bool = False
    order: Sequence[str] = ()
    sheet: Sequence[str] = ()

    @cached_property
    def rules(self) -> Rules:
        """How counts were made. Raises `InputError`, which names the option."""
        base, is_random = _rounding(self.rounded)
        unit = None
        if self.magnitude is not None:
            unit = Fraction(1, 2 * 10 ** (self.decimals or 0))
            if (base / (2 * unit)).denominator != 1:
                raise InputError(
                    f"totals are rounded to {self.rounded}, which has more decimals than "
                    f"`--decimals` {self.decimals or 0}"
                )
            if self.variable is not None:
                raise InputError("`--magnitude` and `--variable` are of different tables")
        elif base.denominator != 1:
            raise InputError(f"counts are rounded to whole numbers, got {self.rounded!r}")
        return Rules(
            below=self.below,
            no_zeros=self.no_zeros,
            no_marks=self.no_marks,
            marks=dict(map(_mark, self.mark)),
            base=int(base or 1) if unit is None else int(base / unit),
            random=is_random,
            totals=tuple(self.total),
            parts=tuple(self.part),
            decimals=self.decimals,
            key=None if self.cell_key is None else read_cell_key(self.cell_key),
            unit=unit,
        )

    @cached_property
    def structure(self) -> Structure:
        """What the tables are about. Raises `InputError`, which names the option."""
        parts: dict[str, list[Within]] = {}
        for file, part in map(_within, self.within):
            parts.setdefault(file, []).append(part)
        trees: dict[str, dict[str, str]] = {}
        for text in self.hierarchy:
            name, tree = _hierarchy(text)
            trees.setdefault(name, {}).update(tree)
        return Structure(
            parents=trees,
            others=tuple(self.others),
            within=parts,
            variable=None if self.variable is None else Variable.read(self.variable),
        )

    @property
    def takes_as_given(self) -> tuple[str, ...]:
        """What is declared of the data, in words: what a verdict in favour rests on."""
        premises: list[str] = []
        for name in (field.name for field in fields(self) if field.name not in AS_PRINTED):
            value = getattr(self, name)
            if value not in (None, False, (), []):
                each = value if isinstance(value, (list, tuple)) else [value]
                premises += [_PREMISES[name](text) for text in each]
        return tuple(premises)

    def read(self, files: Iterable[Path | str]) -> list[Cell]:
        """Read tables of which everything is understood.

        Raises `InputError`, for a file that is named twice as well, and for a column or a label
        that waits for a declaration. `understand` lists these, and the groups of labels it
        recognizes.
        """
        tables = self.understand(files).require_understood()
        for name, tree in tables.structure.parents.items():
            if name not in self.structure.parents:
                raise InputError(
                    f"labels of `{name}` are parts of others, such as {next(iter(tree))}: read the "
                    "tables with `understand`, which returns their structure, too"
                )
        return tables.cells

    def understand(self, files: Iterable[Path | str]) -> PublishedTables:
        """Read tables, and list what was not understood.

        Of files of one name, each is named with its folder. Raises `InputError`, for a file that
        is named twice as well.
        """
        across = dict(_pair(text, "--across", "FILE=DIMENSION") for text in self.across)
        margins = dict(map(_margin, self.percent))
        declared = DeclaredColumns(
            count=self._counts,
            dimension=tuple(self.dimension),
            percent=tuple(margins),
            margins={name: some for name, some in margins.items() if some},
            group=tuple(self.group),
            code=tuple(self.code),
            irrelevant=tuple(self.irrelevant),
        )
        tables: dict[str, TableRead] = {}
        paths = [Path(path) for path in files]
        self._require_sheets(paths)
        sheets_of = {path: self._sheets_of(path) for path in paths}
        named = name_files(paths)
        file_names = {
            name
            for path, sheets in sheets_of.items()
            for name in (named[path], *(f"{named[path]}#{sheet}" for sheet in sheets))
        }
        is_alone = sum(map(len, sheets_of.values())) == 1
        own: dict[str, DeclaredColumns] = {}
        for path, file in named.items():
            for sheet in (sheets := sheets_of[path]):
                name = file + f"#{sheet}" * (len(sheets) > 1)
                own[name] = declared.of_file(file_names, {file, name})
                tables[name] = read_table(
                    path,
                    self.rules,
                    variable=self.structure.variable,
                    across=across.get(name, across.get(file)),
                    magnitude=self.magnitude,
                    declared=own[name],
                    sheet=sheet,
                    sheets=sheets,
                    is_alone=is_alone,
                    named=file,
                )
            if sum(len(table.cells) for table in tables.values()) > MOST_CELLS:
                raise TooLargeError(f"the tables have more than {MOST_CELLS:,} cells together")
        known = {*tables, *named.values()}
        if unknown := next((name for name in across if name not in known), None):
            raise InputError(
                f"`--across`: no table is named {unknown}{did_you_mean(unknown, tables)}"
            )
        require_declared(
            {
                name: [*table.header, *(use.column for use in table.uses)]
                for name, table in tables.items()
            },
            declared,
            file_names,
        )
        self._require_marks(cell for table in tables.values() for cell in table.cells)
        return understand(
            list(tables.values()),
            self.structure,
            self.rules,
            self.flat,
            {name: columns.margins for name, columns in own.items()},
            SameNames(
                same=tuple(_pair(text, "--same", "NAME=NAME") for text in self.same),
                apart=tuple(
                    _pair(text, "--apart", "NAME=NAME") for text in self.apart if "=" in text
                ),
                alone=tuple(text.strip() for text in self.apart if "=" not in text),
            ),
            {name: (*columns.count, *columns.dimension) for name, columns in own.items()},
            dict(map(_order, self.order)),
            texts_tell_nothing=self.texts_tell_nothing,
        )

    @property
    def _counts(self) -> tuple[str, ...]:
        """Columns of counts, of which a study file may name one alone."""
        return (self.count,) if isinstance(self.count, str) else tuple(self.count or ())

    def _sheets_of(self, path: Path) -> list[str]:
        """Return the sheets of a file that are read; of a text, one without a name."""
        return (choose_sheets(path, self.sheet) or [""]) if is_sheet(path) else [""]

    def _require_sheets(self, paths: Iterable[Path]) -> None:
        """Refuse a declared sheet that no file has."""
        if not self.sheet:
            return
        known = {name for path in paths if is_sheet(path) for name in list_sheets(path)}
        if wrong := next((name for name in self.sheet if name not in known), None):
            raise InputError(
                f"`--sheet`: no Excel file has a sheet {visible(wrong)!r}"
                f"{did_you_mean(wrong, known)}"
            )

    def _require_marks(self, cells: Iterable[Cell]) -> None:
        """Refuse a declared mark that no cell prints, where one prints it in another case."""
        printed = {cell.printed.strip() for cell in cells}
        folded = {text.casefold(): text for text in printed}
        for mark in self.rules.marks:
            other = folded.get(mark.casefold())
            if mark not in printed and other is not None:
                raise InputError(
                    f"`--mark`: no cell prints {mark!r}, and marks that differ in case are others; "
                    f"did you mean `{other}`?"
                )


def name_files(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each table: that of its file, with folders where several have the same.

    Raises `InputError` for a file that is named twice.
    """
    names = {path: path.name for path in paths}
    if len(names) < len(paths) or len({path.resolve() for path in paths}) < len(paths):
        places = [path.resolve() for path in paths]
        twice = next(path for path in paths if places.count(path.resolve()) > 1)
        raise InputError(f"two tables are named {twice.name}; rename one of them")
    depth = 1
    while twice := set(repeated(list(names.values()))):
        depth += 1
        for path, name in names.items():
            if name in twice:
                names[path] = "/".join(path.parts[-depth:])
        if depth > max(len(path.parts) for path in paths):
            raise InputError(f"two tables are named {min(twice)}; rename one of them")
    return names


def read_published(
    path: Path | str,
    rules: Rules,
    *,
    variable: Variable | None = None,
    across: str | None = None,
    magnitude: str | None = None,
    texts_tell_nothing: bool = False,
) -> list[Cell]:
    """Read the cells of a published table from a CSV or Excel file.

    ``magnitude`` names the column of totals that takes the place of counts in a long table;
    ``across`` names the dimension whose labels are the columns of a wide table. Raises `InputError`
    with file, line and column, and for a column, a label or a text that waits for a declaration
    (`Publication`).
    """
    table = read_table(path, rules, variable=variable, across=across, magnitude=magnitude)
    tables = understand(
        [table], Structure(variable=variable), rules, texts_tell_nothing=texts_tell_nothing
    )
    return tables.require_understood().cells


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    name, mark, other = text.partition("=")
    if not mark or not name.strip() or not other.strip():
        raise InputError(f"`{option}` is {form}, got {text!r}")
    return name.strip(), other.strip()


def _order(text: str) -> tuple[str, str]:
    """Read a file, and whether its labels are in the order of their counts or in another one."""
    file, order = _pair(text, "--order", _ORDERS)
    if order not in ORDERS:
        raise InputError(f"`--order` is {_ORDERS}, got {text!r}")
    return file, order


def _margin(text: str) -> tuple[str, tuple[str, ...]]:
    """Read a column of percentages, and after = the dimensions of whose labels they are."""
    name, _, margin = text.partition("=")
    return name.strip(), tuple(
        dimension.strip() for dimension in margin.split(",") if dimension.strip()
    )


def split_hierarchy(text: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Return dimension, whole and parts of ``DIMENSION:WHOLE=PART,PART``; None: it names a file."""
    match = re.fullmatch(r"([^:=]+):([^=]+)=(.+)", text.strip(), re.S)
    if match is None:
        return None
    parts = tuple(part.strip() for part in match[3].split(","))
    return match[1].strip(), match[2].strip(), parts


def _hierarchy(text: str) -> tuple[str, dict[str, str]]:
    """Return a dimension and the whole of each part, from a file or as they are named."""
    named = split_hierarchy(text)
    if named is None:
        name, file = _pair(text, "--hierarchy", "DIMENSION=FILE or DIMENSION:WHOLE=PART,PART")
        return name, _parents(Path(file), name)
    name, whole, parts = named
    if not all(parts) or whole in parts:
        raise InputError(f"`--hierarchy` is DIMENSION:WHOLE=PART,PART; got {text!r}")
    return name, dict.fromkeys(parts, whole)


def _mark(text: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+)=(?:any|below:(\d{1,9}))", text, re.S)
    if match is None:
        raise InputError(f"`--mark` is MARK=below:N or MARK=any, got {text!r}")
    return match[1].strip(), None if match[2] is None else int(match[2])


def _rounding(text: str | None) -> tuple[Fraction, bool]:
    if text is None:
        return Fraction(0), False
    match = re.fullmatch(r"(random:)?(\d{1,9}(?:\.\d{1,6})?)", text.strip())
    if match is None or not Fraction(match[2]):
        raise InputError(f"`--round` is BASE or random:BASE, such as 5 or random:3; got {text!r}")
    return Fraction(match[2]), match[1] is not None


def _within(text: str) -> tuple[str, Within]:
    match = re.fullmatch(r"(.+?):([^=!:]+?)(!?)=(.+)", text, re.S)
    labels = [] if match is None else [label.strip() for label in match[4].split(",")]
    if match is None or not all(labels):
        raise InputError(
            f"`--within` is FILE:DIMENSION=LABEL,LABEL or FILE:DIMENSION!=LABEL; got {text!r}"
        )
    return match[1], Within(match[2].strip(), tuple(labels), bool(match[3]))


def _parents(path: Path, name: str) -> dict[str, str]:
    """Read a hierarchy: two columns, the part and the whole; a header is left out."""
    parents: dict[str, str] = {}
    for number, line in enumerate(csv_rows(path, largest=2**24), 1):
        cells = [cell.strip() for cell in line]
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cells):
            raise InputError(
                f"{path}: line {number} must have two cells: a label of `{name}`, and the one "
                "that it is a part of"
            )
        if number == 1 and {c.casefold() for c in cells} & {"part", "child", "whole", "parent"}:
            continue
        if parents.setdefault(cells[0], cells[1]) != cells[1]:
            raise InputError(f"{path}: line {number}: {cells[0]} is a part of two labels")
    if not parents:
        raise InputError(f"{path} has no rows")
    return parents


def _premise_of_within(text: str) -> str:
    file, part = _within(text)
    labels = ", ".join(map(visible, part.labels))
    but = "all but " if part.is_but else ""
    return f"{visible(file)} is about {but}the people of {labels} (`{visible(part.dimension)}`)"


def _premise_of_hierarchy(text: str) -> str:
    named = split_hierarchy(text)
    if named is None:
        name, _, file = text.partition("=")
        return f"labels of `{visible(name)}` are parts of others as in {visible(Path(file).name)}"
    name, whole, parts = named
    one = f"{', '.join(map(visible, parts))} {'is' if len(parts) == 1 else 'are'}"
    return f"{one} all of {visible(whole)} (`{visible(name)}`)"


def _premise_of_percent(text: str) -> str:
    column, margin = _margin(text)
    of = f" of all labels of {' and '.join(f'`{visible(name)}`' for name in margin)}"
    return f"`{visible(column)}` holds percentages of the counts{of * bool(margin)}"


def _premise_of_apart(text: str) -> str:
    subject, _, other = text.partition("=")
    return (
        f"`{visible(subject)}` tells nothing of {f'`{visible(other)}`' if other else 'any other'}"
    )


def _premise_of_order(text: str) -> str:
    file, order = _order(text)
    if order != "other":
        direction = f", {order}" * (order != "count")
        return f"labels of {visible(file)} are in the order of their counts{direction}"
    return f"the order of labels in {visible(file)} tells nothing of counts"


def _premise_of_pair(text: str, form: str) -> str:
    one, _, other = text.partition("=")
    return form.format(visible(one.strip()), visible(other.strip()))


_PREMISES: Mapping[str, Callable[[str], str]] = {
    "total": lambda word: f"`{visible(word)}` is a total",
    "across": lambda text: _premise_of_pair(text, "columns of {} are labels of `{}`"),
    "within": _premise_of_within,
    "others": lambda name: f"people may have none of the labels of `{visible(name)}`",
    "hierarchy": _premise_of_hierarchy,
    "variable": lambda text: _premise_of_pair(text, "`{}` is a whole number from {}"),
    "magnitude": lambda name: f"numbers of `{visible(name)}` are totals of contributions",
    "count": lambda name: f"`{visible(name)}` holds the counts",
    "dimension": lambda name: f"`{visible(name)}` is a dimension",
    "percent": _premise_of_percent,
    "group": lambda name: f"`{visible(name)}` holds groups of another dimension's labels",
    "code": lambda name: f"`{visible(name)}` holds codes or names of another dimension's labels",
    "irrelevant": lambda name: f"the column `{visible(name)}` tells nothing of counts",
    "part": lambda label: f"`{visible(label)}` is neither a total nor a group of others",
    "flat": lambda name: f"no label of `{visible(name)}` is the sum of others",
    "same": lambda text: _premise_of_pair(text, "`{}` and `{}` are the same"),
    "apart": _premise_of_apart,
    "texts_tell_nothing": lambda _: (
        "labels name groups of people, and no text or look of a cell tells a count, another rule, "
        "or that a table is about some of the people alone"
    ),
    "order": _premise_of_order,
    "sheet": lambda name: f"the sheet `{visible(name)}` is read, and others tell nothing of counts",
}
"""What each option declares of the data, in words, by its name."""
