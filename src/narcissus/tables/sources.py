"""Where tables come from: text files, Parquet, packages and data frames, all as raw columns."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narcissus._files import LARGEST, file_size, open_text
from narcissus._optional import optional
from narcissus._parquet import read_parquet
from narcissus._validation import did_you_mean
from narcissus.errors import InputError, TooLargeError
from narcissus.tables.table import unknown_column

MAX_BYTES = LARGEST
"""Most bytes of a table, compressed or not."""
MOST_COLUMNS = 10_000
MOST_CELLS = 250_000_000  # each is held in 8 bytes

MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
"""Texts that stand for a missing value in a text file."""

_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")
_PACKAGED = re.compile(r"\w{2,}:\w+")
_CHUNK = 2**20  # cells that are held as text at a time


@dataclass(frozen=True)
class RawColumn:
    """A column as it was found.

    Attributes
    ----------
    name
        Its name.
    distinct
        The different values: strings from a text file, Python objects from a data frame;
        None where missing.
    codes
        Shape (rows,); position of each row's value in ``distinct``.
    """

    name: str
    distinct: list[Any]
    codes: NDArray[np.int64]


def open_source(
    source: Any,
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
) -> tuple[str, list[RawColumn]]:
    """Read the kept columns of a source; give what to call it in messages, and the columns."""
    if isinstance(source, pd.DataFrame):
        return "the data frame", _from_frame("the data frame", source, choose, drop, max_rows)
    if isinstance(source, str) and source.startswith("statsmodels:"):
        return source, _from_frame(source, _packaged(source), choose, drop, max_rows)
    if not isinstance(source, str | Path):
        raise InputError(
            "`source` must be a path, 'statsmodels:NAME' or a pandas data frame, "
            f"got {type(source).__name__}"
        )
    path = Path(source)
    _check_file(path)
    name = str(path)
    if path.name.lower().endswith(_PARQUET):
        return name, _from_parquet(path, choose, drop, max_rows)
    if path.name.lower().endswith(_TEXT):
        return name, _from_text(path, choose, drop, max_rows)
    raise InputError(
        f"cannot tell what kind of table {name} is: its name must end in "
        f"{', '.join((*_TEXT, *_PARQUET))}"
    )


def _check_file(path: Path) -> None:
    try:
        if not path.exists():
            folder = path.parent
            if not folder.is_dir():
                raise InputError(f"no such file: {path}; there is no folder {folder} either")
            if _PACKAGED.fullmatch(path.name):
                raise InputError(
                    f"there is neither a file nor a packaged table {path}: packaged tables are "
                    "written 'statsmodels:NAME', without a folder"
                )
            near = did_you_mean(path.name, (p.name for p in islice(folder.iterdir(), 10_000)))
            raise InputError(f"no such file: {path}{near}")
        if path.is_dir():
            raise InputError(f"{path} is a folder, not a table")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if file_size(path, largest=MAX_BYTES) == 0:
        raise InputError(f"{path} is empty")


def _check_cells(name: str, rows: int, columns: int) -> None:
    if rows * columns > MOST_CELLS:
        raise TooLargeError(
            f"{name} has {rows * columns:,} cells in the columns that are kept, or more; at most "
            f"{MOST_CELLS:,} are read: drop columns, or give a sample of the rows"
        )


def _too_many_rows(name: str, max_rows: int, rows: int | None = None) -> TooLargeError:
    found = f"{rows:,} rows" if rows is not None else "more rows"
    return TooLargeError(
        f"{name} has {found}; at most {max_rows:,} are read: give a sample of the rows, "
        "or raise `max_rows`"
    )


def kept_columns(
    names: Sequence[str], choose: Sequence[str] | None, drop: Sequence[str]
) -> list[int]:
    """Give the positions of the columns to keep, after checking all names."""
    known = set(names)
    for name in (*(choose or ()), *drop):
        if name not in known:
            raise InputError(unknown_column(name, names))
    kept = [n for n in (names if choose is None else choose) if n not in drop]
    if not kept:
        raise InputError("no column is left: `drop` takes all of them away")
    place = {name: j for j, name in enumerate(names)}
    return [place[name] for name in kept]


def _check_names(source: str, names: Sequence[str]) -> None:
    """Refuse columns without a name or with the same one."""
    for position, name in enumerate(names, start=1):
        if not name:
            raise InputError(
                f"{source}: column {position} has no name (an index that was written along?): "
                "name it, or write the table without it"
            )
    if len(names) > MOST_COLUMNS:
        raise TooLargeError(
            f"{source} has {len(names):,} columns; at most {MOST_COLUMNS:,} are read"
        )
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise InputError(
            f"{source}: several columns are called {', '.join(f'`{n}`' for n in repeated)}: "
            "give every column a name of its own"
        )


def _from_text(
    path: Path, choose: Sequence[str] | None, drop: Sequence[str], max_rows: int
) -> list[RawColumn]:
    """Read a delimited text file in one pass, holding codes and distinct values only."""
    name = str(path)
    try:
        with open_text(path, largest=MAX_BYTES) as stream:
            return _parse(name, stream, choose, drop, max_rows)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8 text (byte {error.object[error.start]:#04x}): save it as UTF-8"
        ) from error
    except csv.Error as error:
        raise InputError(f"{name} is not a readable CSV: {error}") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"{name} is not a complete gzip file: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error


def _delimiter(name: str, header: str) -> str:
    """Give the delimiter by the file's name, or what the header uses instead of commas."""
    if name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    return next((mark for mark in ",;\t" if mark in header), ",")


def _parse(
    name: str,
    stream: Iterator[str],
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
) -> list[RawColumn]:
    blank = list(_until_text(stream))
    first = blank.pop() if blank else ""
    if not first.strip():
        raise InputError(f"{name} is empty")
    delimiter = _delimiter(name, first)
    lines = _quoted_well(name, chain(blank, [first], stream), delimiter)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    names = [cell.strip() for cell in next((row for row in reader if row), [""])]
    _check_names(name, names)
    kept = kept_columns(names, choose, drop)
    width = len(names)

    # A dictionary that numbers each new value makes one pass over the cells enough.
    numbering: list[defaultdict[str, int]] = []
    for _ in kept:
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        numbering.append(numbers)
    codes: list[list[NDArray[np.int64]]] = [[] for _ in kept]
    rows = 0
    for chunk in _chunks(name, reader, width):
        rows += len(chunk)
        if rows > max_rows:
            raise _too_many_rows(name, max_rows)
        _check_cells(name, rows, len(kept))
        cells = list(zip(*chunk, strict=True))
        for numbers, parts, j in zip(numbering, codes, kept, strict=True):
            parts.append(np.fromiter(map(numbers.__getitem__, cells[j]), np.int64, len(chunk)))
    if rows == 0:
        raise InputError(f"{name} holds a header and no rows")
    return [
        _merged(names[j], list(numbers), np.concatenate(parts))
        for j, numbers, parts in zip(kept, numbering, codes, strict=True)
    ]


def _until_text(lines: Iterator[str]) -> Iterator[str]:
    """Yield blank lines and the first that is not."""
    for line in lines:
        yield line
        if line.strip():
            return


def _quoted_well(name: str, lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Pass lines on; refuse a quote in a cell that does not begin with one.

    The standard library takes such a quote for a letter: the cell ``1"x"`` would be a value, and
    no number any more. What follows a closing quote it checks itself.
    """
    is_inside = False
    for number, line in enumerate(lines, start=1):
        if '"' in line:
            parts = line.split('"')
            for before in parts[:-1]:
                # Nothing before it: the line begins, or a quote was doubled.
                if not is_inside and before and not before.endswith(delimiter):
                    raise InputError(
                        f"{name}: line {number} has a quote within a cell that does not begin with "
                        f"one ({(before + chr(34)).strip()[-20:]!r}): put the whole cell in "
                        'quotes, and write a quote in it as ""'
                    )
                is_inside = not is_inside
        yield line


def _chunks(name: str, reader: Any, width: int) -> Iterator[list[list[str]]]:
    """Yield rows in chunks, all as wide as the header; blank lines are passed over."""
    most = max(1, _CHUNK // width)
    lines, rows = reader.line_num, 0
    is_exact = True  # a quoted cell may hold line breaks: then only rows can be counted
    chunk: list[list[str]] = []
    for number, row in enumerate(reader, start=1):
        is_exact = is_exact and reader.line_num - lines == number
        if len(row) != width:  # at once: rows may be much wider than the header
            if not row:
                continue
            place = f"line {reader.line_num}" if is_exact else f"row {rows + len(chunk) + 1}"
            raise InputError(f"{name}: {place} has {len(row)} cells where the header has {width}")
        chunk.append(row)
        if len(chunk) == most:
            rows += most
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _merged(name: str, texts: list[str], codes: NDArray[np.int64]) -> RawColumn:
    """Strip blanks around values and name the missing ones, merging what becomes the same."""
    cleaned = [None if (t := text.strip()) in MISSING else t for text in texts]
    if cleaned == texts:
        return RawColumn(name, list(texts), codes)
    position: dict[str | None, int] = {}
    renumber = np.array([position.setdefault(t, len(position)) for t in cleaned], dtype=np.int64)
    return RawColumn(name, list(position), renumber[codes])


def _from_frame(
    source: str,
    frame: pd.DataFrame,
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
) -> list[RawColumn]:
    names = [str(column) for column in frame.columns]
    if not names:
        raise InputError(f"{source} is empty")
    _check_names(source, names)
    kept = kept_columns(names, choose, drop)
    if len(frame) == 0:
        raise InputError(f"{source} holds no rows")
    if len(frame) > max_rows:
        raise _too_many_rows(source, max_rows, len(frame))
    _check_cells(source, len(frame), len(kept))
    columns: list[RawColumn] = []
    for j in kept:
        series = frame.iloc[:, j]
        try:
            codes, distinct = pd.factorize(series, use_na_sentinel=True)
        except TypeError as error:
            raise InputError(
                f"{source}: column `{names[j]}` holds values that are neither numbers nor text "
                f"({error}): drop it"
            ) from error
        values: list[Any] = np.asarray(distinct, dtype=object).tolist()
        if (codes < 0).any():
            codes = np.where(codes < 0, len(values), codes)
            values.append(None)
        columns.append(RawColumn(names[j], values, codes.astype(np.int64)))
    return columns


def _from_parquet(
    path: Path, choose: Sequence[str] | None, drop: Sequence[str], max_rows: int
) -> list[RawColumn]:
    def kept(names: list[str], rows: int) -> list[str]:
        _check_names(str(path), names)
        positions = kept_columns(names, choose, drop)
        if rows > max_rows:
            raise _too_many_rows(str(path), max_rows, rows)
        return [names[j] for j in positions]

    frame = read_parquet(path, kept, largest=MAX_BYTES)
    return _from_frame(str(path), frame, choose, drop, max_rows)


def _packaged(source: str) -> pd.DataFrame:
    """Load a table that statsmodels carries."""
    datasets = optional("statsmodels.datasets", extra="examples", purpose=f"The table {source}")
    name = source.partition(":")[2]
    known = [n for n in _public(datasets) if hasattr(getattr(datasets, n), "load_pandas")]
    if name not in known:
        hint = did_you_mean(name, known) or f"; it has {', '.join(known)}"
        raise InputError(f"statsmodels has no table `{name}`{hint}")
    return getattr(datasets, name).load_pandas().data


def _public(module: Any) -> Iterable[str]:
    return sorted(name for name in dir(module) if not name.startswith("_"))
