"""Tables in text files: delimited cells, read in parts of many rows."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._files import open_text
from narcissus._visible import cell
from narcissus.errors import InputError
from narcissus.tables.tally import RawColumn

MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
"""Texts that stand for a missing value in a text file."""

_CHUNK = 2**20  # cells that are held as text at a time


def text_parts(
    path: Path, choose: Callable[[list[str]], Sequence[int]], *, largest: int
) -> Generator[list[RawColumn]]:
    """Yield the kept columns of a delimited text file, many rows at a time.

    ``choose`` maps the names of all columns to the positions to keep, or raises. A file that ends
    in .gz is unpacked; ``largest`` limits its unpacked bytes. An `InputError` names the line at
    fault, a `TooLargeError` is for more bytes, or for a line longer than any table has.
    """
    with _readable(path), open_text(path, largest=largest) as stream:
        yield from _parse(str(path), stream, choose)


@contextmanager
def _readable(path: Path) -> Generator[None]:
    """Turn the exceptions of reading a text file into one message."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x}): save it as UTF-8"
        ) from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"{path} is not a complete gzip file: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _delimiter(name: str, header: str) -> str:
    """Return the delimiter by the file's suffix, or the one that the header uses."""
    if name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"
    return next((mark for mark in ",;\t" if mark in header), ",")


def _parse(
    name: str, stream: Iterator[str], choose: Callable[[list[str]], Sequence[int]]
) -> Generator[list[RawColumn]]:
    blank = list(_until_text(stream))
    first = blank.pop() if blank else ""
    if not first.strip():
        raise InputError(f"{name} is empty")
    delimiter = _delimiter(name, first)
    lines = _quoted_well(name, chain(blank, [first], stream), delimiter)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    rows = _well_formed(name, reader)
    names = [cell.strip() for cell in next((row for row in rows if row), [""])]
    kept = choose(names)
    is_empty = True
    for chunk in _chunks(name, reader, len(names)):
        is_empty = False
        cells = list(zip(*chunk, strict=True))
        yield [_numbered(names[j], cells[j]) for j in kept]
    if is_empty:
        raise InputError(f"{name} holds a header and no rows")


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
    """Yield rows; name the malformed line."""
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
