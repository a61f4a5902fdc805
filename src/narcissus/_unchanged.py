"""Files that must not change between their check, their reading and their digest.

A file may be read more than once: checked, read, digested. A verdict holds for one content only,
so what is changed, replaced or removed in between is an error. A file is compared by its inode,
size and times; the time of its last change (``ctime``) cannot be set back by who writes it.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from narcissus.errors import InputError

FileState = tuple[int, int, int, int, int]
"""Device, inode, size in bytes, and times of the last change of content and of anything."""
OWN_FOLDERS: set[Path] = set()
"""Folders that this process made, and that it alone writes."""
_WATCHES: ContextVar[tuple[dict[Path, FileState], ...]] = ContextVar("watches", default=())


def state_of(status: os.stat_result) -> FileState:
    """Return what changes with every change of a file."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def note_reading(path: Path, status: os.stat_result) -> None:
    """Note the state of a file that is about to be read; files of this process are its own."""
    if OWN_FOLDERS.isdisjoint((place := path.absolute()).parents):
        for watch in _WATCHES.get():
            watch.setdefault(place, state_of(status))


@contextmanager
def unchanged_files() -> Generator[None]:
    """Refuse, in the end, what has changed since it was first read in this context.

    Raises InputError: a file was changed, replaced or removed.
    """
    token = _WATCHES.set((*_WATCHES.get(), {}))
    try:
        yield
        require_unchanged()
    finally:
        _WATCHES.reset(token)


def require_unchanged() -> None:
    """Refuse now what has changed since it was first read in any context around."""
    for watch in _WATCHES.get():
        for path, before in watch.items():
            try:
                is_same = state_of(path.stat()) == before
            except OSError:
                is_same = False
            if not is_same:
                raise InputError(
                    f"{path} was changed, replaced or removed while it was read, so nothing is "
                    "judged: run the same command again, on files that stay as they are"
                )
