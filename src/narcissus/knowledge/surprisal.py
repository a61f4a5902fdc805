"""How surprising a row stays for who knows the others and ``K``, in a world that is listed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.errors import InputError
from narcissus.knowledge.base import refine
from narcissus.worlds.base import LISTED, Array, Batch, Enumerable, Enumeration, key_of


@dataclass(frozen=True)
class Surprisals:
    """The surprisal of each row of a world that is written out, with and without ``K``."""

    world: Enumeration  # split by what is told
    rows: int  # of a data set; 1: the data set as a whole is the row

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """Numbers of each row with its bag of others, and of that bag, shape (2, D, n)."""
        seen: dict[Any, int] = {}
        found = np.empty((2, len(self.world.data), self.rows), dtype=np.int64)
        for place, one in enumerate(self.world.data):
            keys = [key_of(row) for row in ([one] if self.rows == 1 else one)]
            for row, own in enumerate(keys):
                bag = tuple(sorted(map(repr, keys[:row] + keys[row + 1 :])))
                for kind, key in enumerate(((own, bag), bag)):
                    found[kind, place, row] = seen.setdefault((kind, key), len(seen))
        return found

    def chances(self, weight: Array) -> Array:
        """Return ``P(v = x | S minus v)`` of each row x, shape (D, n); 0 where it has no chance.

        ``weight`` holds the chance of each data set, or a multiple: floats or `Fraction`.

        Source: Kaplan et al. 2025, Definition 4.4, where ``v`` is a row of ``S`` at random.
        """
        sums = np.full(int(self.numbers.max()) + 1, weight[0] * 0, dtype=weight.dtype)
        for kind in self.numbers:
            np.add.at(sums, kind, np.broadcast_to(weight[:, None], kind.shape))
        own, whole = sums[self.numbers]
        return np.where(whole > 0, own, 0) / np.where(whole > 0, whole, 1)

    @cached_property
    def plain(self) -> Floats:
        """``h(x | the other rows)`` in bits, shape (D, n)."""
        return self._bits(self.world.weight @ self.world.sample)

    def told(self, number: int) -> Floats:
        """Return ``h(x | K, the other rows)`` in bits, where ``K`` has that number."""
        inside = self.world.known == number
        return self._bits(self.world.weight[inside] @ self.world.sample[inside])

    def _bits(self, weight: Floats) -> Floats:
        chances = self.chances(weight)
        return -np.log2(np.where(chances > 0, np.minimum(chances, 1.0), 1.0))

    @cached_property
    def _places(self) -> list[dict[Any, int]]:
        found = (self.world.data, self.world.labels)
        return [{key_of(one): k for k, one in enumerate(each)} for each in found]

    def of(self, data: Batch, known: Batch, place: int) -> tuple[Floats, Floats]:
        """Return both surprisals of row ``place`` of each trial, that with ``K`` first."""
        pairs = zip((data, known), self._places, strict=True)
        sets, heard = (np.array([where[key_of(x)] for x in each]) for each, where in pairs)
        told = {number: self.told(number) for number in set(heard.tolist())}
        bits = [told[k][s, place] for k, s in zip(heard.tolist(), sets, strict=True)]
        return np.array(bits), self.plain[sets, place]


def is_listed(world: Any, side: Any) -> bool:
    """Check whether a world, and what is told in it, can be written out."""
    told = getattr(side, "whole", False) or hasattr(side, "kernel") or hasattr(side, "label")
    return isinstance(world, Enumerable) and told and getattr(side, "arguments", 1) == 1


def listed(world: Any, side: Any, rows: int) -> Surprisals:
    """Write a world out with what is told; InputError for more than `LISTED` data sets."""
    if world.count() > LISTED:
        raise InputError(
            f"surprisal is computed by listing at most {LISTED:,} data sets, and the world "
            f"{type(world).__name__} has more: make it smaller, or use `tardos`"
        )
    return Surprisals(refine(world.enumerate(), side), rows)
