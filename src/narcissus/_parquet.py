"""Read Parquet files, after looking at what they say that they unpack to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from narcissus._files import LARGEST, file_size, parsing
from narcissus._optional import optional
from narcissus.errors import InputError, TooLargeError

Choose = Callable[[list[str], int], Sequence[str] | None]


def read_parquet(
    path: Path, choose: Choose = lambda names, rows: None, *, largest: int = LARGEST
) -> pd.DataFrame:
    """Read columns of a Parquet file.

    Parameters
    ----------
    path
        The file.
    choose
        Called with the names of all columns and the number of rows before any is read; gives the
        columns to read (None: all), or raises.
    largest
        Most bytes of the columns, unpacked.

    Returns
    -------
    The frame; columns of text are categorical.

    Raises
    ------
    InputError
        It is no Parquet file, is damaged, or has columns of lists or structures.
    TooLargeError
        It would unpack to more than ``largest`` bytes.
    MissingExtraError
        pyarrow is not installed.
    """
    parquet: Any = optional("pyarrow.parquet", extra="parquet", purpose="Reading Parquet")
    file_size(path, largest=largest)
    with parsing(path, "a readable Parquet file"):
        with parquet.ParquetFile(path) as file:
            names: list[str] = list(file.schema_arrow.names)
            rows = int(file.metadata.num_rows)
            wanted = choose(names, rows)
            kept = names if wanted is None else list(wanted)
            texts = _check(path, file, kept, largest)
        # Texts stay in their dictionary: written out, one long text in a million rows would not
        # fit into memory, whatever the file says about its size.
        with parquet.ParquetFile(path, read_dictionary=texts) as file:
            frame = file.read(columns=None if wanted is None else kept).to_pandas()
    if len(frame) != rows:
        raise InputError(f"{path} has {len(frame):,} rows, where it says {rows:,}")
    return frame


def _check(path: Path, file: Any, kept: Sequence[str], largest: int) -> list[str]:
    """Refuse what is too large or no plain column; give the columns of text."""
    texts: list[str] = []
    width = 0
    for field in file.schema_arrow:
        if field.name not in kept:
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
    size = max(width * int(file.metadata.num_rows), _unpacked(file, kept))
    if size > largest:
        raise TooLargeError(
            f"{path} unpacks to {size:,} bytes; at most {largest:,} "
            f"({largest / 2**20:,.0f} MiB) are read"
        )
    return texts


def _unpacked(file: Any, kept: Sequence[str]) -> int:
    """Give the bytes of the columns' pages before compression, as the file declares them."""
    groups = [file.metadata.row_group(g) for g in range(file.metadata.num_row_groups)]
    chunks = [group.column(c) for group in groups for c in range(group.num_columns)]
    return sum(
        max(0, chunk.total_uncompressed_size)
        for chunk in chunks
        if chunk.path_in_schema.split(".")[0] in kept
    )
