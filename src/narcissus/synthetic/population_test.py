"""Whether two samples of rows are of one population: all columns together, by permuted labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from narcissus.channels.no_leakage import no_leakage_test
from narcissus.synthetic.files import GivenFiles, measurements

Codes = NDArray[np.int64]
Numbers = NDArray[np.float64]
Positions = NDArray[np.int64]
LEVELS = 8
"""Most values of a column that are compared: the others are merged, numbers by quantiles."""
MOST_COMPARED = 2_500
"""Most rows of a side, drawn at random."""
ROWS_IN_BLOCK = 20
"""Rows that follow one another and are relabelled together, where neighbours are alike."""
MOST_PAIRS = 200
"""Most pairs of columns, drawn at random."""


@dataclass(frozen=True)
class Together:
    """How two samples differ in columns together.

    ``p_value`` is that of the stronger of two exact tests, times two: pairs of columns, and
    `no_leakage_test` on all columns.
    """

    p_value: float
    columns: tuple[str, ...]  # the two that differ most


def compare_together(
    files: GivenFiles, sides: tuple[Positions, Positions], level: float, rng: np.random.Generator
) -> Together:
    """Test whether rows of both sides are of one joint law.

    sides: positions of independent rows, at least one of each.
    level: error at which the p-value will be read, in (0, 1): it sets how many relabellings are
        tried.

    Relabelled rows are as likely as the true ones, where both sides are of one population, so each
    p-value is exact (Phipson and Smyth 2010).
    """
    drawn = [rng.permutation(side)[:MOST_COMPARED] for side in sides]
    rows = np.concatenate(drawn)
    is_other = np.repeat([0, 1], [len(side) for side in drawn])
    codes = np.column_stack([merged(files, j, rows) for j in range(files.table.columns)])
    pairs = _Pairs(codes, rng)
    many = math.ceil(4 / level)
    p_value = pairs.p_value(is_other, many, rng)
    varied = codes[:, codes.max(axis=0) > 0].astype(np.float64)
    if varied.shape[1]:
        whole = no_leakage_test(is_other, varied, permutations=many, rng=rng)
        p_value = min(p_value, whole.p_value)
    names = tuple(files.table.names[j] for j in pairs.widest(is_other))
    return Together(min(1.0, 2 * float(p_value)), names)


def compare_blocks(
    files: GivenFiles, sides: tuple[Positions, Positions], level: float, rng: np.random.Generator
) -> float:
    """Test the same of rows that depend on their neighbours; return the p-value.

    sides: positions of rows of each side, at least one of each.
    level: error at which the p-value will be read, in (0, 1).

    Blocks of `ROWS_IN_BLOCK` rows, in the order of their file, are relabelled whole: they are as
    good as independent where the rows of a household are far fewer. 1 where a side has no block.
    """
    assert files.places is not None
    most = MOST_COMPARED // ROWS_IN_BLOCK
    blocks: list[Positions] = []
    for side in sides:
        order = side[np.argsort(files.places[side], kind="stable")]
        whole = order[: len(order) // ROWS_IN_BLOCK * ROWS_IN_BLOCK].reshape(-1, ROWS_IN_BLOCK)
        blocks.append(rng.permutation(whole)[:most])
    if not all(map(len, blocks)):
        return 1.0
    rows = np.concatenate(blocks).ravel()
    is_other = np.repeat([0, 1], [len(side) for side in blocks])
    codes = np.column_stack([merged(files, j, rows) for j in range(files.table.columns)])
    pairs = _Pairs(codes, rng)
    return float(pairs.p_value(is_other, math.ceil(4 / level), rng, ROWS_IN_BLOCK))


def merged(files: GivenFiles, column: int, rows: Positions) -> Codes:
    """Return the values of a column in at most `LEVELS` classes of these rows, shape (rows,).

    Numbers and dates are divided at quantiles; of texts the rare ones are one class.
    """
    codes = files.table.codes[rows, column]
    numbers = measurements(files.table, column)
    if numbers is not None and len(np.unique(codes)) > LEVELS:
        values = numbers[codes]
        known = values[~np.isnan(values)]
        cuts = np.unique(np.quantile(known, np.arange(1, LEVELS) / LEVELS)) if known.size else known
        places = np.searchsorted(cuts, values, side="right")
        return np.where(np.isnan(values), len(cuts) + 1, places).astype(np.int64)
    kinds, place, times = np.unique(codes, return_inverse=True, return_counts=True)
    if len(kinds) <= LEVELS:
        return place.astype(np.int64)
    rank = np.argsort(np.argsort(-times, kind="stable"), kind="stable")
    return np.minimum(rank, LEVELS - 1)[place].astype(np.int64)


class _Pairs:
    """Counts of the values of two columns, for all pairs of columns."""

    def __init__(self, codes: Codes, rng: np.random.Generator) -> None:
        width = codes.shape[1]
        pairs = list(combinations(range(width), 2)) or [(0, 0)]
        chosen = rng.permutation(len(pairs))[:MOST_PAIRS]
        self.pairs = [pairs[k] for k in np.sort(chosen)]
        cells: list[Codes] = []
        start = 0
        self.starts: list[int] = []
        for i, j in self.pairs:
            place = np.unique(codes[:, i] * (LEVELS + 2) + codes[:, j], return_inverse=True)[1]
            self.starts.append(start)
            cells.append(place.ravel() + start)
            start += int(place.max()) + 1
        self.cells = np.column_stack(cells)
        self.times = np.bincount(self.cells.ravel(), minlength=start)

    def scores(self, is_other: Codes) -> Numbers:
        """Return how far each pair is from what chance gives, in standard deviations."""
        share = float(is_other.mean())
        chosen = self.cells[is_other == 1].ravel()
        seen = np.bincount(chosen, minlength=len(self.times))
        squares = (seen - share * self.times) ** 2 / (share * (1 - share) * self.times)
        free = np.add.reduceat(np.ones(len(squares)), self.starts)
        return (np.add.reduceat(squares, self.starts) - free) / np.sqrt(2 * free)

    def p_value(
        self, is_other: Codes, count: int, rng: np.random.Generator, rows_each: int = 1
    ) -> float:
        """Relabel units, each of so many rows that follow one another."""
        true = float(self.scores(np.repeat(is_other, rows_each)).sum()) - 1e-9
        again = [
            self.scores(np.repeat(rng.permutation(is_other), rows_each)).sum() for _ in range(count)
        ]
        return (1 + sum(score >= true for score in again)) / (count + 1)

    def widest(self, is_other: Codes) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self.pairs[int(self.scores(is_other).argmax())]))
