"""What a file says next to its table, where it is no Excel file: labels, notes, keys and names.

Texts are returned with a noun for each, and whoever reads the file knows what they may not tell.
What its program keeps and no reader gives is named.
"""

from __future__ import annotations

import base64
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from narcissus._archives import opened_archive
from narcissus._files import parsing
from narcissus._optional import optional
from narcissus._pandas import is_frame, pd
from narcissus.tables.formats import read_arrow
from narcissus.tables.leftover import count_left_over
from narcissus.tables.unshown import (
    parquet_columns,
    under_masks,
    under_nulls_of_frame,
    unused_in_frame,
    unused_levels,
    unused_numbers,
    values_under_nulls,
)

VARIABLE_LABELS = "labels of variables"
VALUE_LABELS = "labels of values"
NAMES_OF_ARCHIVES = "names inside an archive"
STRICT = (VARIABLE_LABELS, NAMES_OF_ARCHIVES)
"""Nouns of names: they have no value of a single person."""
MOST_BYTES = 2**28
"""Most bytes of a file that are looked at for what its reader does not give."""
_NOTES = "notes and labels of the file"
_KEYS = "metadata of the file"
_COMMENTS = "comments of an archive"
_STATISTICS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_LONG_CODE = 7  # digits of a code that may be the number of a person
_BESIDE = "narcissus: beside the table"
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{200,}")
_OF_PANDAS = ("index_columns", "columns", "column_indexes", "creator", "pandas_version")
_CHARACTERISTICS = re.compile(rb"<ch>(.*?)</ch>", re.S)
_ATTRIBUTES = re.compile(rb"\x07\0\0\0[\x11\x12]\0\0\0\x01\0\0\0(.{4})", re.S)
"""Where an SPSS file begins its attributes, of the file and of variables."""
_STATA_HEADER = 109
_STATA_VARIABLE = 1 + 33 + 2 + 33 + 81
"""Bytes of each variable before the characteristics: its type, name, order and labels."""


@dataclass(frozen=True)
class Metadata:
    """What a file says next to its table."""

    texts: tuple[tuple[str, str], ...] = ()  # each with a noun
    # of each variable, labels of values; these may stand in the table as well
    value_labels: tuple[tuple[str, str], ...] = ()
    unread: tuple[str, ...] = ()  # what no reader gives, a noun for each
    # of each column, different values that stand where it has none
    under_nulls: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    left_over: int | None = 0  # bytes that no reader of the table reads; None: cannot be told


def read_metadata(path: Path) -> Metadata:
    """Read what a file says next to its table; of another kind of file nothing.

    InputError: It is damaged.
    """
    name = path.name.lower()
    readers: dict[tuple[str, ...], Callable[[Path], Metadata]] = {
        tuple(_STATISTICS): _of_statistics,
        (".parquet", ".pq"): _of_parquet,
        (".feather", ".arrow"): _of_arrow,
        (".gz",): _of_gzip,
        (".zip", ".xlsx", ".xlsm"): _of_zip,
    }
    for suffixes, read in readers.items():
        if name.endswith(suffixes):
            return replace(read(path), left_over=count_left_over(path))
    return Metadata(left_over=count_left_over(path))


def with_metadata(frame: pd.DataFrame, metadata: Metadata) -> pd.DataFrame:
    """Return a frame that keeps what another object said, of which it was made."""
    copy = frame.copy(deep=False)
    copy.attrs = {_BESIDE: metadata}
    return copy


def metadata_of_frame(source: Any) -> Metadata:
    """Return what a data frame of any library says next to its table.

    Levels that no row has, values under missing cells, notes, and names of levels. A file that is
    written of the frame may hold them.
    """
    if isinstance(source, Mapping):
        return Metadata(under_nulls=under_masks(source))
    if is_frame(source) and isinstance(source.attrs.get(_BESIDE), Metadata):
        return source.attrs[_BESIDE]
    if not is_frame(source):
        if not hasattr(source, "__arrow_c_stream__"):
            return Metadata()
        arrow: Any = optional("pyarrow", extra="formats", purpose="A data frame of another library")
        table = arrow.table(source)
        labels, under = _unshown(table)
        return replace(_of_schema(table.schema), value_labels=labels, under_nulls=under)
    notes = [(_KEYS, " ; ".join(_words_in(source.attrs)))] if source.attrs else []
    names = [name for name in (*source.columns.names, *source.index.names) if name is not None]
    notes += [(_KEYS, " ; ".join(map(str, names)))] if names else []
    return Metadata(
        tuple(notes), tuple(unused_in_frame(source)), under_nulls=under_nulls_of_frame(source)
    )


def _of_statistics(path: Path) -> Metadata:
    suffix = path.suffix.lower()
    optional("pyreadstat", extra="formats", purpose="Reading a file of a statistics package")
    read: Any = getattr(import_module("pyreadstat"), _STATISTICS[suffix])
    with parsing(path, "a readable file of a statistics package"):
        _, found = read(str(path), metadataonly=True)
        if suffix == ".sas7bdat":
            labels: dict[str, Any] = {}
        else:
            _, with_labels = read(str(path))  # unused labels come with the rows alone
            labels = {**with_labels.value_labels, **with_labels.variable_value_labels}
            found = with_labels
    texts = [(VARIABLE_LABELS, label) for label in found.column_labels or () if label]
    notes = [found.file_label, getattr(found, "table_name", None), *(found.notes or ())]
    texts += [(_NOTES, str(note)) for note in notes if note]
    texts += [(_NOTES, json.dumps(str(found.mr_sets)))] if getattr(found, "mr_sets", None) else []
    of_variables: dict[str, list[str]] = {}
    for variable, name in (found.variable_to_label or {}).items():
        of_variables.setdefault(name, []).append(variable)
    value_labels: list[tuple[str, str]] = []
    for name, codes in labels.items():
        for variable in of_variables.get(name, [name]):
            for code, label in codes.items():
                value_labels.append((variable, str(label)))
                if re.fullmatch(rf"\d{{{_LONG_CODE},}}(\.0)?", str(code)):
                    value_labels.append((variable, f"{float(code):.0f}"))
    more, unread = _attributes(path, suffix)
    return Metadata((*texts, *more), tuple(dict.fromkeys(value_labels)), unread)


def _attributes(path: Path, suffix: str) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return texts of a file of a statistics package that its reader does not give."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES)
    parts: list[bytes] = []
    if suffix == ".dta" and not data.startswith(b"<stata_dta>"):
        fields = _expansion_fields(data)
        if fields is None:
            return [], ("characteristics of the Stata file",)
        parts = [part.replace(b"\0", b" ") for part in fields]
    elif suffix == ".dta":
        section = data.partition(b"<characteristics>")[2].partition(b"</characteristics>")[0]
        parts = [part.replace(b"\0", b" ") for part in _CHARACTERISTICS.findall(section)]
    elif suffix in (".sav", ".zsav"):
        for match in _ATTRIBUTES.finditer(data):
            parts.append(data[match.end() :][: int.from_bytes(match[1], "little")])
    return [(_NOTES, part.decode("utf-8", "replace")) for part in parts], ()


def _expansion_fields(data: bytes) -> list[bytes] | None:
    """Return the characteristics of a Stata file of version 113 to 115; None: not understood."""
    if data[:1] not in (b"q", b"r", b"s") or data[1:2] not in (b"\1", b"\2"):
        return None
    order: Literal["big", "little"] = "big" if data[1] == 1 else "little"
    variables = int.from_bytes(data[4:6], order)
    at = _STATA_HEADER + 2 + variables * (_STATA_VARIABLE + (12 if data[:1] == b"q" else 49))
    fields: list[bytes] = []
    while True:
        size = int.from_bytes(data[at + 1 : at + 5], order)
        if at + 5 + size > len(data):
            return None
        if not data[at]:
            return fields if not size else None
        fields.append(data[at + 5 : at + 5 + size])
        at += 5 + size


def _of_parquet(path: Path) -> Metadata:
    library: Any = optional("pyarrow.parquet", extra="formats", purpose="Reading Parquet files")
    with parsing(path, "a readable Parquet file"), path.open("rb") as file:
        found = _of_schema(library.read_schema(file))
    levels = [*unused_levels(parquet_columns(path)), *unused_numbers(path)]
    return replace(found, value_labels=tuple(levels))


def _of_arrow(path: Path) -> Metadata:
    library: Any = optional("pyarrow.ipc", extra="formats", purpose="Reading Arrow files")
    with path.open("rb") as file:
        begun = file.read(4)
    if begun == b"FEA1":
        return Metadata(unread=("metadata of a Feather file of version 1",))
    opened = library.open_file if begun == b"ARRO" else library.open_stream
    with parsing(path, "a readable Arrow file"), path.open("rb") as file:
        found = _of_schema(opened(file).schema)
    labels, under = read_arrow(path, _unshown)
    return replace(found, value_labels=labels, under_nulls=under)


def _unshown(table: Any) -> tuple[tuple[tuple[str, str], ...], dict[str, list[str]]]:
    columns = zip(table.column_names, table.columns, strict=True)
    return tuple(unused_levels(columns)), values_under_nulls(table)


def _of_schema(schema: Any) -> Metadata:
    texts: list[tuple[str, str]] = []
    unread: list[str] = []
    each = [schema.metadata or {}, *(each.metadata or {} for each in schema)]
    for at, pairs in enumerate(each):
        for raw_key, raw in pairs.items():
            key = raw_key.decode("utf-8", "replace")
            if key == "PARQUET:field_id":
                continue
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                unread.append(f"metadata `{key}` of the file")
                continue
            if key == "pandas" and at == 0:
                text = _said_by_pandas(text)
            else:
                bare = "".join(text.split("\n")).strip()  # base64 may stand in lines
                if _BLOB.fullmatch(bare):
                    text = bare
                    with suppress(ValueError):
                        text = base64.b64decode(bare, validate=True).decode()
                if _BLOB.search(text):
                    unread.append(f"metadata `{key}` of the file")
            texts.append((_KEYS, text if key == "pandas" else f"{key} {_plain_json(text)}"))
    return Metadata(tuple(texts), (), tuple(dict.fromkeys(unread)))


def _said_by_pandas(text: str) -> str:
    """Return what pandas notes of a table, without its columns and the numbers of its rows."""
    try:
        notes = json.loads(text)
    except ValueError:
        return text
    if not isinstance(notes, dict):
        return _plain_json(text)
    named = [index.get("name") for index in notes.get("column_indexes") or () if index]
    left = {key: value for key, value in notes.items() if key not in _OF_PANDAS}
    return " ; ".join(_words_in([named, left]))


def _plain_json(text: str) -> str:
    """Return the words and numbers of a JSON text, and any other text as it stands."""
    if text[:1] not in "{[" or not text:
        return text
    with suppress(ValueError):
        return " ; ".join(_words_in(json.loads(text)))
    return text


def _words_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield str(key)
            yield from _words_in(part)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _words_in(part)
    elif is_frame(value):
        yield from map(str, (*value.columns, *value.index))
        yield from _words_in(value.to_numpy())
    elif hasattr(value, "to_frame"):
        yield from _words_in(value.to_frame())
    elif hasattr(value, "tolist"):  # an array is written in short
        yield from _words_in(value.tolist())
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _of_gzip(path: Path) -> Metadata:
    """Return the name and the comment in the header of a gzip file, and what else is in it."""
    with path.open("rb") as file:
        header = file.read(2**18)
    if len(header) < 10 or header[:2] != b"\x1f\x8b":
        return Metadata()
    flags, at = header[3], 10
    texts: list[tuple[str, str]] = []
    unread: tuple[str, ...] = ()
    if flags & 4:
        size = int.from_bytes(header[at : at + 2], "little")
        unread = ("extra fields of the gzip header",)
        at += 2 + size
    for flag, kind in ((8, NAMES_OF_ARCHIVES), (16, _COMMENTS)):
        if flags & flag:
            end = header.find(b"\0", at)
            text = _decoded(header[at : end if end >= 0 else len(header)])
            texts.append((kind, _apart(text) if kind == NAMES_OF_ARCHIVES else text))
            at = end + 1 if end >= 0 else len(header)
    return Metadata(tuple(texts), (), unread)


def _of_zip(path: Path) -> Metadata:
    is_book = not path.name.lower().endswith(".zip")
    texts: list[tuple[str, str]] = []
    try:
        with opened_archive(path, same=str.lower if is_book else str, noun="part") as archive:
            texts += [(_COMMENTS, _decoded(archive.comment))] if archive.comment else []
            for member in archive.infolist():
                texts += [(_COMMENTS, _decoded(member.comment))] if member.comment else []
                texts += [] if is_book else [(NAMES_OF_ARCHIVES, _apart(member.filename))]
    except (zipfile.BadZipFile, OSError):  # refused where its table is read
        return Metadata()
    return Metadata(tuple(texts))


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _apart(name: str) -> str:
    """Return a name of a file as it is and in its words."""
    return f"{name} ; {re.sub(r'[_./-]+', ' ', name)}"
