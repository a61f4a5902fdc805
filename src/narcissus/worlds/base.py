"""What a world offers: data sets to play with, fresh ones to compare with, and all of them.

Everything is played in batches: the leading axis of an array counts trials. A user's world may also
return lists of objects, one a trial.
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
    """Data sets of a batch of trials, with what their fresh counterparts need to know."""

    data: Batch
    nature: Any = None  # drawn before the data: ``Nature``, or the other data set of a pair

    @property
    def trials(self) -> int:
        """Number of trials in the batch."""
        return len(self.data)

    def take(self, index: Array) -> Draw:
        """Take some of the trials."""
        data, nature = gather(self.data, index), self.nature
        if nature is None:
            return Draw(data)
        if isinstance(nature, np.ndarray):
            return Draw(data, nature[index])
        if hasattr(nature, "take"):
            return Draw(data, nature.take(index))
        if isinstance(nature, list | tuple) and len(nature) == self.trials:
            return Draw(data, gather(nature, index))
        raise InputError(
            "the `nature` of a draw must be an array or a list with one entry a trial, or have a "
            f"method `take(index)`; got {type(self.nature).__name__}"
        )


@runtime_checkable
class World(Protocol):
    """Who the data is about: a distribution over data sets, or over such distributions."""

    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw ``trials`` independent data sets (each with its own ``Nature``, if any)."""
        ...

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Batch:
        """Draw one fresh data set for each trial, from the same ``Nature``."""
        ...


class WithoutNature(ABC):
    """A world without a ``Nature``: fresh data sets are drawn as data sets are."""

    @abstractmethod
    def draw(self, trials: int, rng: np.random.Generator) -> Draw:
        """Draw ``trials`` independent data sets, shape (trials, n, ...)."""

    def fresh(self, draw: Draw, rng: np.random.Generator) -> Batch:
        """Draw independent data sets of the same kind."""
        return self.draw(draw.trials, rng).data


class Independent(WithoutNature):
    """A world of independent records."""

    def fresh_given_rows(self, draw: Draw, rows: int, rng: np.random.Generator) -> Array:
        """Draw fresh data sets that share the first ``rows`` records with ``draw``."""
        fresh: Array = self.fresh(draw, rng)
        fresh[:, :rows] = draw.data[:, :rows]
        return fresh


@runtime_checkable
class ManyWorlds(Protocol):
    """A family of distributions; where it has no ``members``, it is one distribution itself."""

    @property
    def members(self) -> dict[str, World]: ...


@runtime_checkable
class HasSurprisal(Protocol):
    """A world with the surprisal of a row given the other rows."""

    def surprisal(self, draw: Draw, index: Array) -> NDArray[np.float64]:
        """Return ``h(x | the other rows)`` of row ``index`` of each trial, in bits."""
        ...


LISTED = 4096
"""Most values of a record that are listed as its `Law`."""


@dataclass(frozen=True)
class Law:
    """The distribution of each record of a world, where records are independent and alike."""

    values: Array  # at most `LISTED`, shape (k,) or (k, d)
    chances: NDArray[np.float64]  # shape (k,)


def members(world: Any) -> dict[str, World]:
    """Return the distributions of a family by name; any other world is its own, named "".

    A family is never drawn from: what holds on average over it may fail for each of its members.
    """
    alone: dict[str, World] = {"": world}
    return (world.members or alone) if isinstance(world, ManyWorlds) else alone


def is_derived(world: Any) -> bool:
    """Check for a user's class derived from a shipped one, whose formulas may not hold for it."""
    made, *bases = type(world).__mro__
    if made.__module__.startswith("narcissus."):
        return False
    homes = {base.__module__ for base in bases} - {__name__}  # what is here only helps to write one
    return any(home.startswith("narcissus.worlds.") for home in homes)


@dataclass(frozen=True)
class Enumeration:
    """A world written out: V values of ``Nature``, D data sets, with their probabilities."""

    data: Batch  # the data sets, a batch of D
    weight: NDArray[np.float64]  # probability of each ``Nature``, shape (V,)
    sample: NDArray[np.float64]  # of each data set given ``Nature``, shape (V, D)
    fresh: NDArray[np.float64]  # the same for the fresh data set; differs in worlds of pairs
    known: NDArray[np.int64]  # index of what the attacker is told at each ``Nature``, shape (V,)
    labels: Sequence[Any] = (None,)  # what each index of ``known`` stands for

    @classmethod
    def of(cls, data: Batch, probability: NDArray[np.float64]) -> Enumeration:
        """Enumerate a world with a single ``Nature``."""
        row = np.asarray(probability, dtype=np.float64)[None, :]
        return cls(data, np.ones(1), row, row, np.zeros(1, dtype=np.int64))


@runtime_checkable
class Enumerable(Protocol):
    """A world that can be written out."""

    def count(self) -> int:
        """Return the number of data sets, before writing any of them."""
        ...

    def enumerate(self) -> Enumeration: ...


def bernoulli(
    rng: np.random.Generator, rate: Array | float, shape: tuple[int, ...]
) -> NDArray[np.uint8]:
    """Draw bits with the given rates, exact to the last bit of a float, at a byte of entropy each.

    A random byte below ``256 * rate`` decides; the one byte in 256 that ties is settled by a
    further random number. ``rate`` is broadcast against ``shape``.
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
    """Count ``all_tuples``: ``values ** length``, only roughly beyond 10,000 bits."""
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


def distinct(batch: Batch) -> tuple[Batch, Array]:
    """Return the distinct entries of a batch, and the index of each entry among them."""
    if isinstance(batch, np.ndarray) and batch.dtype != object:
        flat = np.ascontiguousarray(batch.reshape(len(batch), -1))
        if flat.dtype.kind == "f":
            flat = flat + 0.0  # so that -0.0 and 0.0 are one release
        width = flat.dtype.itemsize * flat.shape[1]
        keys = flat.view(f"V{width}").ravel() if width else np.zeros(len(flat), dtype="V1")
        if width in {1, 2, 4, 8}:  # numbers sort faster than bytes
            keys = flat.view(f"u{width}").ravel()
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return batch[first], inverse.ravel()
    entries = list(batch)
    numbers: dict[Any, int] = {}
    inverse = np.empty(len(entries), dtype=np.int64)
    representatives: list[Any] = []
    for place, entry in enumerate(entries):
        key = key_of(entry)
        if key not in numbers:
            numbers[key] = len(representatives)
            representatives.append(entry)
        inverse[place] = numbers[key]
    return representatives, inverse


def key_of(entry: Any) -> Any:
    """Return something hashable that tells a release from others."""
    if isinstance(entry, np.ndarray | np.generic):
        array = np.asarray(entry)
        # Bytes of one integer and one float type, so that 1 from two sources is one key.
        if array.dtype.kind in "biu":
            array = array.astype(np.int64)
        elif array.dtype.kind == "f":
            array = array.astype(np.float64) + 0.0
        return array.shape, array.dtype.kind, array.tobytes()
    if isinstance(entry, list | tuple):
        return tuple(key_of(part) for part in entry)
    try:
        hash(entry)
    except TypeError:
        return repr(entry)
    return entry


def stacked(entries: list[Any]) -> Batch:
    """Return arrays of one shape, or numbers, as one array; anything else as a list."""
    if entries and all(isinstance(e, np.ndarray | np.generic | int | float) for e in entries):
        shapes = {np.shape(entry) for entry in entries}
        if len(shapes) == 1:
            return np.asarray(entries)
    return entries


def gather(batch: Batch, index: Array) -> Batch:
    """Take entries of a batch."""
    return batch[index] if isinstance(batch, np.ndarray) else [batch[i] for i in index]
