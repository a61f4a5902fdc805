"""People whom an attacker cannot tell apart: those with equal known values.

A missing value stands for any value of its column, as in sdcMicro (Templ, Kowarik and Meindl 2015);
one departure: a row in which no known value is left hides nobody else. People are units: rows of
one person or household count once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.errors import TooLargeError
from narcissus.synthetic.files import keys_of

Codes = NDArray[np.integer]
Numbers = NDArray[np.float64]
MOST_PAIRS = 30_000_000
"""Most pairs of known values that may be equal, because one of them has gaps."""


@dataclass(frozen=True, eq=False)
class KeyClasses:
    """The distinct known values ("keys") of a file, and who may have each.

    of_row, units: Key, and person or household, of each row, both from 0, shape (rows,).
    matches: Which keys may be equal, a sparse matrix of 0 and 1, shape (keys, keys).
    people: Number of units that may have each key (f_k), shape (keys,).
    population: Their estimated number in the population (F_k), likewise: the sum of the weights,
        a unit once with the mean of its rows; ``people`` without weights.
    """

    of_row: Codes
    units: Codes
    matches: scipy.sparse.csr_array
    people: Numbers
    population: Numbers

    def count(self, keys: NDArray[np.bool_]) -> int:
        """Count the people who have a row with one of the ``keys``, shape (keys,)."""
        return len(np.unique(self.units[keys[self.of_row]]))


def key_classes(
    codes: Codes,
    missing: NDArray[np.bool_] | None = None,
    *,
    units: Codes | None = None,
    weights: Numbers | None = None,
) -> KeyClasses:
    """Group the rows of a file by what an attacker knows of them.

    codes: Known values, shape (rows, columns).
    missing: Where a value is missing and may be any, same shape; None: nowhere.
    units: Number of the person or household of each row, shape (rows,); None: each its own.
    weights: Number of people of the population that a row stands for, shape (rows,), above 0.

    TooLargeError: Missing values make more than `MOST_PAIRS` pairs of keys equal.

    >>> found = key_classes(np.array([[0, 1], [0, 1], [2, 1]]))
    >>> found.people.tolist(), found.count(found.people < 2)
    ([2.0, 1.0], 1)
    """
    known = codes.astype(np.int64)
    if missing is not None:
        known[missing] = -1
    rows, of_row = len(known), keys_of(known + 1)
    matches = _matches(known[np.unique(of_row, return_index=True)[1]])
    owner = np.arange(rows) if units is None else np.unique(units, return_inverse=True)[1].ravel()
    each, heavy = np.ones(rows), np.ones(rows) if weights is None else weights
    shape = matches.shape[0], int(owner.max()) + 1
    if shape[1] == rows:
        people, total = (matches @ np.bincount(of_row, v, shape[0]) for v in (each, heavy))
        return KeyClasses(of_row, owner, matches, people, total)
    there, sums = (
        matches @ scipy.sparse.csr_array((v, (of_row, owner)), shape) for v in (each, heavy)
    )
    there.sort_indices()
    sums.sort_indices()
    at = np.repeat(np.arange(shape[0]), np.diff(there.indptr))
    people, total = (np.bincount(at, v).astype(np.float64) for v in (None, sums.data / there.data))
    return KeyClasses(of_row, owner, matches, people, total)


def _matches(keys: Codes) -> scipy.sparse.csr_array:
    """Find the keys that may be equal, by the columns that each pair of patterns has in common."""
    size, kind_of = len(keys), keys_of(keys >= 0)
    kinds = (keys >= 0)[np.unique(kind_of, return_index=True)[1]]
    members = [np.flatnonzero(kind_of == kind) for kind in range(len(kinds))]
    ours, theirs, found = list[Codes](), list[Codes](), len(kinds) * size // 10
    for kind, other in np.ndindex(len(kinds), len(kinds)):
        if found > MOST_PAIRS:
            raise TooLargeError(
                "too many known values may be equal, since values are missing: take fewer known "
                "columns, or missing values as a value of their own (--missing value)"
            )
        here, there = members[kind], members[other]
        if kind != other and not kinds[other].any():
            continue  # a row of which nothing is known hides nobody
        common = np.flatnonzero(kinds[kind] & kinds[other])
        a, b = np.split(keys_of(keys[np.concatenate([here, there])][:, common]), [len(here)])
        order = np.argsort(b, kind="stable")
        first, last = (np.searchsorted(b[order], a, side=side) for side in ("left", "right"))
        many = last - first
        found += int(many.sum())
        starts = np.repeat(first - np.cumsum(many) + many, many)
        ours.append(np.repeat(here, many))
        theirs.append(there[order[starts + np.arange(len(starts))]])
    at = np.concatenate(ours), np.concatenate(theirs)
    return scipy.sparse.csr_array((np.ones(len(at[0])), at), (size, size))
