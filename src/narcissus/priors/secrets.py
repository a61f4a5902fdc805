"""Priors of a secret, listed if it has few values, Zipf's law if it has very many.

A model that is trained on a secret holds a number for each of its values, so distributions over
very many values (nine digits) are scaled down, as published. Passwords, names and other popular
secrets follow Zipf's law roughly. Source: Narcissus theory 4.11.

Source: Swanberg et al. 2025, sections 5.1 and 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._files import csv_rows
from narcissus._options import BesideStudy, FilledIn
from narcissus._validation import between, distribution, integer, non_negative
from narcissus._visible import cell
from narcissus.errors import InputError

_SUMMED = 24  # terms that are added one by one; then seven terms of Euler and Maclaurin do
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)

LARGEST = 10**15
"""Most values; above, ranks are no longer whole numbers of a float."""


def harmonic(n: int, s: float) -> float:
    """Compute ``sum_{k = 1 .. n} k^-s``, with a relative error of a few 1e-16 for any ``n``.

    Both arguments are at least 0, and ``s = 1`` is allowed.

    Source: Narcissus theory 4.11. ``x^-s`` is completely monotone, so the error of the formula of
    Euler and Maclaurin is at most its first omitted term, below 4e-23 from 24 on.
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

    ``s`` is at least 0, and 0 is uniform; ``n`` is from 1 to 10^15.

    >>> round(Zipf(1.1, 10**9).probability(1), 9)
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

    def percentile(self, share: float) -> int:
        """Find the rank such that a share of the *values* is at most as likely.

        The least likely value is at 0, the median by count at 1/2, the likeliest at 1.
        """
        part = between("share", share, 0, 1)
        return max(1, math.ceil((1.0 - part) * self.n))


FloatArray = NDArray[np.float64]

MOST = 10_000
"""Most values of a secret."""
_LARGEST = 2**26  # bytes of a list of names
_SHIPPED = Path(__file__).with_name("first_names.csv")
_PII = (0.525, 0.15, 0.09, 0.065, 0.05, 0.04, 0.03, 0.02, 0.017, 0.013)


@dataclass(frozen=True)
class SecretPrior:
    """The distribution of a secret over at least two values."""

    chances: tuple[float, ...]  # probability of each value; they sum to 1
    values: tuple[str, ...] = ()  # texts of the values, one each; empty where they are only numbers
    words: str = "listed"  # description for a reader, such as "Zipf, s = 1.1"

    def __post_init__(self) -> None:
        distribution("chances", self.chances)
        integer("number of values", len(self.chances), low=2, high=MOST)
        if self.values and len(set(self.values)) != len(self.chances):
            raise InputError(
                f"`values` must be {len(self.chances)} different texts, one for each of `chances`"
            )

    @classmethod
    def weighed(cls, weights: ArrayLike, values: Sequence[str], words: str) -> Self:
        """Build one from weights that need not sum to 1."""
        masses = np.asarray(weights, dtype=np.float64)
        return cls(tuple((masses / masses.sum()).tolist()), tuple(values), words)

    @property
    def weights(self) -> FloatArray:
        return np.asarray(self.chances, dtype=np.float64)

    @property
    def guess(self) -> float:
        """Success of naming the likeliest value without any release."""
        return max(self.chances)


def uniform_secret(n: int = 10) -> SecretPrior:
    """Draw each value with the same probability, as canaries are commonly planted.

    n: number of values.
    """
    count = integer("n", n, low=2, high=MOST)
    return SecretPrior.weighed(np.ones(count), (), f"uniform over {count}")


def zipf_secret(s: float = 1.1, n: int = 10) -> SecretPrior:
    """Draw by Zipf's law, as popular passwords are.

    s: exponent, at least 0.
    n: number of values.
    """
    law = Zipf(s, integer("n", n, low=2, high=MOST))
    chances = [law.probability(rank) for rank in range(1, n + 1)]
    return SecretPrior.weighed(chances, (), f"Zipf over {n}, s = {s:g}")


def names_secret(
    file: Annotated[str | None, BesideStudy()] = None,
    n: int | None = None,
    folder: Annotated[str, FilledIn()] = ".",
) -> SecretPrior:
    """Draw a name by its frequency in a file, or in the 100 first names of the US census of 1990.

    file: a name a line, repeated as often as it occurs, or `name,weight`. Left out: the 50
        commonest first names each of women and men, with equal numbers of both.
    n: keep only this many, the commonest, with shares scaled up to 1; all if left out.
    """
    path = _SHIPPED if file is None else Path(folder) / file
    weights = _read_names(path)
    order = sorted(weights, key=lambda name: -weights[name])
    names = order if n is None else order[: integer("n", n, low=2, high=MOST)]
    if not 2 <= len(names) <= MOST:
        raise InputError(
            f"{path.name} has {len(names):,} different names; a secret needs 2 to {MOST:,} values: "
            "keep the commonest with `n`"
        )
    description = (
        f"{len(names)} first names" if file is None else f"{len(names)} names of {path.name}"
    )
    return SecretPrior.weighed([weights[name] for name in names], names, description)


def pii_secret() -> SecretPrior:
    """Draw one of ten values as uneven as names in their context: .525 for the likeliest.

    The published prior over ten is not printed; this one has its likeliest value, and the others
    are assumed.
    """
    return SecretPrior.weighed(_PII, (), "PII-like over 10, assumed")


def listed_secret(chances: Sequence[float], values: Sequence[str] = ()) -> SecretPrior:
    """Draw by probabilities listed in the study.

    chances: probability of each value; they sum to 1.
    values: different texts, one for each value; left out, the values are numbers.
    """
    return SecretPrior(tuple(chances), tuple(values), f"listed over {len(chances)}")


def read_values(path: Path) -> list[tuple[str, float]]:
    """Read a value a line, or ``value,weight``; a first line whose weight is a word is skipped."""
    description = "a list of values, one a line"
    lines = [
        line
        for line in csv_rows(path, largest=_LARGEST, what=description)
        if line and line[0].strip()
    ]
    pairs: list[tuple[str, float]] = []
    for number, line in enumerate(lines):
        try:
            weight = float(line[1]) if len(line) > 1 else 1.0
        except ValueError:
            weight = np.nan
        if number == 0 and len(line) > 1 and np.isnan(weight):
            continue
        if len(line) > 2 or not 0 < weight < np.inf:
            raise InputError(
                f"{path}: each line must be a value, or a value, a comma and a weight above 0; "
                f"line {number + 1} (blank ones left out) is {cell(','.join(line)[:80])}"
            )
        pairs.append((line[0].strip(), weight))
    return pairs


def _read_names(path: Path) -> dict[str, float]:
    weights: dict[str, float] = {}
    for name, weight in read_values(path):
        weights[name] = weights.get(name, 0.0) + weight
    return weights
