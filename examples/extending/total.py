"""A success criterion of a game: it says of each trial whether the attempt counts."""

from dataclasses import dataclass

import numpy as np

from narcissus._validation import integer


@dataclass(frozen=True)
class Total:
    """The attempt is the number of ones in the data set, or near it.

    Parameters
    ----------
    within
        How far off still counts.
    """

    within: int = 0

    def __post_init__(self):
        integer("within", self.within, low=0)

    def holds(self, data, attempt, rng):
        return np.abs(data.sum(axis=1) - np.asarray(attempt)) <= self.within

    def guesses(self, data):
        return np.arange(data.shape[1] + 1)
