"""What an Excel file holds beside the sheet that is read: each of it may tell hidden counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narcissus._files import parsing
from narcissus._optional import optional
from narcissus._visible import visible
from narcissus.counts.notes import without_thresholds
from narcissus.rows import Unaccounted
from narcissus.tables.packages import list_contents

_READ = ("formulas", "names of cells")  # by the library, with their references
_REFERENCE = re.compile(r"('[^']*'|\w+)!|\$?[A-Z]{1,3}\$?\d+|\"[^\"\d]*\"")
_PLAIN_FORMAT = re.compile(r"General|@|(?:#[, ]##)?0(?:\.0+)?|[dmyhs\\/.: -]+(?:;@)?", re.I)
"""Formats of numbers that show the number, and nothing beside it."""
_PAGE_CODES = re.compile(r'&"[^"]*"|&K[0-9A-F]{6}|&\d+|&[A-Z]')
"""Codes of headers and footers of pages: a font, a colour, the page's number."""
_PLAIN_SHEET = re.compile(r"(?:sheet|tabelle|blad|feuil|hoja|table|tab)[ _.-]?\d{0,2}", re.I)
MOST_ROWS = 10_000
"""Rows of another sheet that are searched for numbers."""


@dataclass(frozen=True)
class Book:
    """What an Excel file holds beside the values of its first sheet.

    Options
    -------
    unread: what may tell numbers and is not read.
    texts: words of other sheets, of names, properties and formats, each with a noun.
    """

    unread: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]

    def ask(self, file: str) -> Iterator[Unaccounted]:
        """Yield a question for all that is not read."""
        if self.unread:
            shown = ", ".join(self.unread[:3]) + " and more" * (len(self.unread) > 3)
            yield Unaccounted(
                subject=f"{shown} in {visible(file)}",
                reason="They are not read, and may tell hidden counts.",
                declaration="a copy of the sheet alone, saved as CSV",
            )


def read_book(path: Path) -> Book:
    """List what an Excel file holds beside the values of its first sheet."""
    library: Any = optional("openpyxl", extra="formats", purpose="Reading Excel files")
    contents = list_contents(path)
    unread: list[str] = []
    texts = [
        (what, _PAGE_CODES.sub(" ", text)) for what, text in contents.texts if what not in _READ
    ]
    with parsing(path, "a readable Excel file"), path.open("rb") as stream:
        book = library.load_workbook(stream, read_only=True, data_only=False, keep_links=False)
        try:
            is_read = False
            for sheet in book.worksheets:
                if not _PLAIN_SHEET.fullmatch(sheet.title):
                    texts.append(("the name of a sheet", sheet.title))
                rows = _rows(sheet)
                if not is_read and sheet.sheet_state == "visible" and rows:
                    is_read = True
                    unread += ["formulas with numbers"] * any(
                        _computes_by_numbers(cell.value) for row in rows for cell in row
                    )
                    texts += [("a number format", shown) for shown in _formats(rows)]
                    continue
                values = [cell.value for row in rows for cell in row if cell.value is not None]
                if any(map(_tells_number, values)):
                    hidden = "" if sheet.sheet_state == "visible" else "hidden "
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
    found = tuple(dict.fromkeys([*unread, *contents.strange]))
    return Book(found, tuple(dict.fromkeys(texts)))


def _formats(rows: list[tuple[Any, ...]]) -> list[str]:
    """Return formats by which a cell shows something else than its value."""
    formats = dict.fromkeys(
        str(cell.number_format) for row in rows for cell in row if cell.value is not None
    )
    return [shown for shown in formats if not _PLAIN_FORMAT.fullmatch(shown)]


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    sheet.reset_dimensions()
    rows = sheet.iter_rows(max_row=MOST_ROWS)
    return [row for row in rows if any(cell.value is not None for cell in row)]


def _tells_number(cell: Any) -> bool:
    """Return whether a cell is a number, or a text with one that is no year and no threshold."""
    if isinstance(cell, str):
        return re.search(r"\d", without_thresholds(cell)) is not None
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _computes_by_numbers(cell: Any) -> bool:
    """Return whether a formula has numbers of its own, and not of cells alone."""
    is_formula = isinstance(cell, str) and cell.startswith("=")
    return is_formula and re.search(r"\d", _REFERENCE.sub("", cell)) is not None
