"""Limits of a mean as a share allowed in each trial: of the share, the advantage, the gain.

Each becomes an allowed share, given the best guess without the release and the score of the same
attempts on fresh people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus.study.table.schema import ThresholdSpec

Floats = NDArray[np.float64]
Mean = Literal["share", "advantage", "gain"]


@dataclass(frozen=True)
class Criterion:
    """One limit of a mean, in [0, 1]."""

    # 'share' is what is recovered; 'advantage' the part recovered of what could not be
    # guessed; 'gain' the excess over the score of the same attempts on fresh people
    name: Mean
    limit: float

    @property
    def ends(self) -> tuple[float, float]:
        """Range of an excess over the allowed share."""
        lowest = {"share": -self.limit, "advantage": -1.0, "gain": -1.0 - self.limit}
        return lowest[self.name], 1.0 - self.limit

    def allowed(self, guess: Floats, fresh: Floats) -> Floats:
        """Return the share allowed in each trial.

        ``guess`` is the score of the best guess without the release, ``fresh`` that of the same
        attempts on fresh people, both of shape (trials,).
        """
        if self.name == "advantage":
            return guess + self.limit * (1 - guess)
        return fresh + self.limit if self.name == "gain" else np.full_like(guess, self.limit)

    @property
    def moments(self) -> str:
        """Key under which a trial keeps the sums of what is proved of each person."""
        return "gain_bound" if self.name == "gain" else "bound"


def criteria(threshold: ThresholdSpec, *, of_group: bool = False) -> list[Criterion]:
    """Return the limits of means in a threshold; for a group, the one asked of it."""
    given = {
        "share": threshold.share,
        "advantage": threshold.advantage,
        "gain": threshold.gain,
    }
    found = [Criterion(n, limit) for n, limit in given.items() if limit is not None]  # type: ignore[arg-type]
    if not of_group:
        return found
    group = threshold.worst_group
    return [] if group is None else [Criterion(one.name, group) for one in found[:1]]
