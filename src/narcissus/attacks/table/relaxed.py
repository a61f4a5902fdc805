"""Released queries of relaxed people, and the slope of the loss that RAP descends.

A relaxed person has probabilities instead of a value in each unknown column; their part in a cell
is the product of those of the cell's values. Every query has an answer, but only those drawn have
a slope: of tables of several unknown columns, which have far more cells than are drawn, slopes
are taken cell by cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus.attacks.table.base import Floats
from narcissus.knowledge.columns import FactoredTargets, Targets
from narcissus.mechanisms.patterns import Grouping, Pattern

Places = NDArray[np.int64]

ENTRIES = 1 << 21  # of people by drawn cells that are worked on at a time: 16 MB


@dataclass(frozen=True, eq=False)
class _Tables:
    """The tables of one pattern."""

    pattern: Pattern  # Their unknown columns
    factors: tuple[int, ...]  # Which factors they multiply, in the order of the columns
    people: Any  # Who can fall into each of the first cells that occur, shape (first cells, n)
    # Whether there is one table, of unknown columns alone: everybody can fall into each cell
    is_of_all: bool
    answers: Floats  # What is released of them, divided by the people, shape (first cells, size)

    def joint(self, factors: list[Floats]) -> Floats:
        """Multiply factors: (n, size of the pattern)."""
        first, *rest = factors
        joint = first
        for factor in rest:
            joint = (joint[:, :, None] * factor[:, None, :]).reshape(len(joint), -1)
        return joint

    def counts(self, factors: list[Floats]) -> Floats:
        """Count relaxed people in every cell, shape (first cells, size)."""
        own = [factors[f] for f in self.factors]
        if self.is_of_all and len(own) > 1:
            return (self.joint(own[:-1]).T @ own[-1]).reshape(1, -1)
        return self.people @ self.joint(own)


class RelaxedTables:
    """Answers of relaxed people to the released queries, and the slope of the loss.

    Parameters
    ----------
    targets
        The people as known beforehand.
    release
        The released cells, shape (cells,), in counts.
    """

    def __init__(self, targets: Targets | FactoredTargets, release: Floats) -> None:
        queries = targets.queries
        self._n = n = targets.people
        names = {
            (c, id(g)): (c, g)
            for pattern in queries.patterns
            for c, g in zip(pattern.columns, pattern.groupings, strict=True)
        }
        self._factors: list[tuple[int, Grouping | None]] = list(names.values())
        place = {name: number for number, name in enumerate(names)}
        self._tables: list[_Tables] = []
        reached = np.zeros(queries.cells, dtype=bool)
        for pattern, base in zip(queries.patterns, targets.bases, strict=True):
            distinct, inverse = np.unique(base, return_inverse=True)
            owners = np.repeat(np.arange(n), pattern.tables)
            matrix = sparse.csr_array(
                (np.ones(owners.size), (inverse.ravel(), owners)), shape=(distinct.size, n)
            )
            cells = distinct[:, None] + np.arange(pattern.size)
            reached[cells] = True
            columns = zip(pattern.columns, pattern.groupings, strict=True)
            factors = tuple(place[c, id(g)] for c, g in columns)
            is_of_all = distinct.size == pattern.tables == 1
            self._tables.append(_Tables(pattern, factors, matrix, is_of_all, release[cells] / n))
        # Queries that no row can ever answer keep their error: they are drawn, as published,
        # and count in the norm, but pull at nothing. Their draws need no work a step.
        lost = np.abs(release[~reached]) / n
        self._lost = np.cumsum(lost)
        self._lost_squares = lost**2
        self._starts = np.cumsum([0, *(tables.answers.size for tables in self._tables)])
        self._drawn = _DrawnCells(self._tables, self._starts, self._sizes())

    def slopes(
        self, blocks: list[Floats], drawn: int, rng: np.random.Generator
    ) -> list[Floats] | None:
        """Return the slope of the loss in each column's probabilities; None if it is zero.

        blocks: probabilities of each unknown column's values, shapes (n, size).
        drawn: how many queries are drawn, with probability proportional to their absolute error.
        rng: draws them.
        """
        factors = [blocks[c] if g is None else blocks[c] @ g.members for c, g in self._factors]
        errors = [tables.counts(factors) / self._n - tables.answers for tables in self._tables]
        flat = np.concatenate([e.ravel() for e in errors])
        pull = self._pull(flat, drawn, rng)
        if pull is None:
            return None
        found = [np.zeros_like(factor) for factor in factors]
        for tables, start, error in zip(self._tables, self._starts, errors, strict=False):
            if len(tables.factors) == 1:
                part = pull[start : start + error.size].reshape(error.shape)
                found[tables.factors[0]] += tables.people.T @ part
        self._drawn.add(found, factors, pull)
        slopes = [np.zeros_like(block) for block in blocks]
        for (c, grouping), slope in zip(self._factors, found, strict=True):
            slopes[c] += slope if grouping is None else slope @ grouping.members.T
        return slopes

    def _pull(self, errors: Floats, drawn: int, rng: np.random.Generator) -> Floats | None:
        """Draw queries; give the slope of the loss in each answer, None where it is zero."""
        weights = np.cumsum(np.abs(errors))
        lost_weight = float(self._lost[-1]) if self._lost.size else 0.0
        total = float(weights[-1]) + lost_weight
        if not total > 0:
            return None
        away = int(rng.binomial(drawn, lost_weight / total)) if lost_weight else 0
        hits = np.searchsorted(weights, rng.random(drawn - away) * weights[-1], side="right")
        times = np.bincount(np.minimum(hits, errors.size - 1), minlength=errors.size)
        square = float((times * errors**2).sum())
        if away:
            lost = np.searchsorted(self._lost, rng.random(away) * lost_weight, side="right")
            square += float(self._lost_squares[np.minimum(lost, self._lost.size - 1)].sum())
        if square == 0:
            return None
        return times * errors / (np.sqrt(square) * drawn * self._n)

    def _sizes(self) -> list[int]:
        """Return the number of values of each factor."""
        sizes = [0] * len(self._factors)
        for tables in self._tables:
            for f, size in zip(tables.factors, tables.pattern.shape, strict=True):
                sizes[f] = size
        return sizes


class _DrawnCells:
    """The slopes of tables of several unknown columns, at the cells that were drawn.

    Of a cell, the slope in one of its values' probabilities is the product of the others, of the
    people who can fall into it.
    """

    def __init__(self, tables: list[_Tables], starts: Places, sizes: list[int]) -> None:
        self._starts = starts
        self._columns = np.array([len(one.factors) for one in tables])
        self._size = np.array([one.pattern.size for one in tables])
        offsets = np.cumsum([0, *sizes])
        self._offsets, self._values = offsets[:-1], int(offsets[-1])
        self._people = sparse.csr_array(sparse.vstack([one.people for one in tables]))
        self._rows = np.cumsum([0, *(one.people.shape[0] for one in tables)])[:-1]
        most = int(self._columns.max())
        self._first = np.zeros((len(tables), most), dtype=np.int64)
        self._shape = np.ones((len(tables), most), dtype=np.int64)
        for number, one in enumerate(tables):
            own = len(one.factors)
            self._first[number, :own] = self._offsets[list(one.factors)]
            self._shape[number, :own] = one.pattern.shape
        # of the values that come after each column's
        self._stride = np.cumprod(self._shape[:, ::-1], axis=1)[:, ::-1] // self._shape

    def add(self, slopes: list[Floats], factors: list[Floats], pull: Floats) -> None:
        cells = np.flatnonzero(pull)
        tables = np.searchsorted(self._starts, cells, side="right") - 1
        probabilities = np.ascontiguousarray(np.concatenate(factors, axis=1).T)
        total = np.zeros_like(probabilities)
        step = max(1, ENTRIES // probabilities.shape[1])
        for columns in range(2, int(self._columns.max()) + 1):
            own = self._columns[tables] == columns
            where, which = cells[own], tables[own]
            for start in range(0, where.size, step):
                block = slice(start, start + step)
                self._one(total, probabilities, where[block], which[block], columns, pull)
        for number, first in enumerate(self._offsets):
            slopes[number] += total[first : first + slopes[number].shape[1]].T

    def _one(
        self,
        total: Floats,
        probabilities: Floats,
        cells: Places,
        tables: Places,
        columns: int,
        pull: Floats,
    ) -> None:
        """Add what cells of tables of so many columns say, shapes (values, n)."""
        row, value = np.divmod(cells - self._starts[tables], self._size[tables])
        values = value[:, None] // self._stride[tables] % self._shape[tables]
        places = (self._first[tables] + values)[:, :columns]
        weight = self._people[self._rows[tables] + row].toarray() * pull[cells, None]
        parts = [probabilities[places[:, c]] for c in range(columns)]
        for c in range(columns):
            slope = weight
            for o in range(columns):
                slope = slope if o == c else slope * parts[o]
            index = (np.ones(cells.size), (places[:, c], np.arange(cells.size)))
            total += sparse.csr_array(index, shape=(self._values, cells.size)) @ slope
