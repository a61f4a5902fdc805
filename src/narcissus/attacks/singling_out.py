"""Singling out with predicates: buckets of a hash, alone or inside a published range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus._options import FilledIn
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.worlds.base import Array, Batch
from narcissus.worlds.products import Uniform


@dataclass(frozen=True)
class BucketPredicates:
    """Predicates "inside a box and in one bucket of a hash", one a trial."""

    # low, high: The boxes, shape (trials, d)
    low: Array
    high: Array
    # factors, offsets: Multiply-shift hash of a row: shape (trials, d) and (trials,), 64-bit
    # words
    factors: NDArray[np.uint64]
    offsets: NDArray[np.uint64]
    buckets: int  # Number of buckets; the predicate takes bucket 0
    levels: int  # Values of an attribute
    exact = False

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Return where the predicates hold, for rows of shape (trials, m, d)."""
        inside = ((rows >= self.low[:, None]) & (rows <= self.high[:, None])).all(axis=2)
        # Products and sums wrap modulo 2 ** 64 on purpose; the high bits are the hash.
        words = (rows.astype(np.uint64) * self.factors[:, None]).sum(axis=2) + self.offsets[:, None]
        bucket = ((words >> np.uint64(32)) * np.uint64(self.buckets)) >> np.uint64(32)
        return inside & (bucket == 0)

    def __len__(self) -> int:
        return len(self.low)

    def take(self, index: Array) -> BucketPredicates:
        return replace(
            self,
            low=self.low[index],
            high=self.high[index],
            factors=self.factors[index],
            offsets=self.offsets[index],
        )

    def weight(self, world: Any) -> NDArray[np.float64]:
        """Return the chance of each box for a uniform row: an upper limit of the predicate's."""
        sides = (self.high.astype(np.float64) - self.low + 1) / self.levels
        return np.exp(np.log(sides).sum(axis=1))


@dataclass(frozen=True)
class BucketHashing:
    """Single out by a bucket of a random hash, inside a published range where there is one.

    Without ranges this is the trivial attacker: with ``n`` buckets a bucket holds exactly one row
    with chance about ``1 / e``. Against k-anonymity, ``k`` buckets inside a group's range isolate
    about as often, at a weight that is astronomically smaller (Cohen and Nissim 2020).

    Parameters
    ----------
    buckets
        Number of buckets; ``k`` of the mechanism, or the number of rows, where not given.
    levels
        Values of an attribute; the game fills it in from its world.
    """

    buckets: int | None = None
    levels: Annotated[int | None, FilledIn()] = None

    def __post_init__(self) -> None:
        if self.buckets is not None:
            integer("buckets", self.buckets, low=1)

    def prepare(self, game: Any) -> BucketHashing:
        """Take what is missing from the game."""
        if not isinstance(game.world, Uniform):
            raise InputError("the attack `bucket-hashing` needs a world of uniform rows")
        buckets = self.buckets or getattr(game.mechanism, "k", game.world.n)
        return BucketHashing(buckets, game.world.levels)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> BucketPredicates:
        """Return predicates; ranges are releases of shape (trials, groups, d, 2)."""
        assert self.buckets is not None
        assert self.levels is not None, "call `prepare` first"
        trials = len(release)
        ranges = np.ndim(release) == 4
        if ranges:
            # The lightest group makes the worst predicate.
            widths = np.log(release[..., 1].astype(np.float64) - release[..., 0] + 1).sum(axis=2)
            group = release[np.arange(trials), first_largest(-widths)]
            low, high = group[..., 0], group[..., 1]
        else:
            d = np.asarray(release).shape[-1]
            low = np.zeros((trials, d), dtype=np.int64)
            high = np.full((trials, d), self.levels - 1)
        words = rng.integers(0, 2**64, low.shape, dtype=np.uint64)
        offsets = rng.integers(0, 2**64, trials, dtype=np.uint64)
        return BucketPredicates(low, high, words | np.uint64(1), offsets, self.buckets, self.levels)
