"""Criteria for a right guess of a person's unknown columns.

One criterion covers the three that a study can use: exact match, within a distance of some
ordered columns (Swanberg et al. 2025, section 6.4), and at least ``r`` of the unknown columns
right. Its decision is Bayes-optimal: of all guesses, the one most likely to count.

Where a distance is allowed, a guess may be any number, not only a listed value: of the values 0
and 2, within 1, the guess 1 is always right. Only the values that a guess covers matter, so
finitely many guesses stand for all: the listed values, and one number for each largest set of
values that no listed value covers.

By `ColumnShare` each column counts by itself: a guess is worth a number in [0, 1], and the mean
over people is the share of all their unknown columns. Which columns are right together does not
matter, so that the best guess is the likeliest of each column.
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

from narcissus._arrays import first_largest
from narcissus._validation import integer, non_negative
from narcissus.errors import InputError, TooLargeError

Floats = NDArray[np.float64]
Joint = NDArray[np.int64]
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

        Values ``l .. h - 1`` are covered at once if and only if they span at most twice the
        distance; their middle does it. Such sets that no listed value covers are added, where no
        other contains them.
        """
        own = np.arange(numbers.size)
        if distance == 0:
            return cls(numbers, own, own + 1)
        # A relative hair, so that 0.1 + 0.2 is within 0.3, and the rounding of large numbers.
        reach = distance * (1 + 1e-12) + 2 * float(np.spacing(np.abs(numbers).max()))
        low = np.searchsorted(numbers, numbers - reach, side="left")
        high = np.searchsorted(numbers, numbers + reach, side="right")
        last = np.searchsorted(numbers, numbers + 2 * reach, side="right")
        largest = np.diff(last, prepend=0) > 0
        covered = ((low[:, None] <= own) & (high[:, None] >= last)).any(axis=0)
        first = own[largest & ~covered]
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

    Parameters
    ----------
    shape
        Sizes of the unknown columns.
    within
        For each column, the largest distance of a right guess; 0 is an exact match. None: 0
        everywhere.
    at_least
        Number of columns that must be right; None: all.
    positions
        For each column, the ascending numbers between which distances are measured; None, or None
        for a column: the places 0, 1, 2, ... of its values.
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
        found: list[Windows] = []
        for c, size in enumerate(self.shape):
            given = self.positions[c] if self.positions is not None else None
            numbers = np.arange(size, dtype=float) if given is None else np.array(given)
            found.append(Windows.of(numbers, self.distances[c]))
        return tuple(found)

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
        """Return the columns' guesses, shape (people, columns).

        Below ``shape[c]`` it is that value of column ``c``, from there on the number
        ``windows[c].numbers[guess]`` between two values.
        """
        return np.stack(np.unravel_index(guess, self.guess_shape), axis=-1).astype(np.int32)

    def join_guess(self, parts: NDArray[np.integer]) -> Joint:
        """Return the guess with these columns' guesses, shape (people, columns) -> (people,).

        The inverse of `split_guess`; a value of a column is a guess of it.
        """
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
        said = self.split_guess(guess)
        found = np.empty(true.shape, dtype=bool)
        for c, window in enumerate(self.windows):
            low, high = window.low[said[..., c]], window.high[said[..., c]]
            found[..., c] = (low <= true[..., c]) & (true[..., c] < high)
        return found

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
        """Compute each guess's probability of counting under each person's beliefs.

        ``beliefs`` are probabilities of the joint values, shape (people, values); the result has
        shape (people, guesses).
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
        found = np.empty((beliefs.shape[0], len(self.shape)))
        said = np.unravel_index(guess, self.guess_shape)
        step = max(1, ENTRIES // beliefs.shape[1])
        for start in range(0, beliefs.shape[0], step):
            block = slice(start, start + step)
            for c in range(len(self.shape)):
                marginal = self.window_sum(self.marginal(beliefs[block], c), 1, c)
                found[block, c] = marginal[np.arange(len(marginal)), said[c][block]]
        return np.clip(found, 0.0, 1.0)

    def column_ends(self, beliefs: Floats) -> Floats:
        """Compute the largest and the smallest chance of a guess about each column alone.

        Shape (people, columns, 2).
        """
        found = np.empty((len(beliefs), len(self.shape), 2))
        for c in range(len(self.shape)):
            each = self.window_sum(self.marginal(beliefs, c), 1, c)
            found[:, c] = np.stack([each.max(axis=1), each.min(axis=1)], axis=1)
        return np.clip(found, 0.0, 1.0)

    def matrix(self) -> Scores:
        """Compute the table of what counts, shape (values, guesses).

        Raises
        ------
        TooLargeError
            More than 4 million entries.
        """
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
    """Knowledge of the people of a data set before any release."""

    @property
    def chances(self) -> Floats:
        """Chance of each guess about each person, shape (n, guesses)."""
        ...


@dataclass(frozen=True)
class EachPerson:
    """Everybody is a target: a guess counts if it is right about that person's unknown columns."""

    unknown: tuple[int, ...]  # guessed columns of a data set
    columns: ColumnsRight  # when a guess of them counts

    def holds(self, data: NDArray[np.integer], attempt: Joint, rng: np.random.Generator) -> Scores:
        """Score guesses about data sets of shape (trials, n, d), shape (trials, n)."""
        secrets = tuple(data[..., c] for c in self.unknown)
        return self.columns.score(
            np.ravel_multi_index(secrets, self.columns.shape).astype(np.int64), attempt
        )

    def chance(self, known: Sequence[Believed], attempt: Joint) -> Floats:
        """Compute each guess's exact chance by the prior given what is known, shape (trials, n)."""
        people = np.arange(attempt.shape[1])
        return np.stack(
            [told.chances[people, guess] for told, guess in zip(known, attempt, strict=True)]
        )


def exact_match(shape: Sequence[int]) -> ColumnsRight:
    """Return the criterion that only the true joint value satisfies."""
    return ColumnsRight(tuple(shape))


@dataclass(frozen=True)
class ColumnShare(ColumnsRight):
    """A guess is worth the share of its columns that are within their distance.

    See `ColumnsRight`; ``at_least`` must be None.

    Examples
    --------
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
        """False: other joint values than the true one count in part."""
        return False

    def describe(self) -> str:
        near = f", within {[f'{d:g}' for d in self.distances]}" if any(self.distances) else ""
        return f"the share of {len(self.shape)} unknown columns that is right{near}"

    def worth(self, right: NDArray[np.bool_]) -> Scores:
        """Compute the share of columns that are right: (..., columns) -> (...)."""
        return right.mean(axis=-1)

    def chances(self, beliefs: Floats) -> Floats:
        """Compute the mean worth of each guess under each person's beliefs.

        See `ColumnsRight.chances`: shape (people, guesses), entries in [0, 1].
        """
        columns = len(self.shape)
        total = np.zeros((len(beliefs), *(1,) * columns))
        for c, guesses in enumerate(self.guess_shape):
            sums = self.window_sum(self.marginal(beliefs, c), 1, c)
            total = total + sums.reshape(-1, *(1,) * c, guesses, *(1,) * (columns - 1 - c))
        return np.clip(total.reshape(len(beliefs), -1) / columns, 0.0, 1.0)
