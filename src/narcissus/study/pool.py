"""Play numbered trials in worker processes, store each as it ends, continue where a run stopped.

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
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any

import cloudpickle
from threadpoolctl import threadpool_limits

from narcissus.errors import NarcissusError
from narcissus.observer import SILENT, Observer
from narcissus.study._attendant import Attendant
from narcissus.study.store import Payload, TrialStore

Play = Callable[[str], Payload]


def default_workers() -> int:
    """Give the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def play_all(
    play: Play,
    keys: Sequence[str],
    *,
    store: TrialStore | None,
    workers: int | None,
    what: str,
    observer: Observer = SILENT,
) -> dict[str, Payload]:
    """Play every key that the store does not hold yet; give all payloads by key.

    Parameters
    ----------
    play
        Plays one trial; must be picklable, and its numbers must depend on the key alone.
    keys
        All trials of the study.
    store
        Where finished trials are kept; None keeps them in memory only.
    workers
        Processes; None takes one for each core.
    what
        What is being played, for the progress display.
    observer
        Hears of each finished trial.

    Raises
    ------
    NarcissusError
        Worker processes were killed again and again during one trial, with the reason; or memory
        ran out. What a trial itself raises is passed on, with its key in a note.
    """
    finished: dict[str, Payload] = {}
    held = store.keys() if store is not None else set[str]()
    for key in keys:
        if store is not None and key in held:
            finished[key] = store.get(key)
    todo = [key for key in keys if key not in finished]
    if finished and todo:
        observer.note(f"continuing: {len(finished)} of {len(keys)} trials were already played")
    observer.start(what, len(keys), done=len(finished))

    def keep(key: str, payload: Payload) -> None:
        if store is not None:
            store.put(key, payload)
        finished[key] = payload
        observer.advance()

    with closing(_as_they_end(play, todo, workers, observer)) as ending:
        for key, payload in ending:
            keep(key, payload)
    observer.finish()
    return {key: finished[key] for key in keys}


def play_in_order(
    play: Play,
    keys: Sequence[str],
    *,
    store: TrialStore | None,
    workers: int | None,
    observer: Observer = SILENT,
) -> Generator[Payload, None, None]:
    """Give the payloads in the order of the keys, and play ahead what the store does not hold.

    Whoever looks at them may stop at any key: what was seen until then does not depend on the
    workers. Parameters and errors are those of `play_all`; nothing is played before it is asked
    for.
    """
    held = store.keys() if store is not None else set[str]()
    todo = [key for key in keys if key not in held]
    ahead: dict[str, Payload] = {}
    with closing(_as_they_end(play, todo, workers, observer)) as ending:
        for key in keys:
            if store is not None and key in held:
                yield store.get(key)
                continue
            if key == todo[0] and len(todo) < len(keys):
                kept = len(keys) - len(todo)
                observer.note(f"continuing: {kept} of {len(keys)} batches were already played")
            while key not in ahead:
                ended, payload = next(ending)
                if store is not None:
                    store.put(ended, payload)
                ahead[ended] = payload
            yield ahead.pop(key)


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


def _as_they_end(
    play: Play, todo: Sequence[str], workers: int | None, observer: Observer
) -> Generator[tuple[str, Payload], None, None]:
    """Play all keys; give each as it ends. Close it to end the workers."""
    count = min(workers or default_workers(), len(todo))
    if count > 1:
        yield from _in_processes(play, todo, count, observer)
        return
    with threadpool_limits(1):
        for key in todo:
            try:
                payload = play(key)
            except MemoryError as error:
                raise NarcissusError(
                    f"memory ran out in trial {key} (MemoryError): use a smaller study; finished "
                    "trials are kept"
                ) from error
            except SystemExit as error:  # it must not decide what the command exits with
                raise NarcissusError(
                    f"sys.exit({error.code!r}) was called in trial {key}"
                ) from error
            except Exception as error:
                error.add_note(f"in trial {key}")
                raise
            yield key, payload


def _in_processes(
    play: Play, todo: Sequence[str], count: int, observer: Observer
) -> Generator[tuple[str, Payload], None, None]:
    """Keep two trials a worker in flight, so that an interrupt loses no more than those."""
    tasks: SimpleQueue[str | None] = SimpleQueue()
    ended: SimpleQueue[tuple[str | None, Any]] = SimpleQueue()
    job = cloudpickle.dumps(play)
    attendants = [Attendant(job, tasks, ended) for _ in range(count)]
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
) -> Generator[tuple[str, Payload], None, None]:
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
