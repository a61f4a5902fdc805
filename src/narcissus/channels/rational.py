"""Channels in fractions, and measures of them without any rounding."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from narcissus._visible import cell
from narcissus.channels.channel import Channel, ClosedForm, channel, names_of
from narcissus.errors import InputError, TooLargeError

MOST_STEPS = 20_000_000
"""Most entries that a search over all pairs of secrets looks at."""

MOST_FIGURES = 1_000
"""Most places before or after the point of a decimal."""

Row = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class RationalChannel:
    """A channel whose probabilities are fractions; each row sums to exactly one.

    Made by `rational_channel`, which checks what it is given. Every measure is exact: sums,
    products and maxima of fractions.

    Attributes
    ----------
    rows
        A row a secret, an entry an output.
    secrets, outputs
        Their names, all different.
    """

    rows: tuple[Row, ...]
    secrets: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of secrets and of outputs."""
        return len(self.secrets), len(self.outputs)

    @cached_property
    def columns(self) -> tuple[Row, ...]:
        """Entries by output."""
        return tuple(zip(*self.rows, strict=True))

    def channel(self) -> Channel:
        """Return the nearest channel of floats."""
        floats = [[float(one) for one in row] for row in self.rows]
        return channel(floats, secrets=self.secrets, outputs=self.outputs)

    def beta_star(self) -> tuple[Fraction, tuple[str, ...]]:
        """Return the Bayes security and a pair of secrets that reaches it; no pair if there is one.

        Raises
        ------
        TooLargeError
            More than 20 million entries are to be looked at.
        """
        n, m = self.shape
        if n * (n - 1) // 2 * m > MOST_STEPS:
            raise TooLargeError(
                f"all pairs of {n} secrets with {m} outputs are {n * (n - 1) // 2 * m:,} fractions "
                f"to look at, at most {MOST_STEPS:,}; take `beta_star` of `.channel()`"
            )
        unit = math.lcm(*(one.denominator for row in self.rows for one in row))
        whole = [[int(one * unit) for one in row] for row in self.rows]
        best, pair = unit, self.secrets[:2] if n > 1 else ()
        for i, first in enumerate(whole):
            for j in range(i):
                found = sum(map(min, first, whole[j]))
                if found < best:
                    best, pair = found, (self.secrets[j], self.secrets[i])
        return Fraction(best, unit), pair

    def bayes_vulnerability(self, prior: Any = None) -> Fraction:
        """Get how often the best attacker names the secret in one guess; uniform prior if none."""
        weights = self.prior(prior)
        return sum(
            (max(w * c for w, c in zip(weights, column, strict=True)) for column in self.columns),
            Fraction(),
        )

    def bayes_risk(self, prior: Any = None) -> Fraction:
        """Return how often the best attacker is wrong."""
        return 1 - self.bayes_vulnerability(prior)

    def capacity(self) -> Fraction:
        """Return the multiplicative capacity, ``sum_o max_s C_so``."""
        return sum(map(max, self.columns), Fraction())

    def g_vulnerability(self, gain: Any, prior: Any = None) -> Fraction:
        """Return ``sum_o max_w sum_s pi_s C_so gain[w, s]``; a row of the gain per guess."""
        weights, table = self.prior(prior), self._gain(gain)
        joint = [[w * c for w, c in zip(weights, column, strict=True)] for column in self.columns]
        return sum((max(inner(row, column) for row in table) for column in joint), Fraction())

    def g_leakage(self, gain: Any, prior: Any = None) -> Fraction:
        """Return the multiplicative g-leakage.

        Raises
        ------
        InputError
            The best expected gain without the output is not above 0.
        """
        weights, table = self.prior(prior), self._gain(gain)
        before = max(inner(row, weights) for row in table)
        if before <= 0:
            raise InputError(f"the best gain without the output is {before}; it must be above 0")
        return self.g_vulnerability(table, weights) / before

    def prior(self, prior: Any) -> Row:
        """Return a prior over the secrets in fractions; None means uniform.

        Raises
        ------
        InputError
            Wrong secrets, an entry below 0, or a sum other than exactly one.
        """
        n = len(self.secrets)
        if prior is None:
            return (Fraction(1, n),) * n
        if isinstance(prior, Mapping):
            if set(prior) != set(self.secrets):
                raise InputError(f"`prior` must name the secrets {', '.join(self.secrets[:10])}")
            prior = [prior[name] for name in self.secrets]
        values = tuple(fraction(one) for one in prior)
        if len(values) != n or min(values) < 0 or sum(values) != 1:
            raise InputError(
                f"`prior` must be {n} fractions of at least 0 that sum to exactly 1, got "
                f"{len(values)} that sum to {sum(values)}"
            )
        return values

    def _gain(self, gain: Any) -> list[Row]:
        table = [tuple(fraction(one) for one in row) for row in gain]
        if not table or any(len(row) != len(self.secrets) for row in table):
            raise InputError(
                f"`gain` must have a row per guess and a column per secret ({len(self.secrets)})"
            )
        return table


def rational_channel(
    matrix: Any, *, secrets: Iterable[Any] | None = None, outputs: Iterable[Any] | None = None
) -> RationalChannel:
    """Make a channel of fractions, and check it.

    Parameters
    ----------
    matrix
        A row per secret, a column per output: fractions, whole numbers, decimals, texts such as
        ``"1/3"`` and ``"0.1"``, or floats, which are taken as exactly the binary number they are.
    secrets, outputs
        Their names; ``"s1"``, ``"o1"``, ... if left out.

    Raises
    ------
    InputError
        No matrix, no number, an entry below 0, or a row that does not sum to exactly one.

    Examples
    --------
    >>> c = rational_channel([["1/3", "2/3"], ["1/2", "1/2"]])
    >>> c.beta_star()
    (Fraction(5, 6), ('s1', 's2'))
    """
    if isinstance(matrix, RationalChannel):
        return matrix
    if isinstance(matrix, ClosedForm):
        matrix = matrix.channel()
    if isinstance(matrix, Channel):
        secrets, outputs = secrets or matrix.secrets, outputs or matrix.outputs
        matrix = matrix.dense
    rows = tuple(tuple(fraction(one) for one in row) for row in matrix)
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InputError("`matrix` must have a row per secret, all as long as there are outputs")
    names = names_of("secrets", secrets, len(rows), "s")
    for name, row in zip(names, rows, strict=True):
        if min(row) < 0:
            raise InputError(f"the row of secret {name!r} has the entry {min(row)}, below 0")
        if sum(row) != 1:
            raise InputError(
                f"the row of secret {name!r} sums to {_shown(sum(row))} and not to exactly 1; "
                "write fractions as texts, such as '1/3', since a float is the binary number "
                "nearest to what was meant"
            )
    return RationalChannel(rows, names, names_of("outputs", outputs, len(rows[0]), "o"))


def fraction(value: Any) -> Fraction:
    """Return a number or a text such as ``"1/3"`` as a fraction.
    Raises InputError: it is none, or not finite.
    """
    try:
        if isinstance(value, str) and "/" in value:
            return Fraction(value.strip())
        if isinstance(value, Fraction):
            return value
        if isinstance(value, str | Decimal):
            exact = Decimal(value.strip() if isinstance(value, str) else value)
            if abs(exact.adjusted()) <= MOST_FIGURES:  # 1e999999999 would fill the memory
                return Fraction(exact)
        if isinstance(value, numbers.Integral):
            return Fraction(int(value))  # NumPy's own would overflow
        if isinstance(value, numbers.Real):
            return Fraction(float(value))
    except (ValueError, ArithmeticError):
        pass
    raise InputError(f"{cell(value)} is no fraction; write numbers as 1/3 or 0.25")


def inner(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """Return the sum of products."""
    return sum((x * y for x, y in zip(first, second, strict=True)), Fraction())


def _shown(value: Fraction | int) -> str:
    """Return a fraction as text, or how far from 1 it is where its digits would fill the line."""
    text = str(value)
    if len(text) <= 24:
        return text
    try:
        return f"1 {float(value - 1):+.3g}"
    except OverflowError:
        return "more than 1e308 in size"
