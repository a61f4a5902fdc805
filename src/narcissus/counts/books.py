"""What an Excel file holds beside the sheet that is read: each of it may tell hidden counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from narcissus._files import parsing
from narcissus._optional import optional
from narcissus._visible import visible
from narcissus.counts.notes import tells_quantity, without_thresholds
from narcissus.rows import Unaccounted
from narcissus.tables.packages import list_contents

_READ = ("formulas", "names of cells")  # by the library, with their references
_REFERENCE = re.compile(r"('[^']*'|\w+)!|\$?[A-Z]{1,3}\$?\d+|\"[^\"\d]*\"")
MOST_ROWS = 10_000
"""Rows of another sheet that are searched for numbers."""


def ask_for_book(path: Path) -> Iterator[Unaccounted]:
    """Yield a question for all that an Excel file holds beside its first sheet."""
    found = list(dict.fromkeys(_list_contents(path)))
    if found:
        yield Unaccounted(
            subject=f"{_listed(found)} in {visible(path.name)}",
            reason="They are not read, and may tell hidden counts.",
            declaration="a copy of the sheet alone, saved as CSV",
        )


def _listed(found: list[str]) -> str:
    return ", ".join(found[:3]) + " and more" * (len(found) > 3)


def _list_contents(path: Path) -> Iterator[str]:
    """Yield what holds numbers beside the values of the first sheet."""
    library: Any = optional("openpyxl", extra="formats", purpose="Reading Excel files")
    contents = list_contents(path)
    with parsing(path, "a readable Excel file"), path.open("rb") as stream:
        book = library.load_workbook(stream, read_only=True, data_only=False, keep_links=False)
        try:
            is_read = False
            for sheet in book.worksheets:
                rows = _rows(sheet)
                if not is_read and sheet.sheet_state == "visible" and any(map(any, rows)):
                    is_read = True
                    if any(map(_computes_by_numbers, (cell for row in rows for cell in row))):
                        yield "formulas with numbers"
                elif any(map(_tells_number, (cell for row in rows for cell in row))):
                    hidden = "" if sheet.sheet_state == "visible" else "hidden "
                    yield f"the {hidden}sheet `{visible(sheet.title)}`"
            for name, defined in book.defined_names.items():
                if _computes_by_numbers(f"={defined.attr_text}"):
                    yield f"the name `{visible(name)}`"
        finally:
            book.close()
    for what, text in contents.texts:
        if what not in _READ and tells_quantity(_REFERENCE.sub("", text)):
            yield what
    yield from contents.strange


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    sheet.reset_dimensions()
    rows = sheet.iter_rows(values_only=True, max_row=MOST_ROWS)
    return [row for row in rows if any(cell is not None for cell in row)]


def _tells_number(cell: Any) -> bool:
    """Return whether a cell is a number, or a text with one that is no year and no threshold."""
    if isinstance(cell, str):
        return re.search(r"\d", without_thresholds(cell)) is not None
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _computes_by_numbers(cell: Any) -> bool:
    """Return whether a formula has numbers of its own, and not of cells alone."""
    is_formula = isinstance(cell, str) and cell.startswith("=")
    return is_formula and re.search(r"\d", _REFERENCE.sub("", cell)) is not None
