"""The head of a delimited text: which lines are titles, which name the columns.

The first line that is not blank names the columns. It does not where it has another number of cells
than most lines below it, or a single one among blanks: then lines above the first that is as wide
as most are titles, and left out, as are those above a blank line and a row of names. Two lines name
the columns where the first has blanks between its names, the second has only texts, and numbers are
below: ``2019,,`` over ``n,mean`` is ``2019 n``, ``2019 mean``. A header with one cell less than the
lines below is that of R, whose first column has no name: texts that are all different, or 1, 2, 3
and so on. A last column without name and values is left out. ``sep=;`` in the first line is a hint
of Excel.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, takewhile

from narcissus._visible import is_heading
from narcissus.errors import InputError
from narcissus.tables.spelling import number_in

SAMPLE = 64
"""Lines at the beginning of a file that are looked at."""
MOST_TITLES = 10
"""Lines of a title."""
_HINT = re.compile(r'"?sep=(.)"?\s*')
_MARKS = ",;\t|"
_A_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.,]*(?!\w)")
_MARK = 3
"""Most letters of a mark of suppression."""
_ALIKE = 3  # lines with as many numbers that look like rows
_YEAR = re.compile(r"(19|20)\d\d")

Rows = list[tuple[list[str], int]]
"""Cells without blanks around them, and the line that they end at."""


@dataclass(frozen=True)
class Head:
    delimiter: str
    names: list[str]  # all different, but for those without a name
    empty: int  # number of columns after these, without a name and, as it seems, without values
    first: int  # lines above the header
    lines: int  # lines up to the end of the header
    remarks: list[str]  # what was left out or put together
    pairs: tuple[tuple[str, str], ...] = ()  # of two lines: what is above each name, and its own

    @property
    def width(self) -> int:
        return len(self.names) + self.empty


def find_head(name: str, lines: Sequence[str], marks: str, *, is_of_people: bool = True) -> Head:
    """Find the head in the first lines of a text, whose cells one of the ``marks`` sets apart.

    is_of_people: whether lines above the head that look like rows are refused; who reads tables of
        counts asks about them.

    InputError: there is no text.
    """
    first = next((line for line in lines if line.strip()), "")
    skipped = 0
    if hint := _HINT.fullmatch(first):
        marks, skipped = hint[1], lines.index(first) + 1
    usual = next((mark for mark in marks if mark in first), marks[0])
    rows = _rows(lines, usual, skipped)
    if not rows:
        raise InputError(f"{name} is empty: a header and rows are needed")
    delimiter, at, is_regular = usual, 0, _is_regular(rows)
    if is_regular:
        at = _below_title(rows, lines)
    else:
        each = [_body(_rows(lines, mark, skipped), mark) for mark in marks]
        delimiter, rows, at = max([(0, usual, rows, 0), *each], key=lambda found: found[0])[1:]
    start = rows[at - 1][1] if at else skipped
    remarks = [f"{_lines(1, start)} above the header left out"] if at else []
    if at and is_of_people:
        refuse_records(name, lines[skipped:start], (skipped + 1, start), len(rows[at][0]))
    header, end = rows[at]
    width = _usual(rows[at + 1 :])
    below = [cells for cells, _ in rows[at + 1 :] if len(cells) == width]
    pairs = _of_two(header, below, has_marks=not is_of_people)
    if pairs:
        header, end, below = list(map(_joined, pairs)), rows[at + 1][1], below[1:]
        remarks.append(f"The names of columns are those of {_lines(start + 1, end).lower()}")
    if not is_regular and width == len(header) + 1 and _names_rows(header, below):
        is_last = not any(cells[-1] for cells in below)
        header = [*header, ""] if is_last else ["", *header]
        if not is_last:
            remarks.append("The first column has no name: it is taken for the names of rows")
    empty = _empty(header, below)
    if empty:
        header = header[:-empty]
        remarks.append(f"{empty} empty column{'s' * (empty > 1)} at the end left out")
    if not all(map(is_heading, header)):
        raise InputError(
            f"{name} has no header: its first line looks like that of a file of accounts"
        )
    return Head(delimiter, _numbered(header), empty, start, end, remarks, tuple(pairs))


def _empty(header: list[str], below: list[list[str]]) -> int:
    """Return how many of the last columns have no name and no value."""
    columns = zip(*map(reversed, [header, *below]), strict=False)
    empty = len(list(takewhile(lambda cells: not any(cells), columns))) if below else 0
    return min(empty, len(header) - 1)


def _lines(first: int, last: int) -> str:
    return f"Line {last}" if first == last else f"Lines {first} to {last}"


def left_out_below(first: int, last: int) -> str:
    return f"{_lines(first, last)} below the last row left out"


def refuse_records(name: str, texts: Sequence[str], where: tuple[int, int], width: int) -> None:
    """Refuse lines next to a table, to be left out, that look like rows of people.

    That is a line that another mark divides in as many cells as the table has, or in three of which
    two are numbers; and three lines that have as many numbers, two or more.

    where: The first and the last of the lines.
    width: Columns of the table.

    InputError: They look like such rows.
    """
    times = Counter(len(_A_NUMBER.findall(text)) for text in texts)
    if any(_is_record(text, width) for text in texts) or any(
        numbers > 1 and many >= _ALIKE for numbers, many in times.items()
    ):
        raise InputError(
            f"{name}: {_lines(*where).lower()} beside the table look like rows of people: write "
            "them as its rows, or delete them"
        )


def _is_record(text: str, width: int) -> bool:
    for mark in _MARKS:
        cells = [cell.strip(' ",;') for cell in text.split(mark)]
        numbers = sum(is_number(cell) and not _YEAR.fullmatch(cell) for cell in cells)
        if len(cells) > 2 and numbers and (numbers > 1 or len(cells) == width):
            return True
    return False


def _rows(lines: Sequence[str], mark: str, skipped: int) -> Rows:
    rows: Rows = []
    reader = csv.reader(lines[skipped:], delimiter=mark)
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                rows.append(([cell.strip() for cell in cells], skipped + reader.line_num))
    except csv.Error:  # the reader of the whole file says where
        pass
    return rows


def _usual(rows: Rows) -> int:
    """Return the number of cells that most rows have, of equals that of the first; 0 for none."""
    return max(
        widths := Counter(len(cells) for cells, _ in rows), key=widths.__getitem__, default=0
    )


def _is_regular(rows: Rows) -> bool:
    cells = rows[0][0]
    return len(cells) == _usual(rows) and not _is_title(rows, 0)


def _below_title(rows: Rows, lines: Sequence[str]) -> int:
    """Return the place of a row of names below a blank line, above which all is a title; else 0."""
    width = len(rows[0][0])
    for at in range(1, min(len(rows), 10)):
        below = [cells for cells, _ in rows[at + 1 :] if len(cells) == width]
        if not lines[rows[at - 1][1]].strip():
            return at if len(rows[at][0]) == width and _are_names(rows[at][0], below) else 0
    return 0


def _is_title(rows: Rows, at: int) -> bool:
    """Check whether a row of three cells or more has one text among blanks, as a title.

    Below it, and other such rows, is one of more texts.
    """
    filled = [sum(map(bool, cells)) for cells, _ in rows[at : at + MOST_TITLES + 1]]
    below = next((many for many in filled if many > 1), 0)
    return len(rows[at][0]) > 2 and filled[0] < 2 <= below


def _body(rows: Rows, mark: str) -> tuple[int, str, Rows, int]:
    """Return how many rows are as wide as most, the mark, the rows and the place of the header."""
    widths = Counter(len(cells) for cells, _ in rows if len(cells) > 1)
    width, times = widths.most_common(1)[0] if widths else (0, 0)
    if times < 2 or 2 * times < len(rows):
        return 0, mark, rows, -1
    at = next(i for i, (cells, _) in enumerate(rows) if len(cells) == width)
    if at and _names_rows(rows[at - 1][0], [c for c, _ in rows[at:] if len(c) == width]):
        return times, mark, rows, at - 1
    while at + 1 < len(rows) and _is_title(rows, at):
        at += 1
    if at and any(is_number(cell) and not _YEAR.fullmatch(cell) for cell in rows[at][0]):
        return 0, mark, rows, -1  # no names: a row that has more cells than the header
    return times, mark, rows, at


def _names_rows(header: list[str], below: list[list[str]]) -> bool:
    """Check whether a header names all columns but the first, of row names, or an empty last one.

    A comma as decimal mark in a file of commas makes rows longer, too: such numbers are no names.
    """
    is_data = any(map(is_number, below[0]))  # else it may be the header, below a title
    if len(header) != len(below[0]) - 1 or not all(header) or not is_data:
        return False
    first = [cells[0] for cells in below]
    if not any(cells[-1] for cells in below):
        return True
    if any(map(is_number, first)):
        return first == [str(number) for number in range(1, len(first) + 1)]
    return len(set(first)) == len(first)


@lru_cache(maxsize=2**14)  # a file is opened several times, and its first lines looked at
def is_number(text: str) -> bool:
    return len(text) < 40 and any(number_in(text, mark) is not None for mark in ".,")


def _are_names(cells: list[str], below: list[list[str]], most: int = 0) -> bool:
    """Check that a row has texts only, and a name above a column of numbers.

    most: letters of a text that may be for a number.
    """
    columns = [[row[j] for row in below if row[j]] for j in range(len(cells))]
    return not any(map(is_number, cells)) and any(
        name
        and any(map(is_number, column))
        and all(is_number(cell) or len(cell) <= most for cell in column)
        for name, column in zip(cells, columns, strict=True)
    )


def _of_two(header: list[str], below: list[list[str]], *, has_marks: bool) -> list[tuple[str, str]]:
    """Return names from two lines, what is above each and its own; none: one line has all.

    has_marks: whether some numbers are hidden behind marks.
    """
    inner = header[next((i for i, cell in enumerate(header) if cell), 0) :]
    if all(inner) or len(below) < 2 or len(below[0]) != len(header):
        return []
    second = below[0]
    if not _are_names(second, below[1:], most=_MARK if has_marks else 0):
        return []
    found: list[tuple[str, str]] = []
    group = ""
    for above, name in zip(header, second, strict=True):
        group = above or group
        found.append((group if name else above, name))
    return found if all(map(_joined, found)) else []


def _joined(pair: tuple[str, str]) -> str:
    """Return one name of what is above it and its own."""
    above, own = pair
    return f"{above} {own}".strip() if own and above != own else above or own


def _numbered(names: Iterable[str]) -> list[str]:
    """Name each column differently: the second ``x`` is ``x (2)``."""
    counters: dict[str, Iterator[int]] = {}  # with the numbers that a name has left
    each: list[str] = []
    for name in names:
        unique_name = name
        while unique_name and unique_name in counters:
            unique_name = f"{name} ({next(counters[name])})"
        counters.setdefault(unique_name, count(2))
        each.append(unique_name)
    return each
