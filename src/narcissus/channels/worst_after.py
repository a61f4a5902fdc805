"""The pair of secrets that many uses of channels tell apart best, between limits that hold.

Pairs are taken in the order of their Bhattacharyya coefficient ``B = sum sqrt(P Q)``, which uses
multiply: the overlap is at least ``B^2 / (1 + sqrt(1 - B^2))``, so that the first pair that this
keeps above the best limit so far ends the search. Pairs with the same laws are computed once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.channels.channel import Channel
from narcissus.channels.log_ratio import FiniteLogRatio
from narcissus.channels.uses import LEAST, Overlap, overlap_after

COARSE = 0.05
"""Relative distance of the limits in the first look at a pair."""
MOST_PAIRS = 200_000
"""Pairs that are looked at; of the others the Bhattacharyya limit alone is known."""

Floats = NDArray[np.float64]
Uses = Sequence[tuple[Channel, int]]


@dataclass(frozen=True)
class WorstAfter:
    """The least overlap of all pairs."""

    overlap: Overlap  # Its limits
    pair: tuple[int, int]  # A pair of secrets that reaches the upper one, by their positions


def worst_after(uses: Uses, tolerance: float = 1e-6) -> WorstAfter:
    """Find the least overlap of two secrets after many uses of channels.

    Parameters
    ----------
    uses
        Channels over the same secrets, at least two of these, and how often each is used.
    tolerance
        Relative distance of the limits that is enough.

    Notes
    -----
    Source: Narcissus theory 6.4.
    """
    each = [times * _log_bhattacharyya(c.dense) for c, times in uses]
    logs = np.sum(each, axis=0)
    first, second = np.triu_indices(len(logs), 1)
    order = np.argsort(logs[first, second], kind="stable")
    first, second = first[order], second[order]
    known: dict[bytes, Overlap] = {}
    best, looked = 1.0, 0
    rest = 1.0  # what pairs that are not looked at have at least
    seen: list[tuple[bytes, tuple[int, int]]] = []
    for looked, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        least = _at_least(float(logs[a, b]))
        if least >= best or best <= LEAST or looked == MOST_PAIRS:
            rest = least
            break
        key = _key(uses, a, b)
        if key not in known:
            known[key] = _of_pair(uses, a, b, max(COARSE, tolerance))
            seen.append((key, (a, b)))
        best = min(best, known[key].high)
    found = [
        (_of_pair(uses, *pair, tolerance), pair) for key, pair in seen if known[key].low <= best
    ]
    low = min([rest, *(one.low for one, _ in found), best])
    top, pair = min(((one.high, pair) for one, pair in found), default=(1.0, (0, 1)))
    return WorstAfter(Overlap(min(low, top), top), pair)


def _of_pair(uses: Uses, a: int, b: int, tolerance: float) -> Overlap:
    laws = [(FiniteLogRatio.of(c.dense[a], c.dense[b]), times) for c, times in uses]
    return overlap_after(laws, tolerance)


def _log_bhattacharyya(rows: Floats) -> Floats:
    """Return ``ln sum sqrt(P Q)`` of all pairs, rounded down."""
    roots = np.sqrt(rows)
    with np.errstate(divide="ignore"):
        return np.log(np.minimum(roots @ roots.T, 1.0) * (1 - 1e-13))


def _at_least(log_b: float) -> float:
    """Return ``1 - sqrt(1 - B^2)`` in a form that keeps its digits."""
    square = math.exp(2 * log_b)
    return square / (1 + math.sqrt(max(0.0, 1 - square)))


def _key(uses: Uses, a: int, b: int) -> bytes:
    """Name what the overlap depends on: the two laws, in any order of outputs and of secrets."""
    sides = [(a, b), (b, a)]
    names = [
        b"".join(
            pair[:, np.lexsort(pair)].tobytes()
            for pair in (np.stack([c.dense[x], c.dense[y]]) for c, _ in uses)
        )
        for x, y in sides
    ]
    return min(names)
