"""The best structure of all, by dynamic programming over sets of columns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Parents = tuple[tuple[int, ...], ...]
Score = Callable[[int, tuple[int, ...]], float]

TIE = 1e-6
"""Scores closer than this are equal: networks that mean the same differ by rounding only."""


def best_structure(d: int, max_parents: int, score: Score) -> Parents:
    """Find the parents of the highest total score among all directed acyclic graphs.

    ``score`` rates a column given its parents (rising positions); higher is better. Every acyclic
    graph has a last column, all of whose parents are among the others; so the best graph over a set
    of columns is the best over the set without its last one, and that one's best parents in the
    rest. Time and memory grow as ``d * 2**d``.

    Notes
    -----
    Source: Silander and Myllymaki 2006, "A simple approach for finding the globally optimal
    Bayesian network structure".
    """
    families = [_families(j, d, max_parents, score) for j in range(d)]
    within = [_best_within(d, own) for own in families]
    masks = np.arange(2**d)
    population = np.bitwise_count(masks)
    total = np.zeros(2**d)
    last = np.full(2**d, -1)
    for size in range(1, d + 1):
        layer = masks[population == size]
        best = np.full(len(layer), -np.inf)
        choice = np.full(len(layer), -1)
        for j in range(d):
            rest = layer ^ (1 << j)
            has = (layer >> j) & 1 == 1
            value = np.where(has, total[rest] + within[j][rest], -np.inf)
            better = value > best + TIE if j else has
            best[better], choice[better] = value[better], j
        total[layer], last[layer] = best, choice
    parents: list[tuple[int, ...]] = [()] * d
    rest = 2**d - 1
    while rest:
        j = int(last[rest])
        rest ^= 1 << j
        parents[j] = _choose(families[j], rest)
    return tuple(parents)


def _families(
    child: int, d: int, max_parents: int, score: Score
) -> list[tuple[int, tuple[int, ...], float]]:
    """List all parent sets of a column, small ones first: bit mask, positions, score."""
    others = [j for j in range(d) if j != child]
    return [
        (sum(1 << p for p in parents), parents, score(child, parents))
        for size in range(max_parents + 1)
        for parents in combinations(others, size)
    ]


def _best_within(d: int, families: list[tuple[int, tuple[int, ...], float]]) -> NDArray[np.float64]:
    """Compute the best score of a column's parents within every set of columns, by bit mask."""
    best = np.full(2**d, -np.inf)
    for mask, _, value in families:
        best[mask] = value
    for bit in range(d):
        halves = best.reshape(-1, 2, 2**bit)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    return best


def _choose(families: list[tuple[int, tuple[int, ...], float]], allowed: int) -> tuple[int, ...]:
    """Return the best parent set within ``allowed``, the smallest and first among equals."""
    chosen: tuple[int, ...] = ()
    best = -np.inf
    for mask, parents, value in families:
        if mask & ~allowed == 0 and value > best + TIE:
            chosen, best = parents, value
    return chosen
