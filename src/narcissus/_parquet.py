"""Parquet files, read after checking their declared unpacked size."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narcissus._files import LARGEST, file_size, parsing
from narcissus._optional import optional
from narcissus._pandas import pd
from narcissus.errors import InputError, TooLargeError

_BUFFER = 2**20  # bytes of a column that are read at a time
_HELD = 16  # bytes of memory that a byte of a column may come to, as pandas holds it
SPARE = 2**31
"""Bytes of address space that a reader takes in any case, for what a footer says is small."""
_SMALLER = ": write the file again with smaller row groups, such as a million rows"


def read_parquet(path: Path, *, largest: int = LARGEST) -> pd.DataFrame:
    """Read a Parquet file of at most ``largest`` unpacked bytes; columns of text are categorical.

    InputError: It is not a Parquet file, is damaged, or has columns of lists or structures.
    TooLargeError: It would unpack to more than ``largest`` bytes.
    MissingExtraError: pyarrow is not installed.
    """
    file_size(path, largest=largest)
    with parsing(path, "a readable Parquet file"):
        with _opened(path) as file:
            names: list[str] = list(file.schema_arrow.names)
            rows = int(file.metadata.num_rows)
            texts, width = _plain(path, file, names)
            size = max(width * rows, sum(_unpacked(path, file, names)))
            _refuse_large(f"{path}", size, largest)
        # Texts stay in their dictionary: written out, one long text in a million rows would not
        # fit into memory, whatever the file says about its size.
        with believed(path, size), _opened(path, read_dictionary=texts) as file:
            frame = file.read().to_pandas()
    _require_rows(path, len(frame), rows)
    return frame


@dataclass(frozen=True)
class Footer:
    """The column names and number of rows that a Parquet file declares."""

    names: tuple[str, ...]
    rows: int
    index: tuple[str, ...] = ()  # those of the names that pandas stored as an index


def read_footer(path: Path) -> Footer:
    """Read the footer of a Parquet file; the errors are those of `read_parquet`."""
    file_size(path, largest=2**63)
    with parsing(path, "a readable Parquet file"), _opened(path) as file:
        schema = file.schema_arrow
        index = _index_of(schema)
        return Footer(tuple(schema.names), int(file.metadata.num_rows), index)


def _index_of(schema: Any) -> tuple[str, ...]:
    """Return the columns that pandas stored as an index, unless these are all."""
    notes: Any = schema.pandas_metadata or {}
    index = [name for name in notes.get("index_columns", ()) if isinstance(name, str)]
    return tuple(name for name in schema.names if name in index and len(schema.names) > len(index))


def parquet_parts(
    path: Path, columns: Sequence[str], rows: int, *, largest: int = LARGEST, plain: bool = False
) -> Generator[pd.DataFrame]:
    """Yield columns of a Parquet file, at most ``rows`` rows at a time.

    plain: An index that pandas stored is a column as any other.

    ``largest`` limits the unpacked bytes of the columns of one row group. The errors are those of
    `read_parquet`, for a row group instead of the file.
    """
    file_size(path, largest=2**63)
    row_count = 0
    with parsing(path, "a readable Parquet file"):
        with _opened(path) as file:
            texts, width = _plain(path, file, columns)
            expected = int(file.metadata.num_rows)
            sizes = _unpacked(path, file, columns)
            for number, size in enumerate(sizes):
                _refuse_large(f"row group {number} of {path}", size, largest, _SMALLER)
        with _opened(path, read_dictionary=texts, buffer_size=_BUFFER) as file:
            for number, size in enumerate(sizes):  # a batch may not reach into the next one
                memory = max(size, width * min(rows, file.metadata.row_group(number).num_rows))
                batches = file.iter_batches(rows, row_groups=[number], columns=list(columns))
                while True:
                    with believed(path, memory):
                        batch = next(batches, None)
                        frame = None if batch is None else batch.to_pandas(ignore_metadata=plain)
                    if frame is None:
                        break
                    row_count += len(frame)
                    if len(frame):
                        yield frame
    _require_rows(path, row_count, expected)


@contextmanager
def believed(path: Path, size: int) -> Generator[None]:
    """Limit the memory of reading to a multiple of the declared size: pages may hold more.

    A page declares its own size, and the library allocates it before we can check.
    """
    memory = _held()
    if memory is None:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory + _HELD * size + SPARE
    if before[0] != resource.RLIM_INFINITY:
        limit = min(limit, before[0])
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    except MemoryError as error:
        raise InputError(
            f"{path} says that it unpacks to {size:,} bytes, and takes more than "
            f"{limit - memory:,} of memory: write it again, with smaller row groups"
        ) from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _held() -> int | None:
    """Return the bytes of address space that the process has; None where nothing tells."""
    if sys.platform != "linux":
        return None
    import resource

    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
    except OSError:  # a system without /proc, as some containers are
        return None
    return int(pages) * resource.getpagesize()


@contextmanager
def _opened(path: Path, **options: Any) -> Generator[Any]:
    """Open a Parquet file with pyarrow, and close it whatever happens: the library does not."""
    arrow: Any = optional("pyarrow", extra="parquet", purpose="Reading Parquet")
    parquet: Any = optional("pyarrow.parquet", extra="parquet", purpose="Reading Parquet")
    with arrow.OSFile(str(path)) as stream, parquet.ParquetFile(stream, **options) as file:
        yield file


def _require_rows(path: Path, found: int, said: int) -> None:
    if found != said:
        raise InputError(f"{path} has {found:,} rows, where it says {said:,}")


def _refuse_large(what: str, size: int, largest: int, remedy: str = "") -> None:
    if size > largest:
        raise TooLargeError(
            f"{what} unpacks to {size:,} bytes; at most {largest:,} "
            f"({largest / 2**20:,.0f} MiB) are read{remedy}"
        )


def _plain(path: Path, file: Any, kept: Sequence[str]) -> tuple[list[str], int]:
    """Refuse nested columns; return the columns of text, and the bytes of a row."""
    texts: list[str] = []
    width, wanted = 0, set(kept)  # a footer may name a hundred thousand
    for field in file.schema_arrow:
        if field.name not in wanted:
            continue
        kind = str(field.type)
        if field.type.num_fields > 0 and not kind.startswith("dictionary"):
            raise InputError(f"{path}: column `{field.name}` holds lists or structures: drop it")
        if kind in {"string", "large_string", "binary", "large_binary"}:
            texts.append(field.name)
            width += 4
        else:
            try:
                width += max(1, field.type.bit_width // 8)
            except ValueError:  # a type without a width of its own: nulls, dictionaries
                width += 4
    return texts, width


def _unpacked(path: Path, file: Any, kept: Sequence[str]) -> list[int]:
    """Return for each row group the declared bytes of the columns before compression.

    What a footer declares of a column may be impossible, and pyarrow's view of it then ends the
    process. Reading one row makes pyarrow check it where an error is raised.
    """
    wanted, groups = set(kept), range(file.metadata.num_row_groups)
    places = [i for i, name in enumerate(file.schema) if name.path.split(".")[0] in wanted]
    with _opened(path, buffer_size=_BUFFER, pre_buffer=False) as tried:
        for number in groups:
            size = tried.metadata.row_group(number).total_byte_size
            with believed(path, min(max(0, size), LARGEST)):
                next(tried.iter_batches(1, row_groups=[number], columns=list(kept)), None)
    return [
        sum(max(0, group.column(place).total_uncompressed_size) for place in places)
        for group in map(file.metadata.row_group, groups)
    ]
