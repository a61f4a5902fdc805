"""What a threshold on a mean allows, trial by trial: of the share, of the advantage, of the gain.

Each becomes a share that is allowed, given what was guessed without the release and what the same
attempts score on fresh people.
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
    """One limit of a mean.

    Attributes
    ----------
    name
        'share' is what is recovered; 'advantage' the part of what could not be guessed that is;
        'gain' is what is recovered above what the same attempts score on fresh people.
    limit
        What is allowed, in [0, 1].
    """

    name: Mean
    limit: float

    @property
    def ends(self) -> tuple[float, float]:
        """Between which numbers an excess over what is allowed lies."""
        lowest = {"share": -self.limit, "advantage": -1.0, "gain": -1.0 - self.limit}
        return lowest[self.name], 1.0 - self.limit

    def allowed(self, guess: Floats, fresh: Floats) -> Floats:
        """Give the share that is allowed in each trial.

        Parameters
        ----------
        guess
            What the best guess without the release scores, shape (trials,).
        fresh
            What the same attempts score on fresh people, shape (trials,).
        """
        if self.name == "advantage":
            return guess + self.limit * (1 - guess)
        return fresh + self.limit if self.name == "gain" else np.full_like(guess, self.limit)

    @property
    def moments(self) -> str:
        """Under which name a trial keeps the sums of what is proved of each person."""
        return "gain_bound" if self.name == "gain" else "bound"


def criteria(threshold: ThresholdSpec, *, of_group: bool = False) -> list[Criterion]:
    """Give the limits of means that a threshold holds; of a group the one that is asked of it."""
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
