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
LOOKS = 6
"""Looks of a run that ends at a precision."""


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
class PlannedLook:
    """One time at which a run may end."""

    trials: int  # played until then
    part: float  # of the error, for which every limit of this look is computed


def until_decided() -> tuple[PlannedLook, ...]:
    """Schedule looks without end, each with half as many trials again.

    Look k has ``1 / (k (k + 1))`` of the error; all of them together have less than all of it.

    >>> [(look.trials, round(1 / look.part)) for look in until_decided()[:4]]
    [(20, 2), (30, 6), (45, 12), (68, 20)]
    >>> sum(look.part for look in until_decided()) < 1
    True
    """
    return tuple(PlannedLook(n, 1 / (k * (k + 1))) for k, n in enumerate(counts(), 1))


def schedule(first: int, most: int) -> tuple[PlannedLook, ...]:
    """Schedule looks from ``first`` trials on, each half as many again, up to ``most``.

    The first has half of the error, each other half of what is left, and the last all of it.

    >>> [(look.trials, look.part) for look in schedule(100, 300)]
    [(100, 0.5), (150, 0.25), (225, 0.125), (300, 0.125)]
    """
    counts = sorted({min(most, math.ceil(first * GROWTH**k)) for k in range(LOOKS)})
    parts = [0.5 ** (k + 1) for k in range(len(counts) - 1)]
    return tuple(PlannedLook(n, p) for n, p in zip(counts, [*parts, 1 - sum(parts)], strict=True))


@dataclass(frozen=True, kw_only=True)
class LookPlan:
    """The looks at which a run may end, fixed before its first trial, and the time that it has."""

    looks: tuple[PlannedLook, ...] = field(default_factory=until_decided)  # in order
    budget: float | None = None  # in seconds; None: any
    ended: int | None = None  # the look at which time ended it when it was played before
    began: float = field(default_factory=time.monotonic)

    def ending(self, look: int, seconds: float, reason: str = "") -> str:
        """Return why the run ends at a look, from 1; empty where it goes on.

        seconds: How long playing to this look took, since the one before.
        reason: What ends it whatever the time; empty: nothing.
        """
        if reason:
            return reason
        if look == len(self.looks):
            return "most"
        return "budget" if self._is_spent(look, seconds) else ""

    def _is_spent(self, look: int, seconds: float) -> bool:
        """Check whether the look after ``look`` is beyond the time given."""
        if self.ended is not None:  # as then, whatever the time
            return look >= self.ended
        if self.budget is None:
            return False
        trials = [0, *(planned.trials for planned in self.looks)]
        before, now, after = trials[look - 1 : look + 2]
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
