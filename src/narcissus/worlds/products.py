"""Worlds of independent records: bits with a rate, listed values, uniform rows, the Mona Lisa."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from narcissus._validation import distribution, integer, probabilities, probability
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

_ULP = 8 * float(np.finfo(float).eps)
_TINY = 1e-290


@dataclass(frozen=True)
class TwoTypes:
    """Data sets of independent records of two types: their chances at, and between, any rates.

    With ``k`` of ``n`` records of the first type, whose chance is ``p``, a data set has probability
    ``ways * p^k (1 - p)^(n - k)``. As a function of ``p`` that rises up to ``k / n`` and falls
    after it: over an interval its largest value is at the nearest point to ``k / n``, its smallest
    at one of the ends.
    """

    n: int  # records of a data set
    first: NDArray[np.int64]  # records of the first type, of each data set, shape (D,)
    log_ways: NDArray[np.float64]  # shape (D,)
    share: Callable[[float], float]  # chance of the first type; never falls as the rate grows

    def chances(self, rate: float) -> NDArray[np.float64]:
        """Return the probability of each data set at a rate, shape (D,)."""
        return np.exp(self._logarithm(self.share(rate)))

    def between(self, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the least and the largest probability of each data set, rounded outwards."""
        p, q = self.share(low), self.share(high)
        ends = np.minimum(self._logarithm(p), self._logarithm(q))
        top = np.clip(self.first / self.n, p, q)
        peak = self._logarithm(top)
        # what rounding may do to a logarithm, by the size of the terms that it is a sum of
        size = 1 + special.gammaln(self.n + 1.0) + np.abs(self.log_ways)
        rest = self.n - self.first
        fall = _ULP * (size + _size(ends) + rest / max(1 - q, _TINY))
        slack = _ULP * (size + _size(peak) + rest / np.maximum(1 - top, _TINY))
        return np.exp(ends - fall), np.minimum(1.0, np.exp(peak + slack))

    def distance(self, low: float, high: float, records: int | None = None) -> float:
        """Bound the total variation between some records (all, if None) at two rates.

        It is that of two binomial distributions, and grows with the interval.
        """
        n = self.n if records is None else records
        count = np.arange(n + 1)
        p, q = self.share(low), self.share(high)
        apart = scipy.stats.binom.cdf(count, n, p) - scipy.stats.binom.cdf(count, n, q)
        return float(min(1.0, np.abs(apart).max() * (1 + 1e-9) + 1e-13))

    def _logarithm(self, share: float | NDArray[np.float64]) -> NDArray[np.float64]:
        rest = self.n - self.first
        return self.log_ways + special.xlogy(self.first, share) + special.xlog1py(rest, -share)


def _size(logarithm: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(logarithm), np.abs(logarithm), 0.0)


@runtime_checkable
class HasRate(Protocol):
    """A world of records of two types whose chances depend on one number, its ``rate``."""

    rate: float

    def types(self, data: Array, places: int | None = None) -> TwoTypes | None:
        """Return the chances of its data sets at every rate; None where it has no single rate.

        ``places`` are the records in front whose order counts; None: all.
        """
        ...


@dataclass(frozen=True)
class Bits(Independent):
    """Data sets of ``n`` independent bits.

    n: Number of bits.
    rate: Probability of a one; one number, or one for each bit (independent, not alike).
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
        rate = float(self.rates[0])
        if np.ptp(self.rates) > 0:
            return None
        return Law(np.array([0, 1], dtype=np.uint8), np.array([1 - rate, rate]))

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        rate = self.rate if isinstance(self.rate, int | float) else self.rates
        return Draw(bernoulli(rng, np.asarray(rate), (trials, self.n)))

    def count(self) -> int:
        return tuples(2, self.n)

    def enumerate(self) -> Enumeration:
        data = all_tuples(2, self.n).astype(np.uint8)
        chance = np.where(data == 1, self.rates, 1 - self.rates).prod(axis=1)
        return Enumeration.of(data, chance)

    def lumped(self, coordinates: int) -> Enumeration | None:
        """Write out the data sets up to the order of all but the first few bits.

        They are as good as all where a release depends on the number of ones only, and an attempt
        on the first ``coordinates`` bits. None where the rates differ.
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
        if np.ndim(self.rate):
            return None
        ones = data.sum(axis=1, dtype=np.int64)
        ways = np.zeros(len(data))
        if places is not None:
            rest, rest_ones = self.n - places, data[:, places:].sum(axis=1, dtype=np.int64)
            ways = special.gammaln(rest + 1) - (
                special.gammaln(rest_ones + 1) + special.gammaln(rest - rest_ones + 1)
            )
        return TwoTypes(self.n, ones, ways, float)


@dataclass(frozen=True)
class Records(Independent):
    """Data sets of ``n`` independent records, each one of a list of values.

    n: Number of records.
    probabilities: Probability of each value, for all records alike, or one such list for each
        record. Empty: all values alike.
    values: The values: numbers, or vectors of one length. Empty: ``0, 1, 2, ...``.
    """

    n: int
    probabilities: Sequence[float] | Sequence[Sequence[float]] = ()
    values: Sequence[float] | Sequence[Sequence[float]] = ()

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
        return bool((self.table == self.table[0]).all())

    @property
    def law(self) -> Law | None:
        return Law(self.support, self.table[0]) if self.alike else None

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        if self.alike:
            steps = np.cumsum(self.table[0])[:-1]
            index = np.searchsorted(steps, rng.random((trials, self.n)), side="right")
        else:
            steps = np.cumsum(self.table, axis=1)[:, :-1]
            index = (rng.random((trials, self.n))[..., None] >= steps).sum(axis=2)
        return Draw(self.support[index])

    def count(self) -> int:
        return tuples(len(self.support), self.n)

    def enumerate(self) -> Enumeration:
        index = all_tuples(len(self.support), self.n)
        chance = self.table[np.arange(self.n), index].prod(axis=1)
        return Enumeration.of(self.support[index], chance)


@dataclass(frozen=True)
class Uniform(Independent):
    """Data sets of ``n`` rows of ``d`` entries, each uniform on ``0 .. levels - 1``.

    With two levels, the uniform bit matrices of Kaplan et al. 2025, Example 1.3.

    n: Rows of a data set.
    d: Entries of a row.
    levels: Values of an entry.
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
        return Draw(self.rows((trials, self.n), rng))

    def count(self) -> int:
        return tuples(self.levels, self.n * self.d)

    def enumerate(self) -> Enumeration:
        data = all_tuples(self.levels, self.n * self.d).reshape(-1, self.n, self.d)
        return Enumeration.of(data, np.full(len(data), 1 / len(data)))


@dataclass(frozen=True)
class MonaLisa(Independent):
    """Rows that are the Mona Lisa with some probability and otherwise a random citizen.

    The Mona Lisa is the row of zeros, a citizen a uniform row of ``d`` bits (Cohen et al. 2024,
    section 1.1).

    n: Rows of a data set.
    d: Bits of a row.
    rate: Probability that a row is the Mona Lisa.
    """

    n: int
    d: int
    rate: float = 0.5

    def __post_init__(self) -> None:
        integer("n", self.n, low=1, high=10**7)
        integer("d", self.d, low=1, high=10**7)
        probability("rate", self.rate)

    @property
    def law(self) -> Law | None:
        if tuples(2, self.d) > LISTED:
            return None
        rows = all_tuples(2, self.d).astype(np.uint8)
        zeros = (rows == 0).all(axis=1)
        return Law(rows, (1 - self.rate) / len(rows) + self.rate * zeros)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        rows = bernoulli(rng, 0.5, (trials, self.n, self.d))
        rows[rng.random((trials, self.n)) < self.rate] = 0
        return Draw(rows)

    def count(self) -> int:
        return tuples(2, self.n * self.d)

    def enumerate(self) -> Enumeration:
        rows = all_tuples(2, self.d)
        chance = (1 - self.rate) / len(rows) + self.rate * (rows == 0).all(axis=1)
        index = all_tuples(len(rows), self.n)
        return Enumeration.of(rows[index].astype(np.uint8), chance[index].prod(axis=1))

    def types(self, data: Array, places: int | None = None) -> TwoTypes:
        rows = 2**self.d
        hers = (data == 0).all(axis=2).sum(axis=1).astype(np.int64)
        ways = -(self.n - hers) * np.log(rows - 1.0)
        return TwoTypes(self.n, hers, ways, lambda rate: rate + (1 - rate) / rows)
