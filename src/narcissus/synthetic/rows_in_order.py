"""Rows of the file in the order of the data: row by row they hang together, in any columns.

Whoever moves, mirrors or exchanges numbers row by row leaves the rows where they were. A file that
was made without these people has its rows in a separate order. So each column of the data is
compared with each column of the file, row by row, and the same with the rows of the file exchanged.
Where both files have their rows in some order, as by a date, neighbours are alike: then each row is
compared with what is usual around it, next to the same rows moved up and down; and columns by which
rows are sorted say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.synthetic.full_files import WholeColumn, WholeFiles

Positions = NDArray[np.int64]
Numbers = NDArray[np.float64]
ORDER_ERROR = 0.001
"""Error of telling that rows of the file hang together with rows of the data."""
_SHUFFLES = 1999
_FEWEST = 20  # rows
_MOST_ROWS = 4_000  # that are looked at
_MOST_FEATURES = 120
_MOST_KINDS = 12  # of a column of texts, the commonest
_FEWEST_OF_KIND = 5  # rows
_IN_ORDER = 2.5  # standard errors beyond which neighbours may be alike
_SORTED = 0.5  # correlation of neighbours from which on rows are sorted by a column
_AROUND = 7  # rows up and down by which it is known what is usual around a row
_BEYOND = 6.0  # standard deviations beyond the rows moved up and down
_MOST_MOVES = 1000
_FEWEST_MOVED = 60  # rows that are moved up and down


@dataclass(frozen=True)
class RowsInOrder:
    """Rows of the file that hang together with the rows of the data at the same places."""

    rows: int
    columns: tuple[str, str]  # of the data and of the file, that hang together most
    correlation: float  # of these
    is_explained: bool  # whether rows of the control hang together with those of the file as well


def look_at_order(files: WholeFiles, rng: np.random.Generator) -> RowsInOrder | None:
    """Return the rows of the file that follow the order of the data, if it is shown."""
    if files.places is None:
        return None
    ours, made, others = (_features(files, which) for which in ("real", "synthetic", "control"))
    if ours is None or made is None:
        return None
    pairs = list(_blocks(ours, made, rng))
    for here, there in pairs:
        strongest = _hang_together(here, there, rng, ORDER_ERROR / len(pairs))
        if strongest is None:
            continue
        j, k, correlation = strongest
        beside = () if others is None else _blocks(others, made, rng)
        is_explained = any(_hang_together(*pair, rng, ORDER_ERROR) is not None for pair in beside)
        names = ours.names[j], made.names[k]
        return RowsInOrder(len(here), names, correlation, is_explained)
    return None


@dataclass(frozen=True)
class _Features:
    """What is compared of each row of one file, in its order, and the column each is of."""

    numbers: Numbers  # shape (rows, features)
    names: tuple[str, ...]


def _features(files: WholeFiles, which: str) -> _Features | None:
    """Return the ranks of numbers, and whether a row has a text, of each of the commonest."""
    assert files.places is not None
    rows = files.rows(which)
    rows = rows[np.argsort(files.places[rows], kind="stable")]
    if len(rows) < _FEWEST:
        return None
    each: list[Numbers] = []
    names: list[str] = []
    for column in files.columns:
        if column.counts:
            continue
        for feature in _of_column(column, rows):
            each.append(feature)
            names.append(column.name)
    if not each:
        return None
    return _Features(np.column_stack(each[:_MOST_FEATURES]), tuple(names[:_MOST_FEATURES]))


def _of_column(column: WholeColumn, rows: Positions) -> Iterator[Numbers]:
    codes = column.codes[rows]
    if column.numbers is not None:
        numbers = column.numbers[codes]
        usual = np.nanmedian(numbers) if np.isfinite(numbers).any() else 0.0
        numbers = np.where(np.isfinite(numbers), numbers, usual)
        if np.ptp(numbers) > 0:
            yield scipy.stats.rankdata(numbers)
        return
    values, times = np.unique(codes, return_counts=True)
    for value in values[np.argsort(-times, kind="stable")][:_MOST_KINDS]:
        has_it = (codes == value).astype(np.float64)
        if _FEWEST_OF_KIND <= has_it.sum() <= len(rows) - _FEWEST_OF_KIND:
            yield has_it


def _blocks(
    ours: _Features, made: _Features, rng: np.random.Generator
) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the rows that are compared with one another: from the first on, and up to the last."""
    n, m = len(ours.numbers), len(made.numbers)
    size = min(n, m)
    start = 0 if size <= _MOST_ROWS else int(rng.integers(0, size - _MOST_ROWS + 1))
    some = slice(start, start + min(size, _MOST_ROWS))
    yield ours.numbers[:size][some], made.numbers[:size][some]
    if n != m:
        yield ours.numbers[n - size :][some], made.numbers[m - size :][some]


def _hang_together(
    here: Numbers, there: Numbers, rng: np.random.Generator, error: float
) -> tuple[int, int, float] | None:
    """Return the two features that hang together most, and how much, if chance does not do it."""
    ours, theirs = _scaled(here), _scaled(there)
    places = np.arange(ours.shape[1]), np.arange(theirs.shape[1])
    if _is_in_order(ours) and _is_in_order(theirs):
        places = _unsorted(ours), _unsorted(theirs)
        ours, theirs = ours[:, places[0]], theirs[:, places[1]]
        if not (ours.size and theirs.size) or len(ours) < _FEWEST_MOVED:
            return None
        ours, theirs = (_scaled(_beside_neighbours(side)) for side in (ours, theirs))
        farthest = min(_MOST_MOVES, len(ours) // 3)
        scores = _standardised(_moved(ours, theirs, farthest))
        rest = scores[1:]
        strikes = scores[0] > max(rest.max(), rest.mean() + _BEYOND * rest.std())
    else:
        shuffled = (theirs[rng.permutation(len(theirs))] for _ in range(_SHUFFLES))
        scores = _scores(ours, theirs, shuffled)
        strikes = (1 + int((scores[1:] >= scores[0]).sum())) / len(scores) <= error
    if not strikes:
        return None
    products = ours.T @ theirs
    j, k = np.unravel_index(int(np.abs(products).argmax()), products.shape)
    return int(places[0][j]), int(places[1][k]), float(products[j, k])


def _moved(ours: Numbers, theirs: Numbers, farthest: int) -> Numbers:
    """Return the largest of all products and the sum of their squares, by how far rows are moved.

    Of rows where they are, then of rows moved down and up in a circle, so all moves are one
    convolution. Shape (moves + 1, 2).
    """
    rows = len(ours)
    places = np.r_[0, 1 : farthest + 1, rows - farthest : rows]
    there = np.conj(scipy.fft.rfft(theirs, axis=0))
    largest, squares = np.zeros((2, len(places)))
    for feature in scipy.fft.rfft(ours, axis=0).T:
        products = scipy.fft.irfft(feature[:, None] * there, rows, axis=0)[places]
        largest = np.maximum(largest, np.abs(products).max(axis=1))
        squares = squares + np.square(products).sum(axis=1)
    return np.column_stack([largest, squares])


def _scores(ours: Numbers, theirs: Numbers, others: Iterator[Numbers]) -> Numbers:
    """Return the larger of two scores, of the largest and of all products, each standardised."""
    each: list[tuple[float, float]] = []
    for side in (theirs, *others):
        products = ours.T @ side
        each.append((float(np.abs(products).max()), float(np.square(products).sum())))
    return _standardised(np.array(each))


def _standardised(scores: Numbers) -> Numbers:
    spread = scores.std(axis=0)
    return ((scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).max(axis=1)


def _scaled(numbers: Numbers) -> Numbers:
    """Return the features with mean 0 and length 1."""
    numbers = numbers - numbers.mean(axis=0)
    length = np.sqrt(np.square(numbers).sum(axis=0))
    return numbers / np.where(length > 0, length, 1.0)


def _unsorted(numbers: Numbers) -> Positions:
    """Return the features by which neighbours are not nearly equal: rows are not sorted by them."""
    return np.flatnonzero(np.abs((numbers[1:] * numbers[:-1]).sum(axis=0)) < _SORTED)


def _is_in_order(numbers: Numbers) -> bool:
    """Check whether rows are like their neighbours, or like those at a like place."""
    rows = len(numbers)
    beside = np.array([np.abs((numbers[by:] * numbers[:-by]).sum(axis=0)) for by in (1, 2, 3, 4)])
    along = np.abs(_scaled(np.arange(rows, dtype=np.float64)[:, None]).T @ numbers)
    return bool(max(beside.max(), along.max()) * np.sqrt(rows) > _IN_ORDER)


def _beside_neighbours(numbers: Numbers) -> Numbers:
    """Return by how much each row differs from those around it."""
    rows = len(numbers)
    total = np.concatenate([np.zeros((1, numbers.shape[1])), np.cumsum(numbers, axis=0)])
    first = np.clip(np.arange(rows) - _AROUND, 0, rows)
    last = np.clip(np.arange(rows) + _AROUND + 1, 0, rows)
    return numbers - (total[last] - total[first]) / (last - first)[:, None]
