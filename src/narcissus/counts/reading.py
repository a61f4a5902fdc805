"""Files of published tables, long and wide, as cells that say what they tell and where they are.

Long: a column for each dimension, a column ``count`` and, where published, ``mean``, ``median`` and
``total`` of the named variable; a mark such as ``*`` or ``Total`` stands for a margin. Wide: labels
of rows first, then a column for each label of one more dimension. A row that is missing tells
nothing. Notes below a table are left out.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from typing import Literal

from narcissus._files import WESTERN, open_text, parsing
from narcissus._validation import repeated
from narcissus._visible import heading, quoted, visible
from narcissus.counts.blocks import ask_for_rows, fill_down, find_rows
from narcissus.counts.books import Book, read_book
from narcissus.counts.column_sums import ColumnsOfCounts, find_counts
from narcissus.counts.columns import (
    ColumnUse,
    DeclaredColumns,
    ReadColumns,
    ask_for_column,
    find_declared,
    is_code_name,
    is_flag_name,
    is_percent_name,
    option_of,
    read_columns,
)
from narcissus.counts.looks import SheetLooks
from narcissus.counts.marks import Meaning, Rules, decimals, label_of, read_number
from narcissus.counts.notes import Note, ask_for_labels, ask_for_notes, without_thresholds
from narcissus.counts.ranges import read_range
from narcissus.counts.spelling import split_raw
from narcissus.errors import InputError, TooLargeError
from narcissus.rows import Unaccounted
from narcissus.tables.formats import is_sheet, sheet_as_text
from narcissus.tables.heads import SAMPLE, find_head

MOST_CELLS = 1_000_000
LARGEST = 2**26
"""Most bytes of a file of tables (64 MiB)."""
COUNTS = {"count", "n", "freq", "frequency", "counts"}
_COUNTED = re.compile(
    r"obs_value|anzahl|(?:number|no\.) of (?:persons|people|residents|cases|patients)|persons"
    r"|people"
    r"|residents|inhabitants|cases|patients|personen|einwohner|f\u00e4lle|effectifs?|nombre"
    r"|personnes|habitants|n\u00famero|casos|personas|habitantes|residenti|persone|aantal|antal",
    re.I,
)
"""Names of a column of counts where no other column holds numbers."""
COLUMNS = "columns"
"""Names the dimension of a wide table's columns, where nothing else does."""
_NO_COUNTS = "Numbers with decimals, or below 0, are no counts, and may tell of hidden ones."
_THOUSANDS = re.compile(r"(?<=\d)[.,'\u2019\s](?=\d{3}(?!\d))")
_SEXES = re.compile(
    r"[fmwhv]|females?|males?|m[ae]n|wom[ae]n|girls?|boys?|frauen|m\u00e4nner|weiblich|m\u00e4nnlich"
    r"|divers|hommes?|femmes?|hombres?|mujeres?|varones|uomini|donne|maschi|femmine|mannen|vrouwen"
    r"|kvinnor|m\u00e4n|kvinder|m\u00e6nd",
    re.I,
)
_IN_YEARS = re.compile(r"\b(?:years?|yrs?|jahren?|ans|anni|a\u00f1os|jaar|\u00e5r|aged?)\b", re.I)
_YEARS = re.compile(r"(?:19|20)\d\d(?:[/-]\d\d)?")
_OF_AGES = re.compile(
    r"\b(?:ages?|aged|years? old|alter\w*|\w*jahre|\u00e2ges?|ans|edad(?:es)?|a\u00f1os|et\u00e0"
    r"|anni|leeftijd|jaar|\u00e5lder|\u00e5r)\b",
    re.I,
)
MARKS = ",;\t|"
_STATISTIC = re.compile(r"(mean|average|median|total|sum)(?:[ _](?:of )?(.+))?")
_AGAIN = re.compile(r" \(\d+\)$")  # behind a name that another column has, too
_TITLE = re.compile(r"[^,;\t|]*|[^,]*,,+|[^;]*;;+|[^\t]*\t\t+|[^|]*\|\|+")
_BULK = re.compile(r"[^\t\n]*,[^\t\n]*\\[^\t\n]*\t")  # Eurostat: labels with commas, then tabs
_LABEL = re.compile(r"\d+\s*(\+|and |or |years).*", re.I)  # no printed value
_NOTE = re.compile(
    r"([*\u2020\u2021\u00b9\u00b2\u00b3]+|\(?\d{1,2}[).]|\(\d{1,2}\)|\[\w{1,2}\])\s*[^\W\d].*"
    r"|(sources?|notes?|footnotes?|remarks?|quellen?|anmerkung(en)?|hinweise?|fu(\u00df|ss)note[n]?"
    r"|fuente|nota|lecture|champ|kilde|bron)\b\s*\d?\s*[:.].*",
    re.I,
)
"""How a line begins that is a note, however many commas it has."""
_USES: dict[str, Literal["mean", "median", "total", "counts beside totals"]] = {
    "mean": "mean",
    "median": "median",
    "total": "total",
    "": "counts beside totals",
}
_VALUE = re.compile(r"\W*(\d|[a-z]?\W*$)", re.I)
"""How a number or a mark of suppression begins; one letter alone is a mark."""
RawCell = tuple[int, str, str, Mapping[str, str]]
"""Line, column, what is printed, and labels of a cell."""
RESERVED = {"file", "line", "column", "of", "printed", "low", "high", "determined", "exact"}


@dataclass(frozen=True)
class Variable:
    """A variable of whole numbers that statistics are about, with its range."""

    name: str
    low: int
    high: int

    @classmethod
    def read(cls, text: str) -> Variable:
        """Read ``NAME=LOW:HIGH``."""
        match = re.fullmatch(r"\s*([^=]+?)\s*=\s*(-?\d{1,9})\s*:\s*(-?\d{1,9})\s*", text)
        if match is None or int(match[2]) > int(match[3]):
            raise InputError(
                "a variable is NAME=LOW:HIGH with whole numbers of at most 9 digits, such as "
                f"age=0:125; got {text!r}"
            )
        return cls(match[1], int(match[2]), int(match[3]))

    def is_named(self, name: str) -> bool:
        """Check whether a dimension has its name."""
        return name.casefold() == self.name.casefold()

    def value(self, text: str) -> int | None:
        """Read a whole number in the range, as it is written by itself; None: it is none."""
        if re.fullmatch(r"0|-?[1-9]\d{0,8}", text) and self.low <= int(text) <= self.high:
            return int(text)
        return None

    def span(self, label: str) -> tuple[int, int] | None:
        """Read a label as a range of the variable: ``18``, ``0-17``, ``<5``, ``64+``."""
        plain = label.casefold().replace("\u2013", "-").removesuffix(" years").strip()
        number = r"(-?\d{1,9})"
        forms = (
            (rf"{number}", lambda a: (a, a)),
            (rf"{number}\s*(?:-|to|:)\s*{number}", lambda a, b: (a, b)),
            (rf"(?:<|under|below)\s*{number}", lambda a: (self.low, a - 1)),
            (rf"(?:<=|\u2264|up to)\s*{number}", lambda a: (self.low, a)),
            (rf"(?:>|over|above)\s*{number}", lambda a: (a + 1, self.high)),
            (rf"(?:>=|\u2265|from)\s*{number}", lambda a: (a, self.high)),
            (rf"{number}\s*(?:\+|and over|or over|or more|and older)", lambda a: (a, self.high)),
        )
        for form, make in forms:
            if match := re.fullmatch(form, plain):
                low, high = make(*map(int, match.groups()))
                low, high = max(low, self.low), min(high, self.high)
                return (low, high) if low <= high else None
        return None


@dataclass(frozen=True)
class Statistic:
    """A published mean, median or total: its number, and its decimals before rounding."""

    value: Fraction
    places: int


@dataclass(frozen=True)
class CellShare:
    """A printed percentage or rate of a cell: what share of a whole its people are.

    Options
    -------
    value: the printed share.
    half: half a unit of its last decimal; the true share is no farther away.
    whole: labels of the people whom it is a share of.
    number: instead of a whole, the printed number that it is a share of.
    """

    value: Fraction
    half: Fraction
    whole: Mapping[str, str] = field(default_factory=dict[str, str])
    number: Fraction | None = None

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the largest share, both included."""
        return max(Fraction(0), self.value - self.half), self.value + self.half


@dataclass(frozen=True)
class Cell:
    """A published cell: whom it is about, and what it tells of their number."""

    file: str
    line: int
    column: str
    printed: str
    labels: Mapping[str, str]  # of its dimensions; a margin has none
    count: Meaning
    statistics: Mapping[str, Statistic] = field(default_factory=dict[str, Statistic])
    unit: Fraction | None = None  # of a total; None: it counts people
    share: CellShare | None = None

    @property
    def place(self) -> str:
        return f"{self.file}: line {self.line}, column {visible(self.column)}"

    def __str__(self) -> str:
        about = ", ".join(f"{visible(k)} = {visible(v)}" for k, v in self.labels.items())
        shown = " ".join(
            [self.printed or "(empty)"]
            + [f"{name} {float(statistic.value):g}" for name, statistic in self.statistics.items()]
        )
        return f"{self.place}: {about or 'all'}: {visible(shown)}"


@dataclass(frozen=True)
class TableRead:
    """A table as it was read, with what each column was taken for.

    Options
    -------
    file: its name.
    cells: one for each row of a long table, in order.
    shape: ``long`` or ``wide``.
    across: the dimension of a wide table's columns; empty: there is none.
    header, rows: columns that were read, and their cells.
    columns: what columns without counts are.
    uses: what columns with counts and statistics are.
    margins: by dimension, words that stand for all its labels.
    unaccounted: columns of a wide table's numbers, and notes, that were not understood.
    notes: titles above the table and notes below it, which are not read.
    labels_across: of a wide table, the labels of the columns of counts, in order.
    second_across: the dimension of a second line of labels below these; empty: there is none.
    second_labels: of these columns, its labels.
    percents_across: of a wide table, percentages among these columns, by name: their texts.
    unread: columns that are declared not to tell counts, by name: the option, and their texts.
    indented: labels of the first column that are indented, and the label that each is below.
    printed_header: names of columns as they are printed, with marks of footnotes.
    next to: of an Excel file, words of other sheets, names and formats, each with a noun.
    raws: by line, its cells with blanks and quotes around them.
    delimiter: what is between cells.
    looks: of an Excel file, how its cells look; ``places`` are the columns of `header` in it.
    filled: columns of labels whose blank cells have the label above, as merged cells do.
    is_exact: whether totals are printed exactly, where other counts are rounded.
    """

    file: str
    cells: list[Cell]
    shape: Literal["long", "wide"]
    across: str
    header: list[str]
    rows: list[tuple[int, list[str]]]
    columns: ReadColumns
    uses: tuple[ColumnUse, ...]
    margins: Mapping[str, tuple[str, ...]]
    unaccounted: tuple[Unaccounted, ...] = ()
    notes: tuple[str, ...] = ()
    labels_across: tuple[str, ...] = ()
    second_across: str = ""
    second_labels: tuple[str, ...] = ()
    percents_across: Mapping[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    unread: Mapping[str, tuple[str, list[str]]] = field(
        default_factory=dict[str, "tuple[str, list[str]]"]
    )
    indented: Mapping[str, str] = field(default_factory=dict[str, str])
    printed_header: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    raws: Mapping[int, list[str]] = field(default_factory=dict[int, "list[str]"])
    delimiter: str = ","
    looks: SheetLooks = field(default_factory=SheetLooks)
    places: tuple[int, ...] = ()
    filled: tuple[str, ...] = ()
    is_exact: bool = False


def read_table(
    path: Path | str,
    rules: Rules,
    *,
    variable: Variable | None = None,
    across: str | None = None,
    magnitude: str | None = None,
    declared: DeclaredColumns | None = None,
    sheet: str = "",
    sheets: Sequence[str] = (),
    is_alone: bool = False,
    named: str = "",
) -> TableRead:
    """Read the cells of a published table from a CSV or Excel file.

    Options
    -------
    rules: how counts were made and printed.
    variable: what means, medians and totals are about.
    across: the dimension whose labels are the columns of a wide table. A table for which it is
        given is wide, whatever its columns are named.
    magnitude: the column of totals that takes the place of counts in a long table.
    declared: what columns are, by name.
    sheet: of an Excel file, the one that is read.
    sheets: of the same file, those that are read as tables; of several, each is named with its
        sheet.
    is_alone: no other table is read with it, so that the dimension of a wide table's columns needs
        no name.
    named: the name of the file; empty: as in its path, without folders.

    Raises `InputError` with file, line and column.
    """
    name = (named or Path(path).name) + f"#{sheet}" * (len(sheets) > 1)
    declared = declared or DeclaredColumns()
    header, rows, above, notes, indented, left, printed, raws, delimiter, pairs = read_rows(
        Path(path), sheet
    )
    dropped = find_declared(header, declared.irrelevant)
    places = [at for at in range(len(header)) if at not in dropped]
    if not places:
        raise InputError(f"{name}: all columns are declared irrelevant: leave one")
    uses = [ColumnUse(header[at], "irrelevant", "declared") for at in sorted(dropped)]
    unread = {
        header[at]: (option, [cells[at] for _, cells in rows])
        for option in ("irrelevant", "code", "dimension")
        for at in sorted(find_declared(header, getattr(declared, option)))
    }
    header = [header[at] for at in places]
    rows = [(line, [cells[at] for at in places]) for line, cells in rows]
    rows, filled = fill_down(rows)
    names = [
        name
        if name.casefold() != "freq" or any(map(rules.is_value, (c[at] for _, c in rows)))
        else ""
        for at, name in enumerate(header)  # a dimension of Eurostat's
    ]
    roles, counted = None, ColumnsOfCounts()
    if magnitude is None:
        counted = find_counts(header, rows, rules)
    if across is None and not counted.is_wide:
        names = [
            "" if at in find_declared(header, declared.dimension) else text
            for at, text in enumerate(names)
        ]
        roles = _roles_of(header, names, variable, magnitude, declared)
        if roles is None and magnitude is None and not any(pairs):
            roles = _only_counts(header, rows, rules)
            roles = roles or (None if above else _single_numbers(header, rows, rules))
    if roles is None:
        spanned = dict(zip(header, (pairs[at] for at in places), strict=True)) if pairs else {}
        read = _wide(
            name,
            header,
            rows,
            rules,
            across or above,
            magnitude or "count",
            declared,
            spanned,
            _Surroundings(" ".join([name, *(note for _, note in notes)]), is_alone),
            counted,
        )
    else:
        of = "" if variable is None else variable.name
        columns = read_columns(name, header, rows, roles, rules, declared, of)
        read = _long(name, header, roles, rows, rules, columns)
    require_single(read.cells)
    questions = [*ask_for_rows(name, left), *ask_for_notes(name, read.cells, notes, rules)]
    questions += read.unaccounted
    questions += _ask_for_labels(read, rules)
    book = read_book(Path(path), sheet, sheets) if is_sheet(Path(path)) else Book((), ())
    questions += book.ask(name)
    return replace(
        read,
        uses=(*uses, *read.uses),
        unaccounted=tuple(questions),
        notes=tuple(note for _, note in notes),
        unread=unread,
        beside=book.texts,
        indented=indented,
        printed_header=tuple(printed[at] for at in places),
        raws={
            line: [cells[at] for at in places if at < len(cells)] + cells[len(printed) :]
            for line, cells in raws.items()
        },
        delimiter=delimiter,
        looks=book.looks,
        places=tuple(places),
        filled=tuple(header[at] for at in filled),
    )


def _ask_for_labels(read: TableRead, rules: Rules) -> Iterator[Unaccounted]:
    """Yield a question for each column whose labels, but for totals, carry counts of their rows."""
    many = max(1, len(read.labels_across))
    for at, column in read.columns.dimensions.items():
        texts = [cells[at] for _, cells in read.rows]
        parts = [k for k, text in enumerate(texts) if not rules.is_total(label_of(text))]
        chosen = [texts[k] for k in parts]
        for across in range(many):
            cells = [read.cells[k * many + across] for k in parts]
            if questions := list(ask_for_labels(read.file, column, chosen, cells)):
                yield from questions
                break


def _roles_of(
    header: Sequence[str],
    names: Sequence[str],
    variable: Variable | None,
    magnitude: str | None,
    declared: DeclaredColumns,
) -> dict[int, str] | None:
    """Return which columns hold counts, totals and statistics; None: the table is wide."""
    if magnitude is not None:
        return _totals(header, magnitude)
    counts = find_declared(header, declared.count)
    if counts:
        names = [
            "count" if at in counts else "" if _AGAIN.sub("", text.casefold()) in COUNTS else text
            for at, text in enumerate(names)
        ]
    return _roles(names, variable)


def is_count_name(name: str) -> bool:
    """Return whether a column of this name holds counts, where no other one does."""
    return name.casefold() in COUNTS or _COUNTED.fullmatch(name) is not None


def _only_counts(
    header: Sequence[str], rows: Sequence[tuple[int, list[str]]], rules: Rules
) -> dict[int, str] | None:
    """Return the column of counts that has a usual name, if no other one has numbers of its own."""
    found = [at for at, name in enumerate(header) if _COUNTED.fullmatch(name)]
    others = [
        at
        for at, name in enumerate(header)
        if at not in found and not is_percent_name(name) and not is_code_name(name)
    ]
    may_be_wide = any(all(rules.is_value(cells[at]) for _, cells in rows) for at in others)
    return None if len(found) != 1 or may_be_wide else {found[0]: "count"}


def _single_numbers(
    header: Sequence[str], rows: Sequence[tuple[int, list[str]]], rules: Rules
) -> dict[int, str] | None:
    """Return the last column as that of counts, if no other one holds numbers; it has any name.

    A name that is a label, such as a year, tells of whom the counts are: the table is wide.
    """
    last = len(header) - 1
    if last < 1 or is_percent_name(header[last]) or is_code_name(header[last]):
        return None
    name = header[last]
    is_label = _YEARS.fullmatch(name) or _SEXES.fullmatch(name) or read_range(name)
    if is_label or any("\\" in text for text in header):
        return None
    others = [cells[at] for _, cells in rows for at in range(last)]
    texts = [cells[last] for _, cells in rows]
    is_single = not any(read_number(text) is not None for text in others)
    are_counts = all(map(rules.is_value, texts)) and not rules.is_total(header[last])
    has_number = any(read_number(text) is not None for text in texts)
    are_counts = are_counts and has_number and not _holds_no_counts(rows, last, rules)
    return {last: "count"} if is_single and are_counts else None


def read_rows(
    path: Path,
    sheet: str = "",
) -> tuple[
    list[str],
    list[tuple[int, list[str]]],
    str | None,
    list[Note],
    dict[str, str],
    list[int],
    list[str],
    dict[int, list[str]],
    str,
    list[tuple[str, str]],
]:
    """Read a text or a sheet: names of columns, rows, a dimension above, notes, and indentation.

    Last come the lines among titles and notes that have numbers as rows do, names of columns as
    they are printed, cells with blanks and quotes by line, what is between cells, and of names
    in two lines what is above each, and its own.

    Raises `InputError` with file and line, and `TooLargeError`.
    """
    text = _text(path, sheet)
    lines = text.splitlines()
    # titles and notes are lines of one cell; a row of data may have blanks behind it, too
    titles = len(list(takewhile(_TITLE.fullmatch, lines[:SAMPLE])))
    wide = [line if any(mark in line for mark in MARKS) else "" for line in lines[titles:SAMPLE]]
    wide = [""] * titles + wide
    head = find_head(str(path), wide if any(wide) else lines[:SAMPLE], MARKS, is_of_people=False)
    header = [label_of(cell) for cell in head.names]
    above = _above(lines[: head.first], head.delimiter) if lines[: head.first] else None
    begin = max(head.first, titles if titles < head.lines else 0)
    notes = list(_titles(lines[:begin], is_dimension=above is not None))
    waiting: list[Note] = []
    firsts: list[str] = []
    raws: dict[int, list[str]] = {}
    begins = head.lines, len(header)
    rows = list(_rows(str(path), text, head.delimiter, *begins, waiting, firsts, raws))
    if not rows:
        raise InputError(f"{path} has no rows below its header")
    if len(rows) * len(header) > MOST_CELLS:
        raise TooLargeError(f"{path} has more than {MOST_CELLS:,} cells")
    notes += waiting
    left = find_rows([(line, lines[line - 1]) for line, _ in notes], head.delimiter, len(header))
    pairs = [(label_of(above), label_of(own)) for above, own in head.pairs]
    more = left, list(head.names), raws, head.delimiter, pairs
    return header, rows, above, notes, _nest(firsts), *more


def _nest(texts: Sequence[str]) -> dict[str, str]:
    """Return the text above each one that is indented more, which it is below."""
    tree: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for text in texts:
        label = label_of(text.strip())
        depth = len(text) - len(text.lstrip())
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            tree.setdefault(label, above[-1][1])
        above.append((depth, label))
    return tree


def _text(path: Path, sheet: str) -> str:
    if is_sheet(path):
        return sheet_as_text(path, [], LARGEST, sheet).read().decode()
    with parsing(path, "a text table"), open_text(path, largest=LARGEST, errors=WESTERN) as file:
        text = file.read()
    if _BULK.match(text):
        begins = (line.partition("\t") for line in text.splitlines())
        text = "\n".join(first.replace(",", "\t") + tab + rest for first, tab, rest in begins)
    return text


def _above(lines: Sequence[str], delimiter: str) -> str | None:
    """Return the only text of the line above the header, if it appears next to the first column."""
    cells = [cell.strip() for cell in next(csv.reader(lines[-1:], delimiter=delimiter), [])]
    filled = [cell for cell in cells if cell]
    return filled[0] if len(filled) == 1 and not cells[0] else None


def _titles(lines: Sequence[str], *, is_dimension: bool) -> Iterator[Note]:
    """Yield lines above the header that say something; the last one may name a dimension."""
    for number, line in enumerate(lines[: len(lines) - is_dimension], 1):
        text = line.strip(MARKS + '" ')
        if re.search(r"\w", text):
            yield number, text


def _rows(
    path: str,
    text: str,
    delimiter: str,
    skipped: int,
    width: int,
    waiting: list[Note],
    firsts: list[str],
    raws: dict[int, list[str]],
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with their line; notes below the last row are put into ``waiting``.

    First cells are put into ``firsts`` with their indentation, and all cells with blanks and quotes
    into ``raws``.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    lines, end = re.split(r"\r\n|\r|\n", text), 0
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            begin, end = end, reader.line_num
            if reader.line_num <= skipped or not any(cells):
                continue
            if width > 1 and _is_note(cells, width):
                waiting.append((reader.line_num, f"{delimiter} ".join(filter(None, cells))))
                continue
            if len(cells) < width or any(cells[width:]):
                raise InputError(
                    f"{path}: line {reader.line_num} has {len(cells)} cells, the header {width}"
                )
            if waiting:
                line, note = waiting[0]
                raise InputError(
                    f"{path}: line {line} has a text alone, {quoted(note)}, and rows "
                    "follow: write a section's heading into a separate column, and a second "
                    "table, such as one of percentages, into a separate file"
                )
            firsts += [row[0]] if cells[0] else []
            raws[reader.line_num] = split_raw("\n".join(lines[begin:end]), delimiter)
            yield reader.line_num, cells[:width]
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: {error}") from error


def _is_note(cells: Sequence[str], width: int) -> bool:
    """Return whether a line is a note and no row of data: text alone, and no number behind it.

    A line of too few or too many cells may be a row with a slip, so a number in it is no note's,
    unless it is a year or a threshold.
    """
    if not cells[0]:
        return False
    if not any(cells[1:]) or _NOTE.fullmatch(cells[0]):
        return True
    is_row = len(cells) == width or (len(cells) > width and not any(cells[width:]))
    others = [without_thresholds(cell).strip() for cell in cells[1:]]
    return not is_row and not any(map(_VALUE.match, filter(None, others)))


def _roles(header: Sequence[str], variable: Variable | None) -> dict[int, str] | None:
    """Return which columns hold counts and statistics; None: the table is wide.

    Raises `InputError` for a statistic of another variable than the declared one.
    """
    column_roles: dict[int, str] = {}
    for at, name in enumerate(header):
        low = _AGAIN.sub("", name.casefold())
        match = _STATISTIC.fullmatch(low)
        if low in COUNTS:
            column_roles[at] = "count"
        elif match is not None:
            role = {"average": "mean", "sum": "total"}.get(match[1], match[1])
            about = match[2]
            if about is None or (variable is not None and about == variable.name.casefold()):
                column_roles[at] = role
    if "count" not in column_roles.values():
        return None
    roles = list(column_roles.values())
    if twice := repeated(roles):
        raise InputError(f"two columns of the table hold the {twice[0]}; leave one out")
    if variable is None and len(roles) > 1:
        role = next(role for role in roles if role != "count")
        raise InputError(f"the column {role} is about a variable: declare it, --variable age=0:125")
    return column_roles


def _totals(header: Sequence[str], magnitude: str) -> dict[int, str] | None:
    """Return which column holds totals, and which others are no dimensions; None: it is wide."""
    names = [name.casefold() for name in header]
    if names.count(magnitude.casefold()) != 1:
        return None
    others = {at: "" for at, low in enumerate(names) if low in COUNTS}
    return others | {names.index(magnitude.casefold()): "count"}


def _long(
    name: str,
    header: list[str],
    roles: Mapping[int, str],
    rows: list[tuple[int, list[str]]],
    rules: Rules,
    columns: ReadColumns,
) -> TableRead:
    """Read a long table."""
    groups = [second.column for second in columns.second_names if second.is_group]
    dimensions = {
        at: text for at, text in enumerate(header) if at in columns.dimensions or text in groups
    }
    _require_names(name, [*dimensions.values()])
    margins: dict[str, dict[str, None]] = {}
    where = {role: at for at, role in roles.items() if role}
    raw: list[RawCell] = []
    statistics: list[dict[str, Statistic]] = []
    places = _places(where, rows, rules)
    for line, texts in rows:
        labels: dict[str, str] = {}
        for at, dimension in dimensions.items():
            label = label_of(texts[at])
            if not label:
                raise InputError(
                    f"{name}: line {line}, column {visible(dimension)} is empty: write its label "
                    "in each row, or * for a margin"
                )
            if not rules.is_total(label):
                labels[dimension] = label
            else:
                margins.setdefault(dimension, {})[label] = None
        at = where["count"]
        raw.append((line, header[at], texts[at], labels))
        statistics.append(_statistics(name, line, header, texts, where, rules, places))
    cells, is_exact = _count_cells(name, raw, rules)
    cells = [
        replace(cell, statistics=published) if published else cell
        for cell, published in zip(cells, statistics, strict=True)
    ]
    kind = "count" if rules.unit is None else "magnitude"
    uses = [ColumnUse(header[at], _USES.get(role, kind)) for at, role in roles.items()]
    return TableRead(
        name,
        cells,
        "long",
        "",
        header,
        rows,
        columns,
        tuple(uses),
        {dimension: tuple(words) for dimension, words in margins.items()},
        is_exact=is_exact,
    )


def _count_cells(name: str, raw: Sequence[RawCell], rules: Rules) -> tuple[list[Cell], bool]:
    """Return cells with what they tell, and whether totals are exact where others are rounded.

    All totals are exact where one of them is no multiple of the base: that tells more than if some
    were rounded. The counts that are no totals are all rounded.

    Raises `InputError` for a text that is no count.
    """
    if again := next((line for line, column, text, _ in raw if text == column), None):
        raise InputError(
            f"{name}: line {again} has the names of columns again: leave the line out where the "
            "table goes on, and write a second table into a separate file"
        )
    names = {frozenset(labels) for *_, labels in raw}
    finest = frozenset[str]().union(*names)
    odd = {
        frozenset(labels)
        for *_, text, labels in raw
        if rules.base > 1
        and rules.suppressed(text) is None
        and (number := read_number(text, thousands_point=True)) is not None
        and number % rules.base
    }
    is_exact = rules.unit is None and bool(odd)
    is_exact = is_exact and finest in names and finest not in odd
    plain = replace(rules, base=1, random=False) if is_exact else rules
    cells = [
        Cell(
            name,
            line,
            column,
            text,
            labels,
            (rules if frozenset(labels) == finest else plain).count(
                text, f"{name}: line {line}, column {visible(column)}"
            ),
            unit=rules.unit,
        )
        for line, column, text, labels in raw
    ]
    return cells, is_exact


def _places(where: Mapping[str, int], rows: Sequence[tuple[int, list[str]]], rules: Rules) -> int:
    """Return the decimals of statistics: the most that one of them has."""
    if rules.decimals is not None:
        return rules.decimals
    printed = [
        cells[at]
        for _, cells in rows
        for role, at in where.items()
        if role != "count" and read_number(cells[at]) is not None
    ]
    return max(map(decimals, printed), default=0)


def _statistics(
    name: str,
    line: int,
    header: Sequence[str],
    texts: Sequence[str],
    where: Mapping[str, int],
    rules: Rules,
    places: int,
) -> dict[str, Statistic]:
    """Read the means, medians and totals of a row."""
    statistics: dict[str, Statistic] = {}
    for role, at in where.items():
        if role == "count" or rules.suppressed(texts[at]) is not None:
            continue
        number = read_number(texts[at])
        if number is None:
            raise InputError(
                f"{name}: line {line}, column {heading(header[at])}: {quoted(texts[at])} "
                "is neither a number nor a known mark of suppression; declare it with --mark"
            )
        statistics[role] = Statistic(number, places)
    return statistics


def _without_counts(name: str, numbers: str) -> InputError:
    """Return the error of a table of percentages, or of other numbers that are no counts."""
    return InputError(
        f"{name} has {numbers} alone, and no counts: they tell of people only next to the number "
        "that they are of. Bring the counts of the same rows, with percentages next to them, into "
        "columns such as `percent`; where counts are hidden, write their mark"
    )


def _value_columns(
    name: str,
    header: Sequence[str],
    rows: Sequence[tuple[int, list[str]]],
    rules: Rules,
    content: str,
    counted: Set[int],
) -> tuple[int, int]:
    """Return where a wide table's columns of numbers begin and end.

    ``counted`` are columns that hold counts whatever their names are.
    """

    def holds_values(at: int) -> bool:
        others = [cells[at] for _, cells in rows if not rules.is_value(cells[at])]
        # a few that are no values, and no labels either, are refused where they stand
        return 2 * len(others) <= len(rows) and not any(map(_LABEL.fullmatch, others))

    def may_hide(at: int) -> bool:
        are_marks = all(rules.suppressed(cells[at]) for _, cells in rows)
        return are_marks if is_flag_name(header[at]) else holds_values(at)

    def holds_numbers(at: int) -> bool:
        return any(read_number(cells[at]) is not None for _, cells in rows)

    last = len(header)
    if any(holds_numbers(at) and holds_values(at) for at in range(1, last)):
        while last > 2 and not (holds_values(last - 1) and holds_numbers(last - 1)):
            last -= 1
        if any(map(may_hide, range(last, len(header)))) and may_hide(len(header) - 1):
            last = len(header)  # columns that hide all their numbers
    first = last
    may_count = [at in counted or not is_code_name(text) for at, text in enumerate(header)]
    while first > 1 and holds_values(first - 1) and may_count[first - 1]:
        first -= 1
    if first == last and any(cells[-1].endswith("%") for _, cells in rows):
        raise _without_counts(name, "percentages")
    if first == last:
        raise InputError(
            f"{name} has neither a column `{content}` nor, as its last column, one of numbers "
            f"({_last_name(header)}): a long table has a column `{content}` (--count NAME), a "
            "wide one has labels and then numbers"
        )
    return first, last


def _last_name(header: Sequence[str]) -> str:
    """Name the last column for a message; the only one is as likely the first line of any file."""
    return heading(header[-1]) if len(header) > 1 else quoted(header[0])


def _across(
    name: str, rowwise: list[str], labels: list[str], rules: Rules, across: str | None, content: str
) -> tuple[list[str], list[str], str | None]:
    """Return names of row labels, labels of columns, and the dimension that these are of."""
    corner, _, beside = rowwise[-1].partition("\\")
    if beside.strip():
        rowwise[-1], across = corner.strip(), across or beside.strip()
    first_words = {label.partition(" ")[0] for label in labels}
    if across is None and len(first_words) == 1 and all(" " in label for label in labels):
        across, labels = first_words.pop(), [label.partition(" ")[2].strip() for label in labels]
    if across is None and not all(map(rules.is_total, labels)):
        raise InputError(
            f"{name}: which dimension has the labels {', '.join(map(visible, labels[:4]))}? Name "
            f"it with --across {name}=NAME, or write a column `{content}` if the table is long "
            f"(--count {visible(labels[-1])})"
        )
    return rowwise, labels, across


def _dimensions_across(
    name: str,
    rowwise: list[str],
    labels: list[str],
    pairs: Sequence[tuple[str, str]],
    rules: Rules,
    across: str | None,
    content: str,
    beside: str,
    *,
    is_alone: bool,
    is_summed: bool,
) -> tuple[list[str], list[str], str | None, str, list[str]]:
    """Return names of row labels, and dimensions of columns with their labels: one, or two.

    pairs: of names in two lines; next to: titles and notes; is_summed: whether columns are parts of
    others.
    """
    if across is None and not pairs:
        across = _name_across(rowwise, labels, rules, beside)
    spans = _spans(name, pairs, rules, across, beside, is_alone=is_alone)
    if spans is not None:
        return rowwise, spans[1], spans[0], spans[2], spans[3]
    is_long = not is_summed and (len(labels) == 1 or _are_statistics(labels))
    if across is None and is_alone and not pairs and not is_long and not _names(rowwise, labels):
        across = COLUMNS if COLUMNS not in {text.casefold() for text in rowwise} else None
    found = _across(name, rowwise, labels, rules, across, content)
    return *found, "", [""] * len(labels)


def _name_across(
    rowwise: Sequence[str], labels: Sequence[str], rules: Rules, beside: str
) -> str | None:
    """Return the dimension of columns that anybody knows, where the header does not name it."""
    name = "" if _names(rowwise, labels) else _name_labels(labels, rules, beside)
    return name if name and name not in {one.casefold() for one in rowwise} else None


def _names(rowwise: Sequence[str], labels: Sequence[str]) -> bool:
    """Return whether the header names the dimension of columns: in the corner, or in each label."""
    firsts = {label.partition(" ")[0] for label in labels}
    is_in_each = len(firsts) == 1 and all(" " in label for label in labels)
    return is_in_each or any("\\" in text for text in rowwise)


def _are_statistics(labels: Sequence[str]) -> bool:
    """Return whether a column is named as a statistic, so that the table may be a long one."""
    return any(label.casefold() in {"mean", "average", "median"} for label in labels)


def _holds_no_counts(rows: Sequence[tuple[int, list[str]]], at: int, rules: Rules) -> bool:
    """Return whether most numbers of a column are no counts: they have decimals or are negative.

    Three digits after a point or comma may be thousands: those are left to the style of the file.
    """
    if rules.unit is not None:
        return False
    texts = [_THOUSANDS.sub("", cells[at]).replace(",", ".") for _, cells in rows]
    numbers = [number for text in texts if (number := read_number(text)) is not None]
    odd = [number for number in numbers if number < 0 or number.denominator != 1]
    return 2 * len(odd) > len(numbers)


def _name_labels(labels: Sequence[str], rules: Rules, beside: str) -> str:
    """Return the name of a dimension whose labels anybody knows; empty: they are of another one.

    next to: titles, notes and the name of the file. Ranges are ages where these say so.
    """
    some = [label for label in labels if label and not rules.is_total(label)]
    if not some:
        return ""
    if all(map(_SEXES.fullmatch, some)) and len(set(some)) > 1:
        return "sex"
    if all(map(_YEARS.fullmatch, some)):
        return "year"
    is_of_ages = _OF_AGES.search(beside) or any(map(_IN_YEARS.search, some))
    if all(map(read_range, some)) and is_of_ages:
        return "age"
    return ""


def _spans(
    name: str,
    pairs: Sequence[tuple[str, str]],
    rules: Rules,
    across: str | None,
    beside: str,
    *,
    is_alone: bool,
) -> tuple[str, list[str], str, list[str]] | None:
    """Return dimensions and labels of columns of two lines; None: they are one dimension's.

    A name above all columns is that of a dimension. Below each label of the first line, the second
    one has the same labels; a total may have none.

    Raises `InputError` where that is not so, or nothing names the dimensions.
    """
    named = [one.strip() for one in across.split(",")] if across else []
    if not pairs or len(named) == 1 or not any(above and own for above, own in pairs):
        return None
    below: dict[str, list[str]] = {}
    for above, own in pairs:
        below.setdefault(above, []).append(own)
    if len(below) == 1 and not named:
        labels = below[next(iter(below))]
        return next(iter(below)), labels, "", [""] * len(labels)
    groups = {above: own for above, own in below.items() if not rules.is_total(above) or any(own)}
    lists = {tuple(own) for own in groups.values()}
    if len(lists) == 1 and len({*lists}.pop()) == 1 and len(named) < 2:
        return None  # counts beside percentages: the first line has the labels
    if not named and len(lists) == 1:
        shown = (list(groups), [own for labels in groups.values() for own in labels])
        known = [_name_labels(labels, rules, beside) for labels in shown]
        if is_alone and known != ["", ""]:  # no other table has the name that is taken here
            known = [text or COLUMNS for text in known]
        named = known if all(known) and known[0] != known[1] else []
    if len(lists) > 1 or len(named) != 2:
        first, *others = groups
        other = next((one for one in others if groups[one] != groups[first]), None)
        if other is not None:
            raise InputError(
                f"{name}: its two lines of names are not clear: below {visible(first)} are "
                f"{', '.join(map(visible, groups[first]))}, and below {visible(other)} "
                f"{', '.join(map(visible, groups[other]))}. Write one line of names, such as "
                f"`{visible(first)} {visible(groups[first][0])}`, and --across {name}=NAME, or a "
                "long table with a column for each dimension"
            )
        raise InputError(
            f"{name}: which dimensions have the labels {', '.join(map(visible, groups))}, and "
            f"below them {', '.join(map(visible, groups[first]))}? Name both: --across "
            f"{name}=NAME,NAME, such as {name}=sex,age"
        )
    return named[0], [above for above, _ in pairs], named[1], [own for _, own in pairs]


@dataclass(frozen=True)
class _Surroundings:
    """What appears next to a table: words of its titles, notes and name, and whether others do."""

    words: str
    is_alone: bool


def _wide(
    name: str,
    header: list[str],
    rows: list[tuple[int, list[str]]],
    rules: Rules,
    across: str | None,
    content: str,
    declared: DeclaredColumns,
    spanned: Mapping[str, tuple[str, str]],
    beside: _Surroundings,
    counted: ColumnsOfCounts,
) -> TableRead:
    """Read a wide table; ``spanned`` are names in two lines.

    ``counted`` are columns that hold counts whatever their names are.
    """
    first, last = _value_columns(name, header, rows, rules, content, counted.places)
    forced = find_declared(header, declared.dimension) | counted.places
    values = [at for at in range(first, last) if at in forced or not is_percent_name(header[at])]
    percents = {
        header[at]: [cells[at] for _, cells in rows]
        for at in range(first, last)
        if at not in values
    }
    others = [at for at in values if at not in forced and _holds_no_counts(rows, at, rules)]
    values = [at for at in values if at not in others]
    if not values:
        raise _without_counts(name, "percentages" if percents else "numbers with decimals")
    taken = dict.fromkeys(range(first, last), "count")
    columns = read_columns(name, header, rows, taken, rules, declared)
    groups = [second.column for second in columns.second_names if second.is_group]
    places = [at for at in range(len(header)) if at in columns.dimensions or header[at] in groups]
    pairs = [spanned[header[at]] for at in values] if spanned else []
    rowwise = [header[at] for at in places] or [""]
    rowwise, labels, across, second, second_labels = _dimensions_across(
        name,
        rowwise,
        [header[at] for at in values],
        pairs,
        rules,
        across,
        content,
        beside.words,
        is_alone=beside.is_alone,
        is_summed=bool(counted.parts),
    )
    names_across = [one for one in (across, second) if one]
    _require_names(name, [*rowwise[: len(places)], *names_across])
    margins: dict[str, dict[str, None]] = {}
    raw: list[RawCell] = []
    for line, texts in rows:
        row_labels: dict[str, str] = {}
        for at, dimension in zip(places, rowwise, strict=False):
            label = label_of(texts[at])
            if not label:
                raise InputError(
                    f"{name}: line {line}, column {visible(dimension)} is empty: write its label "
                    "in each row, or * for a margin"
                )
            if rules.is_total(label):
                margins.setdefault(dimension, {})[label] = None
            else:
                row_labels[dimension] = label
        for at, label, own in zip(values, labels, second_labels, strict=True):
            is_total = rules.is_total(label) and at not in counted.parts
            across_labels = {} if across is None or is_total else {across: label}
            across_labels |= {second: own} if second and own and not rules.is_total(own) else {}
            raw.append((line, header[at], texts[at], row_labels | across_labels))
    cells, is_exact = _count_cells(name, raw, rules)
    if across:
        totals = [at for at in values if at not in counted.parts]
        margins |= {
            across: {
                label: None
                for at, label in zip(values, labels, strict=True)
                if at in totals and rules.is_total(label)
            }
        }
    if second:
        margins |= {second: {own: None for own in second_labels if rules.is_total(own)}}
    kind = "count" if rules.unit is None else "magnitude"
    uses = [
        ColumnUse(
            header[at],
            kind,
            f"{across} = {label}{f', {second} = {own}' if second and own else ''}" * bool(across),
        )
        for at, label, own in zip(values, labels, second_labels, strict=True)
    ]
    uses += [ColumnUse(header[at], "not understood") for at in others]
    questions = [ask_for_column(name, header[at], _NO_COUNTS, "irrelevant") for at in others]
    return TableRead(
        name,
        cells,
        "wide",
        across or "",
        header,
        rows,
        columns,
        tuple(uses),
        {dimension: tuple(words) for dimension, words in margins.items() if words},
        labels_across=tuple(labels),
        second_across=second,
        second_labels=tuple(second_labels) if second else (),
        percents_across=percents,
        unaccounted=tuple(questions),
        is_exact=is_exact,
    )


def _require_names(name: str, found: Sequence[str]) -> None:
    twice = set(repeated(found))
    for dimension in found:
        if not dimension:
            raise InputError(f"{name} has a column without a name: name its dimension")
        if dimension in RESERVED:
            raise InputError(f"{name}: rename the dimension `{dimension}`: the name is ours")
        if dimension in twice:
            raise InputError(f"{name} has two columns of the dimension {visible(dimension)}")


def _suggest_column(cell: Cell, other: Cell) -> str:
    """Return which of two columns may be left out by an option; empty: cells are of one column."""
    if cell.column == other.column:
        return ""
    column = max(cell.column, other.column, key=len)
    way = option_of("irrelevant", column)
    return visible(f": {way} if it counts other people, or the same at another time")


def require_single(cells: Sequence[Cell]) -> None:
    """Refuse two cells of one table about the same people."""
    seen: dict[tuple[str, frozenset[tuple[str, str]]], Cell] = {}
    for cell in cells:
        key = cell.file, frozenset(cell.labels.items())
        if (other := seen.setdefault(key, cell)) is not cell:
            about = ", ".join(f"{k} = {v}" for k, v in cell.labels.items()) or "all"
            raise InputError(
                f"{cell.file} has two cells for {visible(about)}: line {other.line}, column "
                f"{visible(other.column)}, and line {cell.line}, column {visible(cell.column)}; "
                f"leave one out{_suggest_column(other, cell)}"
            )
