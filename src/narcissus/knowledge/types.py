"""People who are alike: equal in what is known of them, so that one computation serves them all.

In a population far fewer combinations of known columns occur than there are people. Whatever
depends on the known columns and the release alone (beliefs, chances, guesses) is the same for all
people of a type, and is worked out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]

WIDEST = 2**62  # of a key that is still a whole number of 64 bits
BLOCK = 1 << 16  # people whose rows are compared at a time
MIX = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplying by it loses nothing


@dataclass(frozen=True, eq=False)
class Types:
    """Which people are alike."""

    first: NDArray[np.intp]  # One person of each type, the first, shape (types,)
    of: NDArray[np.intp]  # The type of each person, shape (people,)
    people: NDArray[np.intp]  # How many people are of each type, shape (types,)

    @classmethod
    def by(cls, keys: Keys) -> Types:
        """Return the types of people who are alike where their keys are equal, shape (people,)."""
        _, first, of, people = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(first, of, people)

    @classmethod
    def of_rows(cls, rows: NDArray[np.float64]) -> Types:
        """Return the types of people whose rows are equal, shape (people, columns)."""
        keys = np.empty(len(rows), dtype=np.uint64)
        for start in range(0, len(rows), BLOCK):
            block = slice(start, start + BLOCK)
            keys[block] = 0
            for column in np.ascontiguousarray(rows[block]).view(np.uint64).T:
                keys[block] = (keys[block] ^ column) * MIX
                keys[block] ^= keys[block] >> np.uint64(29)
        # equal rows have equal keys; of the others some might, and are split
        return cls.by(keys.view(np.int64)).split(rows)

    @property
    def number(self) -> int:
        return len(self.first)

    def split(self, rows: NDArray[np.floating]) -> Types:
        """Return finer types: people of one type whose rows differ are of different ones.

        rows: something about each person, such as a prior, shape (people, columns).
        """
        people = len(self.of)
        differ = np.zeros(people, dtype=bool)
        for start in range(0, people, BLOCK):
            block = slice(start, start + BLOCK)
            differ[block] = (rows[block] != rows[self.first[self.of[block]]]).any(axis=1)
        odd = np.flatnonzero(differ)
        if not odd.size:
            return self
        # Who is not like the first of the type is told apart by the bytes of the row.
        own = np.ascontiguousarray(rows[odd])
        own = own.view(np.dtype((np.void, own.dtype.itemsize * own.shape[1])))[:, 0]
        keys = self.of.astype(np.int64)
        same_row = np.unique(own, return_inverse=True)[1]
        keys[odd] += self.number * (1 + same_row)
        return Types.by(keys)


def row_keys(codes: NDArray[np.integer], sizes: Sequence[int]) -> Keys:
    """Return numbers that are equal where rows are, shape (people,).

    codes: value numbers of some columns, shape (people, columns).
    sizes: how many values each of these columns has.
    """
    keys = np.zeros(len(codes), dtype=np.int64)
    range_ = 1
    for column, size in enumerate(sizes):
        if range_ * size > WIDEST:  # only the keys that occur count
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            range_ = len(codes)
        keys = keys * size + codes[:, column]
        range_ *= size
    return keys
