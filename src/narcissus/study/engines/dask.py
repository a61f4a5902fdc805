"""Play keys on the workers of a Dask cluster: our own on this machine, or one on many machines.

The job goes to the scheduler once, and from there to each worker; then only names of keys go out,
and only what the store keeps of each comes back. Dask reassigns the keys of a lost worker. The
results stay here, so losing the scheduler loses nothing that has ended.

The scheduler of our own cluster runs in a thread of this process, its workers are separate
processes, and all of it ends with this process. It listens on the loopback address only, which
other users of the machine can reach too. Whoever may connect to a scheduler can run code in its
workers, so both sides present a certificate made for the run.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

import cloudpickle

from narcissus._optional import optional
from narcissus._scratch import scratch_folder
from narcissus._visible import show_visibly
from narcissus.errors import InputError, NarcissusError
from narcissus.game.executor import Ended, Job, KeyLostError
from narcissus.observer import SILENT, Observer
from narcissus.study.engines._worker import die_with, opened
from narcissus.study.engines.processes import (
    ATTEMPTS,
    PATIENCE,
    default_workers,
    how_it_ended,
    oom_kills,
    start,
)
from narcissus.study.engines.task import Carried, play_key, processor, versions

CONNECT = "10s"
LOOK = 0.25  # seconds between looks at workers that have ended
COUNT = 2.0  # seconds between counts of the workers there are
KEPT = "finished trials are kept, and the same command continues"

# Settings of Dask's for a scheduler and workers that live as long as a command.
QUIET: dict[str, object] = {
    # Pages about tasks and logs, for whoever asks: nobody needs them.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
}
SETTINGS: dict[str, object] = {
    **QUIET,
    "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
    # Few trials wait at a worker: those are blamed with the one that ends it.
    "distributed.scheduler.worker-saturation": 1.0,
    # A trial may hold the interpreter's lock for long; that a worker has ended we see ourselves.
    "distributed.scheduler.worker-ttl": None,
}

_numbers = itertools.count()


def configured_scheduler() -> str | None:
    """Return the address in Dask's configuration: DASK_SCHEDULER_ADDRESS, or a file."""
    config: Any = optional("dask.config", extra="dask", purpose="The engine dask")
    return config.get("scheduler-address", None)


class Dask:
    """Executor that plays keys on a Dask cluster.

    scheduler: Address of a scheduler, such as ``"tcp://10.0.0.5:8786"`` or ``"tls://..."`` (with
        the certificates of Dask's configuration), or a Dask cluster object. None starts a cluster
        of processes on this machine, which ends with `close`.
    workers: Processes of a cluster on this machine; None is one for each core.
    """

    def __init__(self, scheduler: Any = None, *, workers: int | None = None) -> None:
        self._distributed: Any = optional("distributed", extra="dask", purpose="The engine dask")
        self._scheduler = scheduler
        if self._scheduler is not None and workers is not None:
            raise InputError(
                "a scheduler has its own workers: leave out `workers`, or the scheduler"
            )
        self._count = workers or default_workers()
        self._own: OwnCluster | None = None
        self._client: Any = None
        self._at: dict[int, str] = {}  # whose each place is
        self._said: set[str] = set()  # notes that are made once
        self._logging = ExitStack()

    @property
    def is_here(self) -> bool:
        """Whether the workers run on this machine."""
        return self._scheduler is None

    @property
    def workers(self) -> int:
        """Current number of workers; at least 1."""
        if self._scheduler is None:
            return self._count
        return max(1, len(self._connected(SILENT).nthreads()))

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        """Play every key, and yield each as it ends."""
        if not keys:
            return
        packed = cloudpickle.dumps(job)
        client = self._connected(observer)
        flight = _Flight(client, self._where(), self._own, self._said)
        try:
            yield from flight.answers(Carried(packed, versions()), keys, observer)
        finally:
            flight.end()

    def play_at(self, jobs: Mapping[int, Job], observer: Observer = SILENT) -> dict[int, Any]:
        """Play the job of each place on its worker, as long as that lives."""
        flight = _Flight(self._connected(observer), self._where(), self._own, self._said, "part")
        packed = {id(job): job for job in jobs.values()}
        carried = {key: Carried(cloudpickle.dumps(job), versions()) for key, job in packed.items()}
        try:
            parcels = {place: carried[id(job)] for place, job in jobs.items()}
            fewest = 1 if self._own is None or self._at else self._count
            return flight.answers_at(parcels, self._at, fewest, observer)
        finally:
            flight.end()

    def close(self) -> None:
        """Disconnect from the scheduler; end a cluster that was started here."""
        cluster, client = self._own, self._client
        self._own = self._client = None
        with self._logging:  # whatever fails of these, the others are done
            if cluster is not None:
                self._logging.callback(cluster.close)
            if client is not None:
                self._logging.callback(_take_leave, client)
            if cluster is not None:
                cluster.end_workers()  # first: nobody waits for what they play

    def _where(self) -> str:
        at = self._scheduler
        return str(getattr(at, "scheduler_address", at)) if at is not None else "this machine"

    def _connected(self, observer: Observer) -> Any:
        if self._client is not None:
            return self._client
        to = self._scheduler
        self._logging.enter_context(_silence())
        if to is None:
            observer.note(f"starting {self._count} workers of Dask's")
            self._own = OwnCluster(self._count)
            to = self._own.cluster
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            try:
                self._client = self._distributed.Client(
                    to, timeout=CONNECT, set_as_default=False, name="narcissus"
                )
            except (OSError, ValueError, TypeError, RuntimeError) as error:
                raise InputError(
                    f"no scheduler of Dask's answers at {self._where()}: {error}"
                ) from error
        for record in records:
            observer.note(f"Dask: {record.message}")
        return self._client


def _take_leave(client: Any) -> None:
    with suppress(OSError, TimeoutError):
        client.close(timeout=1)


@contextmanager
def _silence() -> Generator[None]:
    """Keep Dask from writing to standard error: the observer receives what matters."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


class _Flight:
    """One job and its keys in flight."""

    def __init__(
        self, client: Any, where: str, own: OwnCluster | None, said: set[str], what: str = "trial"
    ) -> None:
        self._said = said
        self._client, self._where, self._own, self._what = client, where, own, what
        self._name = f"{client.id}-{next(_numbers)}"
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._flying: dict[Any, str] = {}
        self._job: Any = None
        self._jobs: list[Any] = []  # of places
        self._workers, self._reached, self._counted = 0, 0, 0.0

    def answers(self, carried: Carried, keys: Sequence[str], observer: Observer) -> Ended:
        """Keep two keys per worker in flight; yield each as it ends."""
        self._send(carried, observer)
        waiting = iter(keys)
        while True:
            limit = max(1, 2 * self._workers)
            for key in itertools.islice(waiting, max(0, limit - len(self._flying))):
                task = f"{self._name}-{key}"
                self._follow(self._client.submit(play_key, self._job, key, key=task), key)
            if not self._flying:
                return
            future = self._next(observer)
            key = self._flying.pop(future)
            answer = self._found(future, key, observer)
            if self._own is not None:
                self._own.has_played()
            yield key, answer

    def answers_at(
        self, jobs: Mapping[int, Carried], at: dict[int, str], fewest: int, observer: Observer
    ) -> dict[int, Any]:
        """Play each job at its place, once the fewest workers are there; keep ``at`` up to date."""
        if self._own is not None:
            self._own.mend(observer)
        elif not self._alive():
            observer.note(f"the scheduler at {self._where} has no workers: waiting for one")
        while len(self._alive()) < fewest:
            self._look(observer)
            time.sleep(LOOK)
        self._balance(at, jobs)
        sent: dict[int, Any] = {}
        for place, carried in jobs.items():
            if id(carried) not in sent:
                where = {"workers": [at[place]], "allow_other_workers": True}
                sent[id(carried)] = self._submit(carried, f"job-{place}", **where)
                self._jobs.append(sent[id(carried)])
            self._play_at(sent[id(carried)], place, at)
        answers: dict[int, Any] = {}
        while self._flying:
            if not self._takes(answers, observer):
                self._look(observer)
                for place in self._gone(at):
                    self._play_at(sent[id(jobs[place])], place, at)
        return answers

    def _takes(self, found: dict[int, Any], observer: Observer) -> bool:
        """Collect the result of a place if one arrives within a moment."""
        try:
            future = self._ended.get(timeout=LOOK)
        except Empty:
            return False
        if future not in self._flying:  # it was lost, and is played elsewhere
            return True
        place = int(self._flying[future])
        packed = self._packed(future, str(place), observer)
        if packed is None:
            self._ended.put(future)
            return False
        del self._flying[future]
        found[place] = opened(packed, f"in {self._what} {place}")
        if self._own is not None:
            self._own.has_played()
        return True

    def _gone(self, at: dict[int, str]) -> list[int]:
        """Return the places in flight whose worker is lost, after assigning them to others."""
        alive = self._alive()
        gone = [f for f, key in self._flying.items() if at[int(key)] not in alive]
        if not gone or not alive:
            return []
        self._client.cancel(gone)
        places = [int(self._flying.pop(future)) for future in gone]
        self._balance(at, places)
        return places

    def _balance(self, at: dict[int, str], places: Iterable[int]) -> None:
        """Assign places whose worker is lost or missing to the workers with the fewest."""
        assignments: dict[str, list[int]] = {address: [] for address in sorted(self._alive())}
        for place in sorted({*at, *places}):
            if at.get(place) not in assignments:
                at[place] = min(assignments, key=lambda address: len(assignments[address]))
            assignments[at[place]].append(place)
        few, busiest_address = (
            end(assignments, key=lambda a: len(assignments[a])) for end in (min, max)
        )
        while len(assignments[few]) + 1 < len(assignments[busiest_address]):  # workers have come
            at[place := assignments[busiest_address].pop()] = few
            assignments[few].append(place)
            few, busiest_address = (
                end(assignments, key=lambda a: len(assignments[a])) for end in (min, max)
            )

    def _play_at(self, job: Any, place: int, at: Mapping[int, str]) -> None:
        """Play a job on the worker of a place and no other: others do not hold its state."""
        task = f"{self._name}-{place}-{next(_numbers)}"
        future = self._client.submit(play_key, job, str(place), key=task, workers=[at[place]])
        self._follow(future, str(place))

    def end(self) -> None:
        """Cancel what is still in flight, and the job."""
        left = [*self._flying, *self._jobs, *([] if self._job is None else [self._job])]
        self._flying.clear()
        self._jobs.clear()
        self._job = None
        if left and self._client.status == "running":
            with suppress(OSError, TimeoutError, CancelledError):
                self._client.cancel(left)

    def _send(self, carried: Carried, observer: Observer) -> None:
        """Send the job as a task, so that Dask repeats it if the workers that have it are lost."""
        self._job = self._submit(carried, "study")
        self._job.add_done_callback(self._ended.put)
        self._next(observer)
        self._require_played(self._job, "the study", observer)

    def _submit(self, carried: Carried, name: str, **where: Any) -> Any:
        config: Any = optional("dask.config", extra="dask", purpose="The engine dask")
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
            return self._client.submit(
                Carried, carried.packed, carried.made_by, key=f"{self._name}-{name}", **where
            )

    def _follow(self, future: Any, key: str) -> None:
        self._flying[future] = key
        future.add_done_callback(self._ended.put)

    def _next(self, observer: Observer) -> Any:
        """Wait for the next result, checking on the workers meanwhile."""
        is_told = False
        while True:
            self._look(observer)
            if self._workers == 0 and self._own is None and not is_told:
                observer.note(f"the scheduler at {self._where} has no workers: waiting for one")
                is_told = True
            with suppress(Empty):
                return self._ended.get(timeout=LOOK)

    def _look(self, observer: Observer) -> None:
        """Count the workers, and send the job to new ones."""
        if self._client.status != "running":
            raise self._lost()
        if self._own is not None:
            self._own.mend(observer)
        is_sent = self._job is not None and self._job.status == "finished"
        is_known = self._workers and (self._reached or not is_sent)
        if is_known and time.monotonic() < self._counted + COUNT:
            return
        self._workers = len(self._alive())
        self._counted = time.monotonic()
        if is_sent and self._workers > self._reached:
            # Where it fails, workers fetch the job from each other when they need it.
            with suppress(OSError, TimeoutError, CancelledError, KeyError, ValueError):
                self._client.replicate([self._job], callback_timeout=5)
        self._reached = self._workers

    def _alive(self) -> list[str]:
        try:
            return list(self._client.nthreads())
        except (OSError, CancelledError) as error:
            raise self._lost() from error

    def _found(self, future: Any, key: str, observer: Observer) -> Any:
        """Return the value of a key, or raise its exception."""
        while (packed := self._packed(future, key, observer)) is None:
            self._look(observer)
        return opened(packed, f"in {self._what} {key}")

    def _packed(self, future: Any, key: str, observer: Observer) -> bytes | None:
        """Return the packed answer of a key; None if it is lost with its worker, and requeued."""
        self._require_played(future, f"{self._what} {key}", observer)
        try:
            packed, other = future.result(timeout=1)
        except TimeoutError:
            return None
        except (OSError, CancelledError) as error:
            raise self._lost() from error
        note = "a worker has another kind of processor: last digits may differ"
        if other != processor() and note not in self._said:
            self._said.add(note)
            observer.note(note)
        return packed

    def _require_played(self, future: Any, what: str, observer: Observer) -> None:
        """Raise Dask's error for a key that no worker has played."""
        if future.status == "cancelled":
            raise self._lost()
        if future.status != "error":
            return
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            time.sleep(LOOK)  # what waited behind it on the same workers is blamed as well
            why = ""
            if self._own is not None:
                self._own.mend(observer)  # Dask may know of their end before we have looked
                why = f" ({self._own.why()})"
            others = sorted(key for task, key in self._flying.items() if task.status == "error")
            message = (
                f"a worker process ended {error.allowed_failures + 1} times during "
                f"{' or '.join([what, *others])}{why}; {KEPT}"
            )
            if future is self._job:
                raise NarcissusError(message)
            raise KeyLostError(message, [what.removeprefix(f"{self._what} "), *others])
        raise NarcissusError(
            f"the workers cannot play {what}: {type(error).__name__}: {error}. Install there what "
            "is installed here, in the same versions"
        ) from error

    def _lost(self) -> NarcissusError:
        return NarcissusError(f"the scheduler at {self._where} is lost: {KEPT}")


class OwnCluster:
    """A scheduler in this process with its worker processes."""

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
        """End the workers at the same time, and the scheduler."""
        self._stack.close()

    def _started(self) -> subprocess.Popen[bytes]:
        worker = start("dask", prints=_standard_error())
        settings = {
            "scheduler": self.cluster.scheduler_address,
            "folder": str(self._folder),
            "certificate": self._security.tls_ca_file,
            "key": self._security.tls_worker_key,
        }
        assert worker.stdin is not None
        with suppress(OSError):  # it has ended: `mend` says why
            worker.stdin.write(json.dumps(settings).encode())
            worker.stdin.close()
        return worker

    def end_workers(self) -> None:
        """End the workers immediately; `mend` replaces them without counting them as failures."""
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


def main(parent: int) -> None:
    """Work for the scheduler of our own cluster until it ends, in a separate process.

    The credentials arrive on standard input: unlike arguments and the environment, no other user of
    this machine can read them there.
    """
    die_with(parent)
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    show_visibly(sys.stderr)
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    asyncio.run(_work(settings))


async def _work(told: dict[str, Any]) -> None:
    config: Any = optional("dask.config", extra="dask", purpose="The engine dask")
    distributed: Any = optional("distributed", extra="dask", purpose="The engine dask")
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    with config.set(QUIET):
        worker = await distributed.Worker(
            told["scheduler"],
            nthreads=1,
            memory_limit=0,
            host="127.0.0.1",
            protocol="tls",
            dashboard=False,
            local_directory=told["folder"],
            security=distributed.Security(
                require_encryption=True,
                tls_ca_file=told["certificate"],
                tls_worker_cert=told["certificate"],
                tls_worker_key=told["key"],
            ),
        )
        await worker.finished()
