"""Worlds with an element that everybody guesses, and worlds whose values are a hidden list."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from narcissus._validation import integer, probability
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
from narcissus.worlds.populations import fits, multisets, orders, with_repetition
from narcissus.worlds.rates import TwoTypes


@dataclass(frozen=True)
class MonaLisa(Independent):
    """Rows that are the Mona Lisa with some probability and otherwise a random citizen.

    The Mona Lisa is the row of zeros, a citizen a uniform row of ``d`` bits (Cohen et al. 2024,
    section 1.1).

    Parameters
    ----------
    n
        Rows of a data set.
    d
        Bits of a row.
    rate
        Probability that a row is the Mona Lisa.
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
        """Distribution of one row; None where it has too many values to list."""
        if tuples(2, self.d) > LISTED:
            return None
        rows = all_tuples(2, self.d).astype(np.uint8)
        zeros = (rows == 0).all(axis=1)
        return Law(rows, (1 - self.rate) / len(rows) + self.rate * zeros)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        rows = bernoulli(rng, 0.5, (trials, self.n, self.d))
        rows[rng.random((trials, self.n)) < self.rate] = 0
        return Draw(rows)

    def count(self) -> int:
        """Return the number of data sets."""
        return tuples(2, self.n * self.d)

    def enumerate(self) -> Enumeration:
        """Write out all data sets."""
        rows = all_tuples(2, self.d)
        chance = (1 - self.rate) / len(rows) + self.rate * (rows == 0).all(axis=1)
        index = all_tuples(len(rows), self.n)
        return Enumeration.of(rows[index].astype(np.uint8), chance[index].prod(axis=1))

    def types(self, data: Array, places: int | None = None) -> TwoTypes:
        """Return chances of data sets at every rate: a row is the Mona Lisa, or one of others."""
        rows = 2**self.d
        hers = (data == 0).all(axis=2).sum(axis=1).astype(np.int64)
        ways = -(self.n - hers) * np.log(rows - 1.0)
        return TwoTypes(self.n, hers, ways, lambda rate: rate + (1 - rate) / rows)


@dataclass(frozen=True)
class Superset:
    """Rows drawn from a hidden list of random rows: ``Nature`` is uniform on the list.

    Kaplan et al. 2025, Example 1.5; with ``trivial`` above 0, Example 1.6: a row is all zeros
    with that probability, and from the list otherwise. The paper's list has ``n ** 10`` rows;
    its size is free here.

    Parameters
    ----------
    n
        Rows of a data set.
    d
        Bits of a row.
    size
        Rows of the list.
    trivial
        Probability of the row of zeros.
    distinct
        Whether the rows of the list all differ: a set, as in the paper.
    """

    n: int
    d: int
    size: int
    trivial: float = 0.0
    distinct: bool = False

    def __post_init__(self) -> None:
        integer("n", self.n, low=1, high=10**7)
        integer("d", self.d, low=1, high=10**7)
        integer("size", self.size, low=1)
        probability("trivial", self.trivial)
        if self.distinct and self.size > tuples(2, self.d):
            raise InputError(
                f"`size` must be at most 2^{self.d} where rows are `distinct`, got {self.size:,}"
            )

    @property
    def scope(self) -> str:
        """What a statement about this world speaks of."""
        return "this prior, on average over the lists"

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d); ``nature`` is the list, (trials, size, d)."""
        nature = bernoulli(rng, 0.5, (trials, self.size, self.d))
        for one in nature if self.distinct else ():
            while (again := _repeated(one)).size:
                one[again] = bernoulli(rng, 0.5, (again.size, self.d))
        return Draw(self._sample(nature, rng), nature)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw data sets from the same list."""
        return self._sample(draw.nature, rng)

    def count(self) -> int:
        """Return the number of data sets."""
        return tuples(2, self.n * self.d)

    def enumerate(self) -> Enumeration:
        """Write out all lists, up to their order, and all data sets of each."""
        kinds = 2**self.d
        many = math.comb(kinds if self.distinct else kinds + self.size - 1, self.size)
        fits(many, kinds, self.n)
        if self.distinct:
            chosen = np.array(list(itertools.combinations(range(kinds), self.size)))
            counts = (chosen[:, :, None] == np.arange(kinds)).sum(axis=1)
            weight = np.full(many, 1 / many)
        else:
            counts = multisets(kinds, self.size)
            weight = orders(counts) / float(kinds) ** self.size
        law = (1 - self.trivial) * counts / self.size
        law[:, 0] += self.trivial  # the first kind of row is that of zeros
        return with_repetition(all_tuples(2, self.d), law, weight, self.n)

    def _sample(self, nature: Array, rng: np.random.Generator) -> Array:
        trials = len(nature)
        index = rng.integers(0, self.size, (trials, self.n))
        rows = nature[np.arange(trials)[:, None], index]
        if self.trivial:
            rows[rng.random((trials, self.n)) < self.trivial] = 0
        return rows


def _repeated(rows: Array) -> Array:
    """Return the places of rows that an earlier one is equal to."""
    first = np.unique(rows, axis=0, return_index=True)[1]
    return np.setdiff1d(np.arange(len(rows)), first)
