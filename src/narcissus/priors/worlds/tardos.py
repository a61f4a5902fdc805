"""The Tardos prior: hidden rates, a hidden population, and a sample of it without repetition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.priors.worlds.base import Array, Draw, bernoulli


@dataclass(frozen=True)
class TardosNature:
    """What is kept of ``Nature``: the rates, shape (trials, d), and the rows that were sampled.

    The rows of the population that were not sampled are exchangeable and independent given the
    rates, so they are drawn only when a fresh data set touches them.
    """

    rates: NDArray[np.float64]
    rows: NDArray[np.uint8]


@dataclass(frozen=True)
class Tardos:
    """The Tardos prior (Kaplan et al. 2025, Definition 3.3).

    Rates ``p_1 .. p_d`` are uniform on [0, 1]; a population of ``N`` rows has independent bits,
    those of column ``j`` with rate ``p_j``; a data set is ``n`` of the rows without repetition.
    A fresh data set shares ``Hypergeometric(N, n, n)`` rows with the released one.

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

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, shape (trials, n, d)."""
        rates = rng.random((trials, self.d))
        rows = np.empty((trials, self.n, self.d), dtype=np.uint8)
        for trial in range(trials):
            rows[trial] = bernoulli(rng, rates[trial], (self.n, self.d))
        return Draw(rows, TardosNature(rates, rows))

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw a fresh sample of the same population, shape (trials, n, d)."""
        shared = rng.hypergeometric(self.n, self.N - self.n, self.n, draw.trials)
        return self._mix(draw.nature, shared, rng)

    def fresh_given_rows(self, draw: Draw, rows: int, rng: np.random.Generator) -> Array:
        """Draw a fresh sample that has the first ``rows`` rows of ``draw``."""
        left = self.n - rows
        shared = rng.hypergeometric(left, self.N - self.n, left, draw.trials) if left else 0
        nature: TardosNature = draw.nature
        result = nature.rows.copy()
        for trial, common in enumerate(np.broadcast_to(shared, draw.trials)):
            result[trial, rows:] = self._rows(
                nature.rows[trial, rows:], nature.rates[trial], left, int(common), rng
            )
        return result

    def _mix(self, nature: TardosNature, shared: Array, rng: np.random.Generator) -> Array:
        result = np.empty_like(nature.rows)
        for trial, common in enumerate(shared):
            result[trial] = self._rows(
                nature.rows[trial], nature.rates[trial], self.n, int(common), rng
            )
        return result

    def _rows(
        self,
        sampled: NDArray[np.uint8],
        rates: NDArray[np.float64],
        count: int,
        shared: int,
        rng: np.random.Generator,
    ) -> NDArray[np.uint8]:
        """Give ``count`` rows in random order, ``shared`` of them from ``sampled``."""
        rows = np.empty((count, self.d), dtype=np.uint8)
        order = rng.permutation(count)
        picked = rng.choice(len(sampled), shared, replace=False) if shared else []
        rows[order[:shared]] = sampled[picked]
        rows[order[shared:]] = bernoulli(rng, rates, (count - shared, self.d))
        return rows

    def outsider(self, draw: Draw, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Draw one row of the population that was not sampled, for each trial: (trials, d)."""
        nature: TardosNature = draw.nature
        return bernoulli(rng, nature.rates, nature.rates.shape)

    def surprisal(self, draw: Draw, index: Array) -> NDArray[np.float64]:
        """Give ``h(x | the other rows)`` in bits, for the row at ``index`` of each trial.

        By Laplace's rule of succession: a column with ``m`` ones among the ``n - 1`` other rows
        has its next bit one with probability ``(m + 1) / (n + 1)``.
        """
        trials = np.arange(draw.trials)
        row = draw.data[trials, index].astype(np.float64)
        ones = draw.data.sum(axis=1, dtype=np.int64) - row
        chance = np.where(row == 1, ones + 1, self.n - ones) / (self.n + 1)
        return -np.log2(chance).sum(axis=1)
