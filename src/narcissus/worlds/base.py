"""What a world offers: data sets to play with, fresh ones to compare with, and all of them.

Everything is played in batches: the leading axis of an array counts trials. A world of a user may
as well give lists of objects, one a trial.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError

Array = NDArray[Any]
Batch = Any
"""One entry a trial: an array whose leading axis counts trials, or a list."""


@dataclass(frozen=True)
class Draw:
    """Data sets of a batch of trials, with what their fresh counterparts need to know.

    Attributes
    ----------
    data
        The data sets, a batch.
    nature
        What was drawn before the data (004's ``Nature``; the pair and the coin of a world of
        pairs); None where there is nothing.
    """

    data: Batch
    nature: Any = None

    @property
    def trials(self) -> int:
        """How many trials the batch holds."""
        return len(self.data)

    def take(self, index: Array) -> Draw:
        """Take some of the trials.

        Raises
        ------
        InputError
            ``nature`` is neither a batch nor an object with a method ``take``.
        """
        data = self.data[index] if isinstance(self.data, np.ndarray) else _some(self.data, index)
        if self.nature is None:
            return Draw(data)
        if hasattr(self.nature, "take"):  # an array has one as well
            nature = (
                self.nature[index]
                if isinstance(self.nature, np.ndarray)
                else self.nature.take(index)
            )
            return Draw(data, nature)
        if isinstance(self.nature, list | tuple) and len(self.nature) == self.trials:
            return Draw(data, _some(self.nature, index))
        raise InputError(
            "the `nature` of a draw must be an array or a list with one entry a trial, or have a "
            f"method `take(index)`; got {type(self.nature).__name__}"
        )


def _some(entries: Any, index: Array) -> list[Any]:
    return [entries[i] for i in index]


@runtime_checkable
class World(Protocol):
    """Who the data is about: a distribution over data sets, or over such distributions."""

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw ``trials`` independent data sets (each with its own ``Nature``, if any)."""
        ...

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Batch:
        """Draw one fresh data set for each trial, from the same ``Nature``."""
        ...


class Independent(ABC):
    """A world of independent records: without a ``Nature``, fresh data are drawn as data are."""

    @abstractmethod
    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw ``trials`` independent data sets, shape (trials, n, ...)."""

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Array:
        """Draw independent data sets of the same kind."""
        return self.draw(draw.trials, rng).data

    def fresh_given_rows(self, draw: Draw, rows: int, rng: np.random.Generator) -> Array:
        """Draw fresh data sets whose first ``rows`` records are those of ``draw``."""
        fresh = self.fresh(draw, rng)
        fresh[:, :rows] = draw.data[:, :rows]
        return fresh


@runtime_checkable
class ManyWorlds(Protocol):
    """A family of distributions; where it has no ``members``, it is one distribution itself."""

    @property
    def members(self) -> dict[str, World]:
        """The distributions by name."""
        ...


@runtime_checkable
class HasSurprisal(Protocol):
    """A world that says how surprising a row is to who knows the other rows only."""

    def surprisal(self, draw: Draw, index: Array) -> NDArray[np.float64]:
        """Return ``h(x | the other rows)`` of row ``index`` of each trial, in bits."""
        ...


LISTED = 4096
"""Most values of a record that are listed as its `Law`."""


@dataclass(frozen=True)
class Law:
    """The distribution from which every record is drawn, independently of the others.

    Worlds of such records offer it as ``law``; None where the records differ or depend on each
    other, or have more than `LISTED` values.
    """

    values: Array  # The values of a record, shape (k,) or (k, d)
    chances: NDArray[np.float64]  # Probability of each, shape (k,)


def members(world: Any) -> dict[str, World]:
    """Return the distributions of a family by name; any other world is its own, without a name.

    A family offers ``members``, and nothing else is asked of it: it is never drawn from, since a
    statement that holds on average over a family may fail for each of its members.
    """
    alone: dict[str, World] = {"": world}
    return (world.members or alone) if isinstance(world, ManyWorlds) else alone


def is_derived(world: Any) -> bool:
    """Return whether a world is of a user's class that is derived from a shipped one.

    It may draw otherwise, so formulas that are known of the shipped one are not known of it.
    """
    made, *bases = type(world).__mro__
    if made.__module__.startswith("narcissus."):
        return False
    homes = {base.__module__ for base in bases} - {__name__}  # what is here only helps to write one
    return any(home.startswith("narcissus.worlds.") for home in homes)


@dataclass(frozen=True)
class Enumeration:
    """A world written out: every data set with its probability.

    Attributes
    ----------
    data
        The data sets, a batch of D.
    weight
        Probability of each ``Nature``, shape (V,).
    sample
        Probability of each data set given ``Nature``, shape (V, D).
    fresh
        The same for the fresh data set, shape (V, D); differs from ``sample`` in worlds of pairs.
    known
        What the attacker is told where ``Nature`` is the case, as an index, shape (V,); all zero
        where nothing is told.
    labels
        What each index of ``known`` stands for.
    """

    data: Batch
    weight: NDArray[np.float64]
    sample: NDArray[np.float64]
    fresh: NDArray[np.float64]
    known: NDArray[np.int64]
    labels: Sequence[Any] = (None,)

    @classmethod
    def of(cls, data: Batch, probability: NDArray[np.float64]) -> Enumeration:
        """Enumerate a world without a meta-prior: one ``Nature``."""
        row = np.asarray(probability, dtype=np.float64)[None, :]
        return cls(data, np.ones(1), row, row, np.zeros(1, dtype=np.int64))


@runtime_checkable
class Enumerable(Protocol):
    """A world that can be written out."""

    def count(self) -> int:
        """Return the number of data sets, before writing any of them."""
        ...

    def enumerate(self) -> Enumeration:
        """Write the world out."""
        ...


def bernoulli(
    rng: np.random.Generator, rate: Array | float, shape: tuple[int, ...]
) -> NDArray[np.uint8]:
    """Draw bits with the given rates, exact to the last bit of a float, at a byte of entropy each.

    A random byte below ``256 * rate`` decides; the one byte in 256 that ties is settled by a
    random number of its own.

    rng: generator.
    rate: probability of a one, broadcast against ``shape``.
    shape: shape of the result.
    """
    scaled = np.asarray(rate, dtype=np.float64) * 256
    # A rate of one has floor 256, which a byte cannot hold: 255 with a tie that is always won.
    threshold = np.minimum(np.floor(scaled), 255).astype(np.uint8)
    left = scaled - threshold
    bits = np.empty(shape, dtype=np.uint8)
    if scaled.ndim == len(shape) and scaled.ndim > 0:  # rates for single entries: one piece
        _toss(rng, bits, threshold, left)
        return bits
    # Pieces that fit into the cache: the same bytes are looked at more than once.
    rows = max(1, _PIECE // max(1, bits[:1].size)) if bits.ndim else 1
    for start in range(0, len(bits), rows):
        _toss(rng, bits[start : start + rows], threshold, left)
    return bits


_PIECE = 1 << 18


def _toss(rng: np.random.Generator, bits: Array, threshold: Array, left: Array) -> None:
    words = rng.integers(0, 2**64, (bits.size + 7) // 8, dtype=np.uint64)
    coins = words.view(np.uint8)[: bits.size].reshape(bits.shape)
    np.less(coins, threshold, out=bits.view(np.bool_))
    if not np.any(left > 0):
        return
    ties = np.flatnonzero(coins == threshold)
    if left.ndim == 0:
        chances = left
    elif left.shape == bits.shape[bits.ndim - left.ndim :]:
        # A last axis of rates is by far the commonest: its index is a remainder.
        chances = left.reshape(-1)[ties % left.size]
    else:
        chances = np.broadcast_to(left, bits.shape)[np.unravel_index(ties, bits.shape)]
    bits.reshape(-1)[ties] = rng.random(ties.size) < chances


def tuples(values: int, length: int) -> int:
    """Count the tuples of ``all_tuples``: ``values ** length``, or less where that is beyond use.

    A number of more than ten million bits is rounded down to a power of two, of that many at most:
    it is only said how large it is, and computing it would take longer than the answer is worth.
    """
    bits = length * math.log2(values) if values > 1 else 0.0
    return values**length if bits < 10_000 else 1 << min(int(bits), 10_000_000)


def all_tuples(values: int, length: int) -> NDArray[np.int64]:
    """Return all ``values ** length`` tuples of ``0 .. values - 1``, shape (count, length)."""
    count = values**length
    index = np.arange(count, dtype=np.int64)
    columns = np.empty((count, length), dtype=np.int64)
    for place in range(length - 1, -1, -1):
        columns[:, place] = index % values
        index //= values
    return columns
