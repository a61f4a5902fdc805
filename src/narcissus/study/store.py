"""The store of finished trials: an SQLite file in the results folder.

Each finished trial is committed as it ends, with a checksum, so that a run that was killed loses
at most the trials in flight. A store knows which study it belongs to and is used by one run at a
time. A damaged store gives up what is intact and is kept aside.
"""

from __future__ import annotations

import json
import sqlite3
import stat
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Arrays, pack, unpack
from narcissus.errors import StoreError
from narcissus.observer import SILENT, Observer

FILE = "trials.sqlite"
RESULTS = ("record.json", "report.html")

PAGE, HEADER = 4096, 100  # bytes of a page and of the file's header, as SQLite has them
LEAST_ROW = 256  # bytes; a packed trial is larger
# what could compute without end, or act, when it is read or written
_STRANGE = (
    "SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger') OR sql LIKE '%VIRTUAL%'"
)

Payload = Arrays
Found = tuple[str | None, list[tuple[str, int, bytes]], int]  # identity, intact trials, lost ones


class TrialStore:
    """Finished trials by key; use as a context manager.

    Parameters
    ----------
    folder
        The results folder; made if it does not exist.
    identity
        What the study is, as plain values: another identity in the file is refused.
    restart
        Throw away what is there.
    observer
        Hears what was found, kept or lost.

    Raises
    ------
    StoreError
        The folder cannot be written, belongs to another study, or is in use by another run.
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
        self._identity = json.dumps(identity, sort_keys=True, default=str)
        _require_writable(self.folder)
        self._refuse_strange()
        if restart:
            self._refuse_busy()
            self._remove()
        elif not self.path.exists() and (self.folder / RESULTS[0]).exists():
            raise StoreError(
                f"{self.folder} holds the results of another run but no trials: "
                "choose another folder with --out, or start over with --restart"
            )
        self._db = self._open(observer)

    def __enter__(self) -> TrialStore:
        """Give the store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; finished trials stay in it."""
        with suppress(sqlite3.Error):
            self._db.close()

    def put(self, key: str, payload: Payload) -> None:
        """Store one finished trial, durably."""
        blob = pack(payload)
        try:
            with self._db:
                self._db.execute(
                    "INSERT OR REPLACE INTO trials VALUES (?, ?, ?)", (key, zlib.crc32(blob), blob)
                )
        except sqlite3.Error as error:
            raise StoreError(f"cannot write to {self.path}: {error}") from error

    def keys(self) -> set[str]:
        """Give the keys of all finished trials."""
        return {key for (key,) in self._db.execute("SELECT key FROM trials")}

    def get(self, key: str) -> dict[str, NDArray[np.generic]]:
        """Give one finished trial."""
        row = self._db.execute("SELECT payload FROM trials WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        try:
            return unpack(row[0])
        except Exception as error:  # whatever NumPy and zipfile meet in bytes of somebody else
            raise self.forged(
                f"trial {key} is no trial ({type(error).__name__}), though its checksum fits"
            ) from error

    def forged(self, why: str) -> StoreError:
        """Give the error for trials whose checksum fits and that no run of ours wrote."""
        return StoreError(
            f"{self.path} was not written by this study: {why}; choose another "
            "folder with --out, or start over with --restart"
        )

    def _open(self, observer: Observer) -> sqlite3.Connection:
        """Open the file; where it is damaged, save what is intact into a new one."""
        if not self.path.exists():
            return self._create()
        db = sqlite3.connect(self.path, timeout=0.5, isolation_level="DEFERRED")
        try:
            _set_up(db)
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                db.close()
                return self._create()  # a run that was killed before its first write
            if db.execute(_STRANGE).fetchone() != (0,):
                db.close()
                raise self.forged("it holds more than tables")
            (found,) = db.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
            if db.execute("SELECT count(*) FROM trials").fetchone() == (0,):
                found = self._adopt(db)  # no trial was played: it is whoever's comes first
            intact = db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            damaged = not intact or any(
                zlib.crc32(blob) != crc
                for crc, blob in db.execute("SELECT crc, payload FROM trials")
            )
        except (sqlite3.DatabaseError, TypeError) as error:
            db.close()  # its lock would keep the salvage out
            if "locked" in str(error):
                raise self._busy() from error
            return self._salvage(observer)
        if damaged:
            db.close()
            return self._salvage(observer)
        try:
            self._refuse_other(found)
        except StoreError:
            db.close()
            raise
        return db

    def _adopt(self, db: sqlite3.Connection) -> str:
        with db:
            db.execute("UPDATE meta SET value = ? WHERE name = 'identity'", (self._identity,))
        return self._identity

    def _busy(self) -> StoreError:
        return StoreError(
            f"{self.folder} is in use by another run: wait for it, or choose another folder "
            "with --out"
        )

    def _refuse_strange(self) -> None:
        """Refuse what is no plain file: a link would have us write to wherever it leads."""
        for path in self.folder.glob(f"{FILE}*"):
            if not stat.S_ISREG(path.lstat().st_mode):
                raise StoreError(
                    f"{path} is a link, a folder or a pipe, and no file that a run has left there: "
                    "remove it, or choose another folder with --out"
                )

    def _refuse_busy(self) -> None:
        """Refuse to start over what another run is still writing."""
        if not self.path.exists():
            return
        db = sqlite3.connect(self.path, timeout=0.5)
        try:
            db.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise self._busy() from error
        finally:
            db.close()

    def _refuse_other(self, found: str) -> None:
        if found == self._identity:
            return
        old, new = json.loads(found), json.loads(self._identity)
        differ = sorted(k for k in {*old, *new} if old.get(k) != new.get(k))
        raise StoreError(
            f"{self.folder} belongs to another study (different: {', '.join(differ)}): "
            "choose another folder with --out, or start over with --restart"
        )

    def _create(self) -> sqlite3.Connection:
        try:
            return _create(self.path, self._identity)
        except sqlite3.Error as error:
            if "locked" in str(error) or "already exists" in str(error):  # another was quicker
                raise self._busy() from error
            raise StoreError(f"cannot write to {self.path}: {error}") from error

    def _salvage(self, observer: Observer) -> sqlite3.Connection:
        """Move the damaged file aside and copy what is intact."""
        aside = _unused(self.path)
        self.path.rename(aside)
        for suffix in ("-wal", "-shm"):
            extra = self.path.with_name(self.path.name + suffix)
            if extra.exists():
                extra.rename(aside.with_name(aside.name + suffix))
        identity, rows, lost = max(
            _intact(aside), self._intact_repaired(aside), key=lambda found: len(found[1])
        )
        if identity is not None:
            try:
                self._refuse_other(identity)
            except StoreError:
                aside.rename(self.path)
                raise
        elif rows:
            # Nobody can tell whose trials these are: they must not mix with this study's.
            lost, rows = lost + len(rows), []
        db = self._create()
        with db:
            db.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?, ?)", rows)
        observer.note(
            f"the store of trials was damaged: {len(rows)} intact trials were kept, "
            f"{lost or 'an unknown number'} lost and will be played again; "
            f"the damaged file is {aside}"
        )
        return db

    def _intact_repaired(self, aside: Path) -> Found:
        """Read a copy of a damaged file whose header is made good.

        The header is the same for all stores but for the number of pages, so that one that was
        overwritten, or that counts pages which were cut off, need not cost the rest.
        """
        model = self.path.with_name("trials.sqlite.model")
        copy = self.path.with_name("trials.sqlite.repaired")
        try:
            _create(model, self._identity).close()
            data = bytearray(aside.read_bytes())
            header = bytearray(model.read_bytes()[:HEADER])
            data += bytes(-len(data) % PAGE)
            header[28:32] = (len(data) // PAGE).to_bytes(4, "big")
            header[92:96] = header[24:28]  # the count is valid
            data[:HEADER] = header
            copy.write_bytes(data)
            return _intact(copy)
        except (OSError, sqlite3.Error):
            return None, [], 0
        finally:
            for path in self.folder.glob("trials.sqlite.model*"):
                path.unlink()
            for path in self.folder.glob("trials.sqlite.repaired*"):
                path.unlink()

    def _remove(self) -> None:
        for path in self.folder.glob("trials.sqlite*"):
            path.unlink()
        for name in RESULTS:
            (self.folder / name).unlink(missing_ok=True)


def _create(path: Path, identity: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=0.5, isolation_level="DEFERRED")
    try:
        db.execute(f"PRAGMA page_size = {PAGE}")
        _set_up(db)
        with db:
            db.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)")
            db.execute("CREATE TABLE trials (key TEXT PRIMARY KEY, crc INTEGER, payload BLOB)")
            db.execute("INSERT INTO meta VALUES ('identity', ?)", (identity,))
    except sqlite3.Error:
        db.close()
        raise
    return db


def _set_up(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):  # no name that somebody could have taken
            pass
    except OSError as error:
        raise StoreError(f"cannot write to the results folder {folder}: {error}") from error


def _unused(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")).exists():
        number += 1
    return aside


def _intact(path: Path) -> Found:
    """Read what can be read from a damaged file: identity, intact trials, number of lost ones."""
    identity: str | None = None
    rows: list[tuple[str, int, bytes]] = []
    lost = 0
    try:
        db = sqlite3.connect(path)
    except sqlite3.Error:
        return identity, rows, lost
    with suppress(sqlite3.Error, TypeError):
        (identity,) = db.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
    last = _last_rowid(db)
    # One query each, so that one bad page costs only its own rows; where the last one cannot be
    # told, as many as the file could hold.
    for rowid in range(1, (path.stat().st_size // LEAST_ROW if last is None else last) + 1):
        try:
            row = db.execute(
                "SELECT key, crc, payload FROM trials WHERE rowid = ?", (rowid,)
            ).fetchone()
        except sqlite3.Error:
            lost += 1
            continue
        if row is None:
            continue
        if isinstance(row[2], bytes) and zlib.crc32(row[2]) == row[1]:
            rows.append(row)
        else:
            lost += 1
    db.close()
    return identity, rows, 0 if last is None else lost


def _last_rowid(db: sqlite3.Connection) -> int | None:
    with suppress(sqlite3.Error, TypeError):
        (last,) = db.execute("SELECT max(rowid) FROM trials").fetchone()
        return last or 0
    return None
