"""Values that a table of Arrow or pandas holds and no row shows: unused levels, values under nulls.

A categorical column keeps its dictionary whatever its rows have, and a number that was set to null
stays where it was until the column is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from narcissus._optional import optional
from narcissus._pandas import pd


def unused_levels(columns: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the name of each encoded column of Arrow with each of its levels that no row has."""
    compute: Any = optional("pyarrow.compute", extra="formats", purpose="Reading Arrow files")
    levels: dict[str, dict[Any, None]] = {}
    used: dict[str, set[Any]] = {}
    for name, column in columns:
        for chunk in column.chunks:
            if hasattr(chunk, "dictionary"):
                places = compute.drop_null(chunk.indices.unique())
                each = chunk.dictionary.to_pylist()
                levels.setdefault(name, {}).update(dict.fromkeys(each))
                used.setdefault(name, set()).update(each[at] for at in places.to_pylist())
    for name, each in levels.items():
        yield from ((name, str(level)) for level in each if level not in used[name])


def parquet_columns(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each column of texts of each row group with the dictionary that is stored."""
    library: Any = optional("pyarrow.parquet", extra="formats", purpose="Reading Parquet files")
    with library.ParquetFile(str(path)) as file:
        kinds = {field.name: str(field.type) for field in file.schema_arrow}
    texts = [name for name, kind in kinds.items() if "string" in kind or "binary" in kind]
    with library.ParquetFile(str(path), read_dictionary=texts) as file:
        for group in range(file.metadata.num_row_groups):
            for name in texts:
                yield name, file.read_row_group(group, columns=[name]).column(0)


def unused_in_frame(frame: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the name of each column of categories, or level of an index, with each unused value."""
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if isinstance(column.dtype, pd.CategoricalDtype):
            yield from _not_in(str(name), column.cat.categories, column.cat.codes)
    indexes = frame.index if isinstance(frame.index, pd.MultiIndex) else None
    for level in range(0 if indexes is None else indexes.nlevels):
        assert indexes is not None
        name = str(indexes.names[level])
        yield from _not_in(name, indexes.levels[level], indexes.codes[level])
    if isinstance(frame.index, pd.CategoricalIndex):
        yield from _not_in(str(frame.index.name), frame.index.categories, frame.index.codes)


def _not_in(name: str, levels: Any, codes: Any) -> Iterator[tuple[str, str]]:
    left = np.setdiff1d(np.arange(len(levels)), np.asarray(codes))
    yield from ((name, str(levels[place])) for place in left.tolist())


def values_under_nulls(table: Any) -> dict[str, list[str]]:
    """Return the different values under the nulls of each column, where it has two or more.

    Zeros and empty texts are none: they are what a writer puts there, or one other value.
    """
    found: dict[str, list[str]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        seen: dict[Any, None] = {}
        for chunk in column.chunks:
            if chunk.null_count:
                seen.update(dict.fromkeys(_under_nulls(chunk)))
        values = [str(value) for value in seen if value and str(value) != "nan"]
        if len(values) > 1:
            found[name] = values
    return found


def _under_nulls(chunk: Any) -> list[Any]:
    arrow: Any = optional("pyarrow", extra="formats", purpose="Reading Arrow files")
    chunk = getattr(chunk, "storage", chunk)
    chunk = getattr(chunk, "indices", chunk)
    kinds, kind, buffers = arrow.types, chunk.type, chunk.buffers()
    if kinds.is_null(kind):
        return []
    if kinds.is_string(kind):  # what stands there may be no text
        kind = arrow.binary()
    elif kinds.is_large_string(kind):
        kind = arrow.large_binary()
    elif kinds.is_string_view(kind):
        kind = arrow.binary_view()
    elif kinds.is_temporal(kind) and kind.bit_width in (32, 64):
        kind = arrow.int32() if kind.bit_width == 32 else arrow.int64()
    bare = arrow.Array.from_buffers(kind, len(chunk), [None, *buffers[1:]], 0, chunk.offset)
    bare = bare.cast(arrow.large_binary()) if kinds.is_binary_view(kind) else bare
    values = bare.filter(chunk.is_null()).to_pylist()
    return [_decoded(value) for value in values]


def _decoded(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
