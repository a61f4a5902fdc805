"""Data sets drawn from a pool: the world of games in which a model is trained on some of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.extraction.files import DataSet
from narcissus.worlds.base import Draw


@dataclass(frozen=True, eq=False)
class Pool:
    """Data sets of ``size`` records, drawn from a pool without repetition.

    A fresh data set is another draw from the same pool, so that an attack is compared with what it
    would recover of data that the release has not seen.

    Parameters
    ----------
    records
        Lines of text, or rows of numbers, shape (n, columns).
    size
        Records of a data set.
    labels
        The class of each row, -1 or 1, shape (n,); each data set then holds as many of both, as
        near as may be. None: there are no classes.
    """

    records: Sequence[str] | NDArray[np.float64]
    size: int
    labels: ArrayLike | None = None

    def __post_init__(self) -> None:
        integer("size", self.size, low=1, high=len(self.records))
        if self.labels is None:
            return
        if isinstance(self.records, Sequence):
            raise InputError("`labels` are for rows of numbers")
        each = [int((np.asarray(self.labels) == sign).sum()) for sign in (1, -1)]
        if sum(each) != len(self.records) or min(each) < (self.size + 1) // 2:
            raise InputError(
                f"`labels` must be -1 or 1 for each of {len(self.records)} records, with enough of "
                f"both for {self.size}; got {each[0]} of 1 and {each[1]} of -1"
            )

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, a list of `DataSet`."""
        return Draw([self._data_set(rng) for _ in range(trials)])

    def fresh(self, draw: Draw, rng: np.random.Generator) -> list[DataSet]:
        """Draw independent data sets from the pool."""
        return self.draw(draw.trials, rng).data

    def _data_set(self, rng: np.random.Generator) -> DataSet:
        records: Any = self.records
        if isinstance(self.records, Sequence):
            chosen = rng.choice(len(self.records), self.size, replace=False)
            return DataSet("\n".join(records[i] for i in chosen).encode())
        if self.labels is None:
            return DataSet.of_rows(records[rng.choice(len(records), self.size, replace=False)])
        labels, half = np.asarray(self.labels), self.size // 2
        chosen = np.concatenate(
            [
                rng.choice(np.flatnonzero(labels == sign), count, replace=False)
                for sign, count in ((1, self.size - half), (-1, half))
            ]
        )
        return DataSet.of_rows(records[chosen], labels=labels[chosen])
