"""Small worlds with a hidden population or list, written out: every ``Nature``, every data set.

What rows a population has, and how often, is all that matters of it: nobody sees its order.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import TooLargeError
from narcissus.worlds.base import Enumeration, all_tuples

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST = 4_000_000
"""Largest number of pairs of a population and a data set that are written out."""


def multisets(kinds: int, size: int) -> Counts:
    """Return how often each of some kinds is there, of all multisets of a size.

    kinds, size: of what, and how many together.
    Returns numpy.ndarray: shape (multisets, kinds); rows sum to ``size``.
    """
    bars = itertools.combinations(range(kinds + size - 1), kinds - 1)
    edges = np.array([(-1, *places, kinds + size - 1) for places in bars], dtype=np.int64)
    return np.diff(edges, axis=1) - 1


def orders(counts: Counts) -> Floats:
    """Return in how many orders each multiset can be written down."""
    size = int(counts[0].sum())
    return np.array(
        [math.factorial(size) // math.prod(map(math.factorial, one)) for one in counts.tolist()],
        dtype=np.float64,
    )


def fits(natures: int, kinds: int, n: int) -> None:
    """Refuse more pairs of a population and a data set than can be written out.
    Raises TooLargeError: there are more than `MOST`.
    """
    if natures * kinds**n > MOST:
        raise TooLargeError(
            f"the world would be written out as {natures:,} populations with {kinds**n:,} data "
            f"sets each, and at most {MOST:,} pairs are; make it smaller, or play the game"
        )


def without_repetition(rows: Counts, counts: Counts, weight: Floats, n: int) -> Enumeration:
    """Write out data sets of ``n`` people of a population, in their order.

    rows: the kinds of rows, shape (kinds, d).
    counts: how often each is in each population, shape (populations, kinds).
    weight: chance of each population.
    n: rows of a data set.
    """
    index = all_tuples(len(rows), n)
    chance = np.ones((len(counts), len(index)))
    people = int(counts[0].sum())
    for place in range(n):
        before = (index[:, :place] == index[:, place, None]).sum(axis=1)
        chance *= np.maximum(counts[:, index[:, place]] - before, 0) / (people - place)
    return _written(rows, index, weight, chance)


def with_repetition(rows: Counts, law: Floats, weight: Floats, n: int) -> Enumeration:
    """Write out data sets of ``n`` independent rows; ``law`` has the chances, (natures, kinds)."""
    index = all_tuples(len(rows), n)
    return _written(rows, index, weight, law[:, index].prod(axis=2))


def _written(rows: Counts, index: Counts, weight: Floats, chance: Floats) -> Enumeration:
    data = rows[index].astype(np.uint8)
    return Enumeration(data, weight, chance, chance, np.zeros(len(weight), dtype=np.int64))
