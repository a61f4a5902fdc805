"""The parities of uniform rows: all of them memorized, no row found.

Given the parities each of the ``2^(d/2)`` rows that fit is equally likely, so the best attempt
fits the parities that most rows share. Source: Kaplan et al. 2025, Example 1.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial

from narcissus._validation import integer
from narcissus.errors import InputError


@dataclass(frozen=True)
class ParityRelease:
    """The release of the exclusive or of each pair of bits, for ``n`` uniform rows of ``d`` bits.

    n, d: Rows and bits of a row, an even number.

    >>> release = ParityRelease(2, 4)
    >>> release.memorized_bits, release.best_success, release.false_alarm
    (4, Fraction(19, 64), Fraction(7, 16))
    """

    n: int
    d: int

    def __post_init__(self) -> None:
        integer("n", self.n, low=1, high=2000)
        if integer("d", self.d, low=2, high=10_000) % 2:
            raise InputError(f"`d` must be even, got {self.d}")

    @property
    def fit(self) -> Fraction:
        """Chance that a uniform row has given parities: ``2^(-d/2)``."""
        return Fraction(1, 2 ** (self.d // 2))

    @property
    def memorized_bits(self) -> int:
        """``I(S; H | Nature)``: the parities are uniform bits, and the data decide them."""
        return self.n * self.d // 2

    @property
    def false_alarm(self) -> Fraction:
        """Chance that a fresh row fits the parities of some row, as every row of the data does.

        With it the release is ``(n, xi)``-memorizing (Definition 1.2); at most ``n 2^(-d/2)``.
        """
        return 1 - (1 - self.fit) ** self.n

    @property
    def baseline(self) -> Fraction:
        """Chance of any attempt against fresh data."""
        return 1 - (1 - Fraction(1, 2**self.d)) ** self.n

    def largest_load(self) -> list[Fraction]:
        """Compute the chance that at most ``k`` rows share their parities, ``k = 0 .. n``.

        It is ``n! [x^n] (sum_(i <= k) x^i / i!)^B / B^n`` for ``B`` possible parities.
        """
        bins = 2 ** (self.d // 2)
        return [
            _power_coefficient(k, bins, self.n) * factorial(self.n) / Fraction(bins) ** self.n
            for k in range(self.n + 1)
        ]

    @property
    def best_success(self) -> Fraction:
        """Success of the best attacker: ``E[1 - (1 - q)^K]``, ``K`` the load."""
        at_most = self.largest_load()
        miss = 1 - self.fit
        return sum(
            ((at_most[k] - at_most[k - 1]) * (1 - miss**k) for k in range(1, self.n + 1)),
            Fraction(0),
        )


def _power_coefficient(k: int, power: int, n: int) -> Fraction:
    """Compute the coefficient of ``x^n`` in ``(sum_(i <= k) x^i / i!)^power``.

    By ``P Q' = power P' Q`` for ``Q = P^power``.
    """
    coefficients = [Fraction(1)]
    for m in range(1, n + 1):
        terms = (
            (i * (power + 1) - m) * coefficients[m - i] / factorial(i)
            for i in range(1, min(k, m) + 1)
        )
        coefficients.append(sum(terms, Fraction(0)) / m)
    return coefficients[n]
