"""What an Excel file holds beside the sheet that is read: each of it may tell hidden counts."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from narcissus._archives import opened_archive
from narcissus._files import parsing
from narcissus._optional import optional
from narcissus._visible import visible
from narcissus.counts.notes import tells_quantity, without_thresholds
from narcissus.rows import Unaccounted

_PARTS = {
    "comment": "comments of cells",
    "threadedComment": "comments of cells",
    "pivotCache": "the records behind a pivot table",
    "embeddings": "embedded files",
    "chart": "charts, with their numbers",
    "externalLink": "numbers of other files",
    "drawing": "drawings or text boxes",
}
"""Folders and files of an archive, and what they hold."""
_REFERENCE = re.compile(r"('[^']*'|\w+)!|\$?[A-Z]{1,3}\$?\d+|\"[^\"\d]*\"")
_PROPERTIES = {
    "docProps/core.xml": "dc:title|dc:subject|dc:description|cp:keywords|cp:category",
    "docProps/custom.xml": "vt:lpwstr|vt:i4|vt:r8",
}
"""Files of properties, and elements that somebody wrote."""
MOST_BYTES = 2**24
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
    with parsing(path, "a readable Excel file"), path.open("rb") as stream:
        with opened_archive(path) as archive:
            names = [member.filename for member in archive.infolist()]
            beside = list(_texts_beside(archive, names))
        parts = [name.removeprefix("xl/").lstrip("_") for name in names if name.startswith("xl/")]
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
    yield from (what for what, text in beside if tells_quantity(text))
    for part, what in _PARTS.items():
        if any(name.startswith(part) and not name.endswith(".vml") for name in parts):
            yield what


def _texts_beside(archive: zipfile.ZipFile, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield texts of headers and footers of pages, prompts, tips of links, and properties."""
    for name in names:
        is_sheet = name.startswith("xl/worksheets/") and name.endswith(".xml")
        if not is_sheet and name not in _PROPERTIES:
            continue
        with archive.open(name) as stream:
            text = stream.read(MOST_BYTES).decode("utf-8", "replace")
        if not is_sheet:
            yield from (
                ("properties of the document", unescape(found))
                for found in re.findall(rf"<(?:{_PROPERTIES[name]})\b[^>]*>([^<]+)<", text)
            )
            continue
        for found in re.findall(r"<(?:odd|even|first)(?:Header|Footer)>([^<]*)<", text):
            plain = re.sub(r'&"[^"]*"|&K[0-9A-F]{6}|&\d+|&[A-Z]', " ", unescape(found))
            yield "headers or footers of pages", plain
        for found in re.findall(
            r"\b(?:prompt|promptTitle|error|errorTitle|tooltip)=\"([^\"]*)\"", text
        ):
            yield "prompts of cells or tips of links", unescape(found)
        for found in re.findall(r"<dataValidation\b.*?</dataValidation>", text, re.S):
            for formula in re.findall(r"<formula\d>([^<]*)<", found):
                yield "rules for the values of cells", _REFERENCE.sub("", unescape(formula))


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
