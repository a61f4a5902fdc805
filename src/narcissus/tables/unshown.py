"""Values that a table of Arrow or pandas holds and no row shows: unused levels, values under nulls.

A categorical column keeps its dictionary whatever its rows have, and a number that was set to null
stays where it was until the column is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import parsing
from narcissus._optional import optional
from narcissus._pandas import pd
from narcissus.tables.leftover import number_dictionaries


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


def unused_numbers(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each column of numbers with each entry of its dictionaries without a row.

    InputError: A dictionary is packed in a way that is not understood.
    """
    arrow: Any = optional("pyarrow", extra="formats", purpose="Reading Parquet files")
    library: Any = optional("pyarrow.parquet", extra="formats", purpose="Reading Parquet files")
    with library.ParquetFile(str(path)) as file, parsing(path, "a readable Parquet file"):
        for each in number_dictionaries(path):
            name = file.schema.column(each.column).path
            data = each.packed
            if each.codec:
                data = arrow.decompress(data, each.size, each.codec, asbytes=True)
            entries = np.unique(np.frombuffer(data, each.kind))
            rows = file.read_row_group(each.group, columns=[name]).column(0)
            used = rows.unique().drop_null()
            if len(entries) > len(used):
                yield from ((name, text) for text in _entries_left(entries, used))


def _entries_left(entries: NDArray[Any], used: Any) -> Iterator[str]:
    """Yield the entries of a dictionary that no row has, as their column writes them."""
    arrow: Any = optional("pyarrow", extra="formats", purpose="Reading Parquet files")
    known = {str(value) for value in used.to_pylist()}
    kind = used.type
    if arrow.types.is_decimal(kind):
        texts = [str(Decimal(number).scaleb(-kind.scale)) for number in entries.tolist()]
    else:
        texts = [str(value) for value in arrow.array(entries).cast(kind, safe=False).to_pylist()]
    yield from (text for text in dict.fromkeys(texts) if text not in known and text != "nan")


def unused_in_frame(frame: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the name of each column of categories, or level of an index, with each unused value."""
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if isinstance(column.dtype, pd.CategoricalDtype):
            yield from _not_in(str(name), column.cat.categories, column.cat.codes)
        elif "dictionary" in str(column.dtype):
            yield from unused_levels([(str(name), _as_arrow(column))])
    for labels in (frame.index, frame.columns):
        yield from _unused_labels(labels)


def _unused_labels(index: pd.Index) -> Iterator[tuple[str, str]]:
    if isinstance(index, pd.MultiIndex):
        for level, name in enumerate(index.names):
            yield from _not_in(str(name), index.levels[level], index.codes[level])
            if isinstance(kind := index.levels[level].dtype, pd.CategoricalDtype):
                left = kind.categories.difference(index.levels[level].unique())
                yield from ((str(name), str(label)) for label in left)
    elif isinstance(index, pd.CategoricalIndex):
        yield from _not_in(str(index.name), index.categories, index.codes)


def under_nulls_of_frame(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the different values under missing cells of a frame, as `values_under_nulls` does.

    Arrays of pandas that have a mask keep a number under each missing one, and so do arrays of
    Arrow.
    """
    values: dict[str, list[str]] = {}
    parts = [(str(name), frame.iloc[:, at].array) for at, name in enumerate(frame.columns)]
    names = frame.index.names
    levels = frame.index.levels if isinstance(frame.index, pd.MultiIndex) else [frame.index]
    parts += [(str(name), part.array) for name, part in zip(names, levels, strict=True)]
    for name, array in parts:
        if hasattr(array, "_mask") and hasattr(array, "_data"):
            masked = dict.fromkeys(np.asarray(array._data)[np.asarray(array._mask)].tolist())
            if len(some := _of_people(masked)) > 1:
                values[name] = some
        elif hasattr(array, "_pa_array"):
            arrow: Any = optional("pyarrow", extra="formats", purpose="A data frame of Arrow")
            values |= values_under_nulls(arrow.table({name: _as_arrow(array)}))
    return values


def _as_arrow(column: Any) -> Any:
    """Return a column of pandas that Arrow holds as the chunks that it is held in."""
    return getattr(column, "array", column).__arrow_array__()


def under_masks(columns: Mapping[Any, Any]) -> dict[str, list[str]]:
    """Return the different values under the masks of columns of numpy."""
    values: dict[str, list[str]] = {}
    for name, column in columns.items():
        if isinstance(column, np.ma.MaskedArray):
            masked = column.data[np.ma.getmaskarray(column)].tolist()
            if len(some := _of_people(dict.fromkeys(masked))) > 1:
                values[str(name)] = some
    return values


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
        if len(values := _of_people(seen)) > 1:
            found[name] = values
    return found


def _of_people(values: Iterable[Any]) -> list[str]:
    """Return values as texts but for those that a writer puts there."""
    return [str(value) for value in values if value and str(value) != "nan"]


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
