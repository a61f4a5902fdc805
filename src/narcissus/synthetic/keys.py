"""Rows of codes as single numbers, so that equal rows are found at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LARGEST = 2**62


def keys_of(codes: ArrayLike) -> NDArray[np.int64]:
    """Return a number from 0 for each row of codes, equal for equal rows only; shape (rows,).

    Examples
    --------
    >>> keys_of([[1, 2], [0, 5], [1, 2]]).tolist()
    [1, 0, 1]
    """
    array = np.asarray(codes, dtype=np.int64)
    keys, size = np.zeros(len(array), np.int64), 1
    for column in array.T:
        width = int(column.max(initial=0)) + 1
        if size * width > _LARGEST:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            size = int(keys.max(initial=0)) + 1
        keys, size = keys * width + column, size * width
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)
