"""Data sets that reach a limit and have keys that print every number of a cell-key table.

Keys add up over the parts of a sum. What that forbids is not linear; so a data set counts as one
that reaches a limit only with keys that print every number (`KeyedDataSets`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from narcissus.counts.intervals import Polytope
from narcissus.counts.reading import Cell
from narcissus.counts.system import BIG, Ints

LARGEST = 5_000
"""Most unknowns and possible counts of a program of data sets with keys."""
_MARGIN = 1e-4  # keys that are proposed are so far from the ends of an interval
_WHOLE = 2**32  # keys are multiples of its inverse
_SECONDS = 60.0  # for all data sets that are looked for
_milp: Any = milp


class _KeyProgram:
    """A mixed integer program of data sets with keys; what it proposes is checked exactly."""

    def __init__(self, part: Polytope, cells: Sequence[Cell], least: Ints, most: Ints) -> None:
        self.part, self.cells = part, cells
        self.keyed = [at for at, cell in enumerate(cells) if cell.count.key is not None]
        self.unknowns = len(part.least)
        self.options: dict[int, list[int]] = {}
        for at in self.keyed:
            chance = cells[at].count.chance
            counts = range(int(least[at]), int(most[at]) + 1)
            self.options[at] = [n for n in counts if chance is None or chance(n)]
        begins = 3 * self.unknowns + np.arange(len(self.keyed))
        self.wraps = dict(zip(self.keyed, begins.tolist(), strict=True))
        self.choices: dict[tuple[int, int], int] = {}
        for at in self.keyed:
            for n in self.options[at]:
                self.choices[at, n] = 3 * self.unknowns + len(self.keyed) + len(self.choices)
        self.size = 3 * self.unknowns + len(self.keyed) + len(self.choices)
        self._entries: list[tuple[int, int, float]] = []
        self._low: list[float] = []
        self._high: list[float] = []
        self._write()

    def _row(self, entries: Sequence[tuple[int, float]], low: float, high: float) -> None:
        row = len(self._low)
        self._entries += [(row, column, value) for column, value in entries]
        self._low.append(low)
        self._high.append(high)

    def _write(self) -> None:
        part, many = self.part, self.unknowns
        coo = part.matrix.tocoo()
        self._entries += list(
            zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
        )
        self._low += np.where(part.low <= -BIG // 2, -np.inf, part.low).tolist()
        self._high += np.where(part.high >= BIG // 2, np.inf, part.high).tolist()
        for at in range(many):  # a key is 0 where nobody is
            self._row([(at, 1.0), (many + at, -1.0)], 0.0, np.inf)
            self._row([(at, 1.0), (many + at, -float(part.most[at]))], -np.inf, 0.0)
            self._row([(2 * many + at, 1.0), (many + at, -1.0)], -np.inf, 0.0)
        matrix = part.matrix.tocsr()
        for at in self.keyed:
            some = matrix.indices[matrix.indptr[at] : matrix.indptr[at + 1]].tolist()
            chosen = [(n, self.choices[at, n]) for n in self.options[at]]
            self._row([(column, 1.0) for _, column in chosen], 1.0, 1.0)
            counted = [(column, -float(n)) for n, column in chosen]
            self._row([(u, 1.0) for u in some] + counted, 0.0, 0.0)
            ends = [(column, self._ends(at, n)) for n, column in chosen]
            key = [(2 * many + u, 1.0) for u in some] + [(self.wraps[at], -1.0)]
            self._row(key + [(column, -low) for column, (low, _) in ends], 0.0, np.inf)
            self._row(key + [(column, -high) for column, (_, high) in ends], -np.inf, 0.0)

    def _ends(self, at: int, count: int) -> tuple[float, float]:
        key, number = self.cells[at].count.key, self.cells[at].count.number
        if not count or key is None:
            return 0.0, 0.0
        low, high = key.interval(count, number)
        margin = min(_MARGIN, (high - low) / 4)
        return low + margin, high - margin

    def propose(
        self,
        gain: Sequence[tuple[int, int]],
        seconds: float,
        costs: Mapping[int, float] | None = None,
    ) -> Ints | None:
        """Return a data set with keys, with as many of these (cell, count) as it can, or None.

        ``costs``: of a person of an unknown, which the data set has few of.
        """
        cost = np.zeros(self.size)
        for unknown, price in (costs or {}).items():
            cost[unknown] = price
        for at, count in gain:
            if (at, count) in self.choices:
                cost[self.choices[at, count]] = -1.0
        rows, columns, values = zip(*self._entries, strict=True)
        shape = (len(self._low), self.size)
        matrix = csr_array((np.array(values, float), (rows, columns)), shape=shape)
        lower_limits, upper_limits = np.zeros(self.size), np.ones(self.size)
        lower_limits[: self.unknowns], upper_limits[: self.unknowns] = (
            self.part.least,
            self.part.most,
        )
        for at, column in self.wraps.items():
            upper_limits[column] = float(np.diff(self.part.matrix.indptr)[at])
        integral = np.ones(self.size)
        integral[2 * self.unknowns : 3 * self.unknowns] = 0
        solution = _milp(
            cost,
            integrality=integral,
            bounds=Bounds(lower_limits, upper_limits),
            constraints=LinearConstraint(matrix, self._low, self._high),
            options={"time_limit": max(0.1, seconds)},
        )
        if solution.x is None:
            return None
        point = np.rint(solution.x[: self.unknowns]).astype(np.int64)
        keys = np.rint(solution.x[2 * self.unknowns : 3 * self.unknowns] * _WHOLE).astype(np.int64)
        return point if self._prints(point, keys) else None

    def _prints(self, point: Ints, keys: Ints) -> bool:
        """Check exactly that a data set with these keys prints every number."""
        if not self.part.holds(point) or keys[point == 0].any():
            return False
        sums = (self.part.matrix @ point)[: len(self.cells)]
        mine = (self.part.matrix @ keys)[: len(self.cells)] % _WHOLE / _WHOLE
        for at in self.keyed:
            key, number = self.cells[at].count.key, self.cells[at].count.number
            assert key is not None
            if key.perturbed(sums[[at]], mine[[at]])[0] != number:
                return False
        return True


class KeyedDataSets:
    """Data sets with keys that print every number, and what they give each cell.

    Parameters
    ----------
    part: all rows, those of the cells first.
    cells: published ones.
    low, high: proved limits of the cells, shape (cells,).
    deadline: of the search.

    Attributes
    ----------
    points: data sets that were found.
    least, most: of each cell over these, shape (cells,); the least is above the most where none is.
    """

    def __init__(
        self, part: Polytope, cells: Sequence[Cell], low: Ints, high: Ints, deadline: float
    ) -> None:
        self.points: list[Ints] = []
        self.least, self.most = np.full(len(cells), BIG), np.full(len(cells), -1)
        self._part, self._cells = part, len(cells)
        self._until = min(deadline, monotonic() + _SECONDS)
        self._program: _KeyProgram | None = None
        many = sum(
            int(b - a) + 1 for a, b, cell in zip(low, high, cells, strict=True) if cell.count.key
        )
        if len(part.least) + many <= LARGEST and not (part.most >= BIG // 2).any():
            self._program = _KeyProgram(part, cells, low, high)
            self._search(self._program, low, high)

    def _search(self, program: _KeyProgram, low: Ints, high: Ints) -> None:
        """Look for data sets that reach as many limits as they can, until nothing is added."""
        for _ in range(12):
            before = self._open(low, high)
            for limits, is_open in ((low, self.least > low), (high, self.most < high)):
                gain = [(at, int(limits[at])) for at in program.keyed if is_open[at]]
                if gain and monotonic() <= self._until:
                    self._meet(program.propose(gain, self._seconds))
            if self._open(low, high) == before:
                break
        for at in program.keyed:  # where ends are hard to reach, two numbers are enough
            others = [n for n in program.options[at] if n != self.least[at]]
            if others and self.least[at] == self.most[at] and monotonic() <= self._until:
                self._meet(program.propose([(at, n) for n in others], self._seconds))

    @property
    def _seconds(self) -> float:
        return (self._until - monotonic()) / 4

    def _open(self, low: Ints, high: Ints) -> int:
        return int((self.least > low).sum() + (self.most < high).sum())

    def _meet(self, point: Ints | None) -> None:
        if point is not None:
            sums = (self._part.matrix @ point)[: self._cells]
            self.points.append(point)
            self.least, self.most = np.minimum(self.least, sums), np.maximum(self.most, sums)

    def ends_of(self, inside: Sequence[int], touched: Sequence[int], width: int) -> tuple[int, int]:
        """Return the least and the most people of a group over data sets with keys.

        Further data sets are looked for while these are less than ``width`` apart.
        """

        def ends() -> tuple[int, int]:
            low = min((int(point[list(inside)].sum()) for point in self.points), default=0)
            high = max((int(point[list(touched)].sum()) for point in self.points), default=0)
            return low, high

        for sign, some in ((1, inside), (-1, touched)):
            low, high = ends()
            if high - low < width and self._program is not None and monotonic() <= self._until:
                self._meet(self._program.propose((), self._seconds, dict.fromkeys(some, sign)))
        return ends()
