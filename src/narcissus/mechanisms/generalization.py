"""k-anonymity by generalisation: groups of at least k rows, published as ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.mechanisms.base import ReleaseChannel, deterministic
from narcissus.worlds.base import Array


@dataclass(frozen=True)
class KAnonymity:
    """Sort the rows, cut them into groups of ``k`` and publish the range of each attribute.

    Every published record is shared by at least ``k`` people, as the rule asks. In many
    dimensions the ranges still cover so little that a predicate inside one of them singles a
    person out (Cohen and Nissim 2020; `narcissus.attacks.BucketHashing`).

    Parameters
    ----------
    k
        Rows of a group; the last group takes what is left over as well.
    """

    k: int

    def __post_init__(self) -> None:
        integer("k", self.k, low=2)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the ranges, shape (trials, groups, d, 2): lowest and highest of each attribute."""
        if data.ndim != 3:
            raise InputError(f"k-anonymity needs rows of attributes, got shape {data.shape[1:]}")
        trials, n, d = data.shape
        groups = n // self.k
        if not groups:
            raise InputError(f"`k` must be at most the number of rows, {n}, got {self.k}")
        ranges = np.empty((trials, groups, d, 2), dtype=data.dtype)
        starts = np.arange(groups) * self.k
        for trial, rows in enumerate(data):
            ordered = rows[np.lexsort(rows.T[::-1])]
            ranges[trial, :, :, 0] = np.minimum.reduceat(ordered, starts, axis=0)
            ranges[trial, :, :, 1] = np.maximum.reduceat(ordered, starts, axis=0)
        return ranges

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out."""
        return deterministic(self.release(data, np.random.default_rng(0)))
