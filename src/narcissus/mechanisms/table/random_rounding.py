"""Unbiased random rounding: every cell to one of the two neighbouring multiples of a base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus.mechanisms.queries import Floats, TableQueries
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.protected import PreparedCells
from narcissus.mechanisms.table.rounding import Rounding


@dataclass(frozen=True)
class RandomlyRoundedTo:
    """A cell is the multiple below its count or the one above, so that its mean is the count.

    A count that is ``r`` above a multiple of the base goes up with probability ``r / base``; a
    multiple stays.
    """

    base: int

    @property
    def title(self) -> str:
        """That cells are rounded at random, and to what."""
        return f"randomly rounded to multiples of {self.base}, without bias"

    def log_likelihood(self, cells: Floats, counts: Floats) -> Floats:
        """Return the log chance that a count is rounded to the published value."""
        over = np.mod(counts, self.base)
        up = over / self.base
        chance = np.where(cells == counts - over, 1 - up, 0.0)
        chance = np.where(cells == counts - over + self.base, up, chance)
        with np.errstate(divide="ignore"):
            return np.log(chance)


@dataclass(frozen=True)
class RandomRounding(Rounding):
    """Tables whose cells are rounded at random, without bias, to a neighbouring multiple of a base.

    Nothing is guaranteed: given everybody else's records, a count that is a multiple of the base
    is published as it is, and a person more in the cell can lead to the next one.

    Parameters
    ----------
    base
        What cells are multiples of, a whole number of at least 1; 1 leaves them as they are. A
        list is a sweep.
    """

    @property
    def title(self) -> str:
        """That they are rounded at random, and how many columns each has."""
        return f"Randomly rounded {self.tables}"

    def prepare(self, columns: Columns) -> PreparedCells:
        """Lay out the tables."""
        rule = RandomlyRoundedTo(int(self.base))
        return PreparedCells(self.queries_of(columns), rule, self._change)

    def _change(self, queries: TableQueries, counts: Floats, rng: np.random.Generator) -> Floats:
        over = np.mod(counts, self.base)
        up = rng.random(counts.size) * self.base < over
        return counts - over + np.where(up, float(self.base), 0.0)
