"""The outside of a worker process: start it, hand it trials, and say why it ended if it did."""

from __future__ import annotations

import subprocess
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from narcissus.game.executor import KeyLostError
from narcissus.study.engines._start import start
from narcissus.study.engines._worker import receive, send
from narcissus.study.engines.answers import opened
from narcissus.study.engines.endings import how_it_ended, oom_kills

ATTEMPTS = 3  # at one trial; a worker that was killed by chance is not killed twice more there
PATIENCE = 5.0  # seconds that an idle worker gets to end by itself


class WorkerDiedError(Exception):
    """A worker process ended by itself; the message says how."""


class Worker:
    """One worker process; it takes a job when it is made and plays one key at a time."""

    def __init__(self, job: bytes) -> None:
        self._job: bytes | None = job
        self._oom = oom_kills()
        self._process = start("_worker")

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
            opened(self._hear(), "when a worker process was started")
        self._tell(key.encode())
        return opened(self._hear(), f"in trial {key}")

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
                raise KeyLostError(
                    f"a worker process ended {ATTEMPTS} times during trial {key} "
                    f"({'; '.join(dict.fromkeys(reasons))}); finished trials are kept, and the "
                    "same command continues",
                    [key],
                )
            self._ended.put((None, f"trial {key} is played again: {reasons[-1]}"))
