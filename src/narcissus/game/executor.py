"""Executors of keyed jobs: in this process, in others, on other machines.

The result of a job depends on its key alone, not on who plays it, when, or how often it is begun.
Everything that is played many times goes through an `Executor`; the caller keeps the results.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol, runtime_checkable

from narcissus._threads import one_thread
from narcissus.errors import NarcissusError
from narcissus.observer import SILENT, Observer

Job = Callable[[str], Any]
"""Plays a key; can be pickled where it is to be sent."""
Ended = Generator[tuple[str, Any], None, None]
"""Keys with the outcome of them, in the order in which they end."""

WORTH_SENDING = 10.0
"""Seconds of work that is worth the start of workers, which takes two."""


class KeyLostError(NarcissusError):
    """Workers ended repeatedly during a key; several ``keys`` where it is unknown which of them."""

    def __init__(self, message: str, keys: Sequence[str]) -> None:
        super().__init__(message)
        self.keys = tuple(keys)


class Executor(Protocol):
    """An executor of keys, as many at the same time as it has workers."""

    @property
    def workers(self) -> int:
        """How many keys it plays at the same time; at least 1."""
        ...

    @property
    def is_here(self) -> bool:
        """Whether its workers share the memory and the files of this machine."""
        ...

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        """Play every key, and yield each result as it ends; close the generator to stop.

        The job is sent to a worker once. Every worker uses one thread of linear algebra. Exceptions
        of the job are raised here, with the key in a note.
        Raises KeyLostError: workers ended again and again during one key.
        Raises NarcissusError: memory ran out, or no worker is left; the message says which.
        """
        ...

    def close(self) -> None:
        """End what was started for it."""
        ...


def each_or_lost(
    executor: Executor, job: Job, keys: Sequence[str], observer: Observer = SILENT
) -> Ended:
    """Play keys; of one that ends workers repeatedly yield the error, and play the others."""
    left = dict.fromkeys(keys)
    try:
        with closing(executor.play(job, keys, observer)) as ending:
            for key, tried in ending:
                del left[key]
                yield key, tried
        return
    except KeyLostError as error:
        lost = error
    for key in lost.keys:
        del left[key]
        if len(lost.keys) == 1:
            yield key, lost
        else:  # one of them: each alone says which
            yield from each_or_lost(executor, job, [key], observer)
    yield from each_or_lost(executor, job, list(left), observer)


@runtime_checkable
class HasPlaces(Executor, Protocol):
    """An executor with distinguishable workers, so that one may hold data that others do not."""

    def play_at(self, jobs: Mapping[int, Job], observer: Observer = SILENT) -> dict[int, Any]:
        """Play the job of each place, with the place as its key; return the results by place.

        A place keeps its worker from play to play, as long as that lives. Raises as `play` does.
        """
        ...


class Serial:
    """An executor that plays one key after the other, in this process."""

    workers = 1
    is_here = True

    def play(self, job: Job, keys: Sequence[str], observer: Observer = SILENT) -> Ended:
        with one_thread():  # as in every worker: the last digits depend on it
            for key in keys:
                try:
                    outcome = job(key)
                except MemoryError as error:
                    raise NarcissusError(
                        f"memory ran out in trial {key} (MemoryError): use a smaller study; "
                        "finished trials are kept"
                    ) from error
                except SystemExit as error:  # it must not decide what the command exits with
                    raise NarcissusError(
                        f"sys.exit({error.code!r}) was called in trial {key}"
                    ) from error
                except Exception as error:
                    error.add_note(f"in trial {key}")
                    raise
                yield key, outcome

    def play_at(self, jobs: Mapping[int, Job], observer: Observer = SILENT) -> dict[int, Any]:
        return {
            place: outcome
            for place, job in jobs.items()
            for _, outcome in self.play(job, [str(place)], observer)
        }

    def close(self) -> None:
        """End nothing: nothing was started."""


def in_order(
    executor: Executor, job: Job, keys: Sequence[str], observer: Observer = SILENT
) -> Generator[Any, None, None]:
    """Yield the results in the order of the keys; nothing is played before it is requested."""
    ahead: dict[str, Any] = {}
    with closing(executor.play(job, keys, observer)) as ending:
        for key in keys:
            while key not in ahead:
                ended, outcome = next(ending)
                ahead[ended] = outcome
            yield ahead.pop(key)


def soon(
    executor: Executor, job: Job, keys: Sequence[str], observer: Observer = SILENT
) -> Generator[Any, None, None]:
    """Yield results in order, from this process at first, and from the executor once it takes long.

    For work that is not stored, and mostly takes less time than the start of workers. Nothing is
    played before it is requested.
    """
    if not keys:
        return
    begin = time.perf_counter()
    [first] = in_order(Serial(), job, keys[:1], observer)
    seconds = (time.perf_counter() - begin) * (len(keys) - 1)
    yield first
    others = executor if seconds > WORTH_SENDING else Serial()
    yield from in_order(others, job, keys[1:], observer)
