"""How long a channel's samples will take, told once the first of them have been looked at."""

from __future__ import annotations

import time

from narcissus.study.kinds import RunOptions
from narcissus.study.work import agree

ENOUGH = 0.3  # seconds of a look from which the rest is reckoned


class Looks:
    """An observer of looks at ever more samples, twice as many each, that ends what is too long.

    The first looks cost next to nothing, so they are the estimate: the next one takes twice the
    time, the one after that four times.

    Raises
    ------
    LongWorkError
        From `advance`: the looks that are left take longer than was agreed to.
    """

    def __init__(self, options: RunOptions) -> None:
        self._options, self._hearer = options, options.observer
        self._left, self._began, self._agreed = 0, 0.0, False
        self.finish, self.note = self._hearer.finish, self._hearer.note

    def start(self, what: str, total: int, done: int = 0) -> None:
        """Take the time."""
        self._left, self._began = total - done, time.perf_counter()
        self._hearer.start(what, total, done)

    def advance(self, steps: int = 1) -> None:
        """Reckon what is left with the first look that took any time."""
        self._hearer.advance(steps)
        self._left -= steps
        now = time.perf_counter()
        seconds, self._began = now - self._began, now
        if seconds < ENOUGH or self._agreed:
            return
        self._agreed = True
        agree(
            seconds * (2 ** (self._left + 1) - 2),
            f"{self._left} looks at more and more of the samples",
            hours=self._options.hours,
            observer=self._hearer,
        )
