"""The parent's side of a worker process: start it, send it trials, and explain an early end."""

from __future__ import annotations

import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from narcissus.game.executor import KeyLostError
from narcissus.study.engines._start import start
from narcissus.study.engines._worker import JOB, KEY, receive, send
from narcissus.study.engines.answers import opened
from narcissus.study.engines.endings import how_it_ended, oom_kills

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
