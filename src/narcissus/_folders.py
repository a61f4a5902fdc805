"""Folders that are opened without following links, and files that are written in them.

A path that was checked may lead elsewhere a moment later. So the folder is opened part by part,
where no part may be a link, and files are made, replaced and removed relative to what was opened.
Opening step by step with ``O_NOFOLLOW`` refuses what ``openat2`` with ``RESOLVE_NO_SYMLINKS``
refuses, on every POSIX system. Windows opens no folders: there the path is checked.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from narcissus.errors import InputError

_IS_OPENED = sys.platform != "win32"
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_STAYS = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class OpenedFolder:
    """A folder that stays the same whatever its path comes to mean."""

    path: Path
    handle: int | None
    """Descriptor of the folder; None on Windows, where names are paths."""

    def _at(self, name: str) -> tuple[str, int | None]:
        return (str(self.path / name), None) if self.handle is None else (name, self.handle)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        """Open a file of the folder, never through a link; return its descriptor."""
        place, handle = self._at(name)
        flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            return os.open(place, flags | _STAYS, mode, dir_fd=handle)
        except OSError as error:
            raise self._named(error, name) from error

    def remove(self, name: str) -> bool:
        """Remove a file, or a link itself; return whether there was one."""
        place, handle = self._at(name)
        try:
            os.unlink(place, dir_fd=handle)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._named(error, name) from error
        return True

    def lstat(self, name: str) -> os.stat_result | None:
        """Return what is there under a name, links not followed; None for nothing."""
        place, handle = self._at(name)
        with suppress(FileNotFoundError):
            return os.stat(place, dir_fd=handle, follow_symlinks=False)
        return None

    def close_to_others(self) -> None:
        """Let nobody but its owner enter the folder."""
        if self.handle is not None:  # which may be one that is for paths alone
            opened = os.open(os.curdir, os.O_RDONLY, dir_fd=self.handle)
            try:
                os.fchmod(opened, 0o700)
            finally:
                os.close(opened)

    def is_of_this_user(self, there: os.stat_result) -> bool:
        """Return whether a file belongs to whoever makes files here, and no other may write it.

        Compared with a file that is made for that: some file systems say the same of every file.
        """
        if self.handle is None:
            return True
        name = f".{os.urandom(8).hex()}.partial"
        probe = self.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            made = os.fstat(probe)
        finally:
            os.close(probe)
            self.remove(name)
        extra_bits = stat.S_IMODE(there.st_mode) & ~stat.S_IMODE(made.st_mode)
        return there.st_uid == made.st_uid and not extra_bits & (stat.S_IWGRP | stat.S_IWOTH)

    def is_of_another_mount(self, opened: int) -> bool:
        """Return whether an opened file was mounted into the folder from elsewhere.

        Where the system does not number its mounts, another file system tells.
        """
        if self.handle is None:
            return False
        if os.fstat(opened).st_dev != os.fstat(self.handle).st_dev:
            return True
        return _mount_of(opened) != _mount_of(self.handle)

    def link(self, old: str, new: str) -> None:
        """Give a file a second name; FileExistsError where that is taken."""
        (source, handle), (target, _) = self._at(old), self._at(new)
        os.link(source, target, src_dir_fd=handle, dst_dir_fd=handle)

    def write(self, name: str, content: str | bytes, *, private: bool = False) -> None:
        """Write a file (text as UTF-8) so that it is either the old or the new one, never half.

        A private file is for this user alone from the start, whatever the umask. A link of the
        name is replaced, and what it leads to stays. OSError names the file.
        """
        partial, mode = f".{name}.{os.getpid()}.partial", 0o600 if private else 0o666
        (source, handle), (target, _) = self._at(partial), self._at(name)
        self.remove(partial)  # of a process that was killed; or a link to elsewhere
        made = False
        try:
            new = self.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            made = True
            with os.fdopen(new, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                if private and _IS_OPENED:
                    os.fchmod(file.fileno(), mode)  # a mask could have taken more away
            os.replace(source, target, src_dir_fd=handle, dst_dir_fd=handle)
        except BaseException as error:
            if made:
                with suppress(OSError):
                    self.remove(partial)
            if isinstance(error, OSError):
                raise self._named(error, name) from error
            raise

    def _named(self, error: OSError, name: str) -> OSError:
        """Return the error with the file's path: what is written to a descriptor has none."""
        return type(error)(error.errno, error.strerror or str(error), str(self.path / name))


def _mount_of(opened: int) -> str:
    """Return the number of the mount that a descriptor is of; '' where the system says none."""
    with suppress(OSError), open(f"/proc/self/fdinfo/{opened}", encoding="ascii") as file:
        return next((line for line in file if line.startswith("mnt_id:")), "")
    return ""


@contextmanager
def opened_folder(
    folder: Path, *, below: Path | None = None, make: bool = False, mode: int = 0o777
) -> Generator[OpenedFolder]:
    """Open a folder without following links.

    folder: every part of a relative path is looked at, and every part below the current folder; of
        another absolute path the last one, since a person named it.
    below: a folder, above ``folder``, of which the person chose the path: all that is below it is
        looked at, and nothing above.
    make: make what is missing, with ``mode``.
    Raises InputError: a part is a link. OSError: it is no folder, or is missing.
    """
    start, parts = parts_below(folder, below)
    if make and folder.is_absolute():
        start.mkdir(parents=True, exist_ok=True)
    if not _IS_OPENED:
        require_no_links(folder, "the folder", "another name", below=below)
        if make:
            folder.mkdir(mode=mode, parents=True, exist_ok=True)
        yield OpenedFolder(folder, None)
        return
    handle = os.open(start, _FOLDER)
    try:
        place = start
        for part in parts:
            place = place / part
            inner = _step(handle, part, place, mode if make else None)
            os.close(handle)
            handle = inner
        yield OpenedFolder(folder, handle)
    finally:
        os.close(handle)


@contextmanager
def opened_through_links(folder: Path) -> Generator[OpenedFolder]:
    """Open a folder that a person named, wherever links lead it."""
    handle = os.open(folder, _FOLDER) if _IS_OPENED else None
    try:
        yield OpenedFolder(folder, handle)
    finally:
        if handle is not None:
            os.close(handle)


def parts_below(folder: Path, below: Path | None = None) -> tuple[Path, tuple[str, ...]]:
    """Return where to begin, and the parts from there that may be no links."""
    if below is not None:
        return below, folder.relative_to(below).parts
    if not folder.is_absolute():
        return Path(), folder.parts
    with suppress(OSError, ValueError):  # the current folder is gone, or not above
        return (here := Path.cwd()), folder.relative_to(here).parts
    return folder.parent, (folder.name,) * bool(folder.name)


def _step(handle: int, part: str, place: Path, mode: int | None) -> int:
    if mode is not None:
        with suppress(FileExistsError):
            try:
                os.mkdir(part, mode, dir_fd=handle)
            except FileExistsError:
                raise
            except OSError as error:
                raise type(error)(error.errno, error.strerror, str(place)) from error
    try:
        return os.open(part, _FOLDER | _STAYS | os.O_CLOEXEC, dir_fd=handle)
    except OSError as error:
        status = None
        with suppress(OSError):
            status = os.stat(part, dir_fd=handle, follow_symlinks=False)
        if error.errno == errno.ELOOP or (status is not None and stat.S_ISLNK(status.st_mode)):
            raise InputError(_linked("the folder", place, place, "another name")) from error
        raise type(error)(error.errno, error.strerror, str(place)) from error


def require_no_links(folder: Path, name: str, option: str, *, below: Path | None = None) -> None:
    """Refuse a folder for results that a link leads elsewhere: another's files would be replaced.

    A folder that somebody sent may hold links under the names that this program takes. The parts
    that are looked at are those of `opened_folder`, which looks again when it writes.
    """
    start, parts = parts_below(folder, below)
    for count in range(len(parts) + 1)[1:]:
        place = start.joinpath(*parts[:count])
        if place.is_symlink():
            raise InputError(_linked(name, folder, place, option))


def _linked(name: str, folder: Path, place: Path, option: str) -> str:
    return (
        f"{name} {folder} is reached by a link, {place}: remove the link, or name the folder that "
        f"is meant with {option}"
    )
