"""Zip archives of others, whose list of members is looked at before it is read."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from narcissus.errors import InputError

LARGEST_DIRECTORY = 2**24
"""Most bytes of the list of an archive's members, which is read whole before any member is."""


def array_name(member: str) -> str:
    """Return the array that a member of an ``.npz`` file is, whichever reader names it.

    NumPy leaves out one ``.npy``, and takes a name as it is as well.

    >>> array_name("images.npy"), array_name("images"), array_name("images.npy.npy")
    ('images', 'images', 'images')
    """
    while member.endswith(".npy"):
        member = member.removesuffix(".npy")
    return member


@contextmanager
def opened_archive(
    path: Path | str,
    content: bytes | None = None,
    *,
    same: Callable[[str], str] = str,
    noun: str = "file",
) -> Generator[zipfile.ZipFile]:
    """Yield a zip archive with one member of a name, listed in `LARGEST_DIRECTORY` bytes at most.

    content: What was read of it; None: the file is opened.
    same: Gives equal texts for names that a reader may take for one another.
    noun: What a member is, for messages.

    zipfile.BadZipFile: It is none. InputError: The list is larger, or a name is twice in it:
        readers differ in which of two members they take.
    """
    with open(path, "rb") if content is None else io.BytesIO(content) as file:
        if (size := _directory_size(file)) > LARGEST_DIRECTORY:
            raise InputError(f"{path}: the list of its members has {size:,} bytes")
        with zipfile.ZipFile(file) as archive:
            _require_once(archive.namelist(), path, same, noun)
            yield archive


def _require_once(
    names: Iterable[str], path: Path | str, same: Callable[[str], str], noun: str
) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if (key := same(name)) in seen:
            other = seen[key]
            which = "twice" if other == name else f"and {name!r}, which are one {noun}"
            raise InputError(
                f"{path} holds {other!r} {which}: which one a program reads is open; write the "
                "file again"
            )
        seen[key] = name


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
