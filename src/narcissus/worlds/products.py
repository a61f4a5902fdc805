"""Worlds of independent records: bits with a rate, records with a list of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from narcissus._validation import distribution, integer, probabilities
from narcissus.errors import InputError
from narcissus.worlds.base import (
    LISTED,
    Array,
    Draw,
    Enumeration,
    Independent,
    Law,
    all_tuples,
    bernoulli,
    tuples,
)
from narcissus.worlds.rates import TwoTypes


@dataclass(frozen=True)
class Bits(Independent):
    """Data sets of ``n`` independent bits.

    Parameters
    ----------
    n
        Number of bits.
    rate
        Probability of a one; one number, or one for each bit (independent, not alike).
    """

    n: int
    rate: float | Sequence[float] = 0.5

    def __post_init__(self) -> None:
        integer("n", self.n, low=1, high=10**7)
        rates = probabilities("rate", self.rate)
        if rates.ndim > 1 or (rates.ndim == 1 and rates.size != self.n):
            raise InputError(
                f"`rate` must be one number or {self.n} of them, got shape {rates.shape}"
            )

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Rate of each bit, shape (n,)."""
        return np.broadcast_to(np.asarray(self.rate, dtype=np.float64), (self.n,))

    @property
    def law(self) -> Law | None:
        """Distribution of one bit; None where they are not alike."""
        rate = float(self.rates[0])
        if np.ptp(self.rates) > 0:
            return None
        return Law(np.array([0, 1], dtype=np.uint8), np.array([1 - rate, rate]))

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n)."""
        rate = self.rate if isinstance(self.rate, int | float) else self.rates
        return Draw(bernoulli(rng, np.asarray(rate), (trials, self.n)))

    def count(self) -> int:
        """Return the number of data sets."""
        return tuples(2, self.n)

    def enumerate(self) -> Enumeration:
        """Write out all ``2 ** n`` data sets."""
        data = all_tuples(2, self.n).astype(np.uint8)
        chance = np.where(data == 1, self.rates, 1 - self.rates).prod(axis=1)
        return Enumeration.of(data, chance)

    def lumped(self, coordinates: int) -> Enumeration | None:
        """Write out the data sets up to the order of all but the first few bits.

        For a release that depends on the number of ones only, and an attempt at the first
        ``coordinates`` bits, this is as good as all data sets; there are
        ``2 ** coordinates * (n - coordinates + 1)`` of them. None where the rates differ.
        """
        if np.ptp(self.rates) > 0 or coordinates > self.n:
            return None
        rate, rest = float(self.rates[0]), self.n - coordinates
        heads = all_tuples(2, coordinates).astype(np.uint8)
        ones = np.arange(rest + 1)
        tails = (np.arange(rest) < ones[:, None]).astype(np.uint8)
        data = np.concatenate(
            [np.repeat(heads, rest + 1, axis=0), np.tile(tails, (len(heads), 1))], axis=1
        )
        head_chance = np.where(heads == 1, rate, 1 - rate).prod(axis=1)
        tail_chance = np.asarray(scipy.stats.binom.pmf(ones, rest, rate))
        return Enumeration.of(data, np.outer(head_chance, tail_chance).ravel())

    def types(self, data: Array, places: int | None = None) -> TwoTypes | None:
        """Return the chances of data sets at every rate; None where the bits are not alike."""
        if np.ndim(self.rate):
            return None
        ones = data.sum(axis=1, dtype=np.int64)
        ways = np.zeros(len(data))
        if places is not None:
            rest, found = self.n - places, data[:, places:].sum(axis=1, dtype=np.int64)
            ways = special.gammaln(rest + 1) - (
                special.gammaln(found + 1) + special.gammaln(rest - found + 1)
            )
        return TwoTypes(self.n, ones, ways, float)


@dataclass(frozen=True)
class Records(Independent):
    """Data sets of ``n`` independent records, each one of a list of values.

    Parameters
    ----------
    n
        Number of records.
    probabilities
        Probability of each value, for all records alike, or one such list for each record.
        Empty: all values alike.
    values
        The values: numbers, or vectors of one length. Empty: ``0, 1, 2, ...``.
    """

    n: int
    probabilities: Sequence[float] | Sequence[Sequence[float]] = ()
    values: Sequence[float] | Sequence[Sequence[float]] = field(default=())

    def __post_init__(self) -> None:
        integer("n", self.n, low=1, high=10**7)
        if not len(self.probabilities) and not len(self.values):
            raise InputError("give `probabilities`, `values`, or both")
        table = np.asarray(self.probabilities, dtype=np.float64)
        if table.ndim == 2:
            if len(table) != self.n:
                raise InputError(
                    f"`probabilities` must have one list for each of {self.n} records, "
                    f"got {len(table)}"
                )
            for row in table:
                distribution("probabilities", row)
        elif table.size:
            distribution("probabilities", table)
        if len(self.values) and table.size and len(self.values) != table.shape[-1]:
            raise InputError(
                f"`values` and `probabilities` must be equally many, got {len(self.values)} and "
                f"{table.shape[-1]}"
            )

    @cached_property
    def support(self) -> Array:
        """The values, shape (k,) or (k, d)."""
        if len(self.values):
            return np.asarray(self.values)
        return np.arange(np.asarray(self.probabilities).shape[-1])

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """Probability of each value for each record, shape (n, k)."""
        table = np.asarray(self.probabilities, dtype=np.float64)
        if not table.size:
            table = np.full(len(self.support), 1 / len(self.support))
        return np.broadcast_to(table, (self.n, len(self.support)))

    @property
    def alike(self) -> bool:
        """Whether all records have the same distribution."""
        return bool((self.table == self.table[0]).all())

    @property
    def law(self) -> Law | None:
        """Distribution of one record; None where they are not alike."""
        return Law(self.support, self.table[0]) if self.alike else None

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n) or (trials, n, d)."""
        if self.alike:
            steps = np.cumsum(self.table[0])[:-1]
            index = np.searchsorted(steps, rng.random((trials, self.n)), side="right")
        else:
            steps = np.cumsum(self.table, axis=1)[:, :-1]
            index = (rng.random((trials, self.n))[..., None] >= steps).sum(axis=2)
        return Draw(self.support[index])

    def count(self) -> int:
        """Return the number of data sets."""
        return tuples(len(self.support), self.n)

    def enumerate(self) -> Enumeration:
        """Write out all data sets."""
        index = all_tuples(len(self.support), self.n)
        chance = self.table[np.arange(self.n), index].prod(axis=1)
        return Enumeration.of(self.support[index], chance)


@dataclass(frozen=True)
class Uniform(Independent):
    """Data sets of ``n`` rows of ``d`` entries, each uniform on ``0 .. levels - 1``.

    With two levels, the uniform bit matrices of Kaplan et al. 2025, Example 1.3.

    Parameters
    ----------
    n
        Rows of a data set.
    d
        Entries of a row.
    levels
        Values of an entry.
    """

    n: int
    d: int
    levels: int = 2

    def __post_init__(self) -> None:
        integer("n", self.n, low=1, high=10**7)
        integer("d", self.d, low=1, high=10**7)
        integer("levels", self.levels, low=2, high=2**31)

    @property
    def law(self) -> Law | None:
        """Distribution of one row; None where it has too many values to list."""
        if tuples(self.levels, self.d) > LISTED:
            return None
        rows = all_tuples(self.levels, self.d)
        return Law(rows, np.full(len(rows), 1 / len(rows)))

    def rows(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw uniform rows, shape ``(*shape, d)``."""
        if self.levels == 2:
            return bernoulli(rng, 0.5, (*shape, self.d))
        kind = np.uint8 if self.levels <= 256 else np.int64
        return rng.integers(0, self.levels, (*shape, self.d), dtype=kind)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        return Draw(self.rows((trials, self.n), rng))

    def count(self) -> int:
        """Return the number of data sets."""
        return tuples(self.levels, self.n * self.d)

    def enumerate(self) -> Enumeration:
        """Write out all data sets."""
        data = all_tuples(self.levels, self.n * self.d).reshape(-1, self.n, self.d)
        return Enumeration.of(data, np.full(len(data), 1 / len(data)))
