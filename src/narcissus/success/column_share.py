"""Success where each unknown column counts by itself: the share of right columns.

A guess is worth a number in [0, 1], and the mean over people is the share of all their unknown
columns. Which columns are right together does not matter, so that the best guess is the likeliest
of each column, and no joint value need be examined.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.success.table import ColumnsRight, Floats, Scores


@dataclass(frozen=True)
class ColumnShare(ColumnsRight):
    """A guess is worth the share of its columns that are within their distance.

    See `ColumnsRight`; ``at_least`` must be None.

    Examples
    --------
    >>> success = ColumnShare((2, 3))
    >>> float(success.score(np.array([4]), np.array([5]))[0])  # (1, 1), and (1, 2) is guessed
    0.5
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at_least is not None:
            raise InputError("`at_least` means nothing where each column counts by itself")

    @property
    def by_column(self) -> bool:
        return True

    @property
    def exact(self) -> bool:
        """False: other joint values than the true one count in part."""
        return False

    def describe(self) -> str:
        near = f", within {[f'{d:g}' for d in self.distances]}" if any(self.distances) else ""
        return f"the share of {len(self.shape)} unknown columns that is right{near}"

    def worth(self, right: NDArray[np.bool_]) -> Scores:
        """Compute the share of columns that are right: (..., columns) -> (...)."""
        return right.mean(axis=-1)

    def chances(self, beliefs: Floats) -> Floats:
        """Compute the mean worth of each guess under each person's beliefs.

        See `ColumnsRight.chances`: shape (people, guesses), entries in [0, 1].
        """
        columns = len(self.shape)
        total = np.zeros((len(beliefs), *(1,) * columns))
        for c, guesses in enumerate(self.guess_shape):
            sums = self.window_sum(self.marginal(beliefs, c), 1, c)
            total = total + sums.reshape(-1, *(1,) * c, guesses, *(1,) * (columns - 1 - c))
        return np.clip(total.reshape(len(beliefs), -1) / columns, 0.0, 1.0)
