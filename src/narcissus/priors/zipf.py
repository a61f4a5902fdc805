"""Zipf's law over very many values, none of them listed.

Passwords, names and other popular secrets follow it roughly. Source: Narcissus theory 4.11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from narcissus._validation import between, integer, non_negative

_SUMMED = 24  # terms that are added one by one; then seven terms of Euler and Maclaurin do
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)

LARGEST = 10**15
"""Most values; above, ranks are no longer whole numbers of a float."""


def harmonic(n: int, s: float) -> float:
    """Compute ``sum_{k = 1 .. n} k^-s``, with a relative error of a few 1e-16 for any ``n``.

    Both arguments are at least 0, and ``s = 1`` is allowed.

    Notes
    -----
    Source: Narcissus theory 4.11. ``x^-s`` is completely monotone, so the error of the formula of
    Euler and Maclaurin is at most its first omitted term, below 4e-23 from 24 on.

    Examples
    --------
    >>> round(harmonic(10**9, 1.1), 12)
    9.32552305322
    """
    first = math.fsum(k**-s for k in range(1, min(n, _SUMMED - 1) + 1))
    if n < _SUMMED:
        return first
    low, high = float(_SUMMED), float(n)
    stretch = math.log(high / low)
    power = (1.0 - s) * stretch
    # (n^(1-s) - a^(1-s)) / (1-s), also where s is 1 or nearly
    area = low ** (1.0 - s) * stretch * (math.expm1(power) / power if power else 1.0)
    parts = [first, area, (low**-s + high**-s) / 2]
    rising, factorial = s, 2.0
    for j, bernoulli in enumerate(_BERNOULLI, 1):
        order = 2 * j - 1  # of the derivative
        parts.append(bernoulli / factorial * rising * (low ** (-s - order) - high ** (-s - order)))
        rising *= (s + order) * (s + order + 1)
        factorial *= (2 * j + 1) * (2 * j + 2)
    return math.fsum(parts)


@dataclass(frozen=True)
class Zipf:
    """The law in which the value of rank ``k`` has probability ``k^-s / sum_j j^-s``.

    Parameters
    ----------
    s
        Exponent, at least 0; 0 is uniform.
    n
        Number of values, from 1 to 10^15.

    Examples
    --------
    >>> passwords = Zipf(1.1, 10**9)
    >>> round(passwords.probability(1), 9)
    0.107232591
    """

    s: float
    n: int

    def __post_init__(self) -> None:
        non_negative("s", self.s)
        integer("n", self.n, low=1, high=LARGEST)

    @classmethod
    def of(cls, s: float, n: float) -> Zipf:
        """Build one from a number of values written as a float, such as 1e9."""
        return cls(s, integer("n", n, low=1, high=LARGEST))

    @cached_property
    def _total(self) -> float:
        return harmonic(self.n, self.s)

    def probability(self, rank: int) -> float:
        """Compute the probability of the value of a rank, from 1."""
        return float(integer("rank", rank, low=1, high=self.n)) ** -self.s / self._total

    def head(self, k: int) -> float:
        """Compute the probability of the ``k`` likeliest values together, ``0 <= k <= n``."""
        return min(1.0, harmonic(integer("k", k, low=0, high=self.n), self.s) / self._total)

    def collision(self) -> float:
        """Compute the probability that two independent draws are the same value."""
        return min(1.0, harmonic(self.n, 2 * self.s) / self._total**2)

    def describe(self) -> str:
        """Describe the distribution in words."""
        return f"Zipf's law with exponent {self.s:g} over {self.n:,} values"

    def rank_at(self, share: float) -> int:
        """Find the least ``k`` whose `head` is at least a share in (0, 1]: the quantile by mass."""
        wanted = between("share", share, 0, 1, open_low=True)
        low, high = 0, self.n
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.head(middle) >= wanted else (middle, high)
        return high

    def percentile(self, share: float) -> int:
        """Find the rank such that a share of the *values* is at most as likely.

        The least likely value is at 0, the median by count at 1/2, the likeliest at 1.
        """
        part = between("share", share, 0, 1)
        return max(1, math.ceil((1.0 - part) * self.n))
