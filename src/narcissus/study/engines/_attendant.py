"""The parent's side of a worker process: start it, send it trials, and explain an early end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from narcissus.game.executor import KeyLostError
from narcissus.study.engines._worker import JOB, KEY, receive, send
from narcissus.study.engines.answers import opened

# The path is the parent's without the current directory, and is set before anything is imported.
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from narcissus._isolation import import_from_elsewhere; import_from_elsewhere(); "
    "from narcissus.study.engines.{0} import main; main(int(sys.argv[2]))"
)


def start(module: str, *, prints: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Run ``main(parent)`` of a sibling module in a process with a pipe to its standard input.

    ``prints`` is the destination of its standard output, as in `subprocess.Popen`.
    """
    paths = [p for p in sys.path if isinstance(p, str) and p]  # pyright: ignore[reportUnnecessaryIsInstance] (anything may be there)
    flags: list[str] = subprocess._args_from_interpreter_flags()  # pyright: ignore
    told = [json.dumps(paths), str(os.getpid())]
    return subprocess.Popen(
        [sys.executable, *flags, "-P", "-c", _CODE.format(module), *told],
        stdin=subprocess.PIPE,
        stdout=prints,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        # Ctrl-C at a terminal goes to a whole group: these hear of it from us.
        process_group=0 if os.name == "posix" else None,
    )


CRASHES = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT")


def oom_kills() -> int | None:
    """Count the processes that the kernel has killed for lack of memory; None if unknown."""
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
    """Describe how a process ended from its exit status (minus the number of a signal).

    ``before`` and ``after`` are `oom_kills` before the trial began and after the process ended.
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


ATTEMPTS = 3  # at one trial; a worker that was killed by chance is not killed twice more there
PATIENCE = 5.0  # seconds that an idle worker gets to end by itself


class WorkerDiedError(Exception):
    """A worker process ended by itself; the message explains how."""


class Worker:
    """One worker process; it plays one key at a time, for one job after another."""

    def __init__(self) -> None:
        self._job: bytes | None = None
        self._oom = oom_kills()
        self._process = start("_worker")

    def ask(self, job: bytes, key: str, what: str = "trial") -> Any:
        """Play a key of a job, which is sent only if it differs from the last one.

        Re-raises the job's exception; raises WorkerDiedError if the process ended instead.
        """
        if job is not self._job:
            self._job, self._oom = None, oom_kills()
            self._tell(JOB, job)
            opened(self._hear(), "when a worker process was started")
            self._job = job
        self._tell(KEY, key.encode())
        return opened(self._hear(), f"in {what} {key}")

    def _tell(self, *parts: bytes) -> None:
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, *parts)
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
        """Let an idle process end by itself when its pipe closes."""
        with suppress(OSError, subprocess.TimeoutExpired):
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process.wait(PATIENCE)
        self.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def kill(self) -> None:
        self._process.kill()


@dataclass(frozen=True, eq=False)
class Shift:
    """The work that attendants share."""

    job: bytes  # what plays a key, pickled
    tasks: SimpleQueue[str | None]  # keys to be played; None ends the shift of one attendant
    # receives (key, payload or exception), and (None, note)
    # receives (key, payload or exception), and (None, note)
    ended: SimpleQueue[tuple[str | None, Any]]
    what: str = "trial"  # what a key is called in messages


class Attendant(threading.Thread):
    """A thread that keeps one worker process busy and replaces it if it was killed.

    The process starts with the first key and stays between shifts. The thread outlives its
    processes: the kernel ends a process together with the thread that started it.
    """

    def __init__(self) -> None:
        super().__init__(name="worker's attendant", daemon=True)
        self._shifts: SimpleQueue[Shift | None] = SimpleQueue()
        self._worker: Worker | None = None
        self._closing = False
        self._lock = threading.Lock()

    def begin(self, shift: Shift) -> None:
        """Queue a shift, to be worked after those begun before."""
        self._shifts.put(shift)

    def leave(self) -> None:
        """End, with the process, after the last shift."""
        self._shifts.put(None)

    def run(self) -> None:
        try:
            while (shift := self._shifts.get()) is not None:
                while (key := shift.tasks.get()) is not None:
                    try:
                        answer = self._play(shift, key)
                    except BaseException as error:
                        answer = error
                    shift.ended.put((key, answer))
        finally:
            if self._worker is not None:
                self._worker.end()

    def kill(self) -> None:
        """End the process at once, without a replacement."""
        with self._lock:
            self._closing = True
            if self._worker is not None:
                self._worker.kill()

    def _play(self, shift: Shift, key: str) -> Any:
        reasons: list[str] = []
        while True:
            with self._lock:
                if self._closing:
                    raise WorkerDiedError("the run is over")
                if self._worker is None:
                    self._worker = Worker()
            try:
                return self._worker.ask(shift.job, key, shift.what)
            except WorkerDiedError as died:
                reasons.append(str(died))
                self._worker.end()
                self._worker = None
            if self._closing:
                raise WorkerDiedError("the run is over")
            if len(reasons) == ATTEMPTS:
                raise KeyLostError(
                    f"a worker process ended {ATTEMPTS} times during {shift.what} {key} "
                    f"({'; '.join(dict.fromkeys(reasons))}); finished trials are kept, and the "
                    "same command continues",
                    [key],
                )
            shift.ended.put((None, f"{shift.what} {key} is played again: {reasons[-1]}"))
