"""Delimited text, in parts of many rows.

A kept reader parses what is plain: UTF-8, rows all as wide as the header, quotes around whole
cells. The standard library parses the rest, and finds what is wrong where.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import is_western, open_bytes, unpacked_name, watched, western
from narcissus._pandas import pd
from narcissus._visible import cell
from narcissus.errors import InputError
from narcissus.tables.formats import is_sheet, sheet_as_text
from narcissus.tables.heads import (
    SAMPLE,
    find_head,
    is_number,
    left_out_below,
    refuse_records,
)
from narcissus.tables.tally import RawColumn, first_rows

MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
"""Texts that stand for a missing value in a text file."""

_BLOCK = 2**21  # bytes that are parsed at a time
_CHUNK = 2**20  # cells that are held as text at a time
_NEVER = b"\x01"
_TAIL = 64  # lines at the end among which notes below the table are looked for
_NOTE = re.compile(r"\s*([*†‡§]|(sources?|notes?|quelle|anmerkung(en)?|hinweis)\b)", re.IGNORECASE)
_TOTALS = re.compile(
    r"(grand |sub)?totals?|total g[e\u00e9]n[e\u00e9]ral|totale|totaal|sums?|somme|suma|summen?"
    r"|gesamt(summe)?|insgesamt|zusammen|ensemble|averages?|means?|mittelwert|durchschnitt",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s*(sources?|notes?|quelle|anmerkung(en)?)\s*:", re.IGNORECASE)

Row = tuple[list[str], int, bool]
"""Cells, the line where they end, and whether a blank line is above."""


def text_parts(
    path: Path,
    choose: Callable[[list[str]], Sequence[int]],
    *,
    largest: int,
    remarks: list[str] | None = None,
    is_as_written: bool = False,
) -> Generator[list[RawColumn]]:
    """Yield the kept columns of a delimited text file or an Excel sheet, many rows at a time.

    ``choose`` maps the names of all columns to the positions to keep, or raises. Packed files are
    unpacked; ``largest`` limits the unpacked bytes. Bytes that are no UTF-8 are those of
    Windows-1252. ``remarks`` receives a line for each thing that was left out or read otherwise. An
    `InputError` names the line at fault. ``is_as_written`` keeps the blanks around cells, and each
    way to write a missing value.
    """
    notes: list[str] = [] if remarks is None else remarks
    marks = "\t" if unpacked_name(path).endswith(".tsv") else ",;\t"
    marks = "," if is_sheet(path) else marks
    with opened_text(path, largest, notes) as stream:
        lines = _Lines(str(path), stream, notes)
        yield from _Text(str(path), lines, marks, notes, is_as_written=is_as_written).parts(choose)


def opened_text(path: Path, largest: int, remarks: list[str]) -> io.BufferedReader:
    """Open a delimited text, unpacked, or the sheet of an Excel file as such a text."""
    if is_sheet(path):
        return watched(sheet_as_text(path, remarks, largest), path, largest)
    return open_bytes(path, largest=largest)


class _Lines:
    """The bytes of a text as UTF-8, some whole lines at a time."""

    def __init__(self, name: str, stream: io.BufferedReader, remarks: list[str]) -> None:
        self._name = name
        self._stream, self._remarks = stream, remarks
        self._rest = b""
        self.at_end = False
        self._is_begun = False

    def next(self) -> bytes:
        """Return the next lines; nothing at the end."""
        data, cut = self._rest, 0
        while not cut and not self.at_end:
            data += self._stream.read(_BLOCK)
            self.at_end = not self._stream.peek(1)
            cut = len(data) if self.at_end else data.rfind(b"\n") + 1 or data.rfind(b"\r") + 1
        data, self._rest = data[:cut], data[cut:]
        if not self._is_begun:
            data, self._is_begun = data.removeprefix(b"\xef\xbb\xbf"), True
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            if not is_western(data):
                raise InputError(
                    f"{self._name}: its letters are neither UTF-8 nor those of Western Europe "
                    "(Windows-1252): save it as UTF-8, such as Excel's 'CSV UTF-8', or convert it "
                    "with `iconv -f CP932 -t UTF-8` (Japanese; CP936 Chinese, CP1251 Cyrillic)"
                ) from None
            _remark(self._remarks, "Bytes that are no UTF-8 read as Windows-1252")
            data = western(data).encode()
        return data


def _remark(remarks: list[str], text: str) -> None:
    if text not in remarks:
        remarks.append(text)


class _Text:
    def __init__(
        self,
        name: str,
        blocks: _Lines,
        marks: str,
        remarks: list[str],
        *,
        is_as_written: bool = False,
    ) -> None:
        self._is_as_written = is_as_written
        self._name, self._blocks, self._remarks = name, blocks, remarks
        self._line = 0  # lines and rows parsed so far
        self._rows = 0
        self._is_exact = True  # a quoted cell may hold line breaks: then only rows can be counted
        self._data = blocks.next()
        lines = list(islice(_lines(self._data), SAMPLE))
        while self._data and not any(line.strip() for line in lines):
            self._line += sum(1 for _ in _lines(self._data))
            self._data = blocks.next()
            lines = list(islice(_lines(self._data), SAMPLE))
        self._head = head = find_head(name, lines, marks)
        above = lines[head.first : head.lines]
        list(_well_formed(name, *self._reader(above, self._line + head.first)))
        self._data = self._data[len("".join(lines[: head.lines]).encode()) :]
        self._line += head.lines
        for text in head.remarks:
            _remark(remarks, text)

    def _reader(self, lines: Iterable[str], before: int) -> tuple[Any, int]:
        checked = _quoted_well(self._name, lines, self._head.delimiter, before)
        return csv.reader(checked, delimiter=self._head.delimiter, strict=True), before

    def parts(self, choose: Callable[[list[str]], Sequence[int]]) -> Generator[list[RawColumn]]:
        head, places = self._head, list(choose(self._head.names))
        empty = list(range(len(head.names), head.width))
        wanted = [*places, *empty]
        is_empty = True
        for columns in chain(self._plain_parts(wanted), self._other_parts(wanted)):
            is_empty = False
            for column in columns[len(places) :]:
                if column.distinct != [None]:
                    raise InputError(
                        f"{self._name}: column {head.width} has no name, and has values below line "
                        f"{self._line:,}: name it"
                    )
            yield columns[: len(places)]
        if is_empty:
            raise InputError(f"{self._name} holds a header and no rows")

    def _plain_parts(self, wanted: list[int]) -> Iterator[list[RawColumn]]:
        """Parse blocks as long as they are plain; the last lines are left, for notes among them."""
        mark, width = self._head.delimiter, self._head.width
        while wanted:
            end = _before_tail(self._data)
            data = self._data[:end]
            if not (rows := _plain_rows(data, mark, width)):
                return
            columns = _parsed(data, mark, width, wanted)
            yield [self._column(j, *columns[j]) for j in wanted]
            lines = rows if b'"' not in data else data.count(b"\n")
            self._line, self._rows = self._line + lines, self._rows + rows
            self._is_exact = self._is_exact and lines == rows
            self._data = self._data[end:] + (b"" if self._blocks.at_end else self._blocks.next())

    def _column(self, place: int, texts: list[str], codes: NDArray[np.integer]) -> RawColumn:
        is_named = place < len(self._head.names)
        name = self._head.names[place] if is_named else ""
        column = RawColumn(name, texts, codes, is_as_written=True)
        return column if self._is_as_written and is_named else cleaned(column)

    def _other_parts(self, wanted: list[int]) -> Iterator[list[RawColumn]]:
        """Parse what is left with the standard library."""
        for chunk in self._chunks():
            cells = list(zip(*chunk, strict=True))
            yield [self._column(j, *_coded(cells[j])) for j in wanted]

    def _left(self) -> Iterator[str]:
        yield from _lines(self._data)
        while not self._blocks.at_end:
            yield from _lines(self._blocks.next())

    def _chunks(self) -> Iterator[list[list[str]]]:
        """Yield rows in chunks, all as wide as the header; blank lines are skipped."""
        width = self._head.width
        limit = max(1, _CHUNK // width)
        rows = self._each_row()
        buffer: list[Row] = []
        for row in rows:
            buffer.append(row)
            if len(row[0]) != width:  # at once: rows may be much wider than the header
                wide = len(row[0]) > width + 100
                buffer += (rest := [] if wide else list(islice(rows, _TAIL + 1)))
                if wide or len(rest) > _TAIL:
                    raise self._wrong(buffer, len(buffer) - len(rest) - 1)
                break
            if len(buffer) == limit + _TAIL:
                yield [cells for cells, _, _ in buffer[:limit]]
                self._rows += limit
                del buffer[:limit]
        if buffer := self._without_notes(buffer):
            yield [cells for cells, _, _ in buffer]

    def _each_row(self) -> Iterator[Row]:
        reader, before = self._reader(self._left(), self._line)
        is_blank = False
        for number, cells in enumerate(_well_formed(self._name, reader, before), start=1):
            self._is_exact = self._is_exact and reader.line_num == number
            if cells:
                yield cells, before + reader.line_num, is_blank
            is_blank = not cells or not any(map(str.strip, cells))

    def _without_notes(self, rows: list[Row]) -> list[Row]:
        """Leave out the notes below the last row; refuse rows that are no notes and too short."""
        width = self._head.width
        whole = [cells for cells, _, _ in rows if len(cells) == width]
        numbers = [j for j in range(1, width) if _is_of_numbers([cells[j] for cells in whole])]
        last = max(
            (i for i, (c, _, _) in enumerate(rows) if _is_data(c, width, numbers)), default=-1
        )
        notes = (i for i in range(last + 1, len(rows)) if _is_note(*rows[i], width))
        if (start := next(notes, None)) is not None:
            while start > last + 1 and not any(map(str.strip, rows[start - 1][0])):
                start -= 1  # the blank row between
            texts = [self._head.delimiter.join(cells) for cells, _, _ in rows[start:]]
            refuse_records(self._name, texts, (rows[start][1], rows[-1][1]), width)
            _remark(self._remarks, left_out_below(rows[start][1], rows[-1][1]))
            rows = rows[:start]
        if _are_totals([cells for cells, _, _ in rows]):
            _remark(self._remarks, f"Line {rows[-1][1]} below the last row, of totals, left out")
            rows = rows[:-1]
        for place, (cells, _, _) in enumerate(rows):
            if len(cells) != width:
                raise self._wrong(rows, place)
        return rows

    def _wrong(self, rows: list[Row], place: int) -> InputError:
        cells, line, _ = rows[place]
        where = f"line {line}" if self._is_exact else f"row {self._rows + place + 1}"
        return InputError(
            f"{self._name}: {where} has {len(cells)} cells where the header has {self._head.width}"
        )


def _is_of_numbers(cells: list[str]) -> bool:
    """Check whether most cells of a column that hold something hold numbers."""
    filled = [cell for cell in cells if cell.strip()]
    return 2 * sum(map(is_number, filled)) > len(filled)


def _is_data(cells: list[str], width: int, numbers: list[int]) -> bool:
    """Check whether a row is none of the notes; one that begins as a note has the others' numbers.

    numbers: Columns of numbers, but for the first.
    """
    if _HEADING.match(cells[0]):
        filled = sum(1 for cell in cells[1:] if cell.strip())
        if len(cells) != width or filled < 2:
            return False
        there = [is_number(cells[j]) for j in numbers if cells[j].strip()]
        return (all(there) and bool(there)) if numbers else filled == width - 1
    return len(cells) == width and (width < 3 or sum(1 for c in cells if c.strip()) > 1)


def _are_totals(rows: list[list[str]]) -> bool:
    """Check whether the last row has a word for totals, numbers, and else blanks: no person."""
    *others, last = rows or [[]]
    filled = [cell.strip() for cell in last if cell.strip()]
    if not others or not filled or not _TOTALS.fullmatch(filled[0]):
        return False
    at = next(place for place, cell in enumerate(last) if cell.strip())
    is_word = any(at < len(cells) and _TOTALS.fullmatch(cells[at].strip()) for cells in others)
    return len(filled) < len(last) and not is_word and all(map(is_number, filled[1:]))


def _is_note(cells: list[str], _: int, after_blank: bool, width: int) -> bool:
    """Check whether a row with too few cells, or with one filled, can be the first note."""
    text = cells[0].strip()
    is_one = not any(c.strip() for c in cells[1:])
    if _HEADING.match(text):
        return True
    if not text or (len(cells) == width and not is_one):
        return False
    if _NOTE.match(text):
        return True
    words = len(text.split()) if any(map(str.isalpha, text)) else 0
    return words > 1 if after_blank else words > 2 and len(cells) == 1


def _lines(data: bytes) -> Iterator[str]:
    return io.StringIO(data.decode("utf-8"), newline="")


def _before_tail(data: bytes) -> int:
    """Return where the last lines begin, outside of quotes; 0 where that is not plain."""
    end = len(data)
    for line in range(2 * _TAIL):
        if (end := data.rfind(b"\n", 0, max(0, end - 1)) + 1) == 0:
            return 0
        if line >= _TAIL - 1 and data.count(b'"', 0, end) % 2 == 0:
            return end
    return 0


def _plain_rows(data: bytes, mark: str, width: int) -> int:
    """Return the number of rows if the kept reader reads them as we would, else 0.

    All rows have ``width`` cells and end with a line feed; a quote begins or ends a cell, or is
    doubled.
    """
    if width < 2 or _NEVER in data or ord(mark) > 127:
        return 0
    if data[-1:] != b"\n" or data.count(b"\r") != data.count(b"\r\n"):
        return 0
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero((letters == 10) | (letters == ord(mark)))
    if b'"' in data:
        quotes = letters == 34
        inside = np.logical_xor.accumulate(quotes)
        at = np.flatnonzero(quotes)
        before, after = letters[at[::2] - 1], letters[at[1::2] + 1]  # the last is a line feed
        before[at[::2] == 0] = 10
        is_well = (before == 10) | (before == 34) | (before == ord(mark))
        is_closed = (after == 10) | (after == 13) | (after == 34) | (after == ord(mark))
        if inside[-1] or not is_well.all() or not is_closed.all():
            return 0
        ends = ends[~inside[ends]]
    separators = letters[ends]
    rows, left = divmod(len(separators), width)
    if left:
        return 0
    is_end = separators == 10
    return rows if is_end[width - 1 :: width].all() and np.count_nonzero(is_end) == rows else 0


def _parsed(
    data: bytes, mark: str, width: int, wanted: list[int]
) -> dict[int, tuple[list[str], NDArray[np.integer]]]:
    """Return the different texts and their codes of each column of plain rows."""
    # A first row that is no number keeps the reader from taking "01" for 1.
    text = mark.encode().join([_NEVER] * width) + b"\n" + data
    frame = pd.read_csv(
        io.BytesIO(text),
        sep=mark,
        header=None,
        names=range(width),
        usecols=sorted(set(wanted)),
        index_col=False,
        dtype="category",
        na_filter=False,
        skip_blank_lines=False,
        low_memory=False,
    )
    columns: dict[int, tuple[list[str], NDArray[np.integer]]] = {}
    for column in sorted(set(wanted)):
        values = frame[column].cat
        codes, texts = values.codes.to_numpy(), values.categories.tolist()
        order = np.argsort(first_rows(codes, len(texts)))  # as they appear, that row first
        place = np.empty_like(codes, shape=len(texts))
        place[order] = np.arange(len(texts))
        columns[column] = [texts[i] for i in order[1:].tolist()], place[codes[1:]] - 1
    return columns


def _coded(cells: Sequence[str]) -> tuple[list[str], NDArray[np.integer]]:
    # A dictionary that numbers each new value makes one pass over the cells enough.
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    codes = np.fromiter(map(numbers.__getitem__, cells), np.int64, len(cells))
    return list(numbers), codes


def cleaned(column: RawColumn) -> RawColumn:
    """Strip the different cells of blanks, and make those that stand for no value None.

    A column that is not as a text writes it is returned as it is.
    """
    if not column.is_as_written:
        return column
    name, texts, codes = column.name, column.distinct, column.codes
    values = [None if (t := text.strip()) in MISSING else t for text in texts]
    if values == texts:
        return RawColumn(name, list(texts), codes)
    position: dict[str | None, int] = {}
    renumber = np.array([position.setdefault(t, len(position)) for t in values], dtype=np.int64)
    return RawColumn(name, list(position), renumber[codes])


def _quoted_well(name: str, lines: Iterable[str], delimiter: str, before: int) -> Iterator[str]:
    """Pass lines on; refuse a quote in a cell that does not begin with one.

    The standard library takes such a quote for a letter: the cell ``1"x"`` would be a value, and
    no longer a number. It checks itself what follows a closing quote.
    """
    is_inside = False
    for number, line in enumerate(lines, start=before + 1):
        if '"' in line:
            parts = line.split('"')
            for above in parts[:-1]:
                # Nothing before it: the line begins, or a quote was doubled.
                if not is_inside and above and not above.endswith(delimiter):
                    raise InputError(
                        f"{name}: line {number} has a quote within a cell that does not begin with "
                        f"one ({cell((above + chr(34)).strip()[-20:])}): put the whole cell in "
                        'quotes, and write a quote in it as ""'
                    )
                is_inside = not is_inside
        yield line


def _well_formed(name: str, reader: Any, before: int) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise InputError(
            f"{name} is not a readable CSV: {error} (line {before + reader.line_num})"
        ) from error
