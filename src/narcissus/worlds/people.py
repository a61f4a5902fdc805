"""Worlds of people: records drawn from a prior, or rows of a table.

A data set holds the value numbers of every column, shape (n, d), secrets included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus.priors import RecordPrior
from narcissus.worlds.base import Array, Draw, Independent


@dataclass(frozen=True)
class People(Independent):
    """People drawn independently from the distribution of one record.

    Parameters
    ----------
    prior
        The distribution.
    n
        People of a data set.
    """

    prior: RecordPrior
    n: int

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        return Draw(np.stack([self.prior.sample(self.n, rng=rng) for _ in range(trials)]))


@dataclass(frozen=True, eq=False)
class RealRows:
    """Rows of a table, each at most once in a data set: nobody's prior is right about them.

    Where a data set has all rows, they stand as in the table: nothing is drawn.

    Parameters
    ----------
    codes
        The table as value numbers, shape (rows, d).
    n
        Rows of a data set.
    """

    codes: Array
    n: int

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        if self.n == len(self.codes):
            return Draw(np.broadcast_to(self.codes, (trials, *self.codes.shape)))
        rows = [rng.choice(len(self.codes), size=self.n, replace=False) for _ in range(trials)]
        return Draw(self.codes[np.stack(rows)])

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw other rows of the same table."""
        return self.draw(draw.trials, rng).data
