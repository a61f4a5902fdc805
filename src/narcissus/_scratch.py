"""Temporary folders that are removed with their run, or at the next start at the latest.

Each user of a folder holds a lock on it. The kernel releases the lock with the process, whatever
ends it, so a folder without one is unused. Unlike a process number, a lock cannot be mistaken and
works without seeing the process (another container may share the temporary folder).
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from narcissus._guard import enter_folder, remove
from narcissus._unchanged import OWN_FOLDERS
from narcissus.errors import LeftFolderWarning

try:
    import fcntl
except ImportError:  # not on Windows: there the run that makes a folder removes it, and nobody else
    fcntl = None

PREFIX = "narcissus-run-"
_UNLOCKED = ".narcissus-new-"  # for the moment between its making and its lock; empty


def name_folder(drawn: str) -> str:
    """Return the name of a folder of ours, which nobody gives to another by accident."""
    return f"{PREFIX}{drawn}-{hashlib.sha256(drawn.encode()).hexdigest()[:12]}"


@contextmanager
def scratch_folder() -> Generator[Path, None, None]:
    """Create a folder that only this user can enter; remove it with its content in the end."""
    place = tempfile.gettempdir()
    sweep(place)
    new = Path(tempfile.mkdtemp(prefix=_UNLOCKED, dir=place))
    lock = _lock(new)
    folder = new.rename(new.with_name(name_folder(new.name.removeprefix(_UNLOCKED))))
    OWN_FOLDERS.add(folder)
    try:
        yield folder
    finally:
        OWN_FOLDERS.discard(folder)
        is_gone = remove(str(folder))
        if lock is not None:
            os.close(lock)
        if not is_gone:
            _warn(str(folder))


@lru_cache(maxsize=16)
def sweep(place: str) -> None:
    """Remove, once per process, the folders that finished runs could not remove."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            if entry.name.startswith(_UNLOCKED) and status.st_mtime < time.time() - 3600:
                with suppress(OSError):
                    os.rmdir(entry.path)
            drawn = entry.name.removeprefix(PREFIX).partition("-")[0]
            if entry.name != name_folder(drawn):
                continue
            with suppress(OSError):  # one that is gone meanwhile
                lock = _lock(Path(entry.path))
                if lock is not None:
                    is_gone = remove(entry.path)
                    os.close(lock)
                    if not is_gone:
                        _warn(entry.path)


def _warn(folder: str) -> None:
    text = f"the folder {folder} of a run cannot be removed, and may hold its data: remove it"
    warnings.warn(LeftFolderWarning(text), stacklevel=3)


def _lock(folder: Path) -> int | None:
    """Lock a folder; None where another process has it, or where locks do not exist."""
    if fcntl is None:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except PermissionError:  # its program has closed it
        handle = enter_folder(str(folder), None)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
