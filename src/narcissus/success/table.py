"""Criteria for a right guess of a person's unknown columns.

One criterion covers the three that a study can use: exact match, within a distance of some
ordered columns (Swanberg et al. 2025, section 6.4), and at least ``r`` of the unknown columns
right. Its decision is Bayes-optimal: of all guesses, the one most likely to count.

Where a distance is allowed, a guess may be any number, not only a listed value: of the values 0
and 2, within 1, the guess 1 is always right. Only the values that a guess covers matter, so
finitely many guesses stand for all: the listed values, and one number for each largest set of
values that no listed value covers.

By `ColumnShare` each column counts by itself: a guess is worth a number in [0, 1], and the best
guess is the likeliest of each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from math import comb, prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats, first_largest
from narcissus._validation import integer, non_negative
from narcissus.errors import InputError, TooLargeError

Joint = NDArray[np.int64]
Codes = NDArray[np.int32]
Scores = NDArray[np.bool_ | np.float64]
"""Whether attempts count; of criteria that count in part, how much, in [0, 1]."""

MAX_MATRIX = 4_000_000
ENTRIES = 1 << 21  # of beliefs that are worked on at a time: 16 MB


@dataclass(frozen=True)
class Windows:
    """The guesses of one column and the values that each covers."""

    # shape (guesses,): first the listed values in their order, then the guesses between them
    numbers: Floats
    low: NDArray[np.intp]  # shape (guesses,): the first value that is near enough
    high: NDArray[np.intp]  # shape (guesses,): the one after the last

    @classmethod
    def of(cls, numbers: Floats, distance: float) -> Windows:
        """Find the guesses that stand for all real numbers.

        Values ``l .. h - 1`` are covered at the same time if and only if they span at most twice
        the distance, by their middle; largest such sets that no listed value covers are added.
        """
        indices = np.arange(numbers.size)
        if distance == 0:
            return cls(numbers, indices, indices + 1)
        # a relative hair, so that 0.1 + 0.2 is within 0.3, and the rounding of large numbers
        reach = distance * (1 + 1e-12) + 2 * float(np.spacing(np.abs(numbers).max()))
        low = np.searchsorted(numbers, numbers - reach, side="left")
        high = np.searchsorted(numbers, numbers + reach, side="right")
        last = np.searchsorted(numbers, numbers + 2 * reach, side="right")
        largest = np.diff(last, prepend=0) > 0
        covered = ((low[:, None] <= indices) & (high[:, None] >= last)).any(axis=0)
        first = indices[largest & ~covered]
        middles = (numbers[first] + numbers[last[first] - 1]) / 2
        return cls(
            np.concatenate([numbers, middles]),
            np.concatenate([low, first]),
            np.concatenate([high, last[first]]),
        )


@dataclass(frozen=True)
class ColumnsRight:
    """A guess counts if at least ``at_least`` of its columns are within their distance.

    A guess of all columns is one number in ``[0, guesses)``, as a joint value is one in
    ``[0, values)``: columns in C order of `guess_shape`. Under exact match, and wherever no guess
    between listed values covers more than a listed one, both numberings are the same;
    `guess_of` returns the guess that names a joint value.

    shape: Sizes of the unknown columns.
    within: For each column, the largest distance of a right guess; 0 is an exact match. None: 0
        everywhere.
    at_least: Number of columns that must be right; None: all.
    positions: For each column, the ascending numbers between which distances are measured; None, or
        None for a column: the places 0, 1, 2, ... of its values.
    """

    shape: tuple[int, ...]
    within: tuple[float, ...] | None = None
    at_least: int | None = None
    positions: tuple[tuple[float, ...] | None, ...] | None = None

    def __post_init__(self) -> None:
        if self.within is not None and len(self.within) != len(self.shape):
            raise InputError(
                f"`within` must have {len(self.shape)} entries, got {len(self.within)}"
            )
        for distance in self.within or ():
            non_negative("within", distance)
        if self.positions is not None and len(self.positions) != len(self.shape):
            raise InputError(
                f"`positions` must have {len(self.shape)} entries, got {len(self.positions)}"
            )
        for size, numbers in zip(self.shape, self.positions or (), strict=False):
            if numbers is not None and (
                len(numbers) != size or any(b <= a for a, b in pairwise(numbers))
            ):
                raise InputError(f"`positions` must be {size} ascending numbers, got {numbers}")
        if self.at_least is not None:
            integer("at_least", self.at_least, low=1, high=len(self.shape))

    @property
    def distances(self) -> tuple[float, ...]:
        return self.within or (0.0,) * len(self.shape)

    @cached_property
    def windows(self) -> tuple[Windows, ...]:
        column_windows: list[Windows] = []
        for c, size in enumerate(self.shape):
            positions = self.positions[c] if self.positions is not None else None
            numbers = np.arange(size, dtype=float) if positions is None else np.array(positions)
            column_windows.append(Windows.of(numbers, self.distances[c]))
        return tuple(column_windows)

    @property
    def guess_shape(self) -> tuple[int, ...]:
        """Number of guesses of each column: its values, then the guesses between them."""
        return tuple(w.numbers.size for w in self.windows)

    @property
    def guesses(self) -> int:
        """Number of joint guesses."""
        return prod(self.guess_shape)

    def guess_of(self, joint: Joint) -> Joint:
        """Return the guess that names each joint value, any shape."""
        parts = np.unravel_index(joint, self.shape)
        return np.ravel_multi_index(parts, self.guess_shape).astype(np.int64)

    def split_guess(self, guess: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the columns' guesses, shape (people, columns), as numbers of ``windows[c]``."""
        return np.stack(np.unravel_index(guess, self.guess_shape), axis=-1).astype(np.int32)

    def join_guess(self, parts: NDArray[np.integer]) -> Joint:
        """Invert `split_guess`, shape (people, columns) -> (people,)."""
        columns = tuple(np.moveaxis(parts, -1, 0))
        return np.asarray(np.ravel_multi_index(columns, self.guess_shape), dtype=np.int64)

    @property
    def needed(self) -> int:
        """Number of columns that must be right."""
        return len(self.shape) if self.at_least is None else self.at_least

    @property
    def by_column(self) -> bool:
        """Whether a guess counts in part, by its number of right columns."""
        return False

    @property
    def exact(self) -> bool:
        """Whether only the true joint value counts."""
        return self.needed == len(self.shape) and not any(self.distances)

    def describe(self) -> str:
        """Describe the criterion in words."""
        if self.exact:
            return "all unknown columns exactly right"
        near = f", within {[f'{d:g}' for d in self.distances]}" if any(self.distances) else ""
        return f"at least {self.needed} of {len(self.shape)} unknown columns right{near}"

    def columns_right(
        self, truth: NDArray[np.integer], guess: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Check which columns are right, shape (people, columns)."""
        true = np.stack(np.unravel_index(truth, self.shape), axis=-1)
        return CodesRight(self).columns_right(true, self.split_guess(guess))

    def worth(self, right: NDArray[np.bool_]) -> Scores:
        """Check whether guesses with these right columns count: (..., columns) -> (...)."""
        return right.sum(axis=-1) >= self.needed

    def score(self, truth: NDArray[np.integer], guess: NDArray[np.integer]) -> Scores:
        """Check for each person whether the guess counts, shape (people,)."""
        return self.worth(self.columns_right(truth, guess))

    def alone(self, column: int) -> ColumnsRight:
        """Return the criterion that one column by itself is right."""
        within = (self.distances[column],)
        positions = (self.positions[column] if self.positions is not None else None,)
        return ColumnsRight((self.shape[column],), within, None, positions)

    def marginal(self, beliefs: Floats, column: int) -> Floats:
        """Compute the chances of one column's values: (people, values) -> (people, size)."""
        others = tuple(1 + o for o in range(len(self.shape)) if o != column)
        return beliefs.reshape(-1, *self.shape).sum(axis=others)

    def chances(self, beliefs: Floats) -> Floats:
        """Compute the chance of each guess to count under beliefs, shape (people, guesses).

        ``beliefs`` are probabilities of the joint values, shape (people, values).
        """
        if self.exact:
            return beliefs
        people = beliefs.shape[0]
        table = beliefs.reshape(people, *self.shape)
        total = np.zeros((people, *self.guess_shape))
        d = len(self.shape)
        # Pr[N >= r] from the expected number of right subsets of each size (inclusion-exclusion).
        for count in range(self.needed, d + 1):
            sign = (-1) ** (count - self.needed) * comb(count - 1, self.needed - 1)
            for columns in combinations(range(d), count):
                others = tuple(1 + c for c in range(d) if c not in columns)
                part = table.sum(axis=others, keepdims=True)
                for c in columns:
                    part = self.window_sum(part, 1 + c, c)
                total += sign * part
        return np.clip(total.reshape(people, -1), 0.0, 1.0)

    def window_sum(self, table: Floats, axis: int, column: int) -> Floats:
        """Sum, for each guess of a column, the entries of the values that count."""
        if self.distances[column] == 0:
            return table
        sums = np.concatenate(
            [np.zeros_like(table.take([0], axis)), np.cumsum(table, axis=axis)], axis=axis
        )
        window = self.windows[column]
        return sums.take(window.high, axis) - sums.take(window.low, axis)

    def decide(self, beliefs: Floats) -> Joint:
        """Return each person's guess that is most likely to count; ties go to the first guess."""
        return first_largest(self.chances(beliefs))

    def column_chances(self, beliefs: Floats, guess: Joint) -> Floats:
        """Compute the probability that each column of a guess is right, shape (people, columns)."""
        chances = np.empty((beliefs.shape[0], len(self.shape)))
        column_guesses = np.unravel_index(guess, self.guess_shape)
        step = max(1, ENTRIES // beliefs.shape[1])
        for start in range(0, beliefs.shape[0], step):
            block = slice(start, start + step)
            for c in range(len(self.shape)):
                marginal = self.window_sum(self.marginal(beliefs[block], c), 1, c)
                chances[block, c] = marginal[np.arange(len(marginal)), column_guesses[c][block]]
        return np.clip(chances, 0.0, 1.0)

    def column_ends(self, beliefs: Floats) -> Floats:
        """Compute the extreme chances of guesses about a column alone, (people, columns, 2)."""
        ends = np.empty((len(beliefs), len(self.shape), 2))
        for c in range(len(self.shape)):
            each = self.window_sum(self.marginal(beliefs, c), 1, c)
            ends[:, c] = np.stack([each.max(axis=1), each.min(axis=1)], axis=1)
        return np.clip(ends, 0.0, 1.0)

    def matrix(self) -> Scores:
        """Compute the table of what counts, shape (values, guesses)."""
        values, guesses = prod(self.shape), self.guesses
        if values * guesses > MAX_MATRIX:
            raise TooLargeError(
                f"the success matrix of {values:,} joint values and {guesses:,} guesses has "
                f"{values * guesses:,} entries; the limit is {MAX_MATRIX:,}"
            )
        truth, guess = np.arange(values), np.arange(guesses)
        return self.score(np.repeat(truth, guesses), np.tile(guess, values)).reshape(
            values, guesses
        )


class Believed(Protocol):
    """Chances of each guess about each person before any release, shape (n, guesses)."""

    @property
    def chances(self) -> Floats: ...


@dataclass(frozen=True)
class EachPerson:
    """Everybody is a target: a guess counts if it is right about that person's unknown columns."""

    unknown: tuple[int, ...]  # guessed columns of a data set
    columns: ColumnsRight  # when a guess of them counts

    def holds(self, data: NDArray[np.integer], attempt: Joint, rng: np.random.Generator) -> Scores:
        secrets = tuple(data[..., c] for c in self.unknown)
        return self.columns.score(
            np.ravel_multi_index(secrets, self.columns.shape).astype(np.int64), attempt
        )

    def chance(self, known: Sequence[Believed], attempt: Joint) -> Floats:
        people = np.arange(attempt.shape[1])
        return np.stack(
            [beliefs.chances[people, guess] for beliefs, guess in zip(known, attempt, strict=True)]
        )


def exact_match(shape: Sequence[int]) -> ColumnsRight:
    """Return the criterion that only the true joint value satisfies."""
    return ColumnsRight(tuple(shape))


@dataclass(frozen=True)
class ColumnShare(ColumnsRight):
    """A guess is worth the share of its columns that are within their distance.

    See `ColumnsRight`; ``at_least`` must be None.

    >>> success = ColumnShare((2, 3))
    >>> float(success.score(np.array([4]), np.array([5]))[0])  # (1, 1), and (1, 2) is guessed
    0.5
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at_least is not None:
            raise InputError("`at_least` means nothing where each column counts by itself")

    @property
    def by_column(self) -> bool:
        return True

    @property
    def exact(self) -> bool:
        return False

    def describe(self) -> str:
        near = f", within {[f'{d:g}' for d in self.distances]}" if any(self.distances) else ""
        return f"the share of {len(self.shape)} unknown columns that is right{near}"

    def worth(self, right: NDArray[np.bool_]) -> Scores:
        return right.mean(axis=-1)

    def chances(self, beliefs: Floats) -> Floats:
        """Compute the mean worth of each guess, as `ColumnsRight.chances`."""
        columns = len(self.shape)
        total = np.zeros((len(beliefs), *(1,) * columns))
        for c, guesses in enumerate(self.guess_shape):
            sums = self.window_sum(self.marginal(beliefs, c), 1, c)
            total = total + sums.reshape(-1, *(1,) * c, guesses, *(1,) * (columns - 1 - c))
        return np.clip(total.reshape(len(beliefs), -1) / columns, 0.0, 1.0)


@dataclass(frozen=True)
class CodesRight:
    """A `ColumnsRight` of secrets and guesses given column by column, for any number of columns.

    Of column ``c`` a secret is a number below ``shape[c]``, a guess below ``guess_shape[c]``, as in
    `ColumnsRight.split_guess`.
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
        return guess

    def join_guess(self, parts: NDArray[np.integer]) -> Codes:
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
        """Sum chances over the values that each guess covers: (..., size) -> (..., guesses)."""
        window = self.columns.windows[column]
        sums = np.concatenate(
            [np.zeros_like(marginal[..., :1]), np.cumsum(marginal, axis=-1)], axis=-1
        )
        return sums[..., window.high] - sums[..., window.low]

    def modes(self, marginals: Sequence[Floats]) -> Codes:
        """Return the guess whose every column is the likeliest to be right, shape (n, columns)."""
        parts = [first_largest(self.window_sums(m, c)) for c, m in enumerate(marginals)]
        return np.stack(parts, axis=-1).astype(np.int32)

    def least_risk(
        self, samples: NDArray[np.integer], weights: Floats, candidates: NDArray[np.integer]
    ) -> Codes:
        """Return the guess that counts for most of the weight of samples, by coordinate ascent.

        It starts from the best of the candidates, shape (candidates, columns), the first of equals.
        ``samples`` are values of one person's secret, shape (samples, columns). Columns that count
        by themselves are chosen by themselves.
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
    """The chance of one guess about each person before any release, shape (n,)."""

    def chance(self, guess: NDArray[np.integer]) -> Floats: ...


@dataclass(frozen=True)
class EachPersonsCodes:
    """Everybody is a target, as in `EachPerson`; attempts have the shape (trials, n, columns)."""

    unknown: tuple[int, ...]  # guessed columns of a data set
    codes: CodesRight  # when a guess of them counts

    def holds(
        self, data: NDArray[np.integer], attempt: NDArray[np.integer], rng: np.random.Generator
    ) -> Scores:
        return self.codes.score(data[..., list(self.unknown)], attempt)

    def chance(self, known: Sequence[ToldOfCodes], attempt: NDArray[np.integer]) -> Floats:
        pairs = zip(known, attempt, strict=True)
        return np.stack([beliefs.chance(guess) for beliefs, guess in pairs])
