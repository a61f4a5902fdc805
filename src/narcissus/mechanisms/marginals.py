"""Noisy k-way marginals: all tables of k columns, and their release with noise on each cell.

World and notation of Narcissus theory 9 (Swanberg et al. 2025, section 6): ``n`` people, ``d``
columns, some of them unknown to the attacker; released is every k-way table that touches an
unknown column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.guarantees import Guarantee
from narcissus.mechanisms.noise import Noise
from narcissus.mechanisms.queries import Codes, Floats, TableQueries


@dataclass(frozen=True)
class MarginalQueries(TableQueries):
    """Every k-way table that touches an unknown column.

    Parameters
    ----------
    sizes
        How many values each column has.
    unknown
        Indices of the columns that the attacker does not know.
    k
        Columns in each table, ``1 <= k <= len(sizes)``.

    Raises
    ------
    InputError
        ``k`` is out of range, or no column is unknown, or one that is not there.
    TooLargeError
        The tables together have more than 50 million cells.

    Examples
    --------
    >>> queries = MarginalQueries((2, 3, 2), unknown=(2,), k=2)
    >>> queries.tables, queries.cells
    (2, 10)
    """

    k: int

    def __post_init__(self) -> None:
        """Refuse impossible shapes before any table is laid out."""
        integer("k", self.k, low=1, high=len(self.sizes))
        super().__post_init__()

    @property
    def tables(self) -> int:
        """How many tables are released: ``C(d, k) - C(d - d', k)``."""
        return comb(len(self.sizes), self.k) - comb(len(self.known), self.k)

    @cached_property
    def cells(self) -> int:
        """How many cells the tables have together.

        Sums of products over k-subsets are elementary symmetric polynomials, so that the number
        is known without listing the tables.
        """
        return _symmetric(self.sizes, self.k) - _symmetric(
            [self.sizes[c] for c in self.known], self.k
        )

    def _layout(self) -> Iterator[tuple[tuple[int, ...], Sequence[tuple[int, ...]]]]:
        for count in range(1, min(self.k, len(self.unknown)) + 1):
            if self.k - count <= len(self.known):
                sets = list(combinations(self.known, self.k - count))
                for axes in combinations(self.unknown, count):
                    yield axes, sets

    def shared(self, codes: Codes) -> tuple[NDArray[np.int32], ...]:
        """Return for each pattern in how many tables two people share the known part, (n, n).

        ``C(a, k - |P|)`` where they agree on ``a`` known columns (Narcissus theory 9).
        """
        agreements = np.zeros((len(codes), len(codes)), dtype=np.int64)
        for column in self.known:
            agreements += codes[:, column, None] == codes[:, column]
        counts = range(len(self.known) + 1)
        return tuple(
            np.array([comb(a, p.knowns.shape[1]) for a in counts], dtype=np.int32)[agreements]
            for p in self.patterns
        )


def _symmetric(sizes: Sequence[int], k: int) -> int:
    """Return the elementary symmetric polynomial of degree ``k``."""
    sums = [1] + [0] * k
    for size in sizes:
        for degree in range(k, 0, -1):
            sums[degree] += size * sums[degree - 1]
    return sums[k]


@dataclass(frozen=True, eq=False)
class Counts:
    """A release of counts: every cell with its noise.

    Attributes
    ----------
    queries
        Which tables these are.
    noise
        What was added to each cell, which everybody knows.
    cells
        The released values, shape (cells,), in counts; not to be written to.
    """

    queries: TableQueries
    noise: Noise
    cells: Floats


@dataclass(frozen=True)
class NoisyMarginals:
    """The mechanism: counts of every cell, with independent noise on each."""

    queries: TableQueries
    noise: Noise
    releases = Counts
    cellwise = True
    assumes = ()
    must_vary = False

    @property
    def guarantee(self) -> Guarantee | None:
        """What the tables guarantee together when a person's record is replaced."""
        return self.noise.guarantee(self.queries.tables)

    def release(self, data: NDArray[np.integer], rng: RandomSource = None) -> list[Counts]:
        """Release the tables of each data set.

        Parameters
        ----------
        data
            The people of each data set, shape (trials, n, d): value numbers of every column.
        rng
            Source of the noise.
        """
        source = generator(rng)
        return [self._one(codes, source) for codes in data]

    def _one(self, codes: Codes, rng: np.random.Generator) -> Counts:
        noise = self.noise.sample(self.queries.cells, rng)
        cells = self.queries.counts(codes) + noise
        cells.setflags(write=False)  # no attack may change what the next one sees
        return Counts(self.queries, self.noise, cells)
