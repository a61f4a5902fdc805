"""The exact average under the Tardos prior against every attacker, in time polynomial in ``d``.

The gain of an attempt depends on its columns only by how many rows have the attempted bit. So
averages are counted by histograms, attempts by how often they side with the fewer rows.

Source: Kaplan et al. 2025, Definitions 3.1 and 3.3, with the relation "a row of the data".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import comb

from narcissus._validation import integer, non_negative
from narcissus.errors import TooLargeError

_MOST = 2_000_000  # pairs of a histogram and an attempt


def exact_average_delta(
    N: int,
    d: int,
    n: int,
    epsilon: float | Fraction = 0.0,
) -> Fraction | float:
    """Compute the least delta with which the exact average is resilient, against every attacker.

    Parameters
    ----------
    N, d, n
        Rows of the population, attributes, rows of the data set.
    epsilon
        Of the statement. At 0 the answer is an exact fraction, above a float.

    Raises
    ------
    TooLargeError
        Too many kinds of averages; their number grows like ``d^(n/2)``.

    Examples
    --------
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
    if size * (d // kinds + 1) ** (kinds - 1) > _MOST:
        raise TooLargeError(
            f"{size:,} kinds of averages of {n} rows and {d} attributes are too many; take fewer"
        )
    worth = _Worth(N, n, factor)
    total = Fraction(0)
    for histogram in _histograms(d, kinds):
        best = max(worth.of(_counts(n, histogram, fewer)) for fewer in _sides(n, histogram))
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
        """Compute it; ``columns`` are pairs: a number of rows, and how many columns have it."""
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
    """Yield how many columns have ``0, 1, .. n // 2`` rows with the rarer bit."""
    for bars in itertools.combinations(range(d + kinds - 1), kinds - 1):
        edges = (-1, *bars, d + kinds - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def _sides(n: int, histogram: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield in how many columns of each kind an attempt has the rarer bit, where rows have it."""
    yield from itertools.product(
        *(range(1 if 2 * m == n or m == 0 else h + 1) for m, h in enumerate(histogram))
    )


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
