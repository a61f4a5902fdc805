"""Tables of other programs, by kept readers: statistics packages, Excel, Arrow, JSON lines."""

from __future__ import annotations

import csv
import faulthandler
import io
import os
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from narcissus._archives import opened_archive
from narcissus._files import (
    LARGEST,
    SMALL,
    WORTH,
    file_size,
    open_text,
    parsing,
    unpacked_name,
)
from narcissus._json import read_json
from narcissus._optional import optional
from narcissus._pandas import pd
from narcissus._parquet import believed
from narcissus._validation import repeated, some_of
from narcissus.errors import InputError, TooLargeError
from narcissus.tables.bins import number_label
from narcissus.tables.packages import list_contents
from narcissus.tables.sheets import opened_book, require_filled, sheet_rows

Used = TypeVar("Used")
STATISTICS = {
    ".dta": ("Stata", "read_dta"),
    ".sav": ("SPSS", "read_sav"),
    ".zsav": ("SPSS", "read_sav"),
    ".por": ("SPSS", "read_por"),
    ".sas7bdat": ("SAS", "read_sas7bdat"),
    ".xpt": ("SAS", "read_xport"),
}
ARROW = (".feather", ".arrow")
JSON_LINES = (".jsonl", ".ndjson")
JSON = ".json"
SHEETS = (".xlsx", ".xlsm")
SHEET = "sheet "
"""What begins the name of a sheet next to the one that is read."""
LINES = "lines left out"
"""Name of the lines above and below a table."""
MOST_COLUMNS = 10_000
"""Most columns of a table: each costs time of its own, whatever its rows."""
MOST_CELLS = 2**26
"""Most cells of a table that is held as its program's reader gives it."""
_MOST_BESIDE = 100_000  # rows that are looked at of a sheet that is not read
_LARGEST_PART = 2**28  # bytes of a sheet or of JSON lines
_OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")


def is_sheet(path: Path) -> bool:
    return path.name.lower().endswith(SHEETS)


def is_frame_file(path: Path) -> bool:
    """Whether `read_frame` reads the file, by its name."""
    suffixes = (*STATISTICS, *ARROW)
    return path.name.lower().endswith(suffixes) or unpacked_name(path).endswith((*JSON_LINES, JSON))


def read_frame(path: Path, remarks: list[str]) -> pd.DataFrame:
    """Read a file of Stata, SPSS, SAS, Arrow, JSON or JSON lines.

    Value labels stand for the codes that have one. Codes that the file declares to be missing are
    missing values.

    InputError: It is not what its name says, is damaged, or a column holds lists or structures.
    TooLargeError: It has more than 1 GiB, or more than `MOST_CELLS` cells.
    MissingExtraError: The package that reads it is not installed.
    """
    size = file_size(path)
    if size == 0:
        raise InputError(f"{path} is empty: a header and rows are needed")
    suffix = path.suffix.lower()
    if suffix in STATISTICS:
        return _statistics(path, size, remarks)
    if suffix not in ARROW:
        return _json(path) if unpacked_name(path).endswith(JSON) else _json_lines(path)
    return read_arrow(path, lambda table: arrow_frame(str(path), table))


def read_arrow(path: Path, use: Callable[[Any], Used]) -> Used:
    """Read an Arrow file, and return what is made of its table; the errors are of `read_frame`."""
    arrow: Any = optional("pyarrow.feather", extra="formats", purpose="Reading Arrow files")
    with parsing(path, "a readable Arrow file"), believed(path, file_size(path)):
        with path.open("rb") as file:
            table = _arrow_stream(file) if _is_stream(path) else arrow.read_table(file)
        table.validate(full=True)  # what a forged file says of its parts ends the process
        return use(table)


def _is_stream(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) not in (b"ARRO", b"FEA1")


def _arrow_stream(file: BinaryIO) -> Any:
    ipc: Any = optional("pyarrow.ipc", extra="formats", purpose="Reading Arrow files")
    return ipc.open_stream(file).read_all()


def arrow_frame(name: str, table: Any) -> pd.DataFrame:
    """Convert an Arrow table to a data frame without loss of digits."""
    require_columns(name, table.num_columns)
    if table.num_rows * table.num_columns > MOST_CELLS:
        raise _too_many_cells(name, table.num_rows * table.num_columns)
    for field in table.schema:
        if field.type.num_fields > 0 and not str(field.type).startswith("dictionary"):
            raise InputError(f"{name}: column `{field.name}` holds lists or structures: drop it")
    return table.to_pandas(integer_object_nulls=True)


def as_frame(given: Any) -> Any:
    """Return the data frame of a dictionary of columns or of what Arrow can read.

    Arrow reads whatever has ``__arrow_c_stream__``: tables of pyarrow and polars, relations of
    DuckDB. Anything else is returned as it is.
    """
    try:
        if isinstance(given, Mapping):
            # what numpy masks is missing, as a list of its values has it
            columns = {
                name: column.tolist() if isinstance(column, np.ma.MaskedArray) else list(column)
                for name, column in given.items()
            }
            return pd.DataFrame({str(name): column for name, column in columns.items()})
    except (TypeError, ValueError) as error:
        raise InputError(f"a dictionary must hold columns, lists of one length: {error}") from error
    if isinstance(given, str | Path | pd.DataFrame) or not hasattr(given, "__arrow_c_stream__"):
        return given
    arrow: Any = optional("pyarrow", extra="formats", purpose="A data frame of another library")
    with parsing(f"the {type(given).__name__}", "a table that Arrow can read"):
        return arrow_frame("the data frame", arrow.table(given))


def _statistics(path: Path, size: int, remarks: list[str]) -> pd.DataFrame:
    program, _ = STATISTICS[path.suffix.lower()]
    optional("pyreadstat", extra="formats", purpose=f"Reading a file of {program}")
    if _ends_its_reader(path, size):
        raise InputError(f"{path} is not a readable file of {program}: it ends what reads it")
    frame, metadata = _read_statistics(path, size)
    labelled = metadata.variable_value_labels
    for name, labels in labelled.items():
        frame[name] = frame[name].astype(object).map(_labels(labels), na_action="ignore")
    if labelled:
        remarks.append(f"Labels of the file read in place of codes: {', '.join(sorted(labelled))}")
    return frame


def _read_statistics(path: Path, size: int, **how: Any) -> tuple[Any, Any]:
    program, reader = STATISTICS[path.suffix.lower()]
    read = getattr(import_module("pyreadstat"), reader)
    with parsing(path, f"a readable file of {program}"):
        _, metadata = read(str(path), metadataonly=True)
        require_columns(str(path), metadata.number_columns)
        cells = max(metadata.number_rows or 0, 1) * max(metadata.number_columns, 1)
        if cells > MOST_CELLS:
            raise _too_many_cells(str(path), cells)
        with believed(path, size + 8 * cells):
            return read(str(path), **how)


def _ends_its_reader(path: Path, size: int) -> bool:
    """Read a file in a copy of this process: damage can end it, with no error to catch.

    The copy parses and makes no data frame: nothing of it waits for a thread that was not copied.
    """
    if not hasattr(os, "fork"):
        return False
    import_module("pyreadstat")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of copies of a process with threads
        child = os.fork()
    if child == 0:
        faulthandler.disable()
        with suppress(BaseException):
            _read_statistics(path, size, output_format="dict")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _labels(labels: Mapping[Any, str]) -> Any:
    """Return a function from codes to their labels; two codes stay two values."""
    texts = [text.strip() for text in labels.values()]
    shared = set(repeated(texts))
    known = {
        code: text if text and text not in shared else f"{text} ({code})".strip()
        for code, text in zip(labels, texts, strict=True)
    }
    return lambda code: known.get(code, code)


def _json_lines(path: Path) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {}
    rows = 0
    with parsing(path, "a text of JSON lines"), open_text(path, largest=_LARGEST_PART) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            with parsing(f"line {number} of {path}", "JSON"):
                record = read_json(line)
            if not isinstance(record, dict):
                raise InputError(f"line {number} of {path} must be an object, such as {{'age': 3}}")
            for key, value in record.items():
                column = columns.setdefault(key, [])
                column += [None] * (rows - len(column))
                column.append(value)
            rows += 1
            require_columns(str(path), len(columns))
            if rows * len(columns) > MOST_CELLS:
                raise _too_many_cells(str(path), rows * len(columns))
    whole = {
        name: pd.Series(cells + [None] * (rows - len(cells)), dtype=object)
        for name, cells in columns.items()
    }
    with parsing(path, "a text of JSON lines"):  # a name may hold half of a letter
        return pd.DataFrame(whole)


def _json(path: Path) -> pd.DataFrame:
    """Read a list of objects, the forms of pandas by columns and by rows, or JSON lines."""
    with parsing(path, "a text of JSON"), open_text(path, largest=_LARGEST_PART) as stream:
        first = stream.readline()
        with suppress(ValueError):
            if isinstance(read_json(first), dict) and any(map(str.strip, stream)):
                return _json_lines(path)
    with parsing(path, "a text of JSON"), open_text(path, largest=_LARGEST_PART) as stream:
        return _frame_of_json(path, read_json(stream.read()))


def _is_of(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _rows_of_split(path: Path, parsed: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the rows and their labels of what pandas writes as 'split'."""
    names, data, labels = parsed["columns"], parsed["data"], parsed["index"]
    if not (_is_of(names, str) and _is_of(data, list) and isinstance(labels, list)):
        raise InputError(f"{path} is no table: its `columns` are no names, or its rows no lists")
    if shared := repeated(names):
        raise InputError(f"{path}: several columns are called {some_of(shared)}")
    if any(len(row) != len(names) for row in data) or len(labels) != len(data):
        raise InputError(f"{path}: a row has more or fewer values than there are columns")
    return [dict(zip(names, row, strict=True)) for row in data], labels


def _frame_of_json(path: Path, parsed: Any) -> pd.DataFrame:
    """Return the table of a JSON text; rows that are named have their names as an index."""
    if isinstance(parsed, dict) and parsed.keys() == {"columns", "index", "data"}:
        rows, labels = _rows_of_split(path, parsed)
    elif isinstance(parsed, dict) and parsed and all(isinstance(v, dict) for v in parsed.values()):
        labels = list(dict.fromkeys(label for column in parsed.values() for label in column))
        if len(labels) * len(parsed) > MOST_CELLS:
            raise _too_many_cells(str(path), len(labels) * len(parsed))
        rows = [{name: column.get(label) for name, column in parsed.items()} for label in labels]
    elif isinstance(parsed, list) and all(isinstance(row, dict) for row in parsed):
        rows, labels = parsed, range(len(parsed))
    else:
        raise InputError(
            f"{path} is no table: a list of objects such as {{'age': 3}}, or what pandas writes by "
            "columns or as 'split'"
        )
    names = list(dict.fromkeys(name for row in rows for name in row))
    require_columns(str(path), len(names))
    if len(rows) * len(names) > MOST_CELLS:
        raise _too_many_cells(str(path), len(rows) * len(names))
    columns = {n: pd.Series([row.get(n) for row in rows], dtype=object) for n in names}
    frame = pd.DataFrame(columns)
    if [str(label) for label in labels] != [str(at) for at in range(len(rows))]:
        frame.index = pd.Index(labels)
    return frame


def sheet_as_text(path: Path, remarks: list[str], largest: int, name: str = "") -> io.BytesIO:
    """Return a sheet of an Excel file, as the text of a CSV file.

    name: of the sheet; empty: the first one that is visible and not empty.

    Raises `InputError` for what is no such file or needs a password, `TooLargeError` beyond the
    limits.
    """
    size = file_size(path)
    with path.open("rb") as file:
        if file.read(8) == _OLD_OFFICE:
            raise InputError(
                f"{path} is protected by a password, or an .xls file: save it as .xlsx without a "
                "password, or as CSV"
            )
    optional("openpyxl", extra="formats", purpose="Reading Excel files")
    # Opened here: the library leaves a damaged file open for as long as somebody has the error.
    with parsing(path, "a readable Excel file"), path.open("rb") as stream:
        with opened_archive(path, same=str.lower, noun="part") as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > min(LARGEST, max(16 * SMALL, WORTH * size)):
            raise TooLargeError(f"{path} unpacks to {unpacked:,} bytes: write it as CSV or Parquet")
        with believed(path, unpacked), opened_book(stream) as book:
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            if name:
                sheets = [sheet for sheet in book.worksheets if sheet.title == name]
            hidden = len(book.worksheets) - len(sheets)
            for sheet in sheets:
                if text := _sheet_text(path, sheet, min(largest, _LARGEST_PART), remarks):
                    if len(sheets) > 1:
                        remarks.append(
                            f"Sheet `{sheet.title}` read, of {len(sheets)}: save another one "
                            "as a separate file to read it"
                        )
                    if hidden:
                        remarks.append(
                            f"{hidden} hidden sheet{'s' * (hidden > 1)} of the file not read"
                        )
                    return io.BytesIO(text)
    raise InputError(f"{path} is empty: a header and rows are needed")


_PARTS = ("comments", "pivot data", "embedded files")
"""What an Excel file may hold next to its sheets, each declared by itself."""
OTHER = "other parts"
"""Name of all else that an Excel file holds and that is not understood."""
TEXTS = "texts beside the table"
"""Name of titles, footers, properties, rules and formulas of an Excel file."""
UNREAD = "unread "
"""What begins the name of something that a file holds and that no reader gives."""
UNDER_NULLS = "values under nulls"
"""Name of what is in an Arrow file where a cell has no value."""
LEFT_OVER = "bytes beside the table"
"""Name of bytes of a file that no reader of its table reads."""
NAMES = "names of columns"
ORDER = "order of rows"
"""Name of the order in which a file has its rows."""
REPEATED = "repeated rows"
"""Name of rows that a table has more than once."""
AMONG_NUMBERS = "texts among numbers"
"""Name of texts that a file has in columns in which the data have numbers alone."""
_NUMBERED = re.compile(r"column \d+")


@dataclass(frozen=True)
class PartBeside:
    """Something that an Excel file holds next to the sheet that is read."""

    name: str  # "sheet NAME", "comments"
    what: str  # a clause
    rows: tuple[tuple[str, ...], ...] = ()  # of a sheet, the first of which may be a header


def parts_beside(path: Path) -> list[PartBeside]:
    """Return sheets that hold a cell, hidden or not, and what else is not understood."""
    strange = list_contents(path).strange
    may = "an Excel file may hold people in these as well"
    parts = [PartBeside(part, may) for part in _PARTS if part in strange]
    if others := [part for part in strange if part not in _PARTS]:
        parts.append(PartBeside(OTHER, f"{may}: {some_of(others)}"))
    with (
        parsing(path, "a readable Excel file"),
        path.open("rb") as stream,
        opened_book(stream) as book,
    ):
        is_read = False
        for sheet in book.worksheets:
            is_visible = sheet.sheet_state == "visible"
            if is_visible and not is_read:
                is_read = any(any(_texts(cells)) for _, cells in sheet_rows(sheet))
                continue
            rows = _rows_beside(path, sheet)
            if rows:
                hidden = "" if is_visible else "is hidden, "
                suffix = " or more" if len(rows) == _MOST_BESIDE else ""
                many = f"{len(rows):,}{suffix} row{'s' * (len(rows) > 1)}"
                reason = f"it {hidden}has {many}, and was not read"
                parts.append(PartBeside(f"{SHEET}{sheet.title}", reason, rows))
    return parts


def is_part_beside(name: str) -> bool:
    """Check whether a name may be that of something next to a table, and of no column."""
    others = (
        *_PARTS,
        OTHER,
        TEXTS,
        NAMES,
        LINES,
        ORDER,
        REPEATED,
        AMONG_NUMBERS,
        UNDER_NULLS,
        LEFT_OVER,
    )
    return (
        name.startswith((SHEET, UNREAD)) or name in others or _NUMBERED.fullmatch(name) is not None
    )


def name_of_place(place: int) -> str:
    """Return what a column without a name is called, by its place from 0.

    >>> name_of_place(0)
    'column 1'
    """
    return f"column {place + 1}"


def name_of_unread(part: str) -> str:
    """Return what is declared of a part of a file that no reader gives.

    >>> name_of_unread("metadata `backup` of the file")
    'unread metadata backup of the file'
    """
    return UNREAD + " ".join(re.findall(r"[^\s`\"',;]+", part))


def _rows_beside(path: Path, sheet: Any) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a sheet that hold a cell, the first `_MOST_BESIDE` of them."""
    rows: list[tuple[str, ...]] = []
    count = area = 0
    for _, cells in sheet_rows(sheet):
        if texts := _texts(cells):
            width = max(cells)
            count, area = count + len(texts), area + width
            require_filled(path, sheet.title, count, area)
            rows.append(tuple(texts.get(column, "") for column in range(1, width + 1)))
        if len(rows) == _MOST_BESIDE:
            break
    return tuple(rows)


def _texts(cells: Mapping[int, Any]) -> dict[int, str]:
    """Return the texts of a row that are not empty, by their columns in order."""
    return {column: text for column in sorted(cells) if (text := _cell_text(cells[column]))}


def _sheet_text(path: Path, sheet: Any, largest: int, remarks: list[str]) -> bytes:
    """Return the rows of a sheet as CSV, all as wide as the widest from the first of two cells."""
    lines: list[tuple[int, bytes, int]] = []  # row, text, last column
    length = width = last = filled = 0
    first = None
    for number, cells in sheet_rows(sheet):
        texts = _texts(cells)
        line, count = _csv_line(texts), max(texts, default=0)
        length += len(line) + number - last
        width, last, filled = max(width, count), number, filled + len(texts)
        if length > largest:
            raise TooLargeError(f"{path} has a sheet of too many cells: write it as CSV or Parquet")
        if length + width * last > largest:
            raise TooLargeError(
                f"{path} has a sheet that is over {largest:,} bytes as CSV: its {last:,} rows "
                f"reach to column {width:,}; delete empty cells, or write it as CSV or Parquet"
            )
        if texts:
            lines.append((number, line, count))
        if first is None and len(texts) > 1:
            first = number
    if width == 0:
        return b""
    require_filled(path, sheet.title, filled, width * last)
    start = first or 1
    if blank := last - start + 1 - sum(number >= start for number, _, _ in lines):
        remarks.append(f"{blank} blank row{'s' * (blank > 1)} of the sheet left out")
    parts: list[bytes] = []
    written = 0
    for number, line, count in lines:
        padding = b"," * (width - count if number >= start else 0)
        parts += [b"\n" * (number - written - 1), line, padding, b"\n"]
        written = number
    return b"".join([*parts, b"\n" * (last - written)])


def _csv_line(texts: Mapping[int, str]) -> bytes:
    """Return a row as CSV up to its last text; runs of empty cells are commas, however many."""
    parts: list[str] = []
    run: list[str] = []
    last = 0
    for column, text in texts.items():
        if column != last + 1:
            parts += [_csv_run(run), "," * (column - max(last, 1))]
            run = []
        run.append(text)
        last = column
    return "".join([*parts, _csv_run(run)]).encode()


def _csv_run(texts: list[str]) -> str:
    line = io.StringIO()
    if texts:
        csv.writer(line).writerow(texts)  # quotes what holds a letter of its end of line
    return line.getvalue().removesuffix("\r\n")


def _cell_text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value)
    return number_label(value) if isinstance(value, int | float) else str(value).strip()


def require_columns(name: str, columns: int) -> None:
    """Refuse a table of more columns than are read, before any is made."""
    if columns > MOST_COLUMNS:
        raise TooLargeError(f"{name} has {columns:,} columns; at most {MOST_COLUMNS:,} are read")


def _too_many_cells(name: str, cells: int) -> TooLargeError:
    return TooLargeError(
        f"{name} has {cells:,} cells; at most {MOST_CELLS:,} are read of such a source: write it "
        "as CSV or Parquet, or give a sample of the rows"
    )
