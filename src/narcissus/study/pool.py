"""Play what a store does not hold yet, store each trial as it ends, continue where a run stopped.

Who plays is an executor's business; the store stays in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from narcissus.game.executor import Executor
from narcissus.observer import SILENT, Observer
from narcissus.study.store import Payload, TrialStore

Play = Callable[[str], Payload]


def play_all(
    play: Play,
    keys: Sequence[str],
    *,
    store: TrialStore | None,
    executor: Executor,
    what: str,
    observer: Observer = SILENT,
) -> dict[str, Payload]:
    """Play every key that the store does not hold yet; return all payloads by key.

    ``play`` must be picklable, and its numbers must depend on the key alone. Without a store
    finished trials are kept in memory only. ``what`` is played, for the progress display.

    Raises NarcissusError if workers were killed again and again during one trial, memory ran out,
    or a cluster was lost. What a trial itself raises is passed on, with its key in a note.
    """
    stored_keys = store.keys() if store is not None else set[str]()
    finished = {key: store.get(key) for key in keys if store is not None and key in stored_keys}
    todo = [key for key in keys if key not in finished]
    if finished and todo:
        observer.note(f"continuing: {len(finished)} of {len(keys)} trials were already played")
    observer.start(what, len(keys), done=len(finished))

    with closing(executor.play(play, todo, observer)) as ending:
        for key, payload in ending:
            if store is not None:
                store.put(key, payload)
            finished[key] = payload
            observer.advance()
    observer.finish()
    return {key: finished[key] for key in keys}


def play_in_order(
    play: Play,
    keys: Sequence[str],
    *,
    store: TrialStore | None,
    executor: Executor,
    observer: Observer = SILENT,
) -> Generator[Payload, None, None]:
    """Yield the payloads in the order of the keys, and play ahead what the store does not hold.

    A caller may stop at any key: what was seen until then does not depend on the workers. Nothing
    is played before it is asked for; the rest is as in `play_all`.
    """
    stored_keys = store.keys() if store is not None else set[str]()
    todo = [key for key in keys if key not in stored_keys]
    ahead: dict[str, Payload] = {}
    with closing(executor.play(play, todo, observer)) as ending:
        for key in keys:
            if store is not None and key in stored_keys:
                yield store.get(key)
                continue
            if key == todo[0] and len(todo) < len(keys):
                count = len(keys) - len(todo)
                observer.note(f"continuing: {count} of {len(keys)} batches were already played")
            while key not in ahead:
                ended, payload = next(ending)
                if store is not None:
                    store.put(ended, payload)
                ahead[ended] = payload
            yield ahead.pop(key)
