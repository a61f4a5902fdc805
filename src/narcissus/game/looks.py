"""Looks at which a run may end that plays until its question is decided, or its time is spent."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from narcissus.results import Estimate
from narcissus.rows import Quantity

FIRST = 20
"""Trials before the first look."""
GROWTH = 1.5
MOST = 1_000_000


def counts() -> list[int]:
    """Return the trials played at each look: each half as many again, up to `MOST`.

    >>> counts()[:4], counts()[-1]
    ([20, 30, 45, 68], 1000000)
    """
    trials = [FIRST]
    while trials[-1] < MOST:
        trials.append(min(MOST, math.ceil(FIRST * GROWTH ** len(trials))))
    return trials


@dataclass(frozen=True)
class Clock:
    """Time for a run, which ends at a look."""

    budget: float | None = None  # in seconds; None: any
    ended: int | None = None  # the look at which time ended it when it was played before
    began: float = field(default_factory=time.monotonic)

    def is_spent(self, look: int, seconds: float) -> bool:
        """Whether the look after ``look``, the first being 1, is beyond the time given.

        seconds: How long playing to this look took, since the one before.
        """
        if self.ended is not None:  # as then, whatever the time
            return look >= self.ended
        if self.budget is None:
            return False
        before, now, after = [0, *counts()][look - 1 : look + 2]
        soonest = seconds * (after - now) / (now - before)
        return time.monotonic() - self.began + soonest > self.budget


def most_needed(found: Sequence[Estimate | Quantity], limit: float) -> int | None:
    """Estimate the trials after which the limits of all are below ``limit``, or one is above.

    Limits narrow with the square root of the number of trials. None where none seem to do.

    >>> most_needed([Estimate(0.1, 0.0, 0.2, 0.95, 100)], 0.15)
    400
    """
    sure = [
        (estimate.value, estimate.low, estimate.high, estimate.trials or 0) for estimate in found
    ]
    above = [estimate for estimate in sure if estimate[0] is not None and estimate[0] > limit]
    needed: list[int] = []
    for value, low, high, trials in above or sure:
        end = low if above else high
        if value is None or end is None or value == limit:
            return None
        needed.append(math.ceil(round(trials * max(1, (end - value) / (limit - value)) ** 2, 6)))
    return (min if above else max)(needed, default=None)


def rounded_trials(count: int) -> int:
    """Round a number of trials up to two digits.

    >>> rounded_trials(1234)
    1300
    """
    step = 10 ** max(0, int(math.log10(max(count, 1))) - 1)
    return -(-count // step) * step
