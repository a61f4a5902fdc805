"""The two ends of the scale, and a part of the rows: identity, constant, subsample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from narcissus._validation import integer
from narcissus.mechanisms.base import ReleaseChannel, deterministic
from narcissus.worlds.base import Array, Batch


@dataclass(frozen=True)
class Identity:
    """Release the data set itself."""

    def release(self, data: Batch, rng: np.random.Generator) -> Batch:
        """Return the data sets."""
        return data

    def channel(self, data: Batch) -> ReleaseChannel:
        """Write the mechanism out."""
        return deterministic(data)


@dataclass(frozen=True)
class Constant:
    """Release nothing: the same for every data set (``M_bot`` of Kaplan et al. 2025)."""

    exchangeable = True

    def release(self, data: Batch, rng: np.random.Generator) -> Array:
        """Return zeros, shape (trials, 1)."""
        return np.zeros((len(data), 1), dtype=np.uint8)

    def channel(self, data: Batch) -> ReleaseChannel:
        """Write the mechanism out."""
        return deterministic(self.release(data, np.random.default_rng(0)))

    def privacy(self, data: Batch) -> tuple[float, float]:
        """Return (epsilon, delta): nothing is released."""
        return 0.0, 0.0


@dataclass(frozen=True)
class Subsample:
    """Release ``rows`` rows of the data set, drawn without repetition, in random order.

    Parameters
    ----------
    rows
        Released rows.
    """

    rows: int

    def __post_init__(self) -> None:
        integer("rows", self.rows, low=1)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the rows, shape (trials, rows, ...)."""
        n = data.shape[1]
        integer("rows", self.rows, high=n)
        order = np.argsort(rng.random((len(data), n)), axis=1)[:, : self.rows]
        return data[np.arange(len(data))[:, None], order]

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out: each ordered choice of rows is equally likely."""
        from itertools import permutations

        from scipy import sparse

        from narcissus.worlds.base import distinct

        integer("rows", self.rows, high=data.shape[1])
        choices = np.asarray(list(permutations(range(data.shape[1]), self.rows)))
        releases = data[:, choices].reshape(-1, self.rows, *data.shape[2:])
        kept, inverse = distinct(releases)
        rows = np.repeat(np.arange(len(data)), len(choices))
        weight = np.full(len(rows), 1 / len(choices))
        shape = (len(data), len(kept))
        return ReleaseChannel(
            kept, sparse.coo_array((weight, (rows, inverse)), shape=shape).tocsr()
        )

    def outcomes(self, n: int) -> int:
        """Return how many releases a data set of ``n`` rows can have at most."""
        from math import perm

        return perm(n, self.rows)
