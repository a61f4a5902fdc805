"""Signs of life of what takes long and reports nothing itself; cheap to load."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from narcissus._visible import visible


def duration(seconds: float) -> str:
    """Format a time as '0:42', '12:05' or '3:00:10'."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


SILENCE = 2.0
"""Most seconds without a sign of life, in the first minute of a stage."""


class Heart:
    """A thread that reports what goes on, where nothing else has been heard for a while."""

    def __init__(self, say: Callable[[str], None], what: str) -> None:
        self._say, self._left = say, str
        self._what, self._began = what, time.monotonic()
        self._heard, self._end = self._began, threading.Event()
        threading.Thread(target=self._beat, daemon=True).start()

    def hear(self, what: str | None = None, left: Callable[[], str] = str) -> None:
        """Take notice of a sign of life: of a stage that begins, or of that which goes on.

        ``left`` returns how far a stage is; none is known if it is left out.
        """
        self._heard = time.monotonic()
        if what is not None:
            self._what, self._left, self._began = what, left, self._heard

    def stop(self) -> None:
        self._end.set()

    def _beat(self) -> None:
        while not self._end.wait(SILENCE / 8):
            now = time.monotonic()
            spent = now - self._began
            if now - self._heard >= (SILENCE * 3 / 4 if spent < 60 else 10.0):
                self._heard = now
                self._say(f"{self._what}: {self._left() or f'{duration(spent)} so far'}")


_ATTENDING: list[Heart] = []
_COMMANDS: list[str] = []
"""The command that runs, where it is attended."""


@contextmanager
def attended(words: Sequence[str], program: str = "narcissus") -> Generator[None]:
    """Report at a terminal that a command still works, but while it has separate progress."""
    if words and "--quiet" not in words and sys.stderr.isatty():
        _COMMANDS.append(f"{program} {words[0]}")
    again()
    try:
        yield
    finally:
        rest()
        _COMMANDS.clear()


def again() -> None:
    """Report that the command still works, once its own progress has ended."""

    def say(text: str) -> None:
        print(visible(text), file=sys.stderr, flush=True)

    if _COMMANDS and not _ATTENDING:
        _ATTENDING.append(Heart(say, _COMMANDS[0]))


def rest() -> None:
    """End what `attended` reports: progress begins, or somebody is asked."""
    while _ATTENDING:
        _ATTENDING.pop().stop()
