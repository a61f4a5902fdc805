"""Where tables come from: text files, Parquet, packages and data frames, all as raw columns."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narcissus._optional import optional
from narcissus._validation import did_you_mean
from narcissus.errors import InputError, TooLargeError
from narcissus.tables.table import unknown_column

MAX_BYTES = 2**30
"""Largest file that is read, in bytes (1 GiB, compressed or not)."""

MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
"""Texts that stand for a missing value in a text file."""

_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")
_PACKAGED = re.compile(r"\w{2,}:\w+")
_CHUNK = 65_536


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
        if not path.is_file():
            raise InputError(f"{path} is a folder, not a table")
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if size == 0:
        raise InputError(f"{path} is empty")
    if size > MAX_BYTES:
        raise TooLargeError(
            f"{path} has {size / 2**20:,.0f} MiB; at most {MAX_BYTES / 2**20:,.0f} MiB are read: "
            "give a sample of its rows, or only the columns that you need"
        )


def _too_many_rows(name: str, max_rows: int, rows: int | None = None) -> TooLargeError:
    found = f"{rows:,} rows" if rows is not None else "more rows"
    return TooLargeError(
        f"{name} has {found}; at most {max_rows:,} are read: give a sample of the rows, "
        "or raise `max_rows`"
    )


def _keep(names: Sequence[str], choose: Sequence[str] | None, drop: Sequence[str]) -> list[int]:
    """Give the positions of the columns to keep, after checking all names."""
    for name in (*(choose or ()), *drop):
        if name not in names:
            raise InputError(unknown_column(name, names))
    kept = [n for n in (names if choose is None else choose) if n not in drop]
    if not kept:
        raise InputError("no column is left: `drop` takes all of them away")
    return [names.index(name) for name in kept]


def _check_names(source: str, names: Sequence[str]) -> None:
    """Refuse columns without a name or with the same one."""
    for position, name in enumerate(names, start=1):
        if not name:
            raise InputError(
                f"{source}: column {position} has no name (an index that was written along?): "
                "name it, or write the table without it"
            )
    if repeated := [name for name in dict.fromkeys(names) if list(names).count(name) > 1]:
        raise InputError(
            f"{source}: several columns are called {', '.join(f'`{n}`' for n in repeated)}: "
            "give every column a name of its own"
        )


def _from_text(
    path: Path, choose: Sequence[str] | None, drop: Sequence[str], max_rows: int
) -> list[RawColumn]:
    """Read a delimited text file in one pass, holding codes and distinct values only."""
    name = str(path)
    compressed = path.name.lower().endswith(".gz")
    try:
        opener: Any = gzip.open if compressed else open
        with opener(path, "rb") as binary:
            start: bytes = binary.read(8192)
            if start.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise InputError(f"{name} is not UTF-8 text but UTF-16: save it as UTF-8")
            if b"\0" in start:
                raise InputError(f"{name} is not a text table: it holds binary data")
        stream: IO[str]
        with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
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
    stream: IO[str],
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
) -> list[RawColumn]:
    first = ""
    while not first.strip():
        first = stream.readline()
        if not first:
            raise InputError(f"{name} is empty")
    stream.seek(0)
    reader = csv.reader(stream, delimiter=_delimiter(name, first), strict=True)
    names = [cell.strip() for cell in next(row for row in reader if any(row))]
    _check_names(name, names)
    kept = _keep(names, choose, drop)
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
        cells = list(zip(*chunk, strict=True))
        for numbers, parts, j in zip(numbering, codes, kept, strict=True):
            parts.append(np.fromiter(map(numbers.__getitem__, cells[j]), np.int64, len(chunk)))
    if rows == 0:
        raise InputError(f"{name} holds a header and no rows")
    return [
        _merged(names[j], list(numbers), np.concatenate(parts))
        for j, numbers, parts in zip(kept, numbering, codes, strict=True)
    ]


def _chunks(name: str, reader: Any, width: int) -> Iterator[list[list[str]]]:
    """Yield rows in chunks, all as wide as the header; blank lines are passed over."""
    rows = 0
    while True:
        lines = reader.line_num
        chunk: list[list[str]] = list(islice(reader, _CHUNK))
        if not chunk:
            return
        if set(map(len, chunk)) != {width}:
            for number, row in enumerate(chunk, start=1):
                if row and len(row) != width:
                    # A quoted cell may hold line breaks: then only rows can be counted.
                    exact = reader.line_num - lines == len(chunk)
                    place = f"line {lines + number}" if exact else f"row {rows + number}"
                    raise InputError(
                        f"{name}: {place} has {len(row)} cells where the header has {width}"
                    )
            chunk = [row for row in chunk if row]
        rows += len(chunk)
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
    kept = _keep(names, choose, drop)
    if len(frame) == 0:
        raise InputError(f"{source} holds no rows")
    if len(frame) > max_rows:
        raise _too_many_rows(source, max_rows, len(frame))
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
    parquet = optional("pyarrow.parquet", extra="parquet", purpose="Reading Parquet")
    try:
        with parquet.ParquetFile(path) as file:
            names: list[str] = list(file.schema_arrow.names)
            _check_names(str(path), names)
            kept = _keep(names, choose, drop)
            if file.metadata.num_rows > max_rows:
                raise _too_many_rows(str(path), max_rows, file.metadata.num_rows)
            frame: pd.DataFrame = file.read(columns=[names[j] for j in kept]).to_pandas()
    except InputError:
        raise
    except Exception as error:  # pyarrow has no one base class for what a bad file may raise
        raise InputError(f"{path} is not a readable Parquet file: {error}") from error
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
