"""The nearest rows of a file: how far each person is from each row, in some columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from narcissus.tables import Table

CLOSE = 1e-4
"""Distances that differ by less are one: they are sums that were rounded."""
_BLOCK = 2**23  # distances that are held at a time
_FEW = 64  # values of a column up to which a product of matrices is quicker


def distances(
    table: Table, people: NDArray[np.int64], rows: NDArray[np.int64], columns: Sequence[int]
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield the distances of people from rows, some people at a time.

    A distance is the sum over the columns of 0 or 1 for texts, and for numbers of the difference
    of their values, which are scaled to [0, 1] (Gower 1971, without dividing by the columns).

    Parameters
    ----------
    table
        With values in [0, 1] for ordered columns.
    people, rows
        Positions in the table.
    columns
        At least one.

    Yields
    ------
    Which people, and their distances, shape (people there, rows).
    """
    few = [j for j in columns if table.sizes[j] <= _FEW]
    many = [j for j in columns if table.sizes[j] > _FEW]
    parts = [_apart(table, j)[:, table.codes[rows, j]] for j in few]
    towards = np.concatenate(parts) if parts else np.zeros((0, len(rows)), np.float32)
    starts = np.cumsum([0, *(table.sizes[j] for j in few)])
    step = max(1, _BLOCK // len(rows))
    for first in range(0, len(people), step):
        some = people[first : first + step]
        which = np.zeros((len(some), int(starts[-1])), np.float32)
        for start, j in zip(starts, few, strict=False):
            which[np.arange(len(some)), start + table.codes[some, j]] = 1
        found = which @ towards
        for j in many:
            here, there = _numbers(table, j, some), _numbers(table, j, rows)
            if table.values[j] is None:
                found += here[:, None] != there
            else:
                found += np.abs(here[:, None] - there)
        yield slice(first, first + len(some)), found


def _numbers(table: Table, column: int, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    values, codes = table.values[column], table.codes[rows, column]
    return (codes if values is None else values[codes]).astype(np.float32)


def _apart(table: Table, column: int) -> NDArray[np.float32]:
    """Give the distance of every two values of a column."""
    values = table.values[column]
    if values is None:
        return (1 - np.eye(table.sizes[column])).astype(np.float32)
    return np.abs(values[:, None] - values).astype(np.float32)
