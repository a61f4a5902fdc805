"""When the guess of a person's unknown columns counts as right.

One criterion covers the three that a study can ask for: exact match, within a distance of some
ordered columns (Swanberg et al. 2025, section 6.4), and at least ``r`` of the unknown columns
right. Its decision is Bayes-optimal: of all guesses, the one most likely to count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, non_negative
from narcissus.errors import InputError, TooLargeError

Floats = NDArray[np.float64]
Joint = NDArray[np.int64]

MAX_MATRIX = 4_000_000


@dataclass(frozen=True)
class ColumnsRight:
    """A guess counts if at least ``at_least`` of its columns are within their distance.

    Parameters
    ----------
    shape
        Sizes of the unknown columns.
    within
        For each column, how far a guess may be off and still be right; 0 is an exact match.
        None: 0 everywhere.
    at_least
        How many columns must be right; None: all.
    positions
        For each column, the ascending numbers between which distances are measured; None, or None
        for a column: the places 0, 1, 2, ... of its values.
    """

    shape: tuple[int, ...]
    within: tuple[float, ...] | None = None
    at_least: int | None = None
    positions: tuple[tuple[float, ...] | None, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse distances and counts that do not fit the columns."""
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
        """Distance allowed in each column."""
        return self.within or (0.0,) * len(self.shape)

    def _numbers(self, column: int) -> Floats:
        """Give the numbers between which a column's distances are measured."""
        given = self.positions[column] if self.positions is not None else None
        return np.arange(self.shape[column], dtype=float) if given is None else np.array(given)

    def _near(self, column: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Give, for each guess, the first value that counts and the one after the last."""
        numbers = self._numbers(column)
        # A relative hair, so that 0.1 + 0.2 is within 0.3.
        reach = self.distances[column] * (1 + 1e-12)
        return (
            np.searchsorted(numbers, numbers - reach, side="left"),
            np.searchsorted(numbers, numbers + reach, side="right"),
        )

    @property
    def needed(self) -> int:
        """Columns that must be right."""
        return len(self.shape) if self.at_least is None else self.at_least

    @property
    def exact(self) -> bool:
        """Whether only the true joint value counts."""
        return self.needed == len(self.shape) and not any(self.distances)

    def describe(self) -> str:
        """Say the criterion in words."""
        if self.exact:
            return "all unknown columns exactly right"
        near = f", within {[f'{d:g}' for d in self.distances]}" if any(self.distances) else ""
        return f"at least {self.needed} of {len(self.shape)} unknown columns right{near}"

    def columns_right(self, truth: Joint, guess: Joint) -> NDArray[np.bool_]:
        """Tell which columns are right, shape (people, columns)."""
        true = np.stack(np.unravel_index(truth, self.shape), axis=-1)
        said = np.stack(np.unravel_index(guess, self.shape), axis=-1)
        found = np.empty(true.shape, dtype=bool)
        for c in range(len(self.shape)):
            low, high = self._near(c)
            found[..., c] = (true[..., c] >= low[said[..., c]]) & (
                true[..., c] < high[said[..., c]]
            )
        return found

    def score(self, truth: Joint, guess: Joint) -> NDArray[np.bool_]:
        """Tell for each person whether the guess counts, shape (people,)."""
        return self.columns_right(truth, guess).sum(axis=-1) >= self.needed

    def chances(self, beliefs: Floats) -> Floats:
        """Give each guess's probability of counting under each person's beliefs.

        Parameters
        ----------
        beliefs
            Probabilities of the joint values, shape (people, values).

        Returns
        -------
        Shape (people, values): entry ``(i, z)`` is the probability that guess ``z`` counts.
        """
        if self.exact:
            return beliefs
        people = beliefs.shape[0]
        table = beliefs.reshape(people, *self.shape)
        total = np.zeros_like(table)
        d = len(self.shape)
        # Pr[N >= r] from the expected number of right subsets of each size (inclusion-exclusion).
        for count in range(self.needed, d + 1):
            sign = (-1) ** (count - self.needed) * comb(count - 1, self.needed - 1)
            for columns in combinations(range(d), count):
                others = tuple(1 + c for c in range(d) if c not in columns)
                part = table.sum(axis=others, keepdims=True)
                for c in columns:
                    part = self._window_sum(part, 1 + c, c)
                total += sign * part
        return np.clip(total.reshape(people, -1), 0.0, 1.0)

    def _window_sum(self, table: Floats, axis: int, column: int) -> Floats:
        """Sum, for each guess of a column, the entries of the values that count."""
        if self.distances[column] == 0:
            return table
        sums = np.concatenate(
            [np.zeros_like(table.take([0], axis)), np.cumsum(table, axis=axis)], axis=axis
        )
        low, high = self._near(column)
        return sums.take(high, axis) - sums.take(low, axis)

    def decide(self, beliefs: Floats) -> Joint:
        """Give each person's guess that is most likely to count; ties go to the first value."""
        return self.chances(beliefs).argmax(axis=1)

    def column_chances(self, beliefs: Floats, guess: Joint) -> Floats:
        """Give the probability that each column of a guess is right, shape (people, columns)."""
        people = beliefs.shape[0]
        table = beliefs.reshape(people, *self.shape)
        said = np.unravel_index(guess, self.shape)
        found = np.empty((people, len(self.shape)))
        for c in range(len(self.shape)):
            others = tuple(1 + o for o in range(len(self.shape)) if o != c)
            marginal = self._window_sum(table.sum(axis=others), 1, c)
            found[:, c] = marginal[np.arange(people), said[c]]
        return np.clip(found, 0.0, 1.0)

    def matrix(self) -> NDArray[np.bool_]:
        """Give the table of what counts, shape (values, guesses).

        Raises
        ------
        TooLargeError
            More than 4 million entries.
        """
        values = prod(self.shape)
        if values**2 > MAX_MATRIX:
            raise TooLargeError(
                f"the success matrix of {values:,} joint values has {values**2:,} entries; "
                f"the limit is {MAX_MATRIX:,}"
            )
        every = np.arange(values)
        return self.score(np.repeat(every, values), np.tile(every, values)).reshape(values, values)


def exact_match(shape: Sequence[int]) -> ColumnsRight:
    """Give the criterion that only the true joint value satisfies."""
    return ColumnsRight(tuple(shape))
