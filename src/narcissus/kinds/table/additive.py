"""Naive Bayes: the guess of a secret from what each known column tells by itself, added up.

Trees and lookups split rows, and see little of a secret that depends a little on each of many
columns, as on their sum. Here each column counts with all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats

PSEUDO = 1.0  # count that is added to each value of a column and class


def additive_chances(
    rows: NDArray[np.integer],
    classes: NDArray[np.integer],
    asked: NDArray[np.integer],
    sizes: Sequence[int],
    *,
    size: int,
) -> Floats:
    """Return the chance of each class for the rows asked about, shape (m, size).

    ``rows`` have shape (n, d), with ``classes`` in ``[0, size)`` and codes of column j in
    ``[0, sizes[j])``; ``asked`` has shape (m, d).
    """
    counts = np.bincount(classes, minlength=size) + PSEUDO
    logs = np.tile(np.log(counts / counts.sum()), (len(asked), 1))
    for column, values in enumerate(sizes):
        cells = rows[:, column].astype(np.int64) * size + classes
        table = np.bincount(cells, minlength=values * size).reshape(values, size) + PSEUDO
        logs += np.log(table / table.sum(axis=0))[asked[:, column]]
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)
