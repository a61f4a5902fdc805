"""The store of finished trials: one append-only file in the results folder.

Each trial is one block, written as it ends: a mark, two lengths, a checksum, the key, the payload.
A run that was killed leaves at most one half block behind. No other file is read, followed or
removed. Checksums are keyed by the study and by this installation: a block shows by itself whose it
is, and trials that others wrote do not count.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import stat
import struct
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import MOST_UNPACKED, Arrays, pack, unpack
from narcissus._files import is_ours
from narcissus._folders import OpenedFolder, opened_folder
from narcissus.errors import AnotherStudyError, StoreError
from narcissus.observer import SILENT, Observer
from narcissus.study.marks import advice, installation_key

FILE = "trials.store"
RESULTS = ("record.json", "report.html")

MARK = b"\x89NTR"
_HEAD = struct.Struct("<4sHQ")  # the mark, bytes of the key, bytes of the payload
_SUM = 16  # bytes of a checksum, between head and key
_PIECE = 2**20  # bytes that are read at a time
# What is read of a file that was made to be read for ever; what then is left counts as lost.
_REREAD, _MOST_WORK = 4, 2**26  # times its size, and bytes

Payload = Arrays


class TrialStore:
    """Finished trials by key; use as a context manager.

    The results folder is made if it does not exist. ``identity`` is what the study is, as plain
    values: another identity in the file is refused. ``restart`` throws away what is there. A folder
    that cannot be written, belongs to another study, or is in use by another run raises StoreError.
    """

    def __init__(
        self,
        folder: Path | str,
        identity: Mapping[str, object],
        *,
        restart: bool = False,
        observer: Observer = SILENT,
    ) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE
        self._identity = json.dumps(identity, sort_keys=True, default=str).encode()
        # without a key of this installation, no later run recognises the trials
        key = installation_key() or secrets.token_bytes(32)
        self._secret = blake2b(self._identity, key=key).digest()
        _require_writable(self.folder)
        if not (restart or os.path.lexists(self.path)) and (self.folder / RESULTS[0]).exists():
            raise StoreError(
                f"{self.folder} holds the results of another run but no trials: "
                "choose another folder with --out, or start over with --restart"
            )
        self._file = self._open_locked()
        try:
            self._found = self._read(observer, restart=restart)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> TrialStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; finished trials stay in it."""
        with suppress(OSError):
            self._file.close()

    def put(self, key: str, payload: Payload) -> None:
        """Append one finished trial; a later one of the same key takes its place."""
        blob = pack(payload)
        start = self._append(key.encode(), blob, self._secret)
        self._found.places[key] = (start, len(blob))

    def keys(self) -> set[str]:
        return set(self._found.places)

    def get(self, key: str) -> dict[str, NDArray[np.generic]]:
        start, length = self._found.places[key]
        self._file.seek(start)
        try:
            return unpack(self._file.read(length))
        except Exception as error:  # whatever NumPy and zipfile meet in bytes of somebody else
            if is_ours(error, LookupError, TypeError, ValueError):
                raise
            raise self.forged(
                f"trial {key} is no trial ({type(error).__name__}), though its checksum fits"
            ) from error

    def forged(self, why: str) -> StoreError:
        """Error for trials whose checksum fits and that no run of ours wrote."""
        return StoreError(
            f"{self.path} was not written by this study: {why}; choose another "
            "folder with --out, or start over with --restart"
        )

    def _open_locked(self) -> io.FileIO:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
        try:
            with opened_folder(self.folder) as place:
                self._refuse_strange(place.lstat(FILE))
                file = os.fdopen(place.open(FILE, flags, 0o600), "r+b", buffering=0)
        except OSError as error:
            raise self._unwritable(error) from error
        try:  # what was opened, whatever was there when it was looked at
            self._refuse_strange(there := os.fstat(file.fileno()))
            with opened_folder(self.folder) as place:
                self._refuse_mounted(place, file)
                self._refuse_shared(place, there)
        except BaseException:
            file.close()
            raise
        if not _lock(file):
            file.close()
            raise StoreError(
                f"{self.folder} is in use by another run: wait for it, or choose another folder "
                "with --out"
            )
        return file

    def _refuse_strange(self, there: os.stat_result | None) -> None:
        """Refuse what is not a separate file: a link would have us write to wherever it leads."""
        if there is not None and (not stat.S_ISREG(there.st_mode) or there.st_nlink > 1):
            raise StoreError(
                f"{self.path} is a link, a folder or a pipe, and no file that a run has left "
                "there: remove it, or choose another folder with --out"
            )

    def _refuse_mounted(self, place: OpenedFolder, file: io.FileIO) -> None:
        """Refuse a file from elsewhere: it can be emptied, and neither replaced nor removed."""
        if place.is_of_another_mount(file.fileno()):
            raise StoreError(
                f"{self.path} is mounted from elsewhere: unmount it, or choose another folder with "
                "--out"
            )

    def _refuse_shared(self, place: OpenedFolder, there: os.stat_result) -> None:
        """Refuse a file of another user: whoever owns it reads and changes trials meanwhile."""
        if not place.is_of_this_user(there):
            raise StoreError(
                f"{self.path} belongs to another user, or others may write it: choose another "
                "folder with --out, or remove it"
            )

    def _read(self, observer: Observer, *, restart: bool) -> _Found:
        """Index the file's trials, and leave it so that the next one can be appended."""
        if restart:
            with opened_folder(self.folder) as place:
                for name in RESULTS:
                    place.remove(name)
            return self._begin()
        index = _scan(self._file, self._secret)
        if index.identity not in {self._identity, None} and index.more:
            raise self._of_another(index.identity)
        if index.identity != self._identity and not index.places:
            if index.lost:
                observer.note(
                    "the store of trials was damaged: 0 intact trials were kept, all will be "
                    f"played again; the damaged file is {self._keep_aside()}"
                )
            return self._begin()
        if index.lost and not index.places:
            raise StoreError(
                f"{self.path} holds no trial that this installation wrote: others wrote them, or "
                "all are damaged; choose another folder with --out, or start over with "
                f"--restart{advice()}"
            )
        self._file.truncate(index.end)  # half a block, of a run that was killed
        if index.lost:
            observer.note(
                f"the store of trials was damaged: {len(index.places)} intact trials were kept, "
                "the others are lost and will be played again"
            )
        return index

    def _begin(self) -> _Found:
        self._file.truncate(0)
        self._found = _Found(identity=self._identity)
        self._append(b"", self._identity, b"")
        return self._found

    def _append(self, key: bytes, payload: bytes, secret: bytes) -> int:
        """Write one block at the end; return where its payload starts."""
        head = _HEAD.pack(MARK, len(key), len(payload))
        checksum = blake2b(head + key, digest_size=_SUM, key=secret)
        checksum.update(payload)
        left = memoryview(head + checksum.digest() + key + payload)
        end = self._found.end + len(left)
        try:
            self._file.seek(self._found.end)
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            with suppress(OSError):  # a disk that is full: no half block stays behind
                self._file.truncate(self._found.end)
            raise self._unwritable(error) from error
        self._found.end = end
        return end - len(payload)

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(f"cannot write to {self.path}: {error.strerror or error}")

    def _of_another(self, found: bytes | None) -> AnotherStudyError:
        try:
            old, new = json.loads(found or b""), json.loads(self._identity)
            differ = ", ".join(sorted(k for k in {*old, *new} if old.get(k) != new.get(k)))
        except (ValueError, TypeError, AttributeError, RecursionError):
            differ = "all that it says of itself"
        return AnotherStudyError(
            f"{self.folder} belongs to another study (different: {differ}): "
            "choose another folder with --out, or start over with --restart"
        )

    def _keep_aside(self) -> Path:
        """Copy a file in which nothing of ours is left next to it; return where."""
        number = 1
        while os.path.lexists(aside := self.folder / f"trials.damaged-{number}.store"):
            number += 1
        try:
            with opened_folder(self.folder) as place, _new_file(place, aside.name) as copy:
                self._file.seek(0)
                while piece := self._file.read(_PIECE):
                    copy.write(piece)
        except OSError as error:
            raise StoreError(f"cannot write to {aside}: {error.strerror or error}") from error
        return aside


@dataclass
class _Found:
    """What a file of trials holds."""

    identity: bytes | None = None
    # where each trial's payload starts, and its bytes
    places: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    end: int = 0  # where the last intact block ends
    lost: bool = False  # whether more is damaged than half a block at the end
    more: bool = False  # whether anything follows the identity


def _scan(file: io.FileIO, secret: bytes) -> _Found:
    """Look at all blocks; after a damaged one go on at the next mark."""
    index, size = _Found(), os.fstat(file.fileno()).st_size
    first = _block(file, 0, size, b"")
    if first is not None and not first[0]:
        _, start, length = first
        file.seek(start)
        index.identity, index.end = file.read(length), start + length
    index.more = index.end < size
    place, work = index.end, _MOST_WORK + _REREAD * size
    while place < size and work > 0:
        block = _block(file, place, size, secret)
        if block is not None:
            key, start, length = block
            index.places[key.decode(errors="replace")] = (start, length)
            index.lost = index.lost or place > index.end
            place = index.end = start + length
            continue
        claimed, left = _claimed(file, place), size - place
        work -= min(claimed, left) + _PIECE // 16
        is_half, place = claimed > left, _next_mark(file, place + 1, size)
        index.lost = index.lost or not is_half or place < size
    return index


def _head(file: io.FileIO, place: int) -> tuple[bytes, int, int] | None:
    """Read a block's head: its bytes, the key's and the payload's length."""
    file.seek(place)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(MARK):
        return None
    _, key, payload = _HEAD.unpack(head)
    return head, key, payload


def _claimed(file: io.FileIO, place: int) -> int:
    """Bytes that a block at ``place`` says it has, which may be more than are there."""
    head = _head(file, place)
    if head is not None:
        return _HEAD.size + _SUM + head[1] + head[2]
    file.seek(place)
    start = file.read(_HEAD.size)
    is_cut = len(start) < _HEAD.size and MARK.startswith(start[: len(MARK)])
    return _HEAD.size if is_cut else 1


def _block(file: io.FileIO, place: int, size: int, secret: bytes) -> tuple[bytes, int, int] | None:
    """Check the block at ``place``: its key, where its payload starts, its length; else None."""
    header = _head(file, place)
    if header is None:
        return None
    head, of_key, length = header
    start = place + _HEAD.size + _SUM + of_key
    if start + length > size or length > 2 * MOST_UNPACKED:
        return None
    stored, key = file.read(_SUM), file.read(of_key)
    checksum, left = blake2b(head + key, digest_size=_SUM, key=secret), length
    while left and (piece := file.read(min(left, _PIECE))):
        checksum.update(piece)
        left -= len(piece)
    return (key, start, length) if checksum.digest() == stored else None


def _next_mark(file: io.FileIO, place: int, size: int) -> int:
    """Find the next place that could begin a block; ``size`` where there is none."""
    while place < size:
        file.seek(place)
        piece = file.read(_PIECE)
        if (at := piece.find(MARK)) >= 0:
            return place + at
        if len(piece) < len(MARK):
            break
        place += len(piece) - len(MARK) + 1
    return size


def _lock(file: io.FileIO) -> bool:
    """Take the lock of a file, which the system gives up with the process; False if it is taken."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(2**40)  # far from anything that is written
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return True  # a system without locks
    except OSError:
        return False
    return True


def _new_file(place: OpenedFolder, name: str) -> io.FileIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return os.fdopen(place.open(name, flags, 0o600), "wb", buffering=0)


def _require_writable(folder: Path) -> None:
    try:
        with (
            opened_folder(folder, make=True),
            tempfile.TemporaryFile(dir=folder),  # no name that somebody could have taken
        ):
            pass
    except OSError as error:
        raise StoreError(f"cannot write to the results folder {folder}: {error}") from error
