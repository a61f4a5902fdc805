"""Data sets drawn from a pool: the world of games in which a model is trained on some of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.extraction.files import DataSet
from narcissus.worlds.base import Draw


@dataclass(frozen=True, eq=False)
class Pool:
    """Data sets of ``size`` records, drawn from a pool without repetition.

    A fresh data set is another draw from the same pool, so an attack is compared with its success
    on data that the release has not seen.

    Parameters
    ----------
    records
        Lines of text, or rows of numbers, shape (n, columns).
    size
        Records of a data set.
    labels
        The class of each row, -1 or 1, shape (n,); each data set then has equal numbers of both, up
        to rounding. None: no classes.
    """

    records: Sequence[str] | Sequence[Sequence[float]] | NDArray[np.float64]
    size: int
    labels: Sequence[int] | NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        integer("size", self.size, low=1, high=len(self.records))
        if not self._is_text and len({len(np.atleast_1d(row)) for row in self.records}) > 1:
            raise InputError("`records` must be rows of equally many numbers, or lines of text")
        if self.labels is None:
            return
        if self._is_text:
            raise InputError("`labels` are for rows of numbers")
        each = [int((np.asarray(self.labels) == sign).sum()) for sign in (1, -1)]
        if sum(each) != len(self.records) or min(each) < (self.size + 1) // 2:
            raise InputError(
                f"`labels` must be -1 or 1 for each of {len(self.records)} records, with enough of "
                f"both for {self.size}; got {each[0]} of 1 and {each[1]} of -1"
            )

    @property
    def _is_text(self) -> bool:
        return isinstance(self.records[0], str)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        return Draw([self._data_set(rng) for _ in range(trials)])

    def fresh(self, draw: Draw, rng: np.random.Generator) -> list[DataSet]:
        return self.draw(draw.trials, rng).data

    def _data_set(self, rng: np.random.Generator) -> DataSet:
        if self._is_text:
            records: Any = self.records
            chosen = rng.choice(len(self.records), self.size, replace=False)
            return DataSet("\n".join(records[i] for i in chosen).encode())
        records = np.asarray(self.records, dtype=np.float64)
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
