"""Play numbered trials in worker processes, store each as it ends, continue where a run stopped.

The numbers of a trial depend on its key alone, never on which process plays it or when: every
process uses one thread of linear algebra, and every trial its own generator.

The processes are loky's: they start without running the user's script again, so that a study can
be played from a plain script or a notebook, and take classes that were defined there.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import Any

from loky import ProcessPoolExecutor
from threadpoolctl import threadpool_limits

from narcissus.errors import NarcissusError
from narcissus.observer import SILENT, Observer
from narcissus.study.store import Payload, TrialStore

Play = Callable[[str], Payload]

_play: Play | None = None
_limits: Any = None


def _follow_parent(parent: int) -> None:
    """End this process when its parent does: an idle worker of a killed run would wait forever."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _begin(play: Play) -> None:
    """Set up a worker: Ctrl-C is the parent's business, one thread of linear algebra."""
    global _play, _limits  # noqa: PLW0603  (a worker process serves one study)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, args=(os.getppid(),), daemon=True).start()
    _play = play
    _limits = threadpool_limits(1)


def _one(key: str) -> Payload:
    assert _play is not None
    return _play(key)


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
        A worker was killed from outside (usually for want of memory). What a trial itself
        raises is passed on, with its key in a note.
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

    with closing(_as_they_end(play, todo, workers)) as ending:
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
    with closing(_as_they_end(play, todo, workers)) as ending:
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


def _as_they_end(
    play: Play, todo: Sequence[str], workers: int | None
) -> Generator[tuple[str, Payload], None, None]:
    """Play all keys; give each as it ends. Close it to end the workers."""
    count = min(workers or default_workers(), len(todo))
    if count > 1:
        yield from _in_processes(play, todo, count)
        return
    with threadpool_limits(1):
        for key in todo:
            try:
                payload = play(key)
            except Exception as error:
                error.add_note(f"in trial {key}")
                raise
            yield key, payload


def _in_processes(
    play: Play, todo: Sequence[str], count: int
) -> Generator[tuple[str, Payload], None, None]:
    """Keep two trials a worker in flight, so that an interrupt loses no more than those."""
    pool = ProcessPoolExecutor(count, initializer=_begin, initargs=(play,))
    waiting = iter(todo)
    flying: dict[Future[Payload], str] = {}
    try:
        for key in waiting:
            flying[pool.submit(_one, key)] = key
            if len(flying) >= 2 * count:
                break
        while flying:
            done, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in done:
                key = flying.pop(future)
                try:
                    payload = future.result()
                except BrokenProcessPool as error:
                    raise NarcissusError(
                        f"a worker process was killed during trial {key}, usually because memory "
                        "ran out: use fewer --workers or a smaller study; finished trials are kept"
                    ) from error
                except Exception as error:
                    error.add_note(f"in trial {key}")
                    raise
                following = next(waiting, None)
                if following is not None:
                    flying[pool.submit(_one, following)] = following
                yield key, payload
    except BaseException:
        # End the workers at once: their trials will be played again.
        pool.shutdown(wait=True, kill_workers=True)
        raise
    pool.shutdown()
