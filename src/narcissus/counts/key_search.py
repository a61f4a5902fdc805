"""Data sets that reach a limit and have keys that print every number of a cell-key table.

Keys add up over the parts of a sum. What that forbids is not linear; so a data set counts as one
that reaches a limit only with keys that print every number (`reached_with_keys`).
"""

from __future__ import annotations

from collections.abc import Sequence
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
_SECONDS = 20.0  # for all data sets that are looked for
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
        self._entries += list(zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(),
                                  strict=True))  # fmt: skip
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

    def propose(self, gain: Sequence[tuple[int, int]], seconds: float) -> Ints | None:
        """Return a data set with as many of these (cell, count) as it can, with keys, or None."""
        cost = np.zeros(self.size)
        for at, count in gain:
            if (at, count) in self.choices:
                cost[self.choices[at, count]] = -1.0
        rows, columns, values = zip(*self._entries, strict=True)
        shape = (len(self._low), self.size)
        matrix = csr_array((np.array(values, float), (rows, columns)), shape=shape)
        least, most = np.zeros(self.size), np.ones(self.size)
        least[: self.unknowns], most[: self.unknowns] = self.part.least, self.part.most
        for at, column in self.wraps.items():
            most[column] = float(np.diff(self.part.matrix.indptr)[at])
        integral = np.ones(self.size)
        integral[2 * self.unknowns : 3 * self.unknowns] = 0
        solution = _milp(
            cost,
            integrality=integral,
            bounds=Bounds(least, most),
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


def reached_with_keys(
    part: Polytope, cells: Sequence[Cell], low: Ints, high: Ints, deadline: float
) -> tuple[Ints, Ints]:
    """Return the least and the most that data sets with keys were found to give each cell.

    Parameters
    ----------
    part: all rows, those of the cells first.
    low, high: proved limits of the cells, shape (cells,).
    """
    least, most = np.full(len(cells), BIG), np.full(len(cells), -1)
    many = sum(
        int(b - a) + 1 for a, b, cell in zip(low, high, cells, strict=True) if cell.count.key
    )
    if len(part.least) + many > LARGEST or (part.most >= BIG // 2).any():
        return least, most
    program = _KeyProgram(part, cells, low, high)
    until = min(deadline, monotonic() + _SECONDS)
    ends = {"low": low, "high": high}
    for _ in range(12):
        before = (least > low).sum() + (most < high).sum()
        for side, limits in ends.items():
            reached = least > low if side == "low" else most < high
            gain = [(at, int(limits[at])) for at in program.keyed if reached[at]]
            if not gain or monotonic() > until:
                continue
            point = program.propose(gain, (until - monotonic()) / 4)
            if point is not None:
                sums = (part.matrix @ point)[: len(cells)]
                least, most = np.minimum(least, sums), np.maximum(most, sums)
        if (least > low).sum() + (most < high).sum() == before:
            break
    return least, most
