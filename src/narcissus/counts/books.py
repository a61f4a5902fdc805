"""What an Excel file holds next to the sheet that is read: each of it may tell hidden counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from narcissus._archives import opened_archive
from narcissus._files import parsing
from narcissus._optional import optional
from narcissus._visible import visible
from narcissus.counts.columns import option_of
from narcissus.counts.looks import SheetLooks, read_looks
from narcissus.counts.marks import read_number
from narcissus.rows import Unaccounted
from narcissus.tables.packages import MOST_BYTES, list_contents

_READ = ("formulas", "names of cells")  # by the library, with their references
_REFERENCE = re.compile(r"('[^']*'|\w+)!|\$?[A-Z]{1,3}\$?\d+|\"[^\"\d]*\"")
_PLAIN_FORMAT = re.compile(r"General|@|(?:#[, ]##)?0(?:\.0+)?|[dmyhs\\/.: -]+(?:;@)?", re.I)
"""Formats of numbers that show the number, and nothing next to it."""
_PAGE_CODES = re.compile(r'&"[^"]*"|&K[0-9A-F]{6}|&\d+|&[A-Z]')
"""Codes of headers and footers of pages: a font, a colour, the page's number."""
_PLAIN_SHEET = re.compile(r"(?:sheet|tabelle|blad|feuil|hoja|table|tab)[ _.-]?\d{0,2}", re.I)
MOST_ROWS = 10_000
"""Rows of another sheet that are searched for numbers."""
MOST_LOOKED = 200
"""Rows of a sheet by which it is seen to be a table."""
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class Book:
    """What an Excel file holds next to the values of its first sheet.

    Options
    -------
    unread: what may tell numbers and is not read.
    texts: words of other sheets, of names, properties and formats, each with a noun.
    looks: of the cells of the sheet.
    sheets: the sheet that is read, and others that may tell numbers.
    """

    unread: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    looks: SheetLooks = field(default_factory=SheetLooks)
    sheets: tuple[str, ...] = ()

    def ask(self, file: str) -> Iterator[Unaccounted]:
        """Yield a question for all that is not read."""
        if self.unread:
            options = [option_of("sheet", sheet).strip("`") for sheet in self.sheets]
            shown = ", ".join(self.unread[:3]) + " and more" * (len(self.unread) > 3)
            yield Unaccounted(
                subject=f"{shown} in {visible(file)}",
                reason="They are not read, and may tell hidden counts.",
                declaration=visible(f"`{' '.join(options)}` for each sheet of numbers, or ")
                * (len(options) > 1)
                + "a copy of the sheet alone, saved as CSV",
            )


def choose_sheets(path: Path, names: Sequence[str] = ()) -> list[str]:
    """Return the names of the sheets to be read: those that are declared and there, or the table.

    The table is the first visible sheet that has two rows with numbers, or that is not empty.
    """
    library: Any = optional("openpyxl", extra="formats", purpose="Reading Excel files")
    with parsing(path, "a readable Excel file"), path.open("rb") as stream:
        _require_parts_once(path)
        book = library.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        try:
            sheets = book.worksheets
            if chosen := [sheet.title for sheet in sheets if sheet.title in names]:
                return chosen
            seen = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
            rows = {sheet.title: _rows(sheet, MOST_LOOKED) for sheet in seen}
            filled = [sheet.title for sheet in seen if rows[sheet.title]]
            tables = [title for title in filled if _is_table(rows[title])]
            return [*tables, *filled][:1]
        finally:
            book.close()


def _require_parts_once(path: Path) -> None:
    with opened_archive(path, same=str.lower, noun="part"):
        pass


def list_sheets(path: Path) -> list[str]:
    """Return the names of all sheets of an Excel file."""
    library: Any = optional("openpyxl", extra="formats", purpose="Reading Excel files")
    with parsing(path, "a readable Excel file"), path.open("rb") as stream:
        _require_parts_once(path)
        book = library.load_workbook(stream, read_only=True, keep_links=False)
        try:
            return [sheet.title for sheet in book.worksheets]
        finally:
            book.close()


def read_book(path: Path, read: str = "", others: Sequence[str] = ()) -> Book:
    """List what an Excel file holds next to the values of a sheet.

    read: the name of this sheet; empty: the one that `choose_sheets` finds.
    others: sheets that are read as separate tables.
    """
    library: Any = optional("openpyxl", extra="formats", purpose="Reading Excel files")
    contents = list_contents(path)
    read = read or next(iter(choose_sheets(path)), "")
    unread: list[str] = []
    sheets = list(dict.fromkeys([read, *others]))
    looks = SheetLooks()
    texts = [
        (kind, _PAGE_CODES.sub(" ", text)) for kind, text in contents.texts if kind not in _READ
    ]
    with parsing(path, "a readable Excel file"), path.open("rb") as stream:
        book = library.load_workbook(stream, read_only=True, data_only=False, keep_links=False)
        try:
            for sheet in book.worksheets:
                if not _PLAIN_SHEET.fullmatch(sheet.title):
                    texts.append(("the name of a sheet", sheet.title))
                if sheet.title == read:
                    sheet.reset_dimensions()
                    rows = list(sheet.iter_rows())
                    unread += ["formulas with numbers"] * any(
                        _computes_by_numbers(cell.value) for row in rows for cell in row
                    )
                    texts += [("a number format", shown) for shown in _formats(rows)]
                    xml = _xml(book, sheet)
                    looks = read_looks(rows, xml)
                    texts += [("a cell", "parts of texts in separate fonts")] * (
                        re.search(r"<(?:\w+:)?is>\s*<(?:\w+:)?r>", xml) is not None
                    )
                    continue
                if sheet.title in others:
                    continue
                values = [c.value for row in _rows(sheet) for c in row if c.value is not None]
                if any(map(_is_number, values)):
                    hidden = "" if sheet.sheet_state == "visible" else "hidden "
                    sheets.append(sheet.title)
                    unread.append(f"the {hidden}sheet `{visible(sheet.title)}`")
                else:
                    title = f"sheet `{visible(sheet.title)}`"
                    texts += [(title, str(value)) for value in values]
            for name, defined in book.defined_names.items():
                texts.append(("a name of cells", name))
                if _computes_by_numbers(f"={defined.attr_text}"):
                    unread.append(f"the name `{visible(name)}`")
        finally:
            book.close()
    unread_parts = tuple(dict.fromkeys([*unread, *contents.strange]))
    return Book(unread_parts, tuple(dict.fromkeys(texts)), looks, tuple(sheets))


def _xml(book: Any, sheet: Any) -> str:
    with sheet._get_source() as source:
        return source.read(MOST_BYTES).decode("utf-8", "replace")


def _is_table(rows: Sequence[tuple[Any, ...]]) -> bool:
    """Return whether two rows have a number behind their first cell."""
    filled = [[cell.value for cell in row if cell.value is not None] for row in rows]
    return sum(any(map(_is_number, values[1:])) for values in filled) > 1


def _is_number(value: Any) -> bool:
    """Return whether a cell is a number, or a text that is one, and no year."""
    if isinstance(value, str):
        return read_number(value.strip().rstrip("% ")) is not None and not _YEAR.fullmatch(
            value.strip()
        )
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and not _YEAR.fullmatch(str(value))


def _formats(rows: list[tuple[Any, ...]]) -> list[str]:
    """Return formats by which a cell shows something else than its value."""
    formats = dict.fromkeys(
        str(cell.number_format) for row in rows for cell in row if cell.value is not None
    )
    return [shown for shown in formats if not _PLAIN_FORMAT.fullmatch(shown)]


def _rows(sheet: Any, most: int = MOST_ROWS) -> list[tuple[Any, ...]]:
    sheet.reset_dimensions()
    rows = sheet.iter_rows(max_row=most)
    return [row for row in rows if any(cell.value is not None for cell in row)]


def _computes_by_numbers(cell: Any) -> bool:
    """Return whether a separate formula has numbers, and not of cells alone."""
    is_formula = isinstance(cell, str) and cell.startswith("=")
    return is_formula and re.search(r"\d", _REFERENCE.sub("", cell)) is not None
