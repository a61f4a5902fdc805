"""Runs of studies: separate processes, which outlive the page and the server.

A run prints into ``progress.log`` of its results folder and holds a lock on that file as long as it
lives. ``job.json`` names its process. A server that is started later finds both. A folder may come
from somebody else: what it says counts for what is shown, and never for what is done. A run goes on
if its lock is held, and a process is interrupted only if this installation marked its number.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from narcissus._files import read_bytes
from narcissus._folders import OpenedFolder, opened_folder
from narcissus._json import read_json
from narcissus._pace import Pace
from narcissus._scratch import fcntl
from narcissus._visible import visible
from narcissus.app.folder import is_readable
from narcissus.errors import InputError
from narcissus.study.marks import is_marked, write_marked

JOB, LOG, RECORD, STORE = "job.json", "progress.log", "record.json", "trials.store"
TAIL = 2**14  # bytes of a log that are read
PATIENCE = 600.0
"""Most seconds that a look at a table, or an estimate, may take."""
_PYTHON = (sys.executable, "-P")  # no modules from the current folder


_Number = Annotated[int, Field(ge=0, le=2**53)]
_Moment = Annotated[float, Field(ge=0, le=2**32, allow_inf_nan=False)]
"""Seconds since 1970; a folder that somebody sent may say any."""


class _Job(BaseModel):
    """What ``job.json`` holds."""

    model_config = ConfigDict(strict=True, extra="ignore")
    pid: Annotated[int, Field(gt=1, lt=2**31)]
    of: Annotated[str, Field(max_length=64)]
    began: _Moment
    digest: Annotated[str, Field(max_length=128)]
    before: list[int] | None = None


class _Stage(BaseModel):
    """What a line of a log says of a stage."""

    model_config = ConfigDict(strict=True, extra="ignore")
    what: Annotated[str, Field(max_length=1000)]
    done: _Number
    total: _Number
    time: _Moment


@dataclass(frozen=True)
class State:
    """What a run has come to."""

    name: str  # nothing, running, finished, stopped or failed
    what: str = ""  # the stage that it is at
    done: int = 0
    total: int = 0
    left: float | None = None  # seconds, where they can be foreseen
    notes: Sequence[str] = ()  # what it has told, or why it failed
    began: float = 0.0

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0


@dataclass
class Jobs:
    """The runs of one folder."""

    root: Path
    _started: dict[Path, subprocess.Popen[bytes]] = field(default_factory=dict[Path, Any])

    @property
    def results(self) -> Path:
        return self.root / "results"

    def place(self, study: str, digest: str) -> Path:
        """Return the results folder of a study as it now is."""
        return self.results / study / digest[:12]

    def running(self) -> tuple[str, Path] | None:
        """Return the study and the results folder of the run that is going on, if there is one."""
        for path in sorted(self.results.glob(f"*/*/{JOB}")):
            if not is_readable(path.parent.parent):
                continue
            if self.state(path.parent).name == "running":
                return path.parent.parent.name, path.parent
        return None

    def last(self, study: str) -> Path | None:
        """Return the results folder of the last run of a study."""
        runs = [
            (_job(p.parent).get("began", 0.0), p.parent)
            for p in (self.results / study).glob(f"*/{JOB}")
        ]
        return max(runs)[1] if runs else None

    def start(self, study: str, digest: str) -> None:
        """Run `narcissus audit` on a study, in a separate session; a run that is left goes on.

        InputError: another run is going on in this folder.
        """
        place = self.place(study, digest)
        how: dict[str, Any] = {"below": self.root, "make": True, "mode": 0o700}
        with ExitStack() as stack:  # another server of this folder may begin one as well
            try:
                opened = stack.enter_context(opened_folder(place, **how))
                handle = os.open(self.results, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            except OSError as error:
                raise InputError(f"{error.filename} is not a separate folder") from error
            stack.callback(os.close, handle)
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
            if (other := self.running()) is not None:
                raise InputError(f"a run of {other[0]} is going on: wait for it, or stop it")
            self._begin(study, opened, digest)

    def _begin(self, study: str, place: OpenedFolder, digest: str) -> None:
        out = str(place.path.relative_to(self.root))
        words = ["audit", f"./{study}.toml", "--out", out, "--yes"]
        for name in (JOB, LOG):
            place.remove(name)
        began, before = time.time(), _version(place.lstat(RECORD))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        log = place.open(LOG, flags, 0o600)
        try:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(log, fcntl.LOCK_EX)  # the child inherits it with the file
            child = subprocess.Popen(
                [*_PYTHON, "-m", "narcissus", *words],
                cwd=self.root,
                env=_environment(),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        finally:
            os.close(log)
        self._started[place.path] = child
        job: dict[str, Any] = {"pid": child.pid, "of": _born(child.pid), "began": began}
        job |= {"digest": digest, "before": before}
        try:
            write_marked(place, JOB, json.dumps(job), private=True)
        except OSError:
            child.terminate()  # nobody would find it again
            raise

    def stop(self, place: Path) -> None:
        """Interrupt a run as Ctrl-C does; what is finished is kept.

        InputError: this installation did not begin it.
        """
        if self.state(place).name != "running":
            return
        job, child = _job(place), self._started.get(place)
        pid = child.pid if child is not None else job["pid"]
        if child is None and not (is_marked(place, JOB) and _born(pid) == job["of"]):
            raise InputError(
                "this server did not begin the run and cannot tell which process it is: wait for "
                "it, or end it where it was begun"
            )
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGINT)

    def state(self, place: Path | None) -> State:
        self._started = {
            where: child for where, child in self._started.items() if child.poll() is None
        }  # takes leave of them
        job = {} if place is None else _job(place)
        if place is None or not job:
            return State("nothing")
        seen = _read(place / LOG)
        began = float(job["began"])
        stages = [event for event in seen if _is_stage(event)]
        stage: Mapping[str, Any] = {"what": "reading the study", "done": 0, "total": 0}
        stage = stages[-1] if stages else stage
        notes = [str(event["note"]) for event in seen if "note" in event][-20:]
        snapshot = State(
            "stopped", stage["what"], stage["done"], stage["total"], None, notes, began
        )
        if place in self._started or _is_locked(place / LOG):
            of_it = [event for event in stages if event["what"] == stage["what"]]
            return replace(snapshot, name="running", left=_left(of_it))
        with suppress(OSError):
            record = (place / RECORD).stat()
            is_new = record.st_mtime >= began  # of a run that an earlier version began
            if "before" in job:
                is_new = _version(record) != job["before"]
            if is_new:
                return State("finished", notes=notes, began=began)
        is_wrong = any(note.startswith(("error:", "internal error:")) for note in notes)
        return replace(snapshot, name="failed") if is_wrong else snapshot


def _version(there: os.stat_result | None) -> list[int] | None:
    """Return what changes when a file is replaced, whatever the clock does meanwhile."""
    return None if there is None else [there.st_ino, there.st_mtime_ns]


def _job(place: Path) -> dict[str, Any]:
    """Read what a run has left about itself; nothing where it is no such file."""
    with suppress(InputError, ValueError):
        fields = read_json(read_bytes(place / JOB, largest=2**12))
        return _Job.model_validate(fields).model_dump(exclude_unset=True)
    return {}


def _read(path: Path) -> list[dict[str, Any]]:
    """Read the end of a log: lines of JSON, and others as notes."""
    with _opened(path) as file:
        if file is None:
            return []
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        lines = file.read(TAIL).decode(errors="replace").splitlines()
    events: list[dict[str, Any]] = []
    for line in lines[size > TAIL :]:
        with suppress(ValueError, RecursionError):
            event = read_json(line)
            if isinstance(event, dict):
                events.append(event)
                continue
        if line.strip():
            events.append({"note": line})
    return events


@contextmanager
def _opened(path: Path) -> Generator[BinaryIO | None]:
    """Open a regular file, never through a link; None where there is none."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        yield None
        return
    with os.fdopen(handle, "rb") as file:
        yield file if stat.S_ISREG(os.fstat(handle).st_mode) else None


def _is_locked(path: Path) -> bool:
    """Return whether a process holds the lock of a log: only a run that lives does."""
    with _opened(path) as file:
        if file is None or fcntl is None:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks
            return False
    return False


def _is_stage(one: Mapping[str, Any]) -> bool:
    with suppress(ValueError):
        return bool(_Stage.model_validate(one))
    return False


def _left(seen: Sequence[Mapping[str, Any]]) -> float | None:
    """Estimate the seconds that are left of a stage from its pace."""
    if not seen:
        return None
    pace, done = Pace(seen[0]["total"], seen[0]["done"]), seen[0]["done"]
    for moment in seen[1:]:
        pace.advance(moment["done"] - done, moment["time"])
        done = moment["done"]
    return pace.left(time.time())


def _born(pid: int) -> str:
    """Return what tells a process from a later one of the same number; "" where nothing does."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if fields[0] in "ZX" else fields[19]  # when it was started


def _environment() -> dict[str, str]:
    variables = {k: v for k, v in os.environ.items() if k != "NARCISSUS_SHOW_VALUES"}
    return variables | {
        "NARCISSUS_PROGRESS": "json",
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }


def worked(root: Path, what: str, *arguments: str) -> dict[str, Any]:
    """Have `narcissus.app.work` done, and return what it found; InputError with its error."""
    try:
        done = subprocess.run(
            [*_PYTHON, "-m", "narcissus.app.work", what, *arguments],
            cwd=root,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"this has not ended after {PATIENCE:g} seconds: take fewer rows"
        ) from error
    try:
        answer = read_json(done.stdout)
    except ValueError as error:
        last = visible(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
        why = f"an error of this program: {last}" if last else "there may not be enough memory"
        raise InputError(f"this ended without an answer: {why}") from error
    if "error" in answer:
        raise InputError(answer["error"])
    return answer
