"""Tails of the count as trials keep them, cut for many people to where they fall.

The count of people recovered stays within some dozens of standard deviations of its mean, so of a
million people a few counts in a hundred suffice. Outside them the limit is never too small: 1
below, the last one kept above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Trial = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]

KEPT = 1 << 15
"""Most counts that a trial keeps: of a million people 32 standard deviations on each side."""


def packed(key: str, table: Floats) -> dict[str, NDArray[Any]]:
    """Pack ``Pr[at least v]`` for ``v = 0 .. n + 1``, by names after ``key``.

    If it is cut, ``key/from`` holds the first count that is kept.
    """
    if table.size <= KEPT:
        return {key: table}
    level = (table[0] + table[-2]) / 2  # of more than everybody nothing is said
    middle = int((table > level).sum())
    first = min(max(0, middle - KEPT // 2), table.size - KEPT)
    return {key: table[first : first + KEPT], f"{key}/from": np.array(first)}


def unpacked(trial: Trial, key: str, people: int) -> Floats:
    """Unpack the limit for every count, shape (people + 2,)."""
    own = trial[key]
    if f"{key}/from" not in trial:
        return own
    first = int(trial[f"{key}/from"])
    whole = np.ones(people + 2)
    whole[first : first + own.size] = own
    whole[first + own.size :] = own[-1]
    whole[-1] = 0.0  # more than everybody is impossible
    return whole


def mean_tails(trials: Sequence[Trial], key: str, people: int) -> Floats:
    """Compute the mean over trials, shape (people + 2,)."""
    total = np.zeros(people + 2)
    for trial in trials:
        total += unpacked(trial, key, people)
    return total / len(trials)
