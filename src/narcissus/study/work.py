"""What work may take: told before it starts, refused where it is more than was agreed to.

Kinds of study reckon how long they will take; what is done with the answer is the same for all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import cloudpickle

from narcissus.errors import LongWorkError
from narcissus.observer import Observer
from narcissus.study.engines.processes import play_apart

FoundT = TypeVar("FoundT")

PATIENCE = 60.0
"""Most seconds that a piece of work is timed, where its end cannot be foreseen."""
WORTH_A_NOTE = 60.0  # seconds
_ANYWAY = "Start it with --yes (in Python: hours=None)"


def agree(
    seconds: float,
    work: str,
    *,
    hours: float | None,
    observer: Observer,
    instead: str = "make the study smaller",
) -> None:
    """Report how long the work will take; refuse it where that is longer than was agreed to.

    seconds: the estimate.
    work: what it is, in words: "1,000 trials of 0.2 s each, in 2 processes".
    hours: longest time that was agreed to; None is any.
    observer: hears how long it will take, where that is more than a minute.
    instead: what else can be done about it.
    Raises LongWorkError: it takes longer than ``hours``.
    """
    estimate = f"about {in_words(seconds)} of work: {work}"
    if hours is not None and seconds > 3600 * hours:
        error = LongWorkError(f"this is {estimate}. {_ANYWAY}, or {instead}")
        error.seconds, error.work = seconds, work
        raise error
    if seconds > WORTH_A_NOTE:
        observer.note(estimate)


def timed(
    measure: Callable[[], FoundT],
    what: str,
    patience: float | None = None,
    *,
    hours: float | None,
    observer: Observer,
) -> FoundT | None:
    """Take a measurement whose end cannot be foreseen, in a separate process.

    measure: plays a little and gives what it took. What cannot be sent to another process is called
        in this one.
    what: what is played, for messages.
    patience: seconds after which it is ended; `PATIENCE` if None.
    hours: whether somebody waits to be asked; None is nobody.
    observer: hears where it did not end.
    Returns object or None: what ``measure`` gives; None where it was ended and any time was agreed
        to.
    Raises LongWorkError: it was ended, and nobody has agreed to that.
    """
    longest = PATIENCE if patience is None else patience
    try:
        job = cloudpickle.dumps(lambda _: measure())
    except Exception:  # pickling calls what others wrote
        return measure()
    measurement = play_apart(job, "0/0", seconds=longest, observer=observer)
    if measurement is not None:
        return measurement
    message = f"{what} has not ended after {longest:g} seconds"
    if hours is not None:
        raise LongWorkError(f"{message}, so nobody can tell how long the study takes. {_ANYWAY}")
    observer.note(f"{message}: how long the study takes is not known")
    return None


def machine_memory() -> int:
    """Return the bytes of memory that this machine, or what we run in, has."""
    if not hasattr(os, "sysconf"):  # Windows: its processes are refused memory one by one
        return sys.maxsize
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no such group, or "max"
        return total


def in_words(seconds: float) -> str:
    for name, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.3g} {name}"
    return f"{seconds:.3g} seconds"
