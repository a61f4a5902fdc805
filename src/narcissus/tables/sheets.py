"""Sheets of an Excel file by the cells that they hold, whatever lies between these.

A cell says itself in which row and column it is. So a few bytes may name a rectangle of a thousand
million cells: nothing here is laid out before its size is known.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from narcissus._files import SMALL, WORTH, BadContentError
from narcissus._optional import optional
from narcissus.errors import TooLargeError

MOST_ROWS = 2**20
"""Most rows of a sheet, as in Excel."""
_MOST_COLUMNS = 2**14
Cells = dict[int, Any]
"""The values of a row, by their columns from 1."""


@contextmanager
def opened_book(stream: BinaryIO) -> Generator[Any]:
    """Open an Excel file, each of whose sheets is in a separate part.

    BadContentError: a sheet is in a part that is not there, or that is another sheet as well.
    """
    library: Any = optional("openpyxl.reader.excel", extra="formats", purpose="Reading Excel files")
    reader = library.ExcelReader(stream, read_only=True, data_only=True, keep_links=False)
    reader.read_manifest()
    reader.read_workbook()
    _require_parts(reader)
    reader.read()
    try:
        yield reader.wb
    finally:
        reader.wb.close()


def _require_parts(reader: Any) -> None:
    names: dict[str, str] = {}
    for sheet, part in reader.parser.find_sheets():
        if part.target not in reader.valid_files:
            raise BadContentError(f"its sheet `{sheet.name}` names a part that is not in the file")
        if part.target in names:
            raise BadContentError(
                f"its sheets `{names[part.target]}` and `{sheet.name}` are the same part of the "
                "file, where each must have its own"
            )
        names[part.target] = sheet.name


def sheet_rows(sheet: Any) -> Iterator[tuple[int, Cells]]:
    """Yield the rows that a sheet holds, by their numbers from 1, and nothing for those between.

    What follows the last row is not parsed: merged cells, rules, and whatever else is no value.

    BadContentError: an address or a value cannot be read, or the rows are not in their order.
    """
    library: Any = optional(
        "openpyxl.worksheet._reader", extra="formats", purpose="Reading Excel files"
    )
    book, last = sheet.parent, 0
    with sheet._get_source() as source:
        parser = library.WorkSheetParser(
            source,
            sheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        for _, element in library.iterparse(source):
            if element.tag == library.ROW_TAG:
                number, cells = _parsed_row(sheet.title, parser, element, last)
                element.clear()
                yield number, cells
                last = number
            elif element.tag == library.DATA_TAG:
                break
        while source.read(2**20):  # to its end, where its checksum is compared
            pass


def _parsed_row(title: str, parser: Any, element: Any, last: int) -> tuple[int, Cells]:
    name = element.get("r", f"after row {last:,}")[:20]
    try:
        number, row = parser.parse_row(element)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise BadContentError(
            f"a cell of its sheet `{title}`, row {name}, has an address or a value that Excel "
            "does not write"
        ) from error
    if number <= last:
        raise BadContentError(
            f"row {name} of its sheet `{title}` comes twice, or after a later row"
        )
    cells = {cell["column"]: cell["value"] for cell in row}
    if number > MOST_ROWS or max(cells, default=0) > _MOST_COLUMNS:
        raise BadContentError(
            f"its sheet `{title}` has a cell beyond row {MOST_ROWS:,} or column {_MOST_COLUMNS:,}"
        )
    return number, cells


def require_filled(path: Path, title: str, cells: int, area: int) -> None:
    """Refuse a sheet of which nearly all cells are empty, before they are laid out.

    cells: those that it holds. area: those of the rectangle that they lie in.
    """
    if area > max(SMALL, WORTH * cells):
        raise TooLargeError(
            f"{path}: the {cells:,} filled cells of sheet `{title}` lie in a rectangle of "
            f"{area:,}: delete the rows or columns far from the table, or write it as CSV or "
            "Parquet"
        )
