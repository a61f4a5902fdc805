"""Relations about a string (a part, some places, its image, its first bit) or about a secret."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from narcissus._options import OfRoom
from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.worlds.base import Array, Batch, all_tuples, distinct
from narcissus.worlds.finite import Secret
from narcissus.worlds.products import Bits


@dataclass(frozen=True)
class Prefix:
    """The attempt is the first ``length`` entries of the data set, by default all.

    With half the length this is the relation ``z = x`` of Cohen et al. 2024, Example C.1.

    Parameters
    ----------
    length
        Entries to name.
    """

    length: int | None = None

    def __post_init__(self) -> None:
        if self.length is not None:
            integer("length", self.length, low=1)

    def _part(self, data: Array) -> Array:
        flat = data.reshape(len(data), -1)
        if self.length is None:
            return flat
        integer("length", self.length, high=flat.shape[1])
        return flat[:, : self.length]

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts have shape (trials, length)."""
        part = self._part(data)
        return (part == np.asarray(attempt).reshape(part.shape)).all(axis=1)

    def guesses(self, data: Array) -> Array:
        """Return the distinct prefixes of data sets."""
        return distinct(self._part(data))[0]

    def baseline(self, world: Any, attempt: Array) -> NDArray[np.float64] | None:
        """Compute the exact chance for independent bits."""
        if not isinstance(world, Bits):
            return None
        rates = world.rates[: self.length]
        guess = np.asarray(attempt).reshape(len(attempt), -1)
        return np.where(guess == 1, rates, 1 - rates).prod(axis=1)


@dataclass(frozen=True)
class Pinned:
    """The attempt names ``k`` distinct places of the data set and their entries.

    Cohen et al. 2024, Example 1.8; with ``k = 1``, the relation of the counting query of 000,
    Appendix A. An attempt is an array of two rows, places and entries.

    Parameters
    ----------
    k
        Places to name.
    """

    k: int = 1

    def __post_init__(self) -> None:
        integer("k", self.k, low=1)

    @property
    def coordinates(self) -> int:
        """Number of places in an attempt; all places are alike."""
        return self.k

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts have shape (trials, 2, k). Repeated places fail."""
        places, entries = np.asarray(attempt)[:, 0], np.asarray(attempt)[:, 1]
        if self.k > 1:
            ordered = np.sort(places, axis=1)
            valid = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
        else:
            valid = np.ones(len(places), dtype=bool)
        found = np.take_along_axis(data, places.astype(np.int64), axis=1)
        return (found == entries).all(axis=1) & valid

    def guesses(self, data: Array, *, lumped: bool = False) -> Array:
        """Return all attempts; with ``lumped``, those at the first ``k`` places only."""
        n = data.shape[1]
        if self.k > n:
            raise InputError(f"`k` is {self.k}, and a data set has {n} places only")
        entries = np.unique(data)
        count = (1 if lumped else comb(n, self.k)) * len(entries) ** self.k
        if count > 1_000_000:
            raise InputError(
                f"{self.k} of {n} places make {count} guesses, at most 1000000 are written out"
            )
        chosen = [tuple(range(self.k))] if lumped else list(combinations(range(n), self.k))
        values = entries[all_tuples(len(entries), self.k)]
        places = np.repeat(np.asarray(chosen), len(values), axis=0)
        return np.stack([places, np.tile(values, (len(chosen), 1))], axis=1)

    def baseline(self, world: Any, attempt: Array) -> NDArray[np.float64] | None:
        """Compute the exact chance for independent bits."""
        if not isinstance(world, Bits):
            return None
        places, entries = np.asarray(attempt)[:, 0], np.asarray(attempt)[:, 1]
        rates = world.rates[places.astype(np.int64)]
        chance = np.where(entries == 1, rates, np.where(entries == 0, 1 - rates, 0.0))
        if self.k > 1:
            ordered = np.sort(places, axis=1)
            chance[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)] = 0
        return chance.prod(axis=1)

    def best(self, world: Any) -> float | None:
        """Compute the chance of the best fixed guess for independent bits."""
        if not isinstance(world, Bits):
            return None
        return float(np.sort(np.maximum(world.rates, 1 - world.rates))[-self.k :].prod())


@dataclass(frozen=True)
class SameImage:
    """A function maps the attempt and the data set to the same image.

    Cohen et al. 2024, Theorem B.5: resilience for this relation is one-wayness.

    Parameters
    ----------
    function
        A mechanism that is a function, such as `narcissus.mechanisms.Sha256`.
    """

    function: Annotated[Any, OfRoom("mechanism")]

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts are inputs of the function, like the data."""
        image = self.function.release(data, rng)
        other = self.function.release(np.asarray(attempt).astype(data.dtype), rng)
        equal = image == other
        return equal.reshape(len(equal), -1).all(axis=1)

    def guesses(self, data: Array) -> Array:
        """Return one input for each image."""
        images = self.function.release(data, np.random.default_rng(0))
        _, inverse = distinct(images)
        return data[np.unique(inverse, return_index=True)[1]]


@dataclass(frozen=True)
class FirstBit:
    """The attempt is the first entry of the data set (Cohen et al. 2024, Theorem B.8)."""

    def holds(self, data: Batch, attempt: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts have shape (trials,)."""
        first = np.asarray(data).reshape(len(data), -1)[:, 0]
        return first == np.asarray(attempt).reshape(len(first))

    def guesses(self, data: Array) -> Array:
        return np.unique(np.asarray(data).reshape(len(data), -1)[:, 0])


@dataclass(frozen=True)
class OneOfPair:
    """The relations ``R_1 .. R_5`` in the proof of Cohen et al. 2024, Theorem C.2.

    They distinguish two data sets, here by their first entry: ``zero`` for ``S_0``, otherwise
    ``S_1``. An attempt is 0 or 1 (the paper's ``z_1`` and ``z_2``).

    Parameters
    ----------
    number
        Which relation, 1 to 5.
    zero
        First entry of ``S_0``.
    """

    number: int
    zero: float = 0

    def __post_init__(self) -> None:
        integer("number", self.number, low=1, high=5)

    def holds(self, data: Array, attempt: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Score a batch; attempts have shape (trials,)."""
        first = np.asarray(data).reshape(len(data), -1)[:, 0] == self.zero
        named = np.asarray(attempt).reshape(len(first)) == 0
        return {
            1: first & named,
            2: (first & named) | (~first & ~named),
            3: ~(~first & named),
            4: ~first & ~named,
            5: ~(first & ~named),
        }[self.number]

    def guesses(self, data: Array) -> Array:
        return np.array([0, 1])


@dataclass(frozen=True)
class NamesSecret:
    """The attempt is the number of the secret.

    Parameters
    ----------
    secrets
        Number of secrets; an attempt outside ``0 .. secrets - 1`` is an error.
    """

    secrets: int

    def holds(self, data: Array, attempt: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
        return data == self._numbers(attempt)

    def _numbers(self, attempt: Any) -> NDArray[np.int64]:
        guesses = np.asarray(attempt)
        if guesses.ndim != 1 or guesses.dtype.kind not in "iu" or not self._among(guesses):
            raise InputError(
                f"an attacker must give the number of a secret, 0 to {self.secrets - 1}"
            )
        return guesses

    def _among(self, guesses: Array) -> bool:
        return bool(((guesses >= 0) & (guesses < self.secrets)).all())

    def guesses(self, data: Array) -> Array:
        return np.arange(self.secrets)

    def best(self, world: Any) -> float | None:
        """Return the chance of the likeliest secret; None where there is no prior."""
        return float(world.chances.max()) if isinstance(world, Secret) else None

    def baseline(self, world: Any, attempt: Any) -> NDArray[np.float64] | None:
        """Return the prior's chance of each guess, which is that against a fresh secret."""
        if not isinstance(world, Secret):
            return None
        return world.chances[self._numbers(attempt)]
