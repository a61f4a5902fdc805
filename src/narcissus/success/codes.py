"""Scores of a guess of many unknown columns, column by column.

The criterion of `narcissus.success.table` without a number for each joint value: secrets and
guesses are the value numbers of every unknown column, so that any number of columns may be unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus.success.table import ColumnsRight, Scores

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class CodesRight:
    """A `ColumnsRight` of secrets and guesses that are given column by column.

    Of column ``c`` a secret is a number below ``shape[c]``, a guess one below ``guess_shape[c]``:
    from ``shape[c]`` on it lies between two values, as in `ColumnsRight.split_guess`.

    Parameters
    ----------
    columns
        The criterion.
    """

    columns: ColumnsRight

    @property
    def shape(self) -> tuple[int, ...]:
        return self.columns.shape

    @property
    def guess_shape(self) -> tuple[int, ...]:
        return self.columns.guess_shape

    @property
    def needed(self) -> int:
        return self.columns.needed

    @property
    def all(self) -> bool:
        return self.needed == len(self.shape) and not self.by_column

    @property
    def by_column(self) -> bool:
        return self.columns.by_column

    def split_guess(self, guess: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the columns' guesses, shape (people, columns), unchanged."""
        return guess

    def join_guess(self, parts: NDArray[np.integer]) -> Codes:
        """Return the guess with these columns' guesses, unchanged."""
        return parts.astype(np.int32)

    def columns_right(
        self, truth: NDArray[np.integer], guess: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Check which columns are right, shape (..., columns); arguments are broadcast."""
        parts = [
            (window.low[guess[..., c]] <= truth[..., c])
            & (truth[..., c] < window.high[guess[..., c]])
            for c, window in enumerate(self.columns.windows)
        ]
        return np.stack(parts, axis=-1)

    def score(self, truth: NDArray[np.integer], guess: NDArray[np.integer]) -> Scores:
        """Check whether each guess counts, shape (...); arguments are broadcast."""
        return self.columns.worth(self.columns_right(truth, guess))

    def covered(self, guess: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the first and the last value that each column covers, shapes (..., columns)."""
        windows = enumerate(self.columns.windows)
        ends = [(w.low[guess[..., c]], w.high[guess[..., c]] - 1) for c, w in windows]
        first, last = zip(*ends, strict=True)
        return np.stack(first, axis=-1), np.stack(last, axis=-1)

    def covers(self) -> list[Floats]:
        """Return for each column which values each guess covers, 0 or 1, shapes (size, guesses)."""
        windows = zip(self.shape, self.columns.windows, strict=True)
        values = [(np.arange(size)[:, None], window) for size, window in windows]
        return [((w.low <= v) & (v < w.high)).astype(np.float64) for v, w in values]

    def window_sums(self, marginal: Floats, column: int) -> Floats:
        """Sum the chances of the values that each guess of a column covers.

        ``(..., size) -> (..., guesses of the column)``.
        """
        window = self.columns.windows[column]
        sums = np.concatenate(
            [np.zeros_like(marginal[..., :1]), np.cumsum(marginal, axis=-1)], axis=-1
        )
        return sums[..., window.high] - sums[..., window.low]

    def modes(self, marginals: Sequence[Floats]) -> Codes:
        """Return the guess whose every column is the likeliest to be right, shape (n, columns).

        ``marginals`` has for each column the chances of its values, shape (n, size).
        """
        parts = [first_largest(self.window_sums(m, c)) for c, m in enumerate(marginals)]
        return np.stack(parts, axis=-1).astype(np.int32)

    def least_risk(
        self, samples: NDArray[np.integer], weights: Floats, candidates: NDArray[np.integer]
    ) -> Codes:
        """Return the candidate that counts for most of the weight of samples, shape (columns,).

        Then one of its columns after the other is moved to the guess with which it counts for more,
        until none does. Columns that count by themselves are chosen by themselves.

        Parameters
        ----------
        samples
            Values of one person's secret, shape (samples, columns).
        weights
            Probability of each, shape (samples,); need not sum to one.
        candidates
            Guesses, shape (candidates, columns); of equals the first is kept.
        """
        if self.by_column:
            sizes = enumerate(self.shape)
            of = [np.bincount(samples[:, c], weights, size) for c, size in sizes]
            return self.modes([sums[None].astype(np.float64) for sums in of])[0]
        counts = self.score(samples[None], candidates[:, None]) @ weights
        best = candidates[int(first_largest(counts))].astype(np.int32)
        value = float(counts.max())
        while True:
            step: tuple[int, int] | None = None
            right = self.columns_right(samples, best[None])
            for c, window in enumerate(self.columns.windows):
                others = right.sum(axis=1) - right[:, c]
                sure = weights[others >= self.needed].sum()
                open_ = others == self.needed - 1
                per_value = np.bincount(samples[open_, c], weights[open_], self.shape[c])
                sums = np.concatenate([[0.0], np.cumsum(per_value)])
                counts = sure + sums[window.high] - sums[window.low]
                if counts.max() > value * (1 + 1e-9):  # not by rounding: it has to end
                    value, step = float(counts.max()), (c, int(first_largest(counts)))
            if step is None:
                return best
            best[step[0]] = step[1]


class ToldOfCodes(Protocol):
    """Knowledge of the people of a data set before any release."""

    def chance(self, guess: NDArray[np.integer]) -> Floats:
        """Compute the chance of one guess about each person, shape (n,)."""
        ...


@dataclass(frozen=True)
class EachPersonsCodes:
    """Everybody is a target, as in `EachPerson`; attempts have the shape (trials, n, columns)."""

    unknown: tuple[int, ...]  # guessed columns of a data set
    codes: CodesRight  # when a guess of them counts

    def holds(
        self, data: NDArray[np.integer], attempt: NDArray[np.integer], rng: np.random.Generator
    ) -> Scores:
        """Score guesses about data sets of shape (trials, n, d), shape (trials, n)."""
        return self.codes.score(data[..., list(self.unknown)], attempt)

    def chance(self, known: Sequence[ToldOfCodes], attempt: NDArray[np.integer]) -> Floats:
        """Compute each guess's exact chance by the prior given what is known, shape (trials, n)."""
        pairs = zip(known, attempt, strict=True)
        return np.stack([told.chance(guess) for told, guess in pairs])
