"""Noisy k-way marginals: which tables are released, where a person falls, and the release.

World and notation of Narcissus theory 9 (Swanberg et al. 2025, section 6): ``n`` people, ``d``
columns, some of them unknown to the attacker; released is every k-way table that touches an
unknown column. Tables are grouped by their **pattern**, the set of unknown columns in them: all
tables of a pattern are indexed alike, so that one array operation serves them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import integer
from narcissus.errors import InputError, TooLargeError
from narcissus.guarantees import Guarantee
from narcissus.mechanisms.noise import Noise

Codes = NDArray[np.int32]
Cells = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_CELLS = 50_000_000  # 400 MB of counts


@dataclass(frozen=True)
class Pattern:
    """The released tables that contain exactly these unknown columns.

    Attributes
    ----------
    columns
        Positions within the unknown columns, ascending.
    shape
        Sizes of those columns.
    knowns
        The known columns of each table, shape (tables, k - len(columns)).
    strides
        What one step in each known column adds to a cell's number; same shape.
    offsets
        Number of the first cell of each table, shape (tables,).
    """

    columns: tuple[int, ...]
    shape: tuple[int, ...]
    knowns: NDArray[np.intp]
    strides: Cells
    offsets: Cells

    @property
    def size(self) -> int:
        """How many joint values the unknown columns of the pattern have."""
        return prod(self.shape)

    @property
    def tables(self) -> int:
        """How many tables have this pattern."""
        return len(self.offsets)

    def base(self, codes: Codes) -> Cells:
        """Give the first cell of each person in each table, shape (people, tables).

        A person with joint value ``u`` of the pattern falls into cell ``base + u``.
        """
        return self.offsets + (codes[:, self.knowns] * self.strides).sum(axis=2)


@dataclass(frozen=True)
class MarginalQueries:
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
        ``k`` is out of range, or no column or all but none are unknown.
    TooLargeError
        The tables together have more than 50 million cells.

    Examples
    --------
    >>> queries = MarginalQueries((2, 3, 2), unknown=(2,), k=2)
    >>> queries.tables, queries.cells
    (2, 10)
    """

    sizes: tuple[int, ...]
    unknown: tuple[int, ...]
    k: int

    def __post_init__(self) -> None:
        """Refuse impossible shapes before any table is laid out."""
        d = len(self.sizes)
        integer("k", self.k, low=1, high=d)
        if not self.unknown:
            raise InputError("`unknown` must name at least one column that the attacker wants")
        if len(set(self.unknown)) != len(self.unknown) or not all(0 <= c < d for c in self.unknown):
            raise InputError(f"`unknown` must be distinct columns below {d}, got {self.unknown}")
        if self.cells > MAX_CELLS:
            raise TooLargeError(
                f"the {self.tables} {self.k}-way tables have {self.cells:,} cells "
                f"({8 * self.cells / 1e9:.1f} GB); the limit is {MAX_CELLS:,}: "
                "take a smaller k, fewer columns or coarser bins"
            )

    @property
    def known(self) -> tuple[int, ...]:
        """The columns that the attacker knows."""
        return tuple(c for c in range(len(self.sizes)) if c not in self.unknown)

    @property
    def unknown_shape(self) -> tuple[int, ...]:
        """Sizes of the unknown columns, in the order of ``unknown``."""
        return tuple(self.sizes[c] for c in self.unknown)

    @property
    def values(self) -> int:
        """How many joint values the unknown columns have."""
        return prod(self.unknown_shape)

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

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The tables by pattern, in a fixed order."""
        found: list[Pattern] = []
        start = 0
        for count in range(1, min(self.k, len(self.unknown)) + 1):
            if self.k - count > len(self.known):
                continue
            for columns in combinations(range(len(self.unknown)), count):
                shape = tuple(self.unknown_shape[c] for c in columns)
                sets = list(combinations(self.known, self.k - count))
                knowns = np.array(sets, dtype=np.intp).reshape(len(sets), self.k - count)
                sizes = np.array(self.sizes, dtype=np.int64)[knowns]
                # C order with the unknown part fastest: strides are products of what follows.
                after = np.cumprod(sizes[:, ::-1], axis=1)[:, ::-1]
                strides = np.ones_like(sizes)
                strides[:, :-1] = after[:, 1:]
                cells = prod(shape) * sizes.prod(axis=1)
                offsets = start + np.concatenate([[0], np.cumsum(cells)[:-1]]).astype(np.int64)
                start += int(cells.sum())
                found.append(Pattern(columns, shape, knowns, strides * prod(shape), offsets))
        return tuple(found)

    def joint(self, codes: Codes) -> NDArray[np.int64]:
        """Give the joint value of the unknown columns of each person, shape (people,), C order."""
        columns = tuple(codes[:, c] for c in self.unknown)
        return np.ravel_multi_index(columns, self.unknown_shape).astype(np.int64)

    def split(self, joint: NDArray[np.integer]) -> Codes:
        """Give the unknown columns' codes of joint values, shape (people, unknown columns)."""
        return np.stack(np.unravel_index(joint, self.unknown_shape), axis=-1).astype(np.int32)

    def cells_of(self, codes: Codes) -> Cells:
        """Give the cells that each person falls into, shape (people, tables)."""
        parts = [
            p.base(codes)
            + np.ravel_multi_index(
                tuple(codes[:, self.unknown[c]] for c in p.columns), p.shape
            ).astype(np.int64)[:, None]
            for p in self.patterns
        ]
        return np.concatenate(parts, axis=1)

    def counts(self, codes: Codes) -> Floats:
        """Give the exact count of every cell, shape (cells,)."""
        return np.bincount(self.cells_of(codes).ravel(), minlength=self.cells).astype(np.float64)


def _symmetric(sizes: Sequence[int], k: int) -> int:
    """Give the elementary symmetric polynomial of degree ``k``."""
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

    queries: MarginalQueries
    noise: Noise
    cells: Floats


@dataclass(frozen=True)
class NoisyMarginals:
    """The mechanism: counts of every cell, with independent noise on each."""

    queries: MarginalQueries
    noise: Noise
    releases = Counts
    cellwise = True
    assumes = ()

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
