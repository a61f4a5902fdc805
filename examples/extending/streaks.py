"""A world of a game: it draws data sets, and fresh ones from the same nature."""

from dataclasses import dataclass

import numpy as np

from narcissus._validation import integer, probability
from narcissus.worlds import Draw


@dataclass(frozen=True)
class Streaks:
    """Bits in a row, each like the one before with some probability.

    Parameters
    ----------
    n
        Number of bits.
    stay
        Probability that a bit is like the one before.
    """

    n: int
    stay: float = 0.8

    def __post_init__(self):
        integer("n", self.n, low=1)
        probability("stay", self.stay)

    def draw(self, trials, rng):
        flips = rng.random((trials, self.n)) >= self.stay
        flips[:, 0] = rng.random(trials) < 0.5
        return Draw(np.cumsum(flips, axis=1) % 2)

    def fresh(self, draw, rng):
        return self.draw(draw.trials, rng).data
