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

from narcissus.errors import InputError, TooLargeError
from narcissus.synthetic.files import keys_of

Codes = NDArray[np.integer]
Numbers = NDArray[np.float64]
MOST_PAIRS = 50_000_000
"""Most pairs of known values that may be equal, because one of them has gaps."""


@dataclass(frozen=True, eq=False)
class KeyClasses:
    """The distinct known values ("keys") of a file, and who may have each.

    keys: Known values, codes of shape (keys, columns); -1 where one is missing.
    of_row: The key of each row, shape (rows,).
    units: The person or household of each row, numbered from 0, shape (rows,).
    times: How many people a row stands for, shape (rows,); all 1 where units have several rows.
    matches: Which keys may be equal, a sparse matrix of 0 and 1, shape (keys, keys).
    people: Number of units that may have each key (f_k), shape (keys,).
    population: Their estimated number in the population (F_k), the sum of their weights; equal to
        ``people`` without weights. A unit counts once, with the mean weight of its rows.
    """

    keys: Codes
    of_row: Codes
    units: Codes
    times: Numbers
    matches: scipy.sparse.csr_array
    people: Numbers
    population: Numbers

    @property
    def total(self) -> int:
        """Number of people in the file."""
        return round(float(self.times.sum())) if self.is_by_row else int(self.units.max()) + 1

    @property
    def is_by_row(self) -> bool:
        """Whether every row is somebody else."""
        return int(self.units.max()) + 1 == len(self.units)

    def below(self, size: float) -> NDArray[np.bool_]:
        """Return for each row whether fewer than ``size`` people may have its key."""
        return (self.people < size)[self.of_row]

    def count(self, rows: NDArray[np.bool_]) -> int:
        """Count the people who have at least one of the ``rows``."""
        if self.is_by_row:
            return round(float(self.times[rows].sum()))
        return len(np.unique(self.units[rows]))


def key_classes(
    codes: Codes,
    missing: NDArray[np.bool_] | None = None,
    *,
    units: Codes | None = None,
    times: Codes | None = None,
    weights: Numbers | None = None,
) -> KeyClasses:
    """Group the rows of a file by what an attacker knows of them.

    codes: Known values, shape (rows, columns).
    missing: Where a value is missing and may be any, same shape; None: nowhere.
    units: Number of the person or household of each row, shape (rows,); None: each its own.
    times: How often each row comes, shape (rows,), without ``units``; None: once.
    weights: Number of people of the population that a row stands for, shape (rows,), above 0.

    TooLargeError: Missing values make more than `MOST_PAIRS` pairs of keys equal.

    >>> found = key_classes(np.array([[0, 1], [0, 1], [2, 1]]))
    >>> found.people.tolist(), found.count(found.below(2))
    ([2.0, 1.0], 1)
    """
    if codes.ndim != 2 or not codes.size:
        raise InputError(f"`codes` must have shape (rows, columns), got {codes.shape}")
    known = codes.astype(np.int64)
    if missing is not None:
        known[missing] = -1
    rows = len(known)
    of_row = keys_of(known + 1)
    keys = known[np.unique(of_row, return_index=True)[1]]
    owner = np.arange(rows) if units is None else np.unique(units, return_inverse=True)[1].ravel()
    own = np.ones(rows) if times is None else times.astype(np.float64)
    matches = _matches(keys)
    weighted = own if weights is None else own * weights
    if int(owner.max()) + 1 == rows:
        size = len(keys)
        people, total = (matches @ np.bincount(of_row, v, size) for v in (own, weighted))
    else:
        shape = len(keys), int(owner.max()) + 1
        there, heavy = (
            matches @ scipy.sparse.csr_array((v, (of_row, owner)), shape) for v in (own, weighted)
        )
        for one in (there, heavy):
            one.sort_indices()
        people = np.diff(there.indptr).astype(np.float64)
        total = scipy.sparse.csr_array((heavy.data / there.data, there.indices, there.indptr),
                                       shape).sum(axis=1)  # fmt: skip
    return KeyClasses(keys, of_row, owner, own, matches, people, np.asarray(total, np.float64))


def _matches(keys: Codes) -> scipy.sparse.csr_array:
    """Find the keys that may be equal, by the columns that each pair of patterns has in common."""
    size = len(keys)
    kind_of = keys_of(keys >= 0)
    kinds = (keys >= 0)[np.unique(kind_of, return_index=True)[1]]
    members = [np.flatnonzero(kind_of == kind) for kind in range(len(kinds))]
    if len(kinds) * size > 10 * MOST_PAIRS:
        raise _too_many()
    ours, theirs, found = list[Codes](), list[Codes](), 0
    for kind, other in np.ndindex(len(kinds), len(kinds)):
        common = np.flatnonzero(kinds[kind] & kinds[other])
        here, there = members[kind], members[other]
        if kind != other and not kinds[other].any():
            continue  # a row of which nothing is known hides nobody
        a, b = np.split(keys_of(keys[np.concatenate([here, there])][:, common]), [len(here)])
        order = np.argsort(b, kind="stable")
        first, last = (np.searchsorted(b[order], a, side=side) for side in ("left", "right"))
        many = last - first
        found += int(many.sum())
        if found > MOST_PAIRS:
            raise _too_many()
        starts = np.repeat(first - np.concatenate([[0], np.cumsum(many)[:-1]]), many)
        ours.append(np.repeat(here, many))
        theirs.append(there[order[starts + np.arange(int(many.sum()))]])
    at = np.concatenate(ours), np.concatenate(theirs)
    return scipy.sparse.csr_array((np.ones(len(at[0])), at), (size, size))


def _too_many() -> TooLargeError:
    return TooLargeError(
        "too many known values may be equal, since values are missing: take fewer known columns, "
        "or missing values as a value of their own (--missing value)"
    )
