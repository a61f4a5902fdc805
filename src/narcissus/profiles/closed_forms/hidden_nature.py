"""Small worlds with a hidden distribution against every attacker, in rational numbers.

No distribution is listed: the chances of a data set, and of a row of fresh data given the data
set, have closed forms. Data sets are multisets of rows, since no release here depends on order.

The exact average under the Tardos prior takes time polynomial in ``d``: the gain of an attempt
depends on its columns only by how many rows have the attempted bit. So averages are counted by
histograms, attempts by how often they side with the fewer rows.

Source: Kaplan et al. 2025, Definitions 3.1 and 3.3 and Example 1.5, with the relation "a row of the
data".
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
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
        seen, all_rows = len(set(rows)), 2**self.d
        return Fraction(
            _orders(rows) * math.perm(self.size, seen),
            self.size**self.n * math.perm(all_rows, seen),
        )

    def fresh(self, row: Row, rows: Rows) -> Fraction:
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

    ``release`` is a deterministic function of a data set that ignores the order of its rows. At
    epsilon 0 the answer is exact. Source: Kaplan et al. 2025, Definition 3.1.

    >>> small_delta(SmallTardos(3, 2, 2), lambda rows: tuple(map(sum, zip(*rows))))
    Fraction(7, 72)
    """
    factor = Fraction(math.exp(non_negative("epsilon", epsilon)))
    groups: dict[Hashable, list[Rows]] = defaultdict(list)
    for rows in data_sets(world):
        groups[release(rows)].append(rows)
    total = Fraction(0)
    for group in groups.values():
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
    size = comb(2**world.d + world.n - 1, world.n)
    if size > _MOST:
        raise TooLargeError(f"{size:,} data sets are more than {_MOST:,}; take fewer rows or bits")
    rows = itertools.product((0, 1), repeat=world.d)
    yield from itertools.combinations_with_replacement(rows, world.n)


_MOST_PAIRS = 2_000_000  # pairs of a histogram and an attempt


def exact_average_delta(
    N: int, d: int, n: int, epsilon: float | Fraction = 0.0
) -> Fraction | float:
    """Compute the least delta with which the exact average is resilient, against every attacker.

    At epsilon 0 the answer is an exact fraction, above a float. ``N`` and ``n`` are the rows of the
    population and of the data set; kinds of averages grow like ``d^(n/2)``.

    >>> exact_average_delta(3, 2, 2)
    Fraction(7, 72)
    >>> round(float(exact_average_delta(20, 20, 3)), 11)
    0.06363201786
    """
    n = integer("n", n, low=1)
    integer("N", N, low=n)
    d = integer("d", d, low=1)
    factor = Fraction(math.exp(non_negative("epsilon", epsilon))) if epsilon else Fraction(1)
    kinds = n // 2 + 1
    size = comb(d + kinds - 1, kinds - 1)
    if size * (d // kinds + 1) ** (kinds - 1) > _MOST_PAIRS:
        raise TooLargeError(
            f"{size:,} kinds of averages of {n} rows and {d} attributes are too many; take fewer"
        )
    worth = _Worth(N, n, factor)
    total = Fraction(0)
    for histogram in _histograms(d, kinds):
        # by how many columns of each kind an attempt has the rarer bit in
        each = (range(1 if 2 * m == n or m == 0 else h + 1) for m, h in enumerate(histogram))
        best = max(worth.of(_counts(n, histogram, fewer)) for fewer in itertools.product(*each))
        if best > 0:
            total += best * _chance(n, d, histogram)
    return float(total) if epsilon else total


class _Worth:
    """Success minus the baseline of an attempt, given how many rows have its bit in each column."""

    def __init__(self, population: int, n: int, factor: Fraction) -> None:
        overlaps = range(max(0, 2 * n - population), n + 1)
        self.terms: dict[tuple[int, int], Fraction] = {}
        for i in range(1, n + 1):  # some row of the data is the attempt, by inclusion-exclusion
            self.terms[i, 0] = Fraction((-1) ** (i + 1) * comb(n, i))
        for shared in overlaps:  # the same of fresh data, which shares some rows with it
            law = Fraction(comb(n, shared) * comb(population - n, n - shared), comb(population, n))
            for i, f in itertools.product(range(shared + 1), range(n - shared + 1)):
                if i + f:
                    sign = (-1) ** (i + f + 1) * comb(shared, i) * comb(n - shared, f)
                    self.terms[i, f] = self.terms.get((i, f), Fraction(0)) - factor * law * sign
        self.n = n
        self.power = cache(self._power)

    def _power(self, i: int, f: int, ones: int, times: int) -> Fraction:
        """Compute the chance that ``i`` rows and ``f`` new ones have the bit of ``ones`` rows.

        In each of ``times`` columns: arrangements are uniform, and rates follow the Beta law.
        """
        old = Fraction(comb(ones, i), comb(self.n, i))
        new = Fraction(comb(ones + f, f), comb(self.n + 1 + f, f))
        return (old * new) ** times

    def of(self, columns: tuple[tuple[int, int], ...]) -> Fraction:
        """Compute it from pairs: a number of rows, and the number of columns that have it."""
        total = Fraction(0)
        for (i, f), weight in self.terms.items():
            product = weight
            for ones, times in columns:
                product *= self.power(i, f, ones, times)
                if not product:
                    break
            total += product
        return total


def _histograms(d: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of columns with ``0, 1, .. n // 2`` rows that have the rarer bit."""
    for bars in itertools.combinations(range(d + kinds - 1), kinds - 1):
        edges = (-1, *bars, d + kinds - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def _counts(
    n: int, histogram: tuple[int, ...], fewer: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    pairs = [(n - m, h - u) for m, (h, u) in enumerate(zip(histogram, fewer, strict=True))]
    pairs += [(m, u) for m, u in enumerate(fewer)]
    return tuple((ones, times) for ones, times in pairs if times)


def _chance(n: int, d: int, histogram: tuple[int, ...]) -> Fraction:
    """Compute the chance of the averages of a histogram: counts are uniform on ``0 .. n``."""
    ways = math.factorial(d)
    for m, h in enumerate(histogram):
        ways = ways // math.factorial(h) * (1 if 2 * m == n else 2) ** h
    return Fraction(ways, (n + 1) ** d)
