"""Tables of numbers that a user wrote, CSV or JSON, with errors by row and column."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import open_text, parsing, pointed, read_bytes, separator
from narcissus._json import read_json
from narcissus._pandas import exactly, pd
from narcissus._validation import did_you_mean
from narcissus._visible import cell
from narcissus.errors import InputError, TooLargeError

_EMPTY_CELLS = 2**20
"""Cells that rows of different lengths may leave empty, next to twice those that they have."""


@dataclass(frozen=True, eq=False)
class NumberTable:
    """A table of numbers with the place of each in the file."""

    path: Path
    names: tuple[str, ...] | None  # of the columns, in lower case; None where the file has none
    values: NDArray[np.float64]  # shape (rows, columns); NaN where a cell is empty
    first_line: int | None  # line of the first row in a text file; None in JSON

    def place(self, row: int, column: int | None = None) -> str:
        """Describe the place of a cell: file, row from 1, line, column."""
        text = f"{self.path}: row {row + 1:,}"
        if self.first_line is not None:
            text += f" (line {row + self.first_line:,})"
        if column is None:
            return text
        return f"{text}, column {_column(self.names, column)}"

    def columns(self, *wanted: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
        """Return the columns of the first of some sets of names that the file has.

        InputError: it has no set whole, has other columns, or a cell is empty.
        """
        sets = " or ".join(", ".join(f"`{name}`" for name in names) for names in wanted)
        have = self.names
        if have is None:
            raise InputError(f"{self.path} must name its columns in its first line: {sets}")
        for names in wanted:
            if set(names) == set(have) and len(have) == len(names):
                break
        else:
            known = list(dict.fromkeys(name for names in wanted for name in names))
            other = next((name for name in have if name not in known), None)
            hint = "" if other is None else did_you_mean(other, known)
            raise InputError(
                f"{self.path} must have the columns {sets}, each once and no others; "
                f"it has {', '.join(f'`{name}`' for name in have)}{hint}"
            )
        empty = np.argwhere(np.isnan(self.values))
        if empty.size:
            raise InputError(f"{self.place(*empty[0])}, is empty; write a number or drop the row")
        return {name: self.values[:, have.index(name)] for name in names}


def read_number_table(path: Path) -> NumberTable:
    """Read a table of numbers: JSON if the name ends in .json, else CSV (also .gz).

    A CSV names its columns in its first line or begins with numbers. Cells are between commas,
    semicolons (with decimal commas) or tabs. JSON is a list of rows, a list of objects, or an
    object of columns; infinite numbers are the word "inf". An InputError names the row and column
    of a bad cell.
    """
    if path.name.lower().endswith(".json"):
        return _from_json(path)
    mark = separator(path)
    names, skipped = _header(path, mark)
    frame: Any = None
    with parsing(path, "a CSV table"), open_text(path) as file:
        try:
            frame = pd.read_csv(
                file,
                sep=mark,
                decimal="," if mark == ";" else ".",
                header=None,
                skiprows=skipped,
                skip_blank_lines=False,
                skipinitialspace=True,
                index_col=False,
                **exactly(),
            )
        except pd.errors.EmptyDataError:
            frame = pd.DataFrame()
        except pd.errors.ParserError as error:
            raise InputError(
                f"{path} is not a table of numbers: {str(error).strip()}; write every row with as "
                "many cells as the first, empty ones included"
            ) from error
    if frame.empty:
        raise InputError(f"{path} has no rows of numbers")
    return _numbers(path, names, frame, skipped + 1)


def _numbers(
    path: Path, names: tuple[str, ...] | None, frame: pd.DataFrame, line: int
) -> NumberTable:
    """Convert the cells to numbers, or name the first that is none."""
    # Lines without anything at the end are the end of the file.
    while len(frame) and frame.iloc[-1].isna().all():
        frame = frame.iloc[:-1]
    if frame.empty:
        raise InputError(f"{path} has no rows of numbers")
    if names is not None and len(names) != frame.shape[1]:
        raise InputError(
            f"{path} names {len(names)} columns in its first line, and its rows have "
            f"{frame.shape[1]} cells; write as many of both"
        )
    values = np.empty(frame.shape)
    for j in range(frame.shape[1]):
        cells = frame.iloc[:, j]
        try:
            column = pd.to_numeric(cells, errors="coerce")
        except OverflowError:  # a whole number that no float holds
            column = pd.to_numeric(cells.astype(str), errors="coerce")
        wrong = np.flatnonzero((column.isna() & cells.notna()).to_numpy())
        table = NumberTable(path, names, values, line)
        if wrong.size or cells.dtype == bool:
            row = int(wrong[0]) if wrong.size else 0
            text = str(cells.iloc[row])
            remedy = "names of rows and units are not read: leave them out"
            raise InputError(f"{table.place(row, j)}, must be a number, got {cell(text)}; {remedy}")
        values[:, j] = column.to_numpy(dtype=np.float64)
    return NumberTable(path, names, values, line)


def _header(path: Path, mark: str) -> tuple[tuple[str, ...] | None, int]:
    """Return the column names, None where the first line holds numbers, and lines to skip."""
    skipped = 0
    with parsing(path, "a CSV table"), open_text(path) as file:
        for line in file:
            if line.strip():
                break
            skipped += 1
        else:
            raise InputError(f"{path} is empty")
    cells = [cell.strip().strip('"').strip() for cell in line.split(mark)]
    if any(_is_number(pointed(cell)) for cell in cells):
        return None, skipped
    return tuple(cell.lower() for cell in cells), skipped + 1


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _from_json(path: Path) -> NumberTable:
    """Read a list of rows, a list of objects, or an object of columns."""
    document: Any = None
    with parsing(path, "JSON"):
        document = read_json(read_bytes(path))
    names, rows = _rows(path, document)
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{path} has no rows of numbers: it must be a list of rows, not empty")
    for i, row in enumerate(rows):
        if not isinstance(row, list) or not row:
            raise InputError(f"{path}: row {i + 1:,} must be a list of numbers, not empty")
        for j, number in enumerate(row):
            infinite = isinstance(number, str) and number.lower() in {"inf", "infinity"}
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            if isinstance(number, int) and abs(number) >= 2**1023:  # which no float holds
                is_number = False
            if not infinite and not is_number:
                raise InputError(
                    f"{path}: row {i + 1:,}, column {_column(names, j)}, must be a number, "
                    f"got {cell(number)}"
                )
    cells, size = len(rows) * max(map(len, rows)), sum(map(len, rows))
    if cells > 2 * size + _EMPTY_CELLS:
        raise TooLargeError(
            f"{path} has rows of very different lengths, of which {cells - size:,} cells would be "
            "empty: write every row with as many cells as the first"
        )
    filled = zip(*zip_longest(*rows, fillvalue=np.nan), strict=True)
    return NumberTable(path, names, np.array(list(filled), dtype=np.float64), None)


def _rows(path: Path, found: Any) -> tuple[tuple[str, ...] | None, Any]:
    if isinstance(found, dict):
        lengths = {len(v) if isinstance(v, list) else -1 for v in found.values()}
        if len(lengths) != 1 or lengths == {-1}:
            raise InputError(f"{path} must be an object of columns, lists of one length")
        rows = [list(row) for row in zip(*found.values(), strict=True)]
        return tuple(str(name).lower() for name in found), rows
    if isinstance(found, list) and found and isinstance(found[0], dict):
        names = tuple(str(name).lower() for name in found[0])
        for i, row in enumerate(found):
            if not isinstance(row, dict) or row.keys() != found[0].keys():
                raise InputError(f"{path}: row {i + 1:,} must have the keys {', '.join(names)}")
        return names, [[row[key] for key in found[0]] for row in found]
    return None, found


def _column(names: tuple[str, ...] | None, j: int) -> str:
    return f"`{names[j]}`" if names is not None and j < len(names) else f"{j + 1}"
