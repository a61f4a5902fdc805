"""Zip archives of others, whose list of members is looked at before it is read."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from narcissus.errors import InputError

LARGEST_DIRECTORY = 2**24
"""Most bytes of the list of an archive's members, which is read whole before any member is."""


@contextmanager
def opened_archive(path: Path | str, content: bytes | None = None) -> Generator[zipfile.ZipFile]:
    """Yield a zip archive whose list of members is at most `LARGEST_DIRECTORY` bytes.

    content: What was read of it; None: the file is opened.

    zipfile.BadZipFile: It is none. InputError: The list is larger.
    """
    with open(path, "rb") if content is None else io.BytesIO(content) as file:
        if (size := _directory_size(file)) > LARGEST_DIRECTORY:
            raise InputError(f"{path}: the list of its members has {size:,} bytes")
        with zipfile.ZipFile(file) as archive:
            yield archive


def _directory_size(file: IO[bytes]) -> int:
    """Return the longest list of members that an archive may be said to have; 0: it is none.

    Readers differ in which of several records they believe, so that all count.
    """
    size = file.seek(0, os.SEEK_END)
    tail_start = file.seek(max(0, size - 2**16 - 98))  # a comment, and the records before it
    tail = file.read()
    limit = 0
    for end in (match.start() for match in re.finditer(b"PK\x05\x06", tail)):
        size_field = int.from_bytes(tail[end + 12 : end + 16], "little")
        locator = tail[max(0, end - 20) : end]
        if not locator.startswith(b"PK\x06\x07"):
            limit = max(limit, size_field)
            continue
        # the record of 64 bits stands where the locator says, or directly before it
        records = [int.from_bytes(locator[8:16], "little"), tail_start + end - 76]
        sizes = [_size_in_record(file, place) for place in records if 0 <= place < size]
        limit = max(limit, *(record_size for record_size in sizes if record_size is not None), 0)
        if all(record_size is None for record_size in sizes):
            limit = max(limit, size_field)
    return limit


def _size_in_record(file: IO[bytes], place: int) -> int | None:
    file.seek(place)
    record = file.read(56)
    return int.from_bytes(record[40:48], "little") if record.startswith(b"PK\x06\x06") else None
