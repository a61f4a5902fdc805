"""Worlds given by a list: of data sets, of distributions over them, of pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import distribution
from narcissus.errors import InputError
from narcissus.priors.worlds.base import Array, Draw, Enumeration


def _sets(name: str, data: Sequence[Any]) -> Array:
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise InputError(f"`{name}` must be data sets of one shape, got {data!r}") from error
    if array.ndim < 1 or len(array) == 0 or array.dtype == object:
        raise InputError(f"`{name}` must be a list of data sets of one shape, got {data!r}")
    return array if array.ndim > 1 else array[:, None]


@dataclass(frozen=True)
class Finite:
    """A list of data sets with their probabilities, or a meta-prior over such lists.

    Parameters
    ----------
    data
        The data sets, each a list of records (all of one shape).
    probabilities
        Probability of each data set; or, for a meta-prior, one such list for each ``Nature``.
        Empty: all alike.
    natures
        Probability of each ``Nature``; empty: all alike.
    """

    data: Sequence[Any]
    probabilities: Sequence[float] | Sequence[Sequence[float]] = ()
    natures: Sequence[float] = ()

    def __post_init__(self) -> None:
        sets = _sets("data", self.data)
        given = np.asarray(self.probabilities, dtype=np.float64)
        if given.size and given.shape[-1] != len(sets):
            raise InputError(
                f"`probabilities` must have one number for each of {len(sets)} data sets, "
                f"got {given.shape[-1]}"
            )
        for row in np.atleast_2d(given) if given.size else ():
            distribution("probabilities", row)
        if len(self.natures):
            distribution("natures", self.natures)
            if len(self.natures) != len(self.table):
                raise InputError(
                    f"`natures` must have one number for each of {len(self.table)} lists of "
                    f"`probabilities`, got {len(self.natures)}"
                )

    @cached_property
    def sets(self) -> Array:
        """The data sets, leading axis D."""
        return _sets("data", self.data)

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """Probability of each data set given ``Nature``, shape (V, D)."""
        given = np.asarray(self.probabilities, dtype=np.float64)
        return (
            np.atleast_2d(given) if given.size else np.full((1, len(self.sets)), 1 / len(self.sets))
        )

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Probability of each ``Nature``, shape (V,)."""
        count = len(self.table)
        return np.asarray(self.natures) if len(self.natures) else np.full(count, 1 / count)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw data sets, and the index of their ``Nature``."""
        nature = rng.choice(len(self.weight), size=trials, p=self.weight)
        return Draw(self.sets[self._pick(nature, rng)], nature)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw a data set from the same ``Nature``."""
        return self.sets[self._pick(draw.nature, rng)]

    def _pick(self, nature: Array, rng: np.random.Generator) -> Array:
        steps = np.cumsum(self.table, axis=1)[:, :-1]
        return (rng.random(len(nature))[:, None] >= steps[nature]).sum(axis=1)

    def count(self) -> int:
        """Give the number of data sets."""
        return len(self.sets)

    def enumerate(self) -> Enumeration:
        """Write the world out."""
        none = np.zeros(len(self.weight), dtype=np.int64)
        return Enumeration(self.sets, self.weight, self.table, self.table, none)


@dataclass(frozen=True)
class Pairs:
    """The variant over pairs: ``(S_0, S_1)`` is drawn, a coin says which one is released.

    The other one takes the place of the fresh data set.

    Parameters
    ----------
    pairs
        The pairs, each of two data sets of one shape. One pair is the constant distribution of
        003, Definition A.3.
    probabilities
        Probability of each pair; empty: all alike.

    Notes
    -----
    Source: Cohen et al. 2024, Definition A.2.
    """

    pairs: Sequence[Any]
    probabilities: Sequence[float] = ()

    def __post_init__(self) -> None:
        sets = _sets("pairs", self.pairs)
        if sets.ndim < 2 or sets.shape[1] != 2:
            raise InputError(f"`pairs` must hold two data sets each, got shape {sets.shape}")
        if len(self.probabilities):
            distribution("probabilities", self.probabilities)
            if len(self.probabilities) != len(sets):
                raise InputError(
                    f"`probabilities` must have one number for each of {len(sets)} pairs, "
                    f"got {len(self.probabilities)}"
                )

    @cached_property
    def sets(self) -> Array:
        """The pairs, shape (pairs, 2, records, ...)."""
        sets = _sets("pairs", self.pairs)
        return sets if sets.ndim > 2 else sets[..., None]

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Probability of each pair."""
        count = len(self.sets)
        return (
            np.asarray(self.probabilities) if len(self.probabilities) else np.full(count, 1 / count)
        )

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw the released data sets; ``nature`` holds the others."""
        pair = rng.choice(len(self.weight), size=trials, p=self.weight)
        coin = rng.integers(0, 2, trials)
        return Draw(self.sets[pair, coin], self.sets[pair, 1 - coin])

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Give the other data set of each pair."""
        return draw.nature

    def count(self) -> int:
        """Give the number of data sets."""
        return 2 * len(self.sets)

    def enumerate(self) -> Enumeration:
        """Write out every pair and coin as a ``Nature`` of one data set and its other."""
        data = self.sets.reshape(-1, *self.sets.shape[2:])
        sample = np.eye(len(data))
        other = np.arange(len(data)) ^ 1
        none = np.zeros(len(data), dtype=np.int64)
        return Enumeration(data, np.repeat(self.weight / 2, 2), sample, sample[other], none)


@dataclass(frozen=True)
class Neighbours:
    """All pairs of data sets of ``n`` records that differ in one record, all alike.

    The family of Theorem A.4, drawn from uniformly; ``values`` is the number of values of a
    record.
    """

    n: int
    values: int = 2

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs, listed."""
        from narcissus._validation import integer
        from narcissus.priors.worlds.base import all_tuples, tuples

        integer("n", self.n, low=1, high=10**7)
        integer("values", self.values, low=2)
        if tuples(self.values, self.n) > 4096:
            raise InputError(
                f"{self.n} records of {self.values} values make more than 4096 data sets, the most "
                "that are listed; give the pairs you mean in a world of `pairs`"
            )
        sets = all_tuples(self.values, self.n)
        found: list[tuple[Array, Array]] = []
        for row in sets:
            for place in range(self.n):
                for value in range(int(row[place]) + 1, self.values):
                    other = row.copy()
                    other[place] = value
                    found.append((row, other))
        return Pairs(found)

    def __post_init__(self) -> None:
        _ = self.pairs

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw the released data sets."""
        return self.pairs.draw(trials, rng)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Give the other data set of each pair."""
        return draw.nature

    def count(self) -> int:
        """Give the number of data sets, each counted once for each pair."""
        return self.pairs.count()

    def enumerate(self) -> Enumeration:
        """Write the world out."""
        return self.pairs.enumerate()
