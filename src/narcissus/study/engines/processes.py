"""Play keys in worker processes of this machine.

The numbers of a trial depend on its key alone, never on which process plays it or when: every
process uses one thread of linear algebra, and every trial its own generator. A process that is
killed is replaced and its trial played again, which changes nothing.

The processes start without running the user's script again, so a study can be played from a plain
script or a notebook, with classes defined there. They end with this process, whatever ends it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import cloudpickle

from narcissus.game.executor import Ended, Job, KeyLostError, Serial
from narcissus.observer import SILENT, Observer
from narcissus.study.engines._worker import JOB, KEY, opened, receive, send

ATTEMPTS = 3  # at one trial; a worker that was killed by chance is not killed twice more there
PATIENCE = 5.0  # seconds that an idle worker gets to end by itself
CRASHES = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT")

# The path is the parent's without the current directory, and is set before anything is imported.
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from narcissus._isolation import import_from_elsewhere; import_from_elsewhere(); "
    "from narcissus.study.engines.{0} import main; main(int(sys.argv[2]))"
)


def start(module: str, *, prints: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Run ``main(parent)`` of a sibling module in a process with a pipe to its standard input."""
    paths = [p for p in sys.path if isinstance(p, str) and p]  # pyright: ignore[reportUnnecessaryIsInstance] (anything may be there)
    flags: list[str] = subprocess._args_from_interpreter_flags()  # pyright: ignore
    arguments = [json.dumps(paths), str(os.getpid())]
    return subprocess.Popen(
        [sys.executable, *flags, "-P", "-c", _CODE.format(module), *arguments],
        stdin=subprocess.PIPE,
        stdout=prints,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        # Ctrl-C at a terminal goes to a whole group: these hear of it from us.
        process_group=0 if os.name == "posix" else None,
    )


def oom_kills() -> int | None:
    """Count the processes that the kernel has killed for lack of memory; None if unknown."""
    counts: list[int] = []
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
            counts += [int(s.split()[1]) for s in lines if s.startswith("oom_kill ")]
    return sum(counts) if counts else None


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

    def begin(self, shift: Shift | None) -> None:
        """Queue a shift, to be worked after those begun before; None ends thread and process."""
        self._shifts.put(shift)

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
        """End the process at the same time, without a replacement."""
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


def default_workers() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """Executor that plays keys in worker processes; a single key, or one process, runs in this one.

    The processes stay between plays, until `close`, or until the executor is garbage-collected.
    ``workers`` is their number; None is one for each core.
    """

    is_here = True

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or default_workers()
        self._idle: list[Attendant] = []
        weakref.finalize(self, _send_home, self._idle)

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        """Play every key, and yield each as it ends."""
        count = min(self.workers, len(keys))
        if count > 1:
            yield from self._in_processes(job, keys, count, observer)
        else:
            yield from Serial().play(job, keys, observer)

    def _in_processes(self, job: Job, todo: Sequence[str], count: int, observer: Observer) -> Ended:
        """Keep two keys per worker in flight, so that an interrupt loses no more than these."""
        shift = Shift(cloudpickle.dumps(job), SimpleQueue(), SimpleQueue())
        attendants = [self._idle.pop() for _ in range(min(count, len(self._idle)))]
        is_over = False
        try:
            while len(attendants) < count:
                attendants.append(_started())
            for attendant in attendants:
                attendant.begin(shift)
            yield from _answers(shift, todo, 2 * count, observer)
            is_over = True
        finally:
            if not is_over:  # end the workers at once: what they play will be played again
                for attendant in attendants:
                    attendant.kill()
            for _ in attendants:
                shift.tasks.put(None)
            if is_over:
                self._idle += attendants
            else:
                _send_home(attendants, wait=True)

    def play_at(self, jobs: Mapping[int, Job], observer: Observer = SILENT) -> dict[int, Any]:
        """Play the job of each place in its process, as long as that lives."""
        if self.workers == 1:
            return Serial().play_at(jobs, observer)
        while len(self._idle) < min(self.workers, max(jobs, default=-1) + 1):
            self._idle.append(_started())
        ended: SimpleQueue[tuple[str | None, Any]] = SimpleQueue()
        packed: dict[int, bytes] = {}  # one for all places that play the same
        answers: dict[int, Any] = {}
        try:
            for place, job in jobs.items():
                if id(job) not in packed:
                    packed[id(job)] = cloudpickle.dumps(job)
                shift = Shift(packed[id(job)], SimpleQueue(), ended, "part")
                shift.tasks.put(str(place))
                shift.tasks.put(None)
                self._idle[place % self.workers].begin(shift)
            while len(answers) < len(jobs):
                key, answer = _next(ended, observer)
                answers[int(key)] = answer
        except BaseException:
            for attendant in self._idle:
                attendant.kill()
            _send_home(self._idle, wait=True)
            raise
        return answers

    def close(self) -> None:
        _send_home(self._idle, wait=True)


def _started() -> Attendant:
    attendant = Attendant()
    attendant.start()
    return attendant


def _send_home(attendants: list[Attendant], *, wait: bool = False) -> None:
    """Let attendants end, with their processes, and empty the list."""
    leaving = [attendants.pop() for _ in range(len(attendants))]
    for attendant in leaving:
        attendant.begin(None)
    for attendant in leaving:
        if wait and attendant.ident is not None:
            attendant.join()


def play_apart(job: bytes, key: str, *, seconds: float, observer: Observer = SILENT) -> Any | None:
    """Play one pickled job's key in a separate process; None if it takes over ``seconds``."""
    shift = Shift(job, SimpleQueue(), SimpleQueue())
    until = time.monotonic() + seconds
    attendant = _started()
    attendant.begin(shift)
    shift.tasks.put(key)
    try:
        return _next(shift.ended, observer, until)[1]
    except Empty:
        return None
    finally:
        attendant.kill()
        shift.tasks.put(None)
        _send_home([attendant], wait=True)


def _next(
    ended: SimpleQueue[tuple[str | None, Any]], observer: Observer, until: float | None = None
) -> tuple[str, Any]:
    """Wait for the next key that ends; pass notes on, and raise what it raised."""
    while True:
        left = None if until is None else max(0.0, until - time.monotonic())
        key, answer = ended.get(timeout=left)
        if key is None:
            observer.note(answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            return key, answer


def _answers(shift: Shift, todo: Sequence[str], most: int, observer: Observer) -> Ended:
    """Hand out a trial for each one that ends, ``most`` at a time, and yield the results."""
    waiting = iter(todo)
    flying = 0
    for key in islice(waiting, most):
        shift.tasks.put(key)
        flying += 1
    while flying:
        key, answer = _next(shift.ended, observer)
        flying -= 1
        following = next(waiting, None)
        if following is not None:
            shift.tasks.put(following)
            flying += 1
        yield key, answer
