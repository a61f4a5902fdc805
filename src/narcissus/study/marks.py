"""The mark of this installation: which results it wrote, and so may replace and continue.

A results folder may come from somebody else, with a record, a seed or trials that suit them. Only
what this installation wrote is replaced or used. Its key is drawn at the first run and stays in a
private folder of the user. A file of the results folder lists an HMAC-SHA-256 (RFC 2104) of the
name and the content of each file that was written there. Whoever sends a folder back, mark
included, cannot have changed a file in it. Reading and verifying a record needs no mark.
"""

from __future__ import annotations

import hmac
import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from narcissus._files import LARGEST
from narcissus._folders import OpenedFolder, opened_folder, opened_through_links
from narcissus.errors import InputError, StoreError
from narcissus.study.keyed import FILE as DIGEST_KEY
from narcissus.study.keyed import kept_key, new_key

FILE = "narcissus.marks"
"""Name of the list of marks in a results folder: a line for each file that was written."""
KEY = "installation.key"
"""Name of the key in the private folder of the user."""
RELEASES = "releases"
"""Name of the folder of kept releases in a results folder."""
NAMES = (
    *("record.json", "record.json.sig", "report.html", "entropy.txt", DIGEST_KEY),
    *("index.html", "data.csv", "data.json", "picture.svg"),
)
"""Files of a results folder that a run replaces or relies on; trials have marks of their own."""
_FOLDER = ""
"""Stands for the folder itself in the list of marks."""


def private_folder() -> Path | None:
    """Return the folder of the key: below ``XDG_STATE_HOME``, else below the home folder.

    None where neither is an absolute path, or the home folder does not exist.
    """
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        home = Path(os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "HOME", ""))
        if not home.is_absolute() or not home.is_dir():
            return None
        state = home if sys.platform == "win32" else home / ".local" / "state"
    return Path(os.path.realpath(state)) / "narcissus"  # links of the user's own home are followed


def installation_key() -> bytes | None:
    """Read the key of this installation, 32 bytes; draw it at the first call.

    None where it cannot be kept, or where others can read it.
    """
    folder = private_folder()
    if folder is None:
        return None
    try:
        if (key := kept_key(folder, KEY)) is None:
            new_key(folder, KEY)
            key = kept_key(folder, KEY)
    except (StoreError, InputError):
        return None
    return key


def write_marked(
    place: OpenedFolder, name: str, content: str | bytes, *, private: bool = False
) -> None:
    """Write a file of a results folder, and its mark first: a run may be killed in between.

    OSError: it cannot be written; the error names the file.
    """
    _mark(place, name, content)
    place.write(name, content, private=private)


def mark_folder(folder: Path) -> None:
    """Mark a results folder, which is made, as one that this installation began."""
    with opened_folder(folder, make=True) as place:
        _mark(place, _FOLDER, b"")


def unmarked(folder: Path) -> list[str]:
    """Return the names in a results folder of what this installation did not write as it is.

    Raises InputError: a link leads to the folder.
    """
    try:
        with opened_folder(folder) as place:
            return _unmarked(place)
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_marked(folder: Path, name: str) -> bool:
    """Return whether this installation wrote a file of a folder as it is."""
    try:
        with opened_folder(folder) as place:
            return _is_marked(place, name, _marks(place))
    except OSError:
        return False


def _unmarked(place: OpenedFolder) -> list[str]:
    marks = _marks(place)
    return [name for name in NAMES if place.lstat(name) and not _is_marked(place, name, marks)]


def require_marked(folder: Path, *, restart: bool = False) -> None:
    """Refuse a results folder that holds results of somebody else, or changed ones.

    restart: allow those that a run replaces; releases are used again, so they are refused.
    """
    try:
        with opened_folder(folder) as place:
            for name in (FILE, *NAMES):
                _refuse_strange(place, name)
            if not restart:
                _refuse(folder, _unmarked(place))
            is_strange = place.lstat(RELEASES) and _marked(_FOLDER, b"") not in _marks(place)
    except (FileNotFoundError, NotADirectoryError):
        return
    if is_strange:
        raise StoreError(
            f"{folder / RELEASES} holds releases that this installation did not keep: remove it, "
            f"or choose another folder with --out{advice()}"
        )


def _refuse_strange(place: OpenedFolder, name: str) -> None:
    """Refuse what no file can take the place of: a run would find that in its end."""
    there, path = place.lstat(name), place.path / name
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise StoreError(
            f"{path} is a folder, and no file that a run has left there: remove it, or choose "
            "another folder with --out"
        )
    if there is None or not stat.S_ISREG(there.st_mode):  # links and pipes are replaced
        return
    with suppress(OSError):  # of another user: what it is replaced by says so
        handle = place.open(name, getattr(os, "O_PATH", os.O_RDONLY))
        try:
            is_mounted = place.is_of_another_mount(handle)
        finally:
            os.close(handle)
        if is_mounted:
            raise StoreError(
                f"{path} is mounted from elsewhere: unmount it, or choose another folder with --out"
            )


SHOWN = ("report.html", "index.html")
"""Files of a results folder that may be shown to everybody: without a seed, drawn to be shown."""


def write_results(folder: Path, texts: Mapping[str, str], *, restart: bool = False) -> None:
    """Write files of a results folder by name, each with its mark.

    Other users of the machine may read those of `SHOWN` alone, whatever the umask.

    folder: made where it is missing, and never reached by a link.
    restart: replace results that this installation did not write, or that were changed since.
    Raises StoreError: there are such results. InputError: a link leads to the folder. OSError: a
        file cannot be written; the error names it.
    """
    with opened_folder(folder, make=True) as place:
        for name in (FILE, *texts):
            _refuse_strange(place, name)
        if not restart:
            _refuse(folder, [name for name in _unmarked(place) if name in texts])
        written: list[str] = []
        for name, text in texts.items():
            try:
                write_marked(place, name, text, private=name not in SHOWN)
            except OSError as error:
                if not written:
                    raise
                why = f"{error.strerror}; {' and '.join(written)} next to it was written"
                raise type(error)(error.errno, why, error.filename) from error
            written.append(name)


def _refuse(folder: Path, names: list[str]) -> None:
    if names:
        raise StoreError(
            f"{folder} holds results that this installation did not write, or that were changed "
            f"since: {', '.join(names)}; choose another folder with --out, or replace them with "
            f"--restart{advice()}"
        )


def replace_marked(path: Path, text: str, *, private: bool) -> None:
    """Write a file next to a record; refuse to replace one that this installation did not write.

    private: whether it is for this user alone.
    """
    with opened_through_links(path.parent) as place:
        if place.lstat(path.name) and not _is_marked(place, path.name, _marks(place)):
            raise StoreError(
                f"{path} was not written by this installation, or was changed since: choose "
                f"another file with --out, or remove it{advice()}"
            )
        write_marked(place, path.name, text, private=private)


CANNOT_KEEP = (
    "no key of this installation can be kept here: let XDG_STATE_HOME name a folder that is yours "
    "alone and that stays"
)
"""Why a later run will not recognise results of this one, and what to do."""


def advice() -> str:
    """Return what to add to a refusal where no key can be kept; nothing where there is one."""
    return "" if installation_key() else f"; {CANNOT_KEEP}"


def digest_key(folder: Path) -> bytes:
    """Return the key of a results folder's digests; draw it where there is none of ours."""
    key = None if DIGEST_KEY in unmarked(folder) else kept_key(folder)
    return new_key(folder, write=write_marked) if key is None else key


def _marked(name: str, content: bytes) -> str:
    key = installation_key()
    text = name.encode() + b"\0" + content
    return "" if key is None else hmac.new(key, text, "sha256").hexdigest()


def _mark(place: OpenedFolder, name: str, content: str | bytes) -> None:
    """Add a mark to the list of a folder; add none where this installation keeps no key."""
    data = content.encode() if isinstance(content, str) else content
    if not (made := _marked(name, data)):
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
    there = place.lstat(FILE)
    if there is not None and (not stat.S_ISREG(there.st_mode) or there.st_nlink > 1):
        place.remove(FILE)  # a link or a pipe of somebody else, which is never written to
    with os.fdopen(place.open(FILE, flags, 0o600), "rb+", buffering=0) as file:
        if made not in _lines(file.read(_MOST)):
            file.write(f"\n{made}\n".encode())  # a line may be half, of a run that was killed


_MOST = 2**24
"""Most bytes that are read of a list of marks."""


def _lines(content: bytes) -> set[str]:
    return {*content.decode("ascii", "replace").split()}


def _marks(place: OpenedFolder) -> set[str]:
    return _lines(_content(place, FILE, largest=_MOST))


def _is_marked(place: OpenedFolder, name: str, marks: set[str]) -> bool:
    content = _content(place, name, largest=LARGEST) if marks else b""
    return bool(content) and _marked(name, content) in marks


def _content(place: OpenedFolder, name: str, *, largest: int) -> bytes:
    """Read a file of a folder; nothing of what is a link, a pipe, or too large."""
    try:
        handle = place.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b""
    try:
        there = os.fstat(handle)
        if not stat.S_ISREG(there.st_mode) or there.st_size > largest:
            return b""
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(largest)
    finally:
        os.close(handle)
