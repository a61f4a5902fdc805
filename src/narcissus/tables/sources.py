"""Sources of tables: text files, Parquet, packages and data frames, all as raw columns.

Text files are read in parts of many rows.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import LARGEST, WESTERN, file_size, open_text
from narcissus._optional import optional
from narcissus._pandas import is_frame, pd
from narcissus._parquet import read_parquet
from narcissus._validation import did_you_mean
from narcissus._visible import cell
from narcissus.errors import InputError, TooLargeError
from narcissus.tables.table import unknown_column
from narcissus.tables.tally import RawColumn

MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
"""Texts that stand for a missing value in a text file."""

_CHUNK = 2**20  # cells that are held as text at a time


def text_parts(
    path: Path, choose: Callable[[list[str]], Sequence[int]], *, largest: int
) -> Generator[list[RawColumn]]:
    """Yield the kept columns of a delimited text file, many rows at a time.

    ``choose`` maps the names of all columns to the positions to keep, or raises. A file that ends
    in .gz is unpacked; ``largest`` limits its unpacked bytes. Bytes that are no UTF-8 are those of
    Windows-1252. An `InputError` names the line at fault.
    """
    with _readable(path), open_text(path, largest=largest, errors=WESTERN) as stream:
        yield from _parse(str(path), stream, choose)


@contextmanager
def _readable(path: Path) -> Generator[None]:
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"{path} is not a complete gzip file: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _parse(
    name: str, stream: Iterator[str], choose: Callable[[list[str]], Sequence[int]]
) -> Generator[list[RawColumn]]:
    blank = list(_until_text(stream))
    first = blank.pop() if blank else ""
    if not first.strip():
        raise InputError(f"{name} is empty")
    # by the file's suffix, or the one that the header uses
    marks = "\t" if name.lower().removesuffix(".gz").endswith(".tsv") else ",;\t"
    delimiter = next((mark for mark in marks if mark in first), marks[0])
    lines = _quoted_well(name, chain(blank, [first], stream), delimiter)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows = _well_formed(name, reader)
    names = _numbered_names(cell.strip() for cell in next((row for row in rows if row), [""]))
    kept = choose(names)
    is_empty = True
    for chunk in _chunks(name, reader, len(names)):
        is_empty = False
        cells = list(zip(*chunk, strict=True))
        yield [_numbered(names[j], cells[j]) for j in kept]
    if is_empty:
        raise InputError(f"{name} holds a header and no rows")


def _numbered_names(names: Iterable[str]) -> list[str]:
    """Name each column differently: the second ``x`` is ``x (2)``."""
    found: dict[str, Iterator[int]] = {}  # with the numbers that a name has left
    each: list[str] = []
    for name in names:
        own = name
        while own and own in found:
            own = f"{name} ({next(found[name])})"
        found.setdefault(own, count(2))
        each.append(own)
    return each


def _until_text(lines: Iterator[str]) -> Iterator[str]:
    """Yield blank lines and the first that is not."""
    for line in lines:
        yield line
        if line.strip():
            return


def _quoted_well(name: str, lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Pass lines on; refuse a quote in a cell that does not begin with one.

    The standard library takes such a quote for a letter: the cell ``1"x"`` would be a value, and
    no longer a number. It checks itself what follows a closing quote.
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
                        f"one ({cell((before + chr(34)).strip()[-20:])}): put the whole cell in "
                        'quotes, and write a quote in it as ""'
                    )
                is_inside = not is_inside
        yield line


def _chunks(name: str, reader: Any, width: int) -> Iterator[list[list[str]]]:
    """Yield rows in chunks, all as wide as the header; blank lines are skipped."""
    most = max(1, _CHUNK // width)
    lines, rows = reader.line_num, 0
    is_exact = True  # a quoted cell may hold line breaks: then only rows can be counted
    chunk: list[list[str]] = []
    for number, row in enumerate(_well_formed(name, reader), start=1):
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


def _well_formed(name: str, reader: Any) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise InputError(
            f"{name} is not a readable CSV: {error} (line {reader.line_num})"
        ) from error


def _numbered(name: str, cells: Sequence[str]) -> RawColumn:
    """Convert cells, stripped of blanks, to codes of their different values."""
    # A dictionary that numbers each new value makes one pass over the cells enough.
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    codes = np.fromiter(map(numbers.__getitem__, cells), np.int64, len(cells))
    texts = list(numbers)
    cleaned = [None if (t := text.strip()) in MISSING else t for text in texts]
    if cleaned == texts:
        return RawColumn(name, list(texts), codes)
    position: dict[str | None, int] = {}
    renumber = np.array([position.setdefault(t, len(position)) for t in cleaned], dtype=np.int64)
    return RawColumn(name, list(position), renumber[codes])


MAX_BYTES = LARGEST
"""Most bytes of a table that is held whole, unpacked."""
MOST_COLUMNS = 10_000
MOST_CELLS = 250_000_000  # each is held in 8 bytes
_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")
_PACKAGED = re.compile(r"\w{2,}:\w+")


def open_source(
    source: Any,
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
) -> tuple[str, list[RawColumn]]:
    """Read the kept columns of a source; return its name for messages, and the columns."""
    name, found = located(source)
    if not isinstance(found, Path):
        return name, _from_frame(name, found, choose, drop, max_rows)
    read = _from_parquet if is_parquet(found) else _from_text
    return name, read(found, choose, drop, max_rows)


def located(source: Any) -> tuple[str, pd.DataFrame | Path]:
    """Return the name of a source for messages, and its data frame or path."""
    if is_frame(source):
        return "the data frame", source
    if isinstance(source, str) and source.startswith("statsmodels:"):
        return source, packaged(source)
    if not isinstance(source, str | Path):
        raise InputError(
            "`source` must be a path, 'statsmodels:NAME' or a pandas data frame, "
            f"got {type(source).__name__}"
        )
    return str(Path(source)), Path(source)


def is_parquet(path: Path) -> bool:
    """Check that a file exists and may be a table; distinguish Parquet from text by its suffix."""
    _check_file(path)
    if path.name.lower().endswith(_PARQUET):
        return True
    if path.name.lower().endswith(_TEXT):
        return False
    raise InputError(
        f"cannot tell what kind of table {path} is: its name must end in "
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
    if file_size(path, largest=2**63) == 0:
        raise InputError(f"{path} is empty")


def _check_cells(name: str, rows: int, columns: int) -> None:
    if rows * columns > MOST_CELLS:
        raise TooLargeError(
            f"{name} has {rows * columns:,} cells in the columns that are kept, or more; at most "
            f"{MOST_CELLS:,} are read: drop columns, or give a sample of the rows"
        )


def too_many_rows(name: str, max_rows: int, rows: int | None = None) -> TooLargeError:
    found = f"{rows:,} rows" if rows is not None else "more rows"
    return TooLargeError(
        f"{name} has {found}; at most {max_rows:,} are read: give a sample of the rows, "
        "or raise `max_rows`"
    )


def kept_columns(
    names: Sequence[str], choose: Sequence[str] | None, drop: Sequence[str]
) -> list[int]:
    """Return the positions of the columns to keep, after checking all names."""
    known = set(names)
    for name in (*(choose or ()), *drop):
        if name not in known:
            raise InputError(unknown_column(name, names))
    kept = [n for n in (names if choose is None else choose) if n not in drop]
    if not kept:
        raise InputError("no column is left: `drop` takes all of them away")
    place = {name: j for j, name in enumerate(names)}
    return [place[name] for name in kept]


def has_index(names: Sequence[str]) -> bool:
    """Check whether only the first column has no name: an index that was saved with the table.

    pandas calls it "Unnamed: 0" when it reads it again.
    """
    return len(names) > 1 and names[0] in ("", "Unnamed: 0") and "" not in names[1:]


def check_names(source: str, names: Sequence[str], drop: Sequence[str] = ()) -> None:
    """Refuse columns without a name, unless they are dropped, or with the same one."""
    for position, name in enumerate(names, start=1):
        if not name and "" not in drop:
            raise InputError(
                f"{source}: column {position} has no name (an index that was written along?): "
                'leave it out (drop = [""]; --drop ""), name it, or write the table without it'
            )
    if len(names) > MOST_COLUMNS:
        raise TooLargeError(
            f"{source} has {len(names):,} columns; at most {MOST_COLUMNS:,} are read"
        )
    if repeated := [name for name, times in Counter(names).items() if times > 1 and name]:
        raise InputError(
            f"{source}: several columns are called {', '.join(f'`{n}`' for n in repeated)}: "
            "give every column a name of its own"
        )


def _from_text(
    path: Path, choose: Sequence[str] | None, drop: Sequence[str], max_rows: int
) -> list[RawColumn]:
    """Read a delimited text file in one pass, holding codes and distinct values only."""
    name, rows = str(path), 0
    names: list[str] = []
    places: defaultdict[str, dict[Any, int]] = defaultdict(dict)
    codes: defaultdict[str, list[NDArray[np.int64]]] = defaultdict(list)
    for part in text_parts(path, chooser(name, choose, drop), largest=MAX_BYTES):
        rows += len(part[0].codes)
        if rows > max_rows:
            raise too_many_rows(name, max_rows)
        _check_cells(name, rows, len(part))
        names = [column.name for column in part]
        for column in part:
            place = places[column.name]
            new = [place.setdefault(value, len(place)) for value in column.distinct]
            codes[column.name].append(np.array(new, dtype=np.int64)[column.codes])
    return [RawColumn(n, list(places[n]), np.concatenate(codes.pop(n))) for n in names]


def chooser(
    name: str, choose: Sequence[str] | None, drop: Sequence[str]
) -> Callable[[list[str]], list[int]]:
    """Return a function that checks the names of all columns and returns the kept positions."""

    def chosen(names: list[str]) -> list[int]:
        left = [*drop, names[0]] if choose is None and has_index(names) else drop
        check_names(name, names, left)
        return kept_columns(names, choose, left)

    return chosen


def _from_frame(
    source: str,
    frame: pd.DataFrame,
    choose: Sequence[str] | None,
    drop: Sequence[str],
    max_rows: int,
) -> list[RawColumn]:
    kept = frame_columns(source, frame, choose, drop)
    if len(frame) > max_rows:
        raise too_many_rows(source, max_rows, len(frame))
    _check_cells(source, len(frame), len(kept))
    return factorized(source, frame, kept)


def frame_columns(
    source: str, frame: pd.DataFrame, choose: Sequence[str] | None, drop: Sequence[str]
) -> list[int]:
    """Return the positions of the columns of a data frame to keep, after checking it."""
    names = [str(column) for column in frame.columns]
    if not names:
        raise InputError(f"{source} is empty")
    kept = chooser(source, choose, drop)(names)
    if len(frame) == 0:
        raise InputError(f"{source} holds no rows")
    return kept


def factorized(source: str, frame: pd.DataFrame, kept: Sequence[int]) -> list[RawColumn]:
    columns: list[RawColumn] = []
    for j in kept:
        name = str(frame.columns[j])
        try:
            codes, distinct = pd.factorize(frame.iloc[:, j], use_na_sentinel=True)
        except TypeError as error:
            raise InputError(
                f"{source}: column `{name}` holds values that are neither numbers nor text "
                f"({error}): drop it"
            ) from error
        values: list[Any] = np.asarray(distinct, dtype=object).tolist()
        if getattr(distinct, "dtype", None) in (np.float32, np.float16):
            values = [float(str(value)) for value in np.asarray(distinct)]  # 0.1, not 0.10000000149
        if (codes < 0).any():
            codes = np.where(codes < 0, len(values), codes)
            values.append(None)
        columns.append(RawColumn(name, values, codes.astype(np.int64)))
    return columns


def _from_parquet(
    path: Path, choose: Sequence[str] | None, drop: Sequence[str], max_rows: int
) -> list[RawColumn]:
    name = str(path)
    wanted: list[str] = []

    def kept(names: list[str], rows: int) -> list[str]:
        wanted[:] = [names[j] for j in chooser(name, choose, drop)(names)]
        if rows > max_rows:
            raise too_many_rows(name, max_rows, rows)
        return wanted

    frame = read_parquet(path, kept, largest=MAX_BYTES)
    places = parquet_columns(name, frame, wanted, choose)
    _check_cells(name, len(frame), len(places))
    return factorized(name, frame, places)


def parquet_columns(
    name: str, frame: pd.DataFrame, wanted: Sequence[str], choose: Sequence[str] | None
) -> list[int]:
    """Return the positions of the kept columns in a frame read from a Parquet file.

    The index that pandas stored is not a column, unless it is chosen: then the error says so.
    """
    place = {str(column): j for j, column in enumerate(frame.columns)}
    for column in wanted if choose is not None else ():
        if column not in place:
            raise InputError(unknown_column(column, place))
    places = [place[column] for column in wanted if column in place]
    return frame_columns(name, frame, [str(frame.columns[j]) for j in places], ())


def packaged(source: str) -> pd.DataFrame:
    datasets = optional("statsmodels.datasets", extra="examples", purpose=f"The table {source}")
    name = source.partition(":")[2]
    public = (n for n in sorted(dir(datasets)) if not n.startswith("_"))
    known = [n for n in public if hasattr(getattr(datasets, n), "load_pandas")]
    if name not in known:
        hint = did_you_mean(name, known) or f"; it has {', '.join(known)}"
        raise InputError(f"statsmodels has no table `{name}`{hint}")
    return getattr(datasets, name).load_pandas().data
