"""Records as mixed-radix keys, and the distinct ones counted in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import TooLargeError

MOST_BYTES = 2**30
"""Most bytes that distinct records may take while they are merged."""
_WAITING = 2**22  # records that are merged at a time
_LATER = 38  # bits of a word that is not the first: what is merged at a time has fewer than 2**26

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Packing:
    """Records of columns with given numbers of values, as one word of 64 bits or several.

    Keys are in the order of the records: by the first column, then the second.
    """

    sizes: tuple[int, ...]  # number of values of each column

    @cached_property
    def words(self) -> list[range]:
        """The columns of each word: as many as fit, with room for a rank in all but the first."""
        words, first, radix = list[range](), 0, 1
        for column, size in enumerate(self.sizes):
            if radix * size > (2**_LATER if words else 2**64):
                words.append(range(first, column))
                first, radix = column, 1
            radix *= size
        return [*words, range(first, len(self.sizes))]

    def pack(self, columns: Sequence[NDArray[np.integer]]) -> Keys:
        """Compute the keys of records, shape (n, words), from columns of shape (n,)."""
        keys = np.zeros((len(columns[0]), len(self.words)), dtype=np.uint64, order="F")
        for word, own in enumerate(self.words):
            for column in own:
                keys[:, word] *= np.uint64(self.sizes[column])
                keys[:, word] += columns[column].astype(np.uint64)
        return keys

    def unpack(self, keys: Keys) -> NDArray[np.unsignedinteger]:
        """Restore the records of keys, shape (n, columns), in the smallest type that holds them."""
        kind = np.min_scalar_type(max(self.sizes) - 1)
        codes = np.empty((len(keys), len(self.sizes)), dtype=kind, order="F")
        for word, own in zip(keys.T, self.words, strict=True):
            rest = word.copy()
            for column in reversed(own):
                rest, codes[:, column] = np.divmod(rest, np.uint64(self.sizes[column]))
        return codes


def _order(keys: Keys, kind: Literal["quicksort", "stable"]) -> NDArray[np.intp]:
    order = np.argsort(keys[:, 0], kind=kind)
    for word in range(1, keys.shape[1]):
        # the rank among the words before is as good as these, and leaves room for the next
        is_new = np.ones(len(keys), dtype=np.uint64)
        is_new[1:] = (keys[order[1:], :word] != keys[order[:-1], :word]).any(axis=1)
        numbers = np.empty(len(keys), dtype=np.uint64)
        numbers[order] = np.cumsum(is_new) << np.uint64(_LATER)
        numbers += keys[:, word]
        order = np.argsort(numbers, kind=kind)
    return order


def tallied(keys: Keys, counts: Counts | None = None) -> tuple[Keys, Counts]:
    """Return the distinct keys, rising, and how often each comes; by default once each."""
    if keys.shape[1] == 1 and counts is None:
        keys = np.sort(keys, axis=0)
    else:  # sorted runs one after the other are merged in linear time by a stable sort
        order = _order(keys, "quicksort" if counts is None else "stable")
        keys, counts = keys[order], None if counts is None else counts[order]
        del order
    is_new = np.ones(len(keys), dtype=bool)
    is_new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    first = np.flatnonzero(is_new)
    if counts is None:
        return keys[first], np.diff(first, append=len(keys))
    return keys[first], np.add.reduceat(counts, first)


def tallied_columns(
    columns: Sequence[NDArray[np.integer]], sizes: Sequence[int], counts: Counts
) -> tuple[NDArray[np.unsignedinteger], Counts]:
    """Return the distinct records of some columns, and how often each comes."""
    packing = Packing(tuple(sizes))
    keys, totals = tallied(packing.pack(columns), counts)
    return packing.unpack(keys), totals


class Distinct:
    """The distinct records added so far, and how often each came; ``expected`` rows will come."""

    def __init__(self, sizes: Sequence[int], expected: int) -> None:
        self.expected = expected
        self.packing = Packing(tuple(sizes))
        words = len(self.packing.words)
        each = 24 * words + 40  # as measured: keys, counts and order, before a merge and after
        self.most = MOST_BYTES // each - _WAITING
        self.rows = 0
        self._keys: list[Keys] = []
        self._counts: list[Counts] = []
        self._waiting = 0

    def add(self, columns: Sequence[NDArray[np.integer]]) -> None:
        """Count further records: codes of each column, each of shape (n,)."""
        if not len(columns[0]):
            return
        keys, counts = tallied(self.packing.pack(columns))
        self.rows += len(columns[0])
        self._keys.append(keys)
        self._counts.append(counts)
        self._waiting += len(keys)
        if self._waiting > _WAITING:
            self._merge()

    def records(self) -> tuple[NDArray[np.unsignedinteger], Counts]:
        """Return the distinct records in their order, shape (m, columns), and their counts."""
        self._merge()
        return self.packing.unpack(self._keys[0]), self._counts[0]

    def _merge(self) -> None:
        keys, counts = np.concatenate(self._keys), np.concatenate(self._counts)
        self._keys, self._counts, self._waiting = [], [], 0
        keys, counts = tallied(keys, counts)
        if len(keys) > self.most:
            raise TooLargeError(
                f"the first {self.rows:,} of {self.expected:,} rows have {len(keys):,} distinct "
                f"records of {len(self.packing.sizes)} columns; at most {self.most:,} are counted, "
                f"in {MOST_BYTES / 2**30:.3g} GiB: take coarser bins or fewer columns, "
                "or a sample of the rows"
            )
        self._keys, self._counts = [keys], [counts]
