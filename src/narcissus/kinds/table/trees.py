"""Extremely randomised trees: a strong standard model that guesses secrets from known columns.

Source: Geurts, Ernst and Wehenkel 2006, for classes. Two departures: a threshold is the lower value
of two rows of the node, and a column without an order is put into another random order for each
tree. Rows to be guessed go down with the training rows of a tree, so no tree is kept. All sums are
of whole numbers, so that no guess depends on the machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats

Codes = NDArray[np.int64]

TREES, DEPTH = 20, 40
LEAST_ROWS = 10  # of a node that is split


def tree_chances(
    rows: NDArray[np.integer],
    classes: NDArray[np.integer],
    asked: NDArray[np.integer],
    ordered: Sequence[bool],
    *,
    size: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the chance of each class for the rows asked about, shape (m, size).

    ``rows`` have shape (n, d), with ``classes`` in ``[0, size)``, ``asked`` (m, d). Chances are in
    multiples of 1 / 2^20 a tree: each row sums to about 1.
    """
    votes = np.zeros((len(asked), size), dtype=np.int64)
    both = np.concatenate([rows, asked]).astype(np.int64)
    alike = np.ravel(np.unique(rows, axis=0, return_inverse=True)[1])
    for _ in range(TREES):
        places = both.copy()
        for c, is_ordered in enumerate(ordered):
            if not is_ordered:
                places[:, c] = rng.permutation(int(both[:, c].max()) + 1)[both[:, c]]
        row_places, others = places[: len(rows)], places[len(rows) :]
        _grow(row_places, classes.astype(np.int64), alike, others, votes, rng)
    return votes / float(TREES << 20)


def _grow(
    x: Codes, y: Codes, alike: Codes, new: Codes, votes: Codes, rng: np.random.Generator
) -> None:
    """Grow a tree, a level at a time, and add the shares of its leaves to ``votes``."""
    size, tries = votes.shape[1], max(3, x.shape[1])
    at, where = np.zeros(len(x), dtype=np.int64), np.zeros(len(new), dtype=np.int64)
    left, who = np.arange(len(x)), np.arange(len(new))  # rows whose node is no leaf yet
    for depth in range(DEPTH):
        nodes = int(at.max()) + 1
        counts = _counts(at * size + y[left], nodes, size)
        some = _one_of_each(at, nodes, rng)
        other = np.bincount(at, alike[left] != alike[left[some]][at], nodes) == 0
        totals = counts.sum(axis=1)
        done = (counts.max(axis=1) == totals) | (totals < LEAST_ROWS) | other | (depth == DEPTH - 1)
        shares = (counts << 20) // totals[:, None]
        ended = done[where]
        votes[who[ended]] += shares[where[ended]]
        who, where = who[~ended], where[~ended]
        keep = ~done[at]
        left, at = left[keep], at[keep]
        if not left.size or not who.size:
            return
        names = np.cumsum(~done) - 1
        at, where, counts = names[at], names[where], counts[~done]
        column, thresholds = _splits(x[left], y[left], at, counts, tries, rng)
        at = 2 * at + (x[left, column[at]] > thresholds[at])
        where = 2 * where + (new[who, column[where]] > thresholds[where])
        used = np.zeros(2 * len(counts), dtype=np.int64)
        used[at] = 1
        names = np.cumsum(used) - 1
        at, where = names[at], names[where]


def _counts(keys: Codes, nodes: int, size: int) -> Codes:
    return np.bincount(keys, minlength=nodes * size).reshape(nodes, size)


def _one_of_each(at: Codes, nodes: int, rng: np.random.Generator) -> Codes:
    order = rng.permutation(len(at))
    rows = np.zeros(nodes, dtype=np.int64)
    rows[at[order]] = order
    return rows


def _splits(
    x: Codes, y: Codes, at: Codes, counts: Codes, tries: int, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Choose the random column and threshold with the least Gini impurity, for each node.

    A node that none splits stays whole and is tried again at the next level.
    """
    nodes, size = counts.shape
    column, thresholds = np.zeros(nodes, dtype=np.int64), np.full(nodes, np.iinfo(np.int64).max)
    best = np.full(nodes, -1.0)
    everybody = counts.sum(axis=1)
    for _ in range(tries):
        c = rng.integers(x.shape[1], size=nodes)
        sample, other = (x[_one_of_each(at, nodes, rng), c] for _ in range(2))
        parts, t = sample != other, np.minimum(sample, other)
        low = x[np.arange(len(x)), c[at]] <= t[at]
        below = _counts((at * size + y)[low], nodes, size)
        n = below.sum(axis=1)
        score = (below**2).sum(axis=1) / np.maximum(n, 1)
        score += ((counts - below) ** 2).sum(axis=1) / np.maximum(everybody - n, 1)
        better = parts & (score > best + 1e-9)
        column[better], thresholds[better], best[better] = c[better], t[better], score[better]
    return column, thresholds
