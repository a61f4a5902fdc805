"""Play keys on the workers of a Dask cluster: our own on this machine, or one on many machines.

The job goes to the scheduler once, and from there to each worker; of a key its name goes there,
and comes back what the store keeps of it. Dask gives what a lost worker had to another one. The
results stay here: when the scheduler is lost, so is nothing that has ended.
"""

from __future__ import annotations

import itertools
import logging
import time
import warnings
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

import cloudpickle

from narcissus._optional import optional
from narcissus.errors import InputError, NarcissusError
from narcissus.game.executor import Ended, Job, KeyLostError
from narcissus.observer import SILENT, Observer
from narcissus.study.engines.answers import opened
from narcissus.study.engines.own_cluster import OwnCluster
from narcissus.study.engines.processes import default_workers
from narcissus.study.engines.task import Carried, play_key, processor, versions

CONNECT = "10s"
LOOK = 0.25  # seconds between looks at workers that have ended
COUNT = 2.0  # seconds between counts of the workers there are
KEPT = "finished trials are kept, and the same command continues"

_numbers = itertools.count()


def configured_scheduler() -> str | None:
    """Give the address in Dask's own configuration: DASK_SCHEDULER_ADDRESS, or a file of yours."""
    config: Any = optional("dask.config", extra="dask", purpose="The engine dask")
    return config.get("scheduler-address", None)


class Dask:
    """Plays keys on a Dask cluster.

    Parameters
    ----------
    scheduler
        The address of a scheduler, such as ``"tcp://10.0.0.5:8786"`` or ``"tls://..."`` (with the
        certificates that Dask's own configuration names), or a cluster object of Dask's. None
        starts a cluster of processes on this machine, which ends with `close`.
    workers
        Processes of a cluster on this machine; None takes one for each core.

    Raises
    ------
    MissingExtraError
        Dask is not installed.
    InputError
        ``workers`` is given for a cluster that has its own.
    """

    def __init__(self, scheduler: Any = None, *, workers: int | None = None) -> None:
        self._distributed: Any = optional("distributed", extra="dask", purpose="The engine dask")
        self._scheduler = scheduler
        if self._scheduler is not None and workers is not None:
            raise InputError(
                "a scheduler has workers of its own: leave out `workers`, or the scheduler"
            )
        self._count = workers or default_workers()
        self._own: OwnCluster | None = None
        self._client: Any = None
        self._logging = ExitStack()

    @property
    def is_here(self) -> bool:
        """Whether the workers are of this machine."""
        return self._scheduler is None

    @property
    def workers(self) -> int:
        """How many workers there are now; at least 1."""
        if self._scheduler is None:
            return self._count
        return max(1, len(self._connected(SILENT).nthreads()))

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        """Play every key, and give each as it ends."""
        if not keys:
            return
        packed = cloudpickle.dumps(job)
        client = self._connected(observer)
        flight = _Flight(client, self._where(), self._own)
        try:
            yield from flight.answers(Carried(packed, versions()), keys, observer)
        finally:
            flight.end()

    def close(self) -> None:
        """Take leave of the scheduler; end a cluster that was started here."""
        own, client = self._own, self._client
        self._own = self._client = None
        if own is not None:
            own.end_workers()  # first: nobody waits for what they play
        if client is not None:
            with suppress(OSError, TimeoutError):
                client.close(timeout=1)
        if own is not None:
            own.close()
        self._logging.close()

    def _where(self) -> str:
        at = self._scheduler
        return str(getattr(at, "scheduler_address", at)) if at is not None else "this machine"

    def _connected(self, observer: Observer) -> Any:
        """Give the client, connected to a cluster."""
        if self._client is not None:
            return self._client
        to = self._scheduler
        self._logging.enter_context(_silence())
        if to is None:
            observer.note(f"starting {self._count} workers of Dask's")
            self._own = OwnCluster(self._count)
            to = self._own.cluster
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                self._client = self._distributed.Client(
                    to, timeout=CONNECT, set_as_default=False, name="narcissus"
                )
            except (OSError, ValueError, TypeError, RuntimeError) as error:
                raise InputError(
                    f"no scheduler of Dask's answers at {self._where()}: {error}"
                ) from error
        for one in said:
            observer.note(f"Dask: {one.message}")
        return self._client


@contextmanager
def _silence() -> Generator[None]:
    """Keep Dask from writing to standard error: what matters is told to the observer."""
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
    """One job and the keys of it that are under way."""

    def __init__(self, client: Any, where: str, own: OwnCluster | None) -> None:
        self._client, self._where, self._own = client, where, own
        self._name = f"{client.id}-{next(_numbers)}"
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._flying: dict[Any, str] = {}
        self._job: Any = None
        self._workers, self._reached, self._counted = 0, 0, 0.0
        self._is_like_us = True

    def answers(self, carried: Carried, keys: Sequence[str], observer: Observer) -> Ended:
        """Keep two keys a worker under way; give each as it ends."""
        self._send(carried, observer)
        waiting = iter(keys)
        while True:
            most = max(1, 2 * self._workers)
            for key in itertools.islice(waiting, max(0, most - len(self._flying))):
                task = f"{self._name}-{key}"
                self._follow(self._client.submit(play_key, self._job, key, key=task), key)
            if not self._flying:
                return
            future = self._next(observer)
            key = self._flying.pop(future)
            found = self._found(future, key, observer)
            if self._own is not None:
                self._own.has_played()
            yield key, found

    def end(self) -> None:
        """Take back what is still under way, and the job."""
        left = [*self._flying, *([] if self._job is None else [self._job])]
        self._flying.clear()
        self._job = None
        if left and self._client.status == "running":
            with suppress(OSError, TimeoutError, CancelledError):
                self._client.cancel(left)

    def _send(self, carried: Carried, observer: Observer) -> None:
        """Send the job, as a task: Dask repeats it where the workers that have it are lost."""
        config: Any = optional("dask.config", extra="dask", purpose="The engine dask")
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
            self._job = self._client.submit(
                Carried, carried.packed, carried.made_by, key=f"{self._name}-study"
            )
        self._job.add_done_callback(self._ended.put)
        self._next(observer)
        self._require_played(self._job, "the study")

    def _follow(self, future: Any, key: str) -> None:
        self._flying[future] = key
        future.add_done_callback(self._ended.put)

    def _next(self, observer: Observer) -> Any:
        """Wait for what ends; meanwhile look after the workers."""
        is_told = False
        while True:
            self._look(observer)
            if self._workers == 0 and self._own is None and not is_told:
                observer.note(f"the scheduler at {self._where} has no workers: waiting for one")
                is_told = True
            with suppress(Empty):
                return self._ended.get(timeout=LOOK)

    def _look(self, observer: Observer) -> None:
        """Count the workers, and bring the job to those that have come."""
        if self._client.status != "running":
            raise self._lost()
        if self._own is not None:
            self._own.mend(observer)
        is_sent = self._job.status == "finished"
        is_known = self._workers and (self._reached or not is_sent)
        if is_known and time.monotonic() < self._counted + COUNT:
            return
        try:
            self._workers = len(self._client.nthreads())
        except (OSError, CancelledError) as error:
            raise self._lost() from error
        self._counted = time.monotonic()
        if is_sent and self._workers > self._reached:
            # Where it fails, workers fetch the job from each other when they need it.
            with suppress(OSError, TimeoutError, CancelledError, KeyError, ValueError):
                self._client.replicate([self._job], callback_timeout=5)
        self._reached = self._workers

    def _found(self, future: Any, key: str, observer: Observer) -> Any:
        """Give what came of a key; what was raised is raised here."""
        self._require_played(future, f"trial {key}")
        while True:
            try:
                packed, other = future.result(timeout=1)
                break
            except TimeoutError:  # the worker that had it is lost: it is played again
                self._look(observer)
            except (OSError, CancelledError) as error:
                raise self._lost() from error
        if other != processor() and self._is_like_us:
            self._is_like_us = False
            observer.note("a worker has another kind of processor: last digits may differ")
        return opened(packed, f"in trial {key}")

    def _require_played(self, future: Any, what: str) -> None:
        """Raise what Dask says of a key that no worker has played."""
        if future.status == "cancelled":
            raise self._lost()
        if future.status != "error":
            return
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            why = "" if self._own is None else f" ({self._own.why()})"
            time.sleep(LOOK)  # what waited behind it on the same workers is blamed as well
            others = sorted(key for one, key in self._flying.items() if one.status == "error")
            said = (
                f"a worker process ended {error.allowed_failures + 1} times during "
                f"{' or '.join([what, *others])}{why}; {KEPT}"
            )
            if future is self._job:
                raise NarcissusError(said)
            raise KeyLostError(said, [what.removeprefix("trial "), *others])
        raise NarcissusError(
            f"the workers cannot play {what}: {type(error).__name__}: {error}. Install there what "
            "is installed here, in the same versions"
        ) from error

    def _lost(self) -> NarcissusError:
        return NarcissusError(f"the scheduler at {self._where} is lost: {KEPT}")
