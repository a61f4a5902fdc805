"""Worlds with a hidden population or list: the Tardos prior, and rows of a hidden superset.

Written out, what rows a population has, and how often, is all that matters: nobody sees its order.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import Floats
from narcissus._validation import integer, probability
from narcissus.errors import InputError, TooLargeError
from narcissus.worlds.base import Array, Draw, Enumeration, all_tuples, bernoulli, tuples

Bits = NDArray[np.uint8]
Counts = NDArray[np.int64]

MOST = 4_000_000
"""Largest number of pairs of a population and a data set that are written out."""


def multisets(kinds: int, size: int) -> Counts:
    """Count each of the kinds in all multisets of a size, shape (multisets, kinds)."""
    bars = itertools.combinations(range(kinds + size - 1), kinds - 1)
    edges = np.array([(-1, *places, kinds + size - 1) for places in bars], dtype=np.int64)
    return np.diff(edges, axis=1) - 1


def orders(counts: Counts) -> Floats:
    """Count the orders in which each multiset can be written down."""
    size = int(counts[0].sum())
    return np.array(
        [math.factorial(size) // math.prod(map(math.factorial, row)) for row in counts.tolist()],
        dtype=np.float64,
    )


def fits(natures: int, kinds: int, n: int) -> None:
    """Refuse more pairs of a population and a data set than can be written out."""
    if natures * kinds**n > MOST:
        raise TooLargeError(
            f"the world would be written out as {natures:,} populations with {kinds**n:,} data "
            f"sets each, and at most {MOST:,} pairs are; make it smaller, or play the game"
        )


def _written(rows: Counts, index: Counts, weight: Floats, chance: Floats) -> Enumeration:
    data = rows[index].astype(np.uint8)
    return Enumeration(data, weight, chance, chance, np.zeros(len(weight), dtype=np.int64))


@dataclass
class Population:
    """One population of ``N`` rows; those not yet seen are independent, and drawn when needed."""

    seen: Bits  # rows looked at, at the places ``0 .. k - 1``, shape (k, d)
    own: NDArray[np.int64]  # places of the rows of the data set, in its order, shape (n,)
    told: bool = False  # whether all rows are seen, and places are unrelated to the data set


@dataclass(frozen=True)
class TardosNature:
    """``Nature`` of each trial: the population, and the rates that it was drawn with."""

    rates: Floats  # shape (trials, d)
    populations: list[Population]  # one for each trial

    def take(self, index: Array) -> TardosNature:
        """Take some of the trials; what is looked at later is not shared."""
        some = [self.populations[i] for i in index]
        return TardosNature(self.rates[index], [replace(population) for population in some])


@dataclass(frozen=True)
class Tardos:
    """The Tardos prior (Kaplan et al. 2025, Definition 3.3).

    Rates ``p_1 .. p_d`` are uniform on [0, 1]; a population of ``N`` rows has independent bits,
    those of column ``j`` with rate ``p_j``; a data set is ``n`` of the rows without repetition.
    A fresh data set is ``n`` rows of the *same* population: it shares
    ``Hypergeometric(N, n, n)`` rows with the released one.

    N: Rows of the population.
    d: Attributes.
    n: Rows of a data set, at most ``N``.
    """

    N: int
    d: int
    n: int

    def __post_init__(self) -> None:
        integer("N", self.N, low=1)
        integer("d", self.d, low=1, high=10**7)
        integer("n", self.n, low=1, high=10**7)
        if self.n > self.N:
            raise InputError(f"`n` must be at most `N` = {self.N}, got {self.n}")

    def count(self) -> int:
        return tuples(2, self.n * self.d)

    def enumerate(self) -> Enumeration:
        """Write out all populations, and all data sets of each.

        A population has the chance ``N! / prod e! prod_j 1 / ((N + 1) C(N, c_j))``, ``e`` copies
        of each row and ``c_j`` ones in column ``j``.
        """
        kinds = 2**self.d
        fits(math.comb(kinds + self.N - 1, self.N), kinds, self.n)
        rows, counts = all_tuples(2, self.d), multisets(kinds, self.N)
        columns = (self.N + 1) * special.comb(self.N, counts @ rows)
        weight = orders(counts) / columns.prod(axis=1)
        index = all_tuples(len(rows), self.n)
        chance = np.ones((len(counts), len(index)))
        for place in range(self.n):
            before = (index[:, :place] == index[:, place, None]).sum(axis=1)
            left = np.maximum(counts[:, index[:, place]] - before, 0)
            chance *= left / (self.N - place)
        return _written(rows, index, weight, chance)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        rates = rng.random((trials, self.d))
        rows = np.empty((trials, self.n, self.d), dtype=np.uint8)
        for trial in range(trials):
            rows[trial] = bernoulli(rng, rates[trial], (self.n, self.d))
        positions = np.arange(self.n)
        return Draw(rows, TardosNature(rates, [Population(sample, positions) for sample in rows]))

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Bits:
        """Draw a fresh sample of the same population, shape (trials, n, d).

        Rows seen for the first time are forgotten again, which does not matter for one sample.
        """
        return self._samples(draw, rng, keep=False)

    def fresh_again(self, draw: Draw, rng: np.random.Generator) -> Bits:
        """Draw a fresh sample, and keep its rows: for samples that are chosen among.

        Else populations where many samples fit would be found too often.
        """
        return self._samples(draw, rng, keep=True)

    def fresh_given_rows(self, draw: Draw, rows: int, rng: np.random.Generator) -> Bits:
        """Draw a fresh sample that has the first ``rows`` rows of ``draw``."""
        nature: TardosNature = draw.nature
        result = draw.data.copy()
        for trial, population in enumerate(nature.populations):
            taken = np.sort(population.own[:rows])
            places = _without(taken, rng.choice(self.N - rows, self.n - rows, replace=False))
            result[trial, rows:] = self.rows_at(population, nature.rates[trial], places, rng)
        return result

    def _samples(self, draw: Draw, rng: np.random.Generator, *, keep: bool) -> Bits:
        nature: TardosNature = draw.nature
        result = np.empty((draw.trials, self.n, self.d), dtype=np.uint8)
        for trial, population in enumerate(nature.populations):
            places = rng.choice(self.N, self.n, replace=False)
            rates = nature.rates[trial]
            result[trial] = self.rows_at(population, rates, places, rng, keep=keep)
        return result

    def rows_at(
        self,
        population: Population,
        rates: Floats,
        places: Array,
        rng: np.random.Generator,
        *,
        keep: bool = False,
        unlike: Bits | None = None,
    ) -> Bits:
        """Look up distinct places of a trial's population, shape (places, d).

        keep: Whether the population remembers what was looked at for the first time.
        unlike: A row that no new row may equal.
        """
        known = len(population.seen)
        rows = np.empty((len(places), self.d), dtype=np.uint8)
        old = places < known
        rows[old] = population.seen[places[old]]
        new = np.flatnonzero(~old)
        while new.size:
            rows[new] = bernoulli(rng, rates, (new.size, self.d))
            again = np.zeros(new.size, bool) if unlike is None else (rows[new] == unlike).all(1)
            new = new[again]
        if keep and not old.all():
            population.seen = np.concatenate([population.seen, rows[~old]])
        return rows

    def told(self, draw: Draw, rng: np.random.Generator) -> Bits:
        """Return ``Nature`` as an attacker may be told it: the populations, shape (trials, N, d).

        Rows are in random order, and the populations keep it and all their rows from here on.
        """
        nature: TardosNature = draw.nature
        for trial, population in enumerate(nature.populations):
            if population.told:
                continue
            left = np.arange(len(population.seen), self.N)
            self.rows_at(population, nature.rates[trial], left, rng, keep=True)
            order = rng.permutation(self.N)
            population.seen = population.seen[order]
            population.own = np.argsort(order)[population.own]
            population.told = True
        return np.stack([population.seen for population in nature.populations])

    def surprisal(self, draw: Draw, index: Array) -> NDArray[np.float64]:
        """Return ``h(x | the other rows)`` in bits, for the row at ``index`` of each trial.

        By Laplace's rule of succession: a column with ``m`` ones among the ``n - 1`` other rows
        has its next bit one with probability ``(m + 1) / (n + 1)``.
        """
        row = draw.data[np.arange(draw.trials), index]
        ones = draw.data.sum(axis=1, dtype=np.int64) - row
        return -succession(row[:, None], ones, self.n - 1)[:, 0]


def _without(taken: Array, numbers: Array) -> Array:
    """Shift numbers past some that are taken (sorted): ``0, 1, ...`` become the untaken ones."""
    free = taken - np.arange(len(taken))  # how many untaken numbers lie below each taken one
    return numbers + np.searchsorted(free, numbers, side="right")


def succession(rows: Bits, ones: Array, count: int) -> NDArray[np.float64]:
    """Return the log (base 2) chance of next rows, shape (trials, rows), by Laplace's rule.

    ``rows`` has shape (trials, rows, d); the ``count`` rows before have ``ones`` in each column,
    shape (trials, d).
    """
    log_one = np.log2((ones + 1) / (count + 2))
    zero = np.log2((count - ones + 1) / (count + 2))
    return zero.sum(axis=1)[:, None] + np.einsum("trd,td->tr", rows, log_one - zero)


@dataclass(frozen=True)
class Superset:
    """Rows drawn from a hidden list of random rows: ``Nature`` is uniform on the list.

    Kaplan et al. 2025, Example 1.5; with ``trivial`` above 0, Example 1.6: a row is all zeros
    with that probability, and from the list otherwise. The paper's list has ``n ** 10`` rows;
    its size is free here.

    n: Rows of a data set.
    d: Bits of a row.
    size: Rows of the list.
    trivial: Probability of the row of zeros.
    distinct: Whether the rows of the list all differ: a set, as in the paper.
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
        return "this prior, on average over the lists"

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d); ``nature`` is the list, (trials, size, d)."""
        nature = bernoulli(rng, 0.5, (trials, self.size, self.d))
        for population in nature if self.distinct else ():
            while (again := _repeated(population)).size:
                population[again] = bernoulli(rng, 0.5, (again.size, self.d))
        return Draw(self._sample(nature, rng), nature)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw data sets from the same list."""
        return self._sample(draw.nature, rng)

    def count(self) -> int:
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
        index = all_tuples(kinds, self.n)
        return _written(all_tuples(2, self.d), index, weight, law[:, index].prod(axis=2))

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
