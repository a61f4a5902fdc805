"""A private Dask cluster on this machine, which ends with this process.

The scheduler runs in a thread of this process, the workers are separate processes. All of it
listens on the loopback address only, which other users of the machine can reach too. Whoever may
connect to a scheduler can run code in its workers, so both sides present a certificate made for
the run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack, suppress
from typing import Any

from narcissus._optional import optional
from narcissus._scratch import scratch_folder
from narcissus.errors import NarcissusError
from narcissus.observer import Observer
from narcissus.study.engines._attendant import ATTEMPTS, PATIENCE, how_it_ended, oom_kills, start
from narcissus.study.engines._dask_worker import QUIET

SETTINGS: dict[str, object] = {
    **QUIET,
    "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
    # Few trials wait at a worker: those are blamed with the one that ends it.
    "distributed.scheduler.worker-saturation": 1.0,
    # A trial may hold the interpreter's lock for long; that a worker has ended we see ourselves.
    "distributed.scheduler.worker-ttl": None,
}


class OwnCluster:
    """A scheduler in this process with its worker processes.

    Raises MissingExtraError if Dask, or the package that makes the certificate, is not installed.
    """

    def __init__(self, workers: int) -> None:
        distributed: Any = optional("distributed", extra="dask", purpose="The engine dask")
        config: Any = optional("dask.config", extra="dask", purpose="The engine dask")
        optional("cryptography", extra="dask", purpose="The engine dask")  # makes the certificate
        self._reasons: list[str] = []
        self._in_vain = 0  # workers that ended since a trial was last played
        self._dismissed: set[int] = set()  # process numbers of workers that we have ended
        self._security = distributed.Security.temporary()
        self._stack = ExitStack()
        self._workers: list[subprocess.Popen[bytes]] = []
        self._stack.callback(self.end_workers)
        self._folder = self._stack.enter_context(scratch_folder())
        try:
            with config.set({**SETTINGS, "temporary-directory": str(self._folder)}):
                scheduler = {
                    "cls": distributed.Scheduler,
                    "options": {
                        "host": "127.0.0.1",
                        "protocol": "tls",
                        "security": self._security,
                        "dashboard": False,
                        "dashboard_address": "127.0.0.1:0",
                    },
                }
                self.cluster = distributed.SpecCluster(scheduler=scheduler, security=self._security)
            self._stack.callback(self.cluster.close, timeout=1)
            self._oom = oom_kills()
            for _ in range(workers):
                self._workers.append(self._started())
        except BaseException:
            self.close()
            raise

    def mend(self, observer: Observer) -> None:
        """Replace each worker that has ended, and report why it did.

        Raises NarcissusError if workers end faster than they play.
        """
        for place, worker in enumerate(self._workers):
            code = worker.poll()
            if code is None:
                continue
            if worker.pid in self._dismissed:
                self._dismissed.discard(worker.pid)
                self._workers[place] = self._started()
                continue
            after = oom_kills()
            self._reasons = [*self._reasons[1 - ATTEMPTS :], how_it_ended(code, self._oom, after)]
            self._in_vain += 1
            self._oom = after
            observer.note(
                f"a worker has ended, and what it played is played again: {self._reasons[-1]}"
            )
            if self._in_vain > ATTEMPTS * len(self._workers):
                raise NarcissusError(
                    f"workers end before they have played anything ({self.why()}); finished "
                    "trials are kept, and the same command continues"
                )
            self._workers[place] = self._started()

    def why(self) -> str:
        """Describe how workers ended lately."""
        return "; ".join(dict.fromkeys(self._reasons))

    def has_played(self) -> None:
        """Reset the count of workers that ended without playing anything."""
        self._in_vain = 0

    def close(self) -> None:
        """End the workers at once, and the scheduler."""
        self._stack.close()

    def _started(self) -> subprocess.Popen[bytes]:
        worker = start("_dask_worker", prints=_standard_error())
        told = {
            "scheduler": self.cluster.scheduler_address,
            "folder": str(self._folder),
            "certificate": self._security.tls_ca_file,
            "key": self._security.tls_worker_key,
        }
        assert worker.stdin is not None
        with suppress(OSError):  # it has ended: `mend` says why
            worker.stdin.write(json.dumps(told).encode())
            worker.stdin.close()
        return worker

    def end_workers(self) -> None:
        """End the workers at once; `mend` replaces them without counting them as failures."""
        self._reasons = []
        for worker in self._workers:
            if worker.poll() is None:
                self._dismissed.add(worker.pid)
            worker.kill()
        for worker in self._workers:
            with suppress(subprocess.TimeoutExpired):
                worker.wait(PATIENCE)


def _standard_error() -> int:
    """Return the file descriptor to which workers print: not the command's standard output."""
    try:
        return sys.__stderr__.fileno() if sys.__stderr__ is not None else subprocess.DEVNULL
    except (OSError, ValueError):
        return subprocess.DEVNULL
