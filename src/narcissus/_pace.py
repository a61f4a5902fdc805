"""The time that is left of a stage, from when its steps came in."""

from __future__ import annotations

from bisect import bisect_right

APART = 0.05
"""Seconds between the moments that are kept of a stage, at least."""


class Pace:
    """When steps of a stage were finished.

    The time before the first steps is no part of the pace: workers start then, and models load.
    The pace is that of the latter half of the steps, so that it follows steps that become slower.
    """

    def __init__(self, total: int = 0, done: int = 0) -> None:
        self._total = total
        self._moments: list[float] = []
        self._counts: list[int] = []
        self._done = self._before = done

    def advance(self, steps: int, now: float) -> None:
        """Count steps that were finished at ``now``, in seconds of a clock that only rises."""
        if steps <= 0:
            return
        self._done += steps
        if len(self._moments) > 1 and now - self._moments[-2] < APART:
            self._moments[-1], self._counts[-1] = now, self._done
            return
        self._moments.append(now)
        self._counts.append(self._done)

    def left(self, now: float) -> float | None:
        """Return the seconds that are left; None while steps have come in only once."""
        if len(self._moments) < 2:
            return None
        half = (self._counts[-1] + self._before) / 2
        start = min(max(0, bisect_right(self._counts, half) - 1), len(self._moments) - 2)
        seconds = self._moments[-1] - self._moments[start]
        steps = self._counts[-1] - self._counts[start]
        rest = seconds / steps * (self._total - self._counts[-1])
        return max(0.0, rest - (now - self._moments[-1]))
