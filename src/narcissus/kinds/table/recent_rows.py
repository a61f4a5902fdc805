"""Guess a row's secret by the commonest one in the rows just before it, without fitting a model.

A model that is fitted to the first rows knows no secret that begins later: where a file has one
block of rows after another, each with its own secret, the last block is new to it. A count in a
window of the rows just before sees it after a few rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

WINDOWS = (1, 3, 10, 30, 100, 300)  # rows just before
MOST_SECRETS = 100  # that are counted; of more, the one in the row before is taken


def recent_secrets(secret: NDArray[np.integer], values: int) -> Codes:
    """Return a guess of each row's secret from the secrets of earlier rows, shape (rows,).

    secret: Of each row in the order of the file, codes from 0, below ``values``.

    Each row is guessed by the window of rows that was right most often so far.
    """
    codes = np.asarray(secret, dtype=np.int64)
    windows = WINDOWS if values <= MOST_SECRETS else WINDOWS[:1]
    guesses = np.column_stack([commonest_before(codes, window, values) for window in windows])
    right = np.cumsum(guesses == codes[:, None], axis=0)
    before = np.concatenate([np.zeros((1, len(windows)), dtype=np.int64), right[:-1]])
    return guesses[np.arange(len(codes)), before.argmax(axis=1)]


def commonest_before(codes: Codes, window: int, values: int) -> Codes:
    """Return the commonest of the codes below ``values`` in the rows just before each one.

    Before all rows, it is 0.
    """
    if window == 1:
        return np.concatenate([[0], codes[:-1]])
    each = np.arange(values)
    counts = np.cumsum(codes[:, None] == each, axis=0)
    before = np.concatenate([np.zeros((1, values), dtype=np.int64), counts[:-1]])
    left = before[: max(0, len(codes) - window)]
    counted = before.copy()
    counted[window:] -= left
    return counted.argmax(axis=1)


def stack_recent(secrets: NDArray[np.integer], sizes: Sequence[int]) -> Codes:
    """Return `recent_secrets` of each column of secrets, shape (rows, columns)."""
    return np.column_stack(
        [recent_secrets(column, size) for column, size in zip(secrets.T, sizes, strict=True)]
    )
