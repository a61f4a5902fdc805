"""The Tardos prior: hidden rates, a hidden population, and a sample of it without repetition."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.worlds.base import Array, Draw, Enumeration, all_tuples, bernoulli, tuples
from narcissus.worlds.populations import fits, multisets, orders, without_repetition

Bits = NDArray[np.uint8]


@dataclass
class Population:
    """One population of ``N`` rows, as far as it has been looked at.

    Rows that nobody has looked at are exchangeable and independent given the rates, so they are
    drawn when they are needed; those that are kept here stay what they are.
    """

    # The rows that have been looked at, shape (k, d); they have the places ``0 .. k - 1``.
    seen: Bits
    own: NDArray[np.int64]  # Places of the rows of the data set, in its order, shape (n,)
    # Whether all rows have been seen, and the places say nothing about who is in the data set
    told: bool = False


@dataclass(frozen=True)
class TardosNature:
    """``Nature`` of each trial: the population, and the rates that it was drawn with."""

    rates: NDArray[np.float64]  # Shape (trials, d)
    populations: list[Population]  # One for each trial

    def take(self, index: Array) -> TardosNature:
        """Take some of the trials; what is looked at from now on is not shared."""
        some = [self.populations[i] for i in index]
        return TardosNature(self.rates[index], [replace(one) for one in some])


@dataclass(frozen=True)
class Tardos:
    """The Tardos prior (Kaplan et al. 2025, Definition 3.3).

    Rates ``p_1 .. p_d`` are uniform on [0, 1]; a population of ``N`` rows has independent bits,
    those of column ``j`` with rate ``p_j``; a data set is ``n`` of the rows without repetition.
    A fresh data set is ``n`` rows of the *same* population: it shares
    ``Hypergeometric(N, n, n)`` rows with the released one.

    Parameters
    ----------
    N
        Rows of the population.
    d
        Attributes.
    n
        Rows of a data set, at most ``N``.
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
        """Return the number of data sets."""
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
        return without_repetition(rows, counts, weight, self.n)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        rates = rng.random((trials, self.d))
        rows = np.empty((trials, self.n, self.d), dtype=np.uint8)
        for trial in range(trials):
            rows[trial] = bernoulli(rng, rates[trial], (self.n, self.d))
        own = np.arange(self.n)
        return Draw(rows, TardosNature(rates, [Population(sample, own) for sample in rows]))

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Bits:
        """Draw a fresh sample of the same population, shape (trials, n, d).

        Rows seen for the first time are forgotten again, which does not matter for one sample.
        """
        return self._samples(draw, rng, keep=False)

    def fresh_again(self, draw: Draw, rng: np.random.Generator) -> Bits:
        """Draw a fresh sample, and keep its rows: for samples that are chosen among.

        Whoever draws until a sample fits must draw from one population all along: among
        populations drawn anew, those where many samples fit would be found too often.
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
        rates: NDArray[np.float64],
        places: Array,
        rng: np.random.Generator,
        *,
        keep: bool = False,
        unlike: Bits | None = None,
    ) -> Bits:
        """Look up distinct places of a population, shape (places, d).

        Parameters
        ----------
        population, rates
            Of one trial.
        places
            Distinct numbers below ``N``. Those that were not looked at before are all alike.
        keep
            Whether the population remembers what was looked at for the first time.
        unlike
            A row that no new row may equal; None for none.
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

        Their rows are in random order, which says nothing about who is in the data set. The
        populations keep all their rows, and the order, from here on.
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
    """Return the log (base 2) chance of a next row, by Laplace's rule of succession.

    rows: rows to weigh, shape (trials, rows, d).
    ones: ones in each column of the rows before, shape (trials, d).
    count: how many rows those are.
    """
    one = np.log2((ones + 1) / (count + 2))
    zero = np.log2((count - ones + 1) / (count + 2))
    return zero.sum(axis=1)[:, None] + np.einsum("trd,td->tr", rows, one - zero)
