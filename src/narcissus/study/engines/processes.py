"""Play keys in worker processes of this machine.

The numbers of a trial depend on its key alone, never on which process plays it or when: every
process uses one thread of linear algebra, and every trial its own generator. A process that is
killed is replaced and its trial played again, which changes nothing.

The processes start without running the user's script again, so that a study can be played from a
plain script or a notebook, and take classes that were defined there. They end with this process,
whatever ends it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any

import cloudpickle

from narcissus.game.executor import Ended, Job, Serial
from narcissus.observer import SILENT, Observer
from narcissus.study.engines._attendant import Attendant


def default_workers() -> int:
    """Give the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """Plays keys in so many processes; a single key, or one process, is this one.

    Parameters
    ----------
    workers
        Processes; None takes one for each core.
    """

    is_here = True

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or default_workers()

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        """Play every key, and give each as it ends."""
        count = min(self.workers, len(keys))
        if count > 1:
            yield from _in_processes(job, keys, count, observer)
        else:
            yield from Serial().play(job, keys, observer)

    def close(self) -> None:
        """End nothing: the processes end with each `play`."""


def play_apart(job: bytes, key: str, *, seconds: float, observer: Observer = SILENT) -> Any | None:
    """Play one key in a process of its own, which is ended after so many seconds: None then.

    ``job`` is what plays a key, pickled.
    """
    tasks: SimpleQueue[str | None] = SimpleQueue()
    ended: SimpleQueue[tuple[str | None, Any]] = SimpleQueue()
    attendant = Attendant(job, tasks, ended)
    until = time.monotonic() + seconds
    attendant.start()
    tasks.put(key)
    tasks.put(None)
    try:
        while True:
            found, answer = ended.get(timeout=max(0.0, until - time.monotonic()))
            if found is None:
                observer.note(answer)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                return answer
    except Empty:
        return None
    finally:
        attendant.kill()
        attendant.join()


def _in_processes(job: Job, todo: Sequence[str], count: int, observer: Observer) -> Ended:
    """Keep two trials a worker in flight, so that an interrupt loses no more than those."""
    tasks: SimpleQueue[str | None] = SimpleQueue()
    ended: SimpleQueue[tuple[str | None, Any]] = SimpleQueue()
    packed = cloudpickle.dumps(job)
    attendants = [Attendant(packed, tasks, ended) for _ in range(count)]
    try:
        for attendant in attendants:
            attendant.start()
        yield from _answers(tasks, ended, todo, 2 * count, observer)
    except BaseException:
        # End the workers at once: their trials will be played again.
        for attendant in attendants:
            attendant.kill()
        raise
    finally:
        for _ in attendants:
            tasks.put(None)
        for attendant in attendants:
            if attendant.ident is not None:
                attendant.join()


def _answers(
    tasks: SimpleQueue[str | None],
    ended: SimpleQueue[tuple[str | None, Any]],
    todo: Sequence[str],
    most: int,
    observer: Observer,
) -> Ended:
    """Hand out a trial for each one that ends, ``most`` at a time, and give what they end with."""
    waiting = iter(todo)
    flying = 0
    for key in islice(waiting, most):
        tasks.put(key)
        flying += 1
    while flying:
        key, answer = ended.get()
        if key is None:
            observer.note(answer)
            continue
        flying -= 1
        if isinstance(answer, BaseException):
            raise answer
        following = next(waiting, None)
        if following is not None:
            tasks.put(following)
            flying += 1
        yield key, answer
