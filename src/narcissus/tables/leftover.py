"""Bytes of a file that no reader of its table reads: before, between and after its parts.

Each kind of container is walked as its reader walks it: members of an archive, frames and streams
of packed data, pages of Parquet, messages of Arrow. What is left is counted, but for zeros, which
pad.
"""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from narcissus._archives import opened_archive
from narcissus._optional import optional

_PIECE = 2**14
_END = b"\xff\xff\xff\xff\0\0\0\0"
"""What ends the messages of an Arrow file; its first half begins each."""
_FRAME = b"\x28\xb5\x2f\xfd"
_LONGEST_SKIPPED = 4
"""Bytes of a skippable frame that a program of many threads writes before each frame: a size."""


_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, LookupError, ValueError)


def count_left_over(path: Path) -> int | None:
    """Return the number of bytes that no reader of the table reads; of other kinds of files 0.

    None where the parts of a file that is read cannot be told.
    """
    name = path.name.lower()
    for suffixes, walk in _WALKS.items():
        if name.endswith(suffixes):
            try:
                with path.open("rb") as file:
                    return _count_outside(file, sorted(walk(path, file)))
            except _ERRORS:
                return None
    return 0


def _count_outside(file: IO[bytes], ranges: list[tuple[int, int]]) -> int:
    """Count the bytes outside of the ranges, from each start to each end, in gaps of no zeros."""
    size = file.seek(0, os.SEEK_END)
    count, at = 0, 0
    for start, end in [*ranges, (size, size)]:
        if start > at:
            file.seek(at)
            count += len(file.read(start - at).strip(b"\0"))
        at = max(at, end)
    return count


def _of_zip(path: Path, file: IO[bytes]) -> Iterator[tuple[int, int]]:
    with opened_archive(path) as archive:
        members, at = archive.infolist(), int(getattr(archive, "start_dir", 0))
    for member in members:
        start = member.header_offset
        name, extra = struct.unpack("<HH", _read(file, start, 30)[26:])
        yield start, start + 30 + name
        yield from _understood(start + 30 + name, _read(file, start + 30 + name, extra))
        content = start + 30 + name + extra
        end = content + member.compress_size
        yield content, end + (_descriptor(file, end) if member.flag_bits & 8 else 0)
    file.seek(at)
    directory, place = file.read(), 0
    for signature, size_of in _RECORDS:
        while directory[place : place + 4] == signature:
            size, end = size_of(directory[place:]), 0
            if signature == _MEMBER:
                name, extra = struct.unpack("<HH", directory[place + 28 : place + 32])
                begin, end = place + 46 + name, place + 46 + name + extra
                yield at + place, at + begin
                yield from _understood(at + begin, directory[begin:end])
            yield at + (end or place), at + place + size
            place += size


_MEMBER = b"PK\1\2"
_EXTRA = {0x0001: 28, 0x000A: 32, 0x5455: 13, 0x5855: 12, 0x7855: 4, 0x7875: 11, 0xCAFE: 0}
"""Extra fields of a member that are sizes, times or owners, and their longest content."""
_PADDING = (0xA220, 0xD935)
"""The same of padding: what is not zero after its first four bytes is something else."""


def _understood(at: int, extra: bytes) -> Iterator[tuple[int, int]]:
    """Yield where extra fields are that hold sizes, times, owners or padding."""
    place = 0
    while place + 4 <= len(extra):
        kind, size = struct.unpack("<HH", extra[place : place + 4])
        content = extra[place + 4 : place + 4 + size]
        is_padding = kind in _PADDING and not content[4:].strip(b"\0")
        if len(content) == size and (is_padding or size <= _EXTRA.get(kind, -1)):
            yield at + place, at + place + 4 + size
        place += 4 + size


_RECORDS = (
    (_MEMBER, lambda each: 46 + sum(struct.unpack("<HHH", each[28:34]))),
    (b"PK\6\6", lambda each: 12 + int.from_bytes(each[4:12], "little")),
    (b"PK\6\7", lambda each: 20),
    (b"PK\5\6", lambda each: 22 + int.from_bytes(each[20:22], "little")),
)
"""Records at the end of an archive, and the length of each."""


def _descriptor(file: IO[bytes], at: int) -> int:
    """Return the length of what follows the data of a member: its sizes, once more."""
    file.seek(at)
    found = file.read(26)
    sizes = (16, 24) if found.startswith(b"PK\7\x08") else (12, 20)
    return next((size for size in sizes if found[size : size + 2] == b"PK"), 0)


def _of_zstd(path: Path, file: IO[bytes]) -> Iterator[tuple[int, int]]:
    at = 0
    while len(head := _read(file, at, 9)) == 9:
        if head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5:
            size = int.from_bytes(head[4:8], "little")
            if size <= _LONGEST_SKIPPED:
                yield at, at + 8 + size
            at += 8 + size
            continue
        if not head.startswith(_FRAME):
            return
        start, flags = at, head[4]
        single = flags >> 5 & 1
        at += 5 + (not single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
        is_last = False
        while not is_last:
            block = int.from_bytes(_read(file, at, 3), "little")
            is_last = bool(block & 1) or not block
            at += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        at += 4 * (flags >> 2 & 1)
        yield start, at


def _read(file: IO[bytes], at: int, size: int) -> bytes:
    file.seek(at)
    return file.read(size)


def _of_streams(path: Path, file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where each stream of a gzip or xz file is; later ones that say more are none."""
    is_gzip = path.name.lower().endswith(".gz")
    mark, at = b"\x1f\x8b" if is_gzip else b"\xfd7zXZ", 0
    while (head := _read(file, at, 6)).startswith(mark):
        if at and is_gzip and head[3] & 28:
            return
        stream: Any = zlib.decompressobj(31) if is_gzip else lzma.LZMADecompressor()
        end = at
        file.seek(at)
        while not stream.eof and (piece := file.read(_PIECE)):
            stream.decompress(piece)
            end += len(piece)
        end -= len(stream.unused_data)
        yield at, end
        file.seek(end)
        while (padding := file.read(_PIECE)) and not padding.strip(b"\0"):
            end += len(padding)
        at = end + len(padding) - len(padding.lstrip(b"\0"))


def _of_parquet(path: Path, file: IO[bytes]) -> Iterator[tuple[int, int]]:
    size = file.seek(0, os.SEEK_END)
    length = int.from_bytes(_read(file, size - 8, 4), "little")
    footer, end = _Compact(_read(file, size - 8 - length, length)).struct(0)
    yield 0, 4
    yield size - 8 - length, size - 8 - length + end
    yield size - 8, size
    for group in footer.get(4, ()):
        for chunk in group.get(1, ()):
            yield from _of_pages(file, chunk[3])
            for place in (4, 6):  # indexes of its pages
                if place in chunk:
                    yield chunk[place], chunk[place] + chunk.get(place + 1, 0)


def _of_pages(file: IO[bytes], chunk: dict[int, Any]) -> Iterator[tuple[int, int]]:
    at = min([chunk[place] for place in (9, 11) if chunk.get(place)], default=4)
    start, values = at, 0
    while values < chunk.get(5, 0):
        page, size = _begun(file, at)
        if not size:
            raise IndexError("a page without a header")
        at += size + page[3]
        values += max(page.get(kind, {}).get(1, 0) for kind in (5, 8))
    again, size = _begun(file, at)  # polars writes here, too, what the footer says
    yield start, at + (size if again == chunk else 0)
    if chunk.get(14):
        bloom, size = _begun(file, chunk[14])
        yield chunk[14], chunk[14] + size + bloom.get(1, 0)


@dataclass(frozen=True)
class NumberDictionary:
    """The dictionary of a column of numbers in a row group of a Parquet file."""

    group: int
    column: int
    kind: str  # of a number, as numpy calls it
    codec: str  # empty: not packed
    packed: bytes
    size: int  # unpacked


def number_dictionaries(path: Path) -> Iterator[NumberDictionary]:
    """Yield each dictionary of numbers of a Parquet file, as it is packed.

    LookupError and its like: The file is damaged.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        length = int.from_bytes(_read(file, size - 8, 4), "little")
        footer, _ = _Compact(_read(file, size - 8 - length, length)).struct(0)
        for group, parts in enumerate(footer.get(4, ())):
            for place, part in enumerate(parts.get(1, ())):
                chunk = part[3]
                at = min([chunk[field] for field in (9, 11) if chunk.get(field)], default=4)
                page, head = _begun(file, at) if chunk[1] in PHYSICAL else ({}, 0)
                if page.get(1) == _DICTIONARY:
                    packed = _read(file, at + head, page[3])
                    codec = _CODECS[chunk.get(4, 0)]
                    yield NumberDictionary(group, place, PHYSICAL[chunk[1]], codec, packed, page[2])


_DICTIONARY = 2  # the type of a page that holds one
PHYSICAL = {1: "<i4", 2: "<i8", 4: "<f4", 5: "<f8"}
"""Types of the numbers of a Parquet file, by their numbers there."""
_CODECS = ("", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw")


def _begun(file: IO[bytes], at: int) -> tuple[dict[int, Any], int]:
    """Return a structure that is at a place before other bytes, and its length."""
    for size in (2**10, 2**26):  # statistics of long texts are longer
        try:
            return _Compact(_read(file, at, size)).struct(0)
        except IndexError:
            continue
    return {}, 0


class _Compact:
    """Structures as Thrift packs them: fields by their numbers."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def struct(self, at: int) -> tuple[dict[int, Any], int]:
        """Return the fields of a structure, and where it ends."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self.data[at]:
            at += 1
            if head >> 4:
                number += head >> 4
            else:
                number, at = self._signed(at)
            fields[number], at = self._value(head & 15, at)
        return fields, at + 1

    def _value(self, kind: int, at: int) -> tuple[Any, int]:
        if kind in (1, 2):
            return kind == 1, at
        if kind in (4, 5, 6):
            return self._signed(at)
        if kind in (3, 7):
            return None, at + (1 if kind == 3 else 8)
        if kind == 8:
            size, at = self._number(at)
            return self.data[at : at + size], self._within(at + size)
        if kind in (9, 10):
            many, at = self.data[at] >> 4, at + 1
            of = self.data[at - 1] & 15
            if many == 15:
                many, at = self._number(at)
            each: list[Any] = []
            for _ in range(many):
                value, at = self._value(3 if of in (1, 2) else of, at)
                each.append(value)
            return each, at
        if kind == 12:
            return self.struct(at)
        raise IndexError(f"no kind {kind}")

    def _within(self, at: int) -> int:
        if at > len(self.data):
            raise IndexError
        return at

    def _number(self, at: int) -> tuple[int, int]:
        number, shift = 0, 0
        while True:
            byte = self.data[at]
            number |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return number, at

    def _signed(self, at: int) -> tuple[int, int]:
        number, at = self._number(at)
        return (number >> 1) ^ -(number & 1), at


def _of_arrow(path: Path, file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the schema, the batches that the end of the file lists, and this list."""
    size = file.seek(0, os.SEEK_END)
    begun = _read(file, 0, 12)
    if begun.startswith(b"FEA1"):  # asked about as a whole
        yield 0, size
        return
    ipc: Any = optional("pyarrow.ipc", extra="formats", purpose="Reading Arrow files")
    if not begun.startswith(b"ARROW1"):
        file.seek(0)
        for _ in ipc.MessageReader.open_stream(file):
            pass
        yield 0, file.tell()
        return
    length = int.from_bytes(_read(file, size - 10, 4), "little")
    footer = size - 10 - length
    yield footer, size
    if _read(file, footer - 8, 8) == _END:
        yield footer - 8, footer
    blocks = list(_blocks(_read(file, footer, length)))
    yield from blocks
    first = min([start for start, _ in blocks], default=footer)
    if begun[8:] == _END[:4]:
        first = 16 + int.from_bytes(_read(file, 12, 4), "little")
    yield 0, min(first, 16 + length)  # polars writes the schema without its length


def _blocks(footer: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the dictionaries and batches of an Arrow file are."""
    (root,) = struct.unpack_from("<I", footer)
    table = root - struct.unpack_from("<i", footer, root)[0]
    (width,) = struct.unpack_from("<H", footer, table)
    for field in (8, 10):
        place = struct.unpack_from("<H", footer, table + field)[0] if field < width else 0
        if not place:
            continue
        at = root + place + struct.unpack_from("<I", footer, root + place)[0]
        for number in range(struct.unpack_from("<I", footer, at)[0]):
            start, head, body = struct.unpack_from("<qi4xq", footer, at + 4 + 24 * number)
            yield start, start + head + body


_WALKS = {
    (".zip", ".xlsx", ".xlsm"): _of_zip,
    (".zst",): _of_zstd,
    (".gz", ".xz"): _of_streams,
    (".parquet", ".pq"): _of_parquet,
    (".arrow", ".feather"): _of_arrow,
}
