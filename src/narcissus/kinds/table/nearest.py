"""Guess a row by the one most like it: near-duplicates and households test the prior.

Two rows are alike by the values that they share, each weighted by the logarithm of how rare it is.
A row is guessed by rows before it alone, and the rows that are guessed are chosen by what is known,
so the theorem of `held_out` holds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats

MOST_GUESSED = 2_000
PART = 4  # one in so many rows is guessed, those with the rows most like them
AT_ONCE = 1_000_000  # pairs of rows


def nearest_rows(
    values: NDArray[np.integer], start: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows from ``start`` on that have rows most like them, and the like ones before them.

    values: Codes of what is known of each row, shape (rows, columns).
    """
    many = len(values)
    weights = [_rarity(column) for column in values.T]
    targets = np.arange(start, min(many, start + MOST_GUESSED))
    like = np.zeros(len(targets), dtype=np.intp)
    score = np.zeros(len(targets))
    step = max(1, AT_ONCE // many)
    for first in range(0, len(targets), step):
        rows = targets[first : first + step]
        both = np.zeros((len(rows), many))
        for column, weight in zip(values.T, weights, strict=True):
            both += np.where(column[rows, None] == column, weight[rows, None], 0.0)
        both[np.arange(many) >= rows[:, None]] = -1.0
        like[first : first + step] = both.argmax(axis=1)
        score[first : first + step] = both.max(axis=1)
    chosen = np.sort(np.argsort(-score, kind="stable")[: max(1, len(targets) // PART)])
    return targets[chosen], like[chosen]


def _rarity(column: NDArray[np.integer]) -> Floats:
    _, which, counts = np.unique(column, return_inverse=True, return_counts=True)
    return -np.log(counts / len(column))[np.ravel(which)]
