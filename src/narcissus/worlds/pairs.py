"""Worlds of pairs of data sets, of which a coin releases one: each pair by itself, or drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import distribution, integer
from narcissus.errors import InputError, TooLargeError
from narcissus.worlds.base import LISTED, Array, Draw, Enumeration, World, all_tuples, tuples
from narcissus.worlds.finite import data_sets

_DRAWN = 2048


@dataclass(frozen=True)
class Pairs:
    """The variant over pairs: of ``(S_0, S_1)`` a coin says which one is released.

    The other one takes the place of the fresh data set. Each pair is a distribution of its own
    (003, Definition A.3), and several pairs are a family: what is said must hold for each of
    them. With ``probabilities`` they are one distribution, from which a pair is drawn: what is
    said then holds on average over the pairs, and may fail for any of them.

    Parameters
    ----------
    pairs
        The pairs, each of two data sets of one shape.
    probabilities
        Probability of each pair, where they are drawn; empty: each by itself.

    Notes
    -----
    Source: Cohen et al. 2024, Definitions A.2 and A.3.
    """

    pairs: Sequence[Any]
    probabilities: Sequence[float] = ()

    def __post_init__(self) -> None:
        sets = data_sets("pairs", self.pairs)
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
        sets = data_sets("pairs", self.pairs)
        return sets if sets.ndim > 2 else sets[..., None]

    @cached_property
    def members(self) -> dict[str, World]:
        """Each pair by itself, by name; empty where there is one pair, or pairs are drawn."""
        if len(self.probabilities) or len(self.sets) == 1:
            return {}
        return {
            f"pair {number}, {_shown(pair[0])} and {_shown(pair[1])}": Pairs(pair[None])
            for number, pair in enumerate(self.sets, start=1)
        }

    @property
    def scope(self) -> str:
        """What a statement about this world speaks of."""
        if len(self.sets) == 1:
            return "this pair"
        return f"one distribution over {len(self.sets)} pairs, on average over them"

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Probability of each pair."""
        if self.members:
            raise InputError(
                "several pairs without `probabilities` are a family, one distribution each, and "
                "not drawn from; take one of `members`, or give `probabilities`"
            )
        return np.asarray(self.probabilities) if len(self.probabilities) else np.ones(1)

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw the released data sets; ``nature`` holds the others."""
        pair = rng.choice(len(self.weight), size=trials, p=self.weight)
        coin = rng.integers(0, 2, trials)
        return Draw(self.sets[pair, coin], self.sets[pair, 1 - coin])

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Return the other data set of each pair."""
        return draw.nature

    def count(self) -> int:
        """Return the number of data sets."""
        return 2 * len(self.sets)

    def enumerate(self) -> Enumeration:
        """Write out every pair and coin as a ``Nature`` of one data set and its other.

        Raises
        ------
        TooLargeError
            More than some thousand pairs, whose square would be written out.
        """
        if len(self.sets) > _DRAWN:
            raise TooLargeError(
                f"a distribution over {len(self.sets):,} pairs is not written out, at most "
                f"{_DRAWN:,} are; list fewer pairs, or play the game instead"
            )
        data = self.sets.reshape(-1, *self.sets.shape[2:])
        sample = np.eye(len(data))
        other = np.arange(len(data)) ^ 1
        none = np.zeros(len(data), dtype=np.int64)
        return Enumeration(data, np.repeat(self.weight / 2, 2), sample, sample[other], none)


def _shown(data: Array) -> str:
    """Write a data set in a line; a record of one number is that number."""
    flat = data[:, 0] if data.ndim == 2 and data.shape[1] == 1 else data
    text = str(flat.tolist())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _all_neighbours(n: int, values: int) -> list[tuple[Array, Array]]:
    """List all pairs of data sets of ``n`` records that differ in one record, once each."""
    integer("n", n, low=1, high=10**7)
    integer("values", values, low=2)
    if tuples(values, n) > LISTED:
        raise InputError(
            f"{n} records of {values} values make more than {LISTED} data sets, the most that are "
            "listed; give the pairs you mean in a world of `pairs`"
        )
    found: list[tuple[Array, Array]] = []
    for row in all_tuples(values, n):
        for place in range(n):
            for value in range(int(row[place]) + 1, values):
                other = row.copy()
                other[place] = value
                found.append((row, other))
    return found


@dataclass(frozen=True)
class Neighbours:
    """All pairs of data sets of ``n`` records that differ in one record: each one by itself.

    The family of Cohen et al. 2024, Theorem A.4: what is said must hold for each pair.

    Parameters
    ----------
    n
        Records of a data set.
    values
        A record has the values ``0 .. values - 1``.
    """

    n: int
    values: int = 2

    def __post_init__(self) -> None:
        _ = self.pairs

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs, listed."""
        return Pairs(_all_neighbours(self.n, self.values))

    @property
    def members(self) -> dict[str, World]:
        """Each pair by itself, by name."""
        return self.pairs.members or {"the only pair": self.pairs}


@dataclass(frozen=True)
class RandomNeighbours:
    """One distribution over all pairs of `Neighbours`: each is drawn with the same probability.

    What is said of it holds on average over the pairs, and may fail for any of them.

    Parameters
    ----------
    n
        Records of a data set.
    values
        A record has the values ``0 .. values - 1``.
    """

    n: int
    values: int = 2

    def __post_init__(self) -> None:
        _ = self.pairs

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs, listed, all alike."""
        found = _all_neighbours(self.n, self.values)
        return Pairs(found, [1 / len(found)] * len(found))

    @property
    def scope(self) -> str:
        """What a statement about this world speaks of."""
        return self.pairs.scope

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw the released data sets; ``nature`` holds the others."""
        return self.pairs.draw(trials, rng)

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Return the other data set of each pair."""
        return draw.nature

    def count(self) -> int:
        """Return the number of data sets, each counted once for each pair."""
        return self.pairs.count()

    def enumerate(self) -> Enumeration:
        """Write the world out."""
        return self.pairs.enumerate()
