"""Play keys in worker processes of this machine.

The numbers of a trial depend on its key alone, never on which process plays it or when: every
process uses one thread of linear algebra, and every trial its own generator. A process that is
killed is replaced and its trial played again, which changes nothing.

The processes start without running the user's script again, so a study can be played from a plain
script or a notebook, with classes defined there. They end with this process, whatever ends it.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Mapping, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any

import cloudpickle

from narcissus.game.executor import Ended, Job, Serial
from narcissus.observer import SILENT, Observer
from narcissus.study.engines._attendant import Attendant, Shift


def default_workers() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """Executor that plays keys in worker processes; a single key, or one process, runs in this one.

    The processes stay between plays, until `close`, or until the executor is garbage-collected.

    Parameters
    ----------
    workers
        Number of processes; None is one for each core.
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
                attendants.append(Attendant())
                attendants[-1].start()
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
            self._idle.append(Attendant())
            self._idle[-1].start()
        ended: SimpleQueue[tuple[str | None, Any]] = SimpleQueue()
        packed: dict[int, bytes] = {}  # one for all places that play the same
        found: dict[int, Any] = {}
        try:
            for place, job in jobs.items():
                if id(job) not in packed:
                    packed[id(job)] = cloudpickle.dumps(job)
                shift = Shift(packed[id(job)], SimpleQueue(), ended, "part")
                shift.tasks.put(str(place))
                shift.tasks.put(None)
                self._idle[place % self.workers].begin(shift)
            while len(found) < len(jobs):
                key, answer = ended.get()
                if key is None:
                    observer.note(answer)
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    found[int(key)] = answer
        except BaseException:
            for attendant in self._idle:
                attendant.kill()
            _send_home(self._idle, wait=True)
            raise
        return found

    def close(self) -> None:
        """End the processes."""
        _send_home(self._idle, wait=True)


def _send_home(attendants: list[Attendant], *, wait: bool = False) -> None:
    """Let attendants end, with their processes, and empty the list."""
    leaving = [attendants.pop() for _ in range(len(attendants))]
    for attendant in leaving:
        attendant.leave()
    for attendant in leaving:
        if wait and attendant.ident is not None:
            attendant.join()


def play_apart(job: bytes, key: str, *, seconds: float, observer: Observer = SILENT) -> Any | None:
    """Play one pickled job's key in a separate process; None if it takes over ``seconds``."""
    shift = Shift(job, SimpleQueue(), SimpleQueue())
    attendant = Attendant()
    until = time.monotonic() + seconds
    attendant.start()
    attendant.begin(shift)
    shift.tasks.put(key)
    try:
        while True:
            found, answer = shift.ended.get(timeout=max(0.0, until - time.monotonic()))
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
        shift.tasks.put(None)
        attendant.leave()
        attendant.join()


def _answers(shift: Shift, todo: Sequence[str], most: int, observer: Observer) -> Ended:
    """Hand out a trial for each one that ends, ``most`` at a time, and yield the results."""
    waiting = iter(todo)
    flying = 0
    for key in islice(waiting, most):
        shift.tasks.put(key)
        flying += 1
    while flying:
        key, answer = shift.ended.get()
        if key is None:
            observer.note(answer)
            continue
        flying -= 1
        if isinstance(answer, BaseException):
            raise answer
        following = next(waiting, None)
        if following is not None:
            shift.tasks.put(following)
            flying += 1
        yield key, answer
