"""Small worlds with a hidden distribution against every attacker, in rational numbers.

No distribution is listed: the chances of a data set, and of a row of fresh data given the data
set, have closed forms. Data sets are multisets of rows, since no release here depends on order.

Source: Kaplan et al. 2025, Definition 3.3 and Example 1.5.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from narcissus._validation import integer, non_negative
from narcissus.errors import TooLargeError

Row = tuple[int, ...]
Rows = tuple[Row, ...]

_MOST = 200_000  # data sets


def _orders(rows: Rows) -> int:
    return math.factorial(len(rows)) // math.prod(map(math.factorial, Counter(rows).values()))


@dataclass(frozen=True)
class SmallTardos:
    """The Tardos prior: ``N`` rows of the population, ``d`` attributes, ``n`` rows."""

    N: int
    d: int
    n: int

    def __post_init__(self) -> None:
        integer("n", self.n, low=1)
        integer("N", self.N, low=self.n)

    def chance(self, rows: Rows) -> Fraction:
        """Compute ``n! / prod e! prod_j B(c_j + 1, n - c_j + 1)`` for ``c_j`` ones in column j."""
        columns = ((self.n + 1) * comb(self.n, sum(column)) for column in zip(*rows, strict=True))
        return Fraction(_orders(rows), math.prod(columns))

    def fresh(self, row: Row, rows: Rows) -> Fraction:
        """Compute the chance in fresh data: some rows are shared, others have the same rates."""
        n, copies = self.n, rows.count(row)
        fits = [
            sum(a == b for a in column)
            for b, column in zip(row, zip(*rows, strict=True), strict=True)
        ]
        new = [
            math.prod(
                (Fraction(comb(k + f, f), comb(n + 1 + f, f)) for k in fits), start=Fraction(1)
            )
            for f in range(n + 1)
        ]
        miss = Fraction(0)
        for shared in range(max(0, 2 * n - self.N), n + 1):
            law = Fraction(comb(n, shared) * comb(self.N - n, n - shared), comb(self.N, n))
            spared = Fraction(comb(n - copies, shared), comb(n, shared))
            none = sum((-1) ** f * comb(n - shared, f) * new[f] for f in range(n - shared + 1))
            miss += law * spared * none
        return 1 - miss


@dataclass(frozen=True)
class SmallSuperset:
    """Rows drawn from a hidden set of ``size`` different rows (Example 1.5)."""

    size: int
    d: int
    n: int

    def __post_init__(self) -> None:
        integer("n", self.n, low=1)
        integer("size", self.size, low=1, high=2**self.d)

    def chance(self, rows: Rows) -> Fraction:
        """Compute the chance: the share of all sets that contain the different rows."""
        seen, all_rows = len(set(rows)), 2**self.d
        return Fraction(
            _orders(rows) * math.perm(self.size, seen),
            self.size**self.n * math.perm(all_rows, seen),
        )

    def fresh(self, row: Row, rows: Rows) -> Fraction:
        """Compute the chance in fresh data of a row that is, or may be, in the hidden set."""
        drawn = 1 - (1 - Fraction(1, self.size)) ** self.n
        seen, all_rows = len(set(rows)), 2**self.d
        if row in rows:
            return drawn
        return drawn * Fraction(self.size - seen, all_rows - seen)


HiddenNature = SmallTardos | SmallSuperset
"""A world with a distribution that nobody is told."""


def small_delta(
    world: HiddenNature, release: Callable[[Rows], Hashable], epsilon: float = 0.0
) -> Fraction:
    """Compute the least delta with which a release is resilient; an attempt is a row of the data.

    Parameters
    ----------
    world
        Its data sets are listed.
    release
        Deterministic function of a data set that ignores the order of its rows.
    epsilon
        Of the statement; at 0 the answer is exact.

    Raises
    ------
    TooLargeError
        There are too many data sets.

    Notes
    -----
    Source: Kaplan et al. 2025, Definition 3.1.

    Examples
    --------
    >>> small_delta(SmallTardos(3, 2, 2), lambda rows: tuple(map(sum, zip(*rows))))
    Fraction(7, 72)
    """
    factor = Fraction(math.exp(non_negative("epsilon", epsilon)))
    told: dict[Hashable, list[Rows]] = defaultdict(list)
    for rows in data_sets(world):
        told[release(rows)].append(rows)
    total = Fraction(0)
    for group in told.values():
        tried = {row for rows in group for row in rows}
        weighed = [(world.chance(rows), rows) for rows in group]
        worth = (
            sum(
                (p * ((row in rows) - factor * world.fresh(row, rows)) for p, rows in weighed),
                Fraction(0),
            )
            for row in tried
        )
        total += max(Fraction(0), *worth)
    return total


def data_sets(world: HiddenNature) -> Iterator[Rows]:
    """Yield all data sets, as multisets."""
    size = comb(2**world.d + world.n - 1, world.n)
    if size > _MOST:
        raise TooLargeError(f"{size:,} data sets are more than {_MOST:,}; take fewer rows or bits")
    rows = itertools.product((0, 1), repeat=world.d)
    yield from itertools.combinations_with_replacement(rows, world.n)
