"""Temporary folders that are gone with the run that made them, or at the next start at the latest.

Who uses a folder holds a lock on it. The kernel gives the lock up with the process, whatever ends
it, so that a folder without one is nobody's: unlike a process number that cannot be mistaken, nor
does it depend on seeing the process (another container may share the temporary folder).
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from narcissus._guard import remove

try:
    import fcntl
except ImportError:  # not on Windows: there the run that makes a folder removes it, and nobody else
    fcntl = None

PREFIX = "narcissus-run-"
_UNLOCKED = ".narcissus-new-"  # for the moment between its making and its lock; empty


@contextmanager
def scratch_folder() -> Generator[Path, None, None]:
    """Make a folder that only this user can enter; remove it in the end with all that is in it."""
    place = tempfile.gettempdir()
    sweep(place)
    new = Path(tempfile.mkdtemp(prefix=_UNLOCKED, dir=place))
    held = _lock(new)
    folder = new.rename(new.with_name(PREFIX + new.name.removeprefix(_UNLOCKED)))
    try:
        yield folder
    finally:
        remove(str(folder))
        if held is not None:
            os.close(held)


@lru_cache(maxsize=16)
def sweep(place: str) -> None:
    """Remove, once in a process, the folders of runs that are over and could not do it."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            found = entry.stat(follow_symlinks=False)
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            if entry.name.startswith(_UNLOCKED) and found.st_mtime < time.time() - 3600:
                with suppress(OSError):
                    os.rmdir(entry.path)
            if not entry.name.startswith(PREFIX):
                continue
            held = _lock(Path(entry.path))
            if held is not None:
                remove(entry.path)
                os.close(held)


def _lock(folder: Path) -> int | None:
    """Take the lock of a folder; None where another has it, or where there are no locks."""
    if fcntl is None:
        return None
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
