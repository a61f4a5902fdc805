"""Worlds of people: records drawn from a prior, or rows of a table.

A data set holds the value numbers of every column, shape (n, d), secrets included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    counts
        How many rows of the table are like each of ``codes``, shape (rows,); None: they are all.
    """

    codes: Array
    n: int
    counts: NDArray[np.int64] | None = None

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        if self.n == self.people:
            whole = self.rows(self.numbers(rng))
            return Draw(np.broadcast_to(whole, (trials, *whole.shape)))
        return Draw(self.rows(np.stack([self.numbers(rng) for _ in range(trials)])))

    @property
    def people(self) -> int:
        """People of the table, each as often as counted."""
        return len(self.codes) if self.counts is None else int(self.counts.sum())

    def numbers(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the people of one data set by their numbers in the table, shape (n,)."""
        if self.n == self.people:
            return np.arange(self.n)
        return rng.choice(self.people, size=self.n, replace=False)

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """Rows of people given by their numbers, shape (..., d)."""
        if self.counts is not None:  # as if each stood there as often as it is counted
            numbers = np.searchsorted(np.cumsum(self.counts), numbers, side="right")
        return self.codes[numbers].astype(np.int32, copy=False)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw other rows of the same table."""
        return self.draw(draw.trials, rng).data
