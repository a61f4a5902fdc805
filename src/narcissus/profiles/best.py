"""Search for the attacker with the largest gap, over guesses that come in blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import TIE


@dataclass(frozen=True)
class Guesses:
    """A block of guesses against all releases, for one value of what the attacker is told."""

    told: int  # index of that value
    guesses: NDArray[np.int64]  # numbers of the guesses, shape (g,)
    success: NDArray[np.float64]  # s(y, z), shape (g, Y)
    baseline: NDArray[np.float64]  # b(y, z), shape (g, Y)


@dataclass(frozen=True)
class Best:
    """The attacker with the largest gap at an epsilon, updated block by block.

    ``gain``, ``success`` and ``baseline`` hold what each release adds to
    ``success - e^epsilon baseline`` and to its two terms, by what is told, each of shape (Y,).
    ``guess`` is the number of the best guess for each release, -1 for none; it has no meaning where
    attempts are put together from several guesses.
    """

    epsilon: float
    gain: dict[int, NDArray[np.float64]]
    success: dict[int, NDArray[np.float64]]
    baseline: dict[int, NDArray[np.float64]]
    guess: dict[int, NDArray[np.int64]]

    @classmethod
    def nothing(
        cls, epsilon: float, told: Sequence[int], width: int, *, abstain: bool = True
    ) -> Best:
        """Start with the attacker who makes no attempt, or who still has to make one."""
        start = 0.0 if abstain else -math.inf
        return cls(
            epsilon,
            {k: np.full(width, start) for k in told},
            {k: np.zeros(width) for k in told},
            {k: np.zeros(width) for k in told},
            {k: np.full(width, -1, dtype=np.int64) for k in told},
        )

    def add(self, block: Guesses, *, additive: bool) -> None:
        """Update the best attacker with a block of guesses."""
        k, releases = block.told, np.arange(block.success.shape[1])
        factor = math.exp(self.epsilon)
        value = block.success - factor * block.baseline
        # What gains nothing but by rounding is not attempted, and of equals the first one is: which
        # attacker is shown hangs on no last digit. What is gained is the largest all the same.
        rounding = TIE * (block.success + factor * block.baseline)
        if additive:
            chosen = value > rounding
            self.gain[k][:] += np.maximum(value, 0).sum(axis=0)
            self.success[k][:] += np.where(chosen, block.success, 0).sum(axis=0)
            self.baseline[k][:] += np.where(chosen, block.baseline, 0).sum(axis=0)
            return
        held = self.success[k] - factor * self.baseline[k]
        held[np.isneginf(self.gain[k])] = -np.inf
        found = value.max(axis=0)
        top = np.argmax(value >= found - rounding, axis=0)
        better = np.flatnonzero(found > held + rounding[top, releases])
        chosen = top[better]
        np.maximum(self.gain[k], found, out=self.gain[k])
        self.success[k][better] = block.success[chosen, better]
        self.baseline[k][better] = block.baseline[chosen, better]
        self.guess[k][better] = block.guesses[chosen]

    def asking(self, leaves: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> Best:
        """Keep, of whole conversations, those to which the best questions lead."""
        kept = {k: leaves(gain) for k, gain in self.gain.items()}
        return Best(
            self.epsilon,
            {k: np.where(kept[k], one, 0.0) for k, one in self.gain.items()},
            {k: np.where(kept[k], one, 0.0) for k, one in self.success.items()},
            {k: np.where(kept[k], one, 0.0) for k, one in self.baseline.items()},
            {k: np.where(kept[k], one, -1) for k, one in self.guess.items()},
        )

    @property
    def delta(self) -> float:
        """Total gain of the attacker, at least 0."""
        return max(0.0, _total(self.gain))

    @property
    def rates(self) -> tuple[float, float]:
        """Return its success and its baseline."""
        return _total(self.success), _total(self.baseline)


def _total(parts: dict[int, NDArray[np.float64]]) -> float:
    """Sum without rounding: profiles may be as small as 1e-90."""
    return math.fsum(float(x) for part in parts.values() for x in part[part != 0])
