"""The best lookup: of all sets of up to four known columns, the one that tells most of the secrets.

A secret may follow from several columns together and from none of them alone, as a parity does. A
tree that splits by one column after the other seldom sees that among many columns; a table of
counts of the right columns shows it immediately. Sets of five columns are many, and their cells
hold
few rows: one is taken where it tells clearly more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import Floats
from narcissus.kinds.table.parities import best_parities
from narcissus.priors.base import row_keys

WIDEST = 4  # columns of a set
SETS = 6_000  # sets that are compared, at most
WIDE = 5  # columns of a wide set
MOST_WIDE = 3_000  # wide sets that are compared, at most, beside those of parities
SEARCHED_WIDE = 1_500  # rows on which these are compared, at most
SEARCHED = 4_000  # rows on which they are compared, at most
OF_ALL = 1e-3  # weight of the frequencies among all rows, beside those of a cell


def lookup_chances(
    rows: NDArray[np.integer],
    classes: NDArray[np.integer],
    asked: NDArray[np.integer],
    sizes: Sequence[int],
    *,
    size: int,
    rng: np.random.Generator,
    sets: int = SETS,
    wide: bool = False,
) -> Floats:
    """Return the chance of each class for the rows asked about, shape (m, size).

    ``rows`` have shape (n, d), with ``classes`` in ``[0, size)`` and codes of column j in
    ``[0, sizes[j])``; ``asked`` has shape (m, d). At most ``sets`` sets are
    compared, and ``wide`` ones of five columns if asked. A cell that no row is in has the
    frequencies among all rows.
    """
    searched = rows[:SEARCHED], classes[:SEARCHED]
    columns = best_set(*searched, sizes, size=size, rng=rng, sets=sets)
    if wide:
        few = rows[:SEARCHED_WIDE], classes[:SEARCHED_WIDE]
        columns = _wider(*few, sizes, columns, size=size, rng=rng)
    keys = row_keys(np.concatenate([rows, asked]), columns, sizes)
    _, cells = np.unique(keys, return_inverse=True)
    cells = np.ravel(cells)
    of_row, of_asked = cells[: len(rows)], cells[len(rows) :]
    order, place = np.unique(of_asked, return_inverse=True)
    positions = np.full(int(cells.max()) + 1, -1, dtype=np.int64)
    positions[order] = np.arange(len(order))
    is_asked = positions[of_row] >= 0
    counts = np.bincount(
        positions[of_row[is_asked]] * size + classes[is_asked], minlength=len(order) * size
    ).reshape(len(order), size)
    chances = counts + OF_ALL * np.bincount(classes, minlength=size) / max(1, len(rows))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances[np.ravel(place)]


def best_set(
    rows: NDArray[np.integer],
    classes: NDArray[np.integer],
    sizes: Sequence[int],
    *,
    size: int,
    rng: np.random.Generator,
    sets: int = SETS,
) -> tuple[int, ...]:
    """Return the columns whose cells guess most rows from the others of their cell.

    The smallest and first of equals; no column where none tells anything.
    """
    encoded = rows.astype(np.int64)
    best: tuple[int, ...] = ()
    best_count = _right(np.zeros(len(rows), dtype=np.int64), classes, 1, size)
    for columns in _sets(sizes, len(rows), rng, sets):
        keys = encoded[:, columns[0]]
        for column in columns[1:]:
            keys = keys * sizes[column] + encoded[:, column]
        cells = math.prod(sizes[column] for column in columns)
        right = _right(keys, classes, cells, size)
        if right > best_count:
            best, best_count = columns, right
    return best


def _wider(
    rows: NDArray[np.integer],
    classes: NDArray[np.integer],
    sizes: Sequence[int],
    found: tuple[int, ...],
    *,
    size: int,
    rng: np.random.Generator,
) -> tuple[int, ...]:
    """Return the best set of five columns where it guesses clearly more rows than the one found."""
    encoded = rows.astype(np.int64)

    def right(columns: tuple[int, ...]) -> int:
        keys = np.zeros(len(rows), dtype=np.int64)
        for column in columns:
            keys = keys * sizes[column] + encoded[:, column]
        return _right(keys, classes, math.prod(sizes[c] for c in columns), size)

    best, hurdle = found, right(found) + math.sqrt(len(rows))
    two = [column for column, values in enumerate(sizes) if values == 2]
    parities = best_parities(encoded[:, two], classes) if len(two) >= WIDE else ()
    for columns in (
        *(tuple(two[place] for place in places) for places in parities),
        *_wide_sets(sizes, len(rows), rng),
    ):
        if (many := right(columns)) > hurdle:
            best, hurdle = columns, many
    return best


def _wide_sets(
    sizes: Sequence[int], rows: int, rng: np.random.Generator
) -> Iterator[tuple[int, ...]]:
    """Yield sets of five columns whose cells hold some rows; a random part of those too many."""
    usable = [column for column, size in enumerate(sizes) if 1 < size <= rows >> WIDE]
    if math.comb(len(usable), WIDE) <= MOST_WIDE:
        drawn = combinations(usable, WIDE)
    else:
        some = (rng.permutation(len(usable))[:WIDE] for _ in range(MOST_WIDE))
        drawn = (tuple(sorted(usable[place] for place in places)) for places in some)
    for columns in drawn:
        if 2 * math.prod(sizes[column] for column in columns) <= rows:
            yield columns


def _sets(
    sizes: Sequence[int], rows: int, rng: np.random.Generator, left: int
) -> Iterator[tuple[int, ...]]:
    """Yield ``left`` sets of columns, small ones first; a random part of those too many."""
    usable = [column for column, size in enumerate(sizes) if 1 < size <= rows]
    for width in range(1, min(WIDEST, len(usable)) + 1):
        many = math.comb(len(usable), width)
        if many <= left:
            drawn = combinations(usable, width)
        else:
            some = (rng.permutation(len(usable))[:width] for _ in range(left))
            drawn = (tuple(sorted(usable[place] for place in places)) for places in some)
        left -= min(many, left)
        for columns in drawn:
            if math.prod(sizes[column] for column in columns) <= rows:
                yield columns


def _right(keys: NDArray[np.int64], classes: NDArray[np.integer], cells: int, size: int) -> int:
    """Count rows of the clearly commonest class of their cell: the others there guess them."""
    counts = np.bincount(keys * size + classes, minlength=cells * size).reshape(cells, size)
    first = counts.max(axis=1)
    if size == 1:
        return int(first[first > 1].sum())
    second = np.partition(counts, size - 2, axis=1)[:, size - 2]
    return int(first[first - 1 > second].sum())


def agreement(feature: NDArray[np.integer], classes: NDArray[np.integer]) -> float:
    """Return how often another row of the same value has the same class, in the mean.

    Values and classes are codes from 0, both of shape (rows,).
    """
    size = int(classes.max()) + 1
    cells = np.bincount(feature * size + classes, minlength=(int(feature.max()) + 1) * size)
    counts = cells.reshape(-1, size)
    each = counts.sum(axis=1)
    right = (counts * (counts - 1)).sum(axis=1) / np.maximum(each - 1, 1)
    return float(right.sum() / len(classes))
