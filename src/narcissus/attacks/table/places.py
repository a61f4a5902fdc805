"""In which cells people fall, and by how much each column's value moves them.

For many unknown columns: a person's cell in a table is a base, given by the known columns, plus a
step for the value of each unknown column. No joint value is numbered.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from narcissus.mechanisms.queries import TableQueries

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class ColumnSteps:
    """The cells within people's reach, close together, and the steps between them.

    Attributes
    ----------
    bases
        Each person's cell in each table with an unknown column, were all its unknown columns at
        value 0; shape (n, tables).
    released
        What was released of these cells, shape (cells,).
    tables
        For each unknown column the tables that hold it, shape (tables with it,).
    steps
        For each unknown column what each of its values adds in these tables, shape (size, tables
        with it).
    """

    def __init__(
        self, queries: TableQueries, bases: tuple[NDArray[np.int64], ...], release: Floats
    ) -> None:
        own: list[Places] = []
        values: list[Floats] = []
        held: list[list[Places]] = [[] for _ in queries.unknown]
        steps: list[list[Places]] = [[] for _ in queries.unknown]
        start = first = 0
        for pattern, base in zip(queries.patterns, bases, strict=True):
            distinct, inverse = np.unique(base, return_inverse=True)
            own.append((start + inverse.reshape(base.shape) * pattern.size).astype(np.intp))
            values.append(release[distinct[:, None] + np.arange(pattern.size)].ravel())
            start += distinct.size * pattern.size
            numbers = np.arange(first, first + pattern.tables)
            first += pattern.tables
            for axis, (c, grouping) in enumerate(
                zip(pattern.columns, pattern.groupings, strict=True)
            ):
                every = (
                    np.arange(queries.unknown_shape[c]) if grouping is None else grouping.numbers
                )
                step = every.astype(np.intp) * prod(pattern.shape[axis + 1 :])
                held[c].append(numbers)
                steps[c].append(np.repeat(step[:, None], pattern.tables, axis=1))
        self.bases = np.concatenate(own, axis=1)
        self.released = np.concatenate(values)
        sizes = queries.unknown_shape
        self.tables = [np.concatenate([*t, np.empty(0, np.intp)]).astype(np.intp) for t in held]
        self.steps = [
            np.concatenate([*s, np.empty((sizes[c], 0), np.intp)], axis=1)
            for c, s in enumerate(steps)
        ]

    def cells(self, person: int, values: NDArray[np.integer]) -> Places:
        """Return a person's cells with some values, shape (..., tables).

        person: who it is.
        values: of every unknown column, shape (..., columns).
        """
        found = np.empty((*values.shape[:-1], self.bases.shape[1]), dtype=np.intp)
        found[...] = self.bases[person]
        for c, (held, step) in enumerate(zip(self.tables, self.steps, strict=True)):
            found[..., held] += step[values[..., c]]
        return found
