"""The outside of a worker process: start it, hand it trials, and say why it ended if it did."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from narcissus.errors import NarcissusError
from narcissus.study._worker import receive, send

ATTEMPTS = 3  # at one trial; a worker that was killed by chance is not killed twice more there
CRASHES = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT")
PATIENCE = 5.0  # seconds that an idle worker gets to end by itself

# The path is the parent's without the current directory, and is set before anything is imported.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from narcissus.study._worker import main; main(int(sys.argv[2]))"
)


class WorkerDiedError(Exception):
    """A worker process ended by itself; the message says how."""


def oom_kills() -> int | None:
    """Count the processes that the kernel has killed for want of memory; None: it does not say."""
    found: list[int] = []
    places = [Path("/proc/vmstat")]
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, kinds, path = line.split(":", 2)
            root = "/sys/fs/cgroup" + ("/memory" if kinds == "memory" else "")
            name = "memory.oom_control" if kinds == "memory" else "memory.events"
            if kinds in {"", "memory"}:
                places += [Path(root + path, name), Path(root, name)]
    for place in places:
        with suppress(OSError, ValueError):
            lines = place.read_text(encoding="utf-8").splitlines()
            found += [int(s.split()[1]) for s in lines if s.startswith("oom_kill ")]
    return sum(found) if found else None


def how_it_ended(code: int, before: int | None, after: int | None) -> str:
    """Say in words how a process ended, and what is known of the memory at the time.

    Parameters
    ----------
    code
        The exit status; minus the number of a signal.
    before, after
        `oom_kills` before the trial began and after the process ended.
    """
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "no name"
    text = f"it was killed by signal {-code} ({name})"
    if name in CRASHES:
        return f"{text}: a crash in compiled code"
    if name != "SIGKILL":
        return text
    if before is None or after is None:
        return f"{text}; whether memory ran out cannot be told on this machine"
    if after > before:
        return f"{text}, and memory ran out: use fewer --workers or a smaller study"
    return f"{text}, and not for want of memory: somebody sent it"


class Worker:
    """One worker process; it takes a job when it is made and plays one key at a time."""

    def __init__(self, job: bytes) -> None:
        self._job: bytes | None = job
        self._oom = oom_kills()
        paths = [p for p in sys.path if isinstance(p, str) and p]  # pyright: ignore[reportUnnecessaryIsInstance] (anything may be there)
        flags: list[str] = subprocess._args_from_interpreter_flags()  # pyright: ignore
        self._process = subprocess.Popen(
            [sys.executable, *flags, "-P", "-c", _START, json.dumps(paths), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            # Ctrl-C at a terminal goes to a whole group: these hear of it from us.
            process_group=0 if os.name == "posix" else None,
        )

    def ask(self, key: str) -> Any:
        """Play one trial; what it raises is raised here.

        Raises
        ------
        WorkerDiedError
            The process ended instead.
        """
        if self._job is not None:
            self._tell(self._job)
            self._job = None
            _open(self._hear(), "when a worker process was started")
        self._tell(key.encode())
        return _open(self._hear(), f"in trial {key}")

    def _tell(self, message: bytes) -> None:
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, message)
        except OSError:
            raise WorkerDiedError(self._why()) from None

    def _hear(self) -> bytes:
        assert self._process.stdout is not None
        message = receive(self._process.stdout)
        if message is None:
            raise WorkerDiedError(self._why())
        return message

    def _why(self) -> str:
        self.kill()  # its pipe is closed: whatever it is doing, nobody will hear of it
        return how_it_ended(self._process.wait(), self._oom, oom_kills())

    def end(self) -> None:
        """Let an idle process end by itself, as its pipe does."""
        with suppress(OSError, subprocess.TimeoutExpired):
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process.wait(PATIENCE)
        self.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()


def _open(message: bytes, where: str) -> Any:
    value, error, text = pickle.loads(message)
    if error is None:
        return value
    if isinstance(error, MemoryError):
        raise NarcissusError(
            f"memory ran out {where} (MemoryError): use fewer --workers or a smaller study; "
            "finished trials are kept"
        )
    if isinstance(error, SystemExit):
        raise NarcissusError(f"sys.exit({error.code!r}) was called {where}")
    error.add_note(where)
    if not isinstance(error, NarcissusError):
        error.add_note("in a worker process:\n" + text)
    raise error


class Attendant(threading.Thread):
    """A thread that keeps one worker process busy, and starts another where it was killed.

    The thread lives as long as its processes: the kernel ends a process with the thread that
    started it.

    Parameters
    ----------
    job
        What plays a key, pickled.
    tasks
        Keys to be played; None ends the thread.
    ended
        Takes ``(key, payload or exception)``, and ``(None, note)``.
    """

    def __init__(
        self,
        job: bytes,
        tasks: SimpleQueue[str | None],
        ended: SimpleQueue[tuple[str | None, Any]],
    ) -> None:
        super().__init__(name="worker's attendant", daemon=True)
        self._job, self._tasks, self._ended = job, tasks, ended
        self._worker: Worker | None = None
        self._closing = False
        self._lock = threading.Lock()

    def run(self) -> None:
        """Play until there is nothing more to play."""
        try:
            while (key := self._tasks.get()) is not None:
                try:
                    answer = self._play(key)
                except BaseException as error:
                    answer = error
                self._ended.put((key, answer))
        finally:
            if self._worker is not None:
                self._worker.end()

    def kill(self) -> None:
        """End the process at once, and start no other."""
        with self._lock:
            self._closing = True
            if self._worker is not None:
                self._worker.kill()

    def _play(self, key: str) -> Any:
        reasons: list[str] = []
        while True:
            with self._lock:
                if self._closing:
                    raise WorkerDiedError("the run is over")
                if self._worker is None:
                    self._worker = Worker(self._job)
            try:
                return self._worker.ask(key)
            except WorkerDiedError as died:
                reasons.append(str(died))
                self._worker.end()
                self._worker = None
            if self._closing:
                raise WorkerDiedError("the run is over")
            if len(reasons) == ATTEMPTS:
                raise NarcissusError(
                    f"a worker process ended {ATTEMPTS} times during trial {key} "
                    f"({'; '.join(dict.fromkeys(reasons))}); finished trials are kept, and the "
                    "same command continues"
                )
            self._ended.put((None, f"trial {key} is played again: {reasons[-1]}"))
