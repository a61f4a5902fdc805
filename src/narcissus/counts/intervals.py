"""The least and the most that sums of unknowns can be, each limit proved in whole numbers.

Bounds are tightened row by row first; what is left falls into parts that share no unknown, and each
part is solved by itself. HiGHS (by SciPy) proposes; it is never believed. A limit is computed from
the proposed dual solution, rounded to fractions, in exact arithmetic: any duals prove a limit
(Neumaier and Shcherbina 2004, section 3, with fractions in place of outward rounding). That a limit
is reached is shown by a point of whole numbers that satisfies every row. Where the two differ, the
part is split on an unknown (branch and bound), and each leaf is closed by such a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, eye_array, vstack
from scipy.sparse.csgraph import connected_components

from narcissus.counts.system import BIG, Ints
from narcissus.observer import SILENT, Observer

SWEEPS = 200
NODES = 400
"""Most nodes of branch and bound for one limit."""
KEPT = 200
"""Most points of a part that are kept, of those that were met."""
SHOWN_EACH = 20
"""Sums after which progress is told."""
_SCALES = (1, 60, 2520, 2**20, 2**32)
_SAFE = float(2**61)
_NONE = BIG // 2
"""From here on, there is no limit."""


_linprog: Any = linprog  # its stubs know no arrays of limits


class InfeasibleError(Exception):
    """No whole numbers satisfy all rows."""


@dataclass(frozen=True, eq=False)
class Polytope:
    """Rows ``low <= matrix x <= high`` with ``least <= x <= most``, all in whole numbers."""

    matrix: Any
    low: Ints
    high: Ints
    least: Ints
    most: Ints

    def ends(self) -> tuple[Any, Any, Any, Any, Any]:
        """Return the row of each entry, what it adds at least and at most, and the rows' sums."""
        at, plus, size = self.matrix.indices, self.matrix.data > 0, np.abs(self.matrix.data)
        row = np.repeat(np.arange(len(self.low)), np.diff(self.matrix.indptr))
        lower_limits, upper_limits = size * self.least[at], self.most[at]
        upper_limits = np.where(upper_limits > _NONE, BIG, size * np.minimum(upper_limits, _NONE))
        small = np.where(plus, lower_limits, -upper_limits)
        large = np.where(plus, upper_limits, -lower_limits)
        lows, highs = np.zeros_like(self.low), np.zeros_like(self.low)
        np.add.at(lows, row, small)
        np.add.at(highs, row, large)
        return row, small, large, lows, highs

    def holds(self, point: Ints) -> bool:
        """Check a point exactly."""
        sums = self.matrix @ point
        inside = (point >= self.least) & (point <= self.most)
        return bool(inside.all() and ((sums >= self.low) & (sums <= self.high)).all())

    def tightened(self, deadline: float = np.inf) -> Polytope:
        """Tighten the limits of single unknowns by what rows leave them, until nothing changes.

        At the deadline, limits hold, and may be wider.

        Raises `InfeasibleError` where a row cannot be kept.
        """
        at, plus, part = self.matrix.indices, self.matrix.data > 0, self
        size = np.abs(self.matrix.data)
        for sweep in range(SWEEPS):
            row, small, large, lows, highs = part.ends()
            if ((lows > self.high) | (highs < self.low)).any():
                raise InfeasibleError
            if sweep and monotonic() > deadline:  # rows allow what is left
                break
            up = self.high[row] - (lows[row] - small)
            down = self.low[row] - (highs[row] - large)
            lower_limits, upper_limits = part.least.copy(), part.most.copy()
            above, below = np.where(plus, up, -down), np.where(plus, down, -up)
            np.minimum.at(upper_limits, at, np.where(above > _NONE, BIG, above // size))
            np.maximum.at(lower_limits, at, np.where(below < -_NONE, 0, -(-below // size)))
            upper_limits = np.where(upper_limits > _NONE, part.most, upper_limits)
            if (lower_limits > upper_limits).any():
                raise InfeasibleError
            if (upper_limits == part.most).all() and (lower_limits == part.least).all():
                break
            part = replace(part, least=lower_limits, most=upper_limits)
        return part


@dataclass(frozen=True, eq=False)
class Gaps:
    """Rows whose sum may only be some of the numbers between its limits.

    Attributes
    ----------
    rows: their numbers in a part, shape (gaps,).
    allows: of each row, whether it may sum to a number.
    """

    rows: Ints
    allows: tuple[Callable[[int], float], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def trimmed(self, part: Polytope, deadline: float = np.inf) -> Polytope:
        """Tighten a part by what its gaps leave, until nothing changes.

        Raises `InfeasibleError` where a row may sum to nothing that is left.
        """
        part = part.tightened(deadline)
        while True:
            *_, lows, highs = part.ends()
            low, high = part.low.copy(), part.high.copy()
            for row, allows in zip(self.rows.tolist(), self.allows, strict=True):
                smallest = max(int(low[row]), int(lows[row]))
                largest = min(int(high[row]), int(highs[row]))
                low[row], high[row] = trimmed_ends(smallest, largest, allows)
            if (low == part.low).all() and (high == part.high).all():
                return part
            part = replace(part, low=low, high=high).tightened(deadline)

    def of_part(self, whole: Polytope, unknowns: Ints) -> Printable:
        """Return the check of points of some unknowns, the others fixed at their lower limit."""
        matrix = whole.matrix[self.rows]
        local = matrix[:, unknowns].tocsr()
        known = matrix @ whole.least - local @ whole.least[unknowns]
        mine = np.flatnonzero(np.diff(local.indptr))
        return Printable(local[mine], known[mine], tuple(self.allows[at] for at in mine))


def trimmed_ends(low: int, high: int, allows: Callable[[int], float]) -> tuple[int, int]:
    """Return the least and the largest number from ``low`` to ``high`` that is allowed.

    Raises `InfeasibleError` where none is.
    """
    smallest = next(filter(allows, range(low, high + 1)), None)
    largest = next(filter(allows, range(high, low - 1, -1)), None)
    if smallest is None or largest is None:
        raise InfeasibleError
    return smallest, largest


@dataclass(frozen=True, eq=False)
class Printable:
    """Whether a point of a part may be printed as it was: sums are none that a gap leaves out."""

    matrix: Any
    known: Ints
    allows: tuple[Callable[[int], float], ...]

    def holds(self, point: Ints) -> bool:
        """Check a point of whole numbers."""
        sums = (self.matrix @ point + self.known).tolist()
        return all(allows(n) for n, allows in zip(sums, self.allows, strict=True))

    def added_to(self, part: Polytope) -> Polytope:
        """Return a part with the rows of the gaps behind its own, without limits yet."""
        free = np.full(len(self.known), BIG)
        return replace(
            part,
            matrix=vstack([part.matrix, self.matrix], format="csr"),
            low=np.concatenate([part.low, -free]),
            high=np.concatenate([part.high, free]),
        )

    def beside_gap(self, part: Polytope, point: Ints, first: int) -> list[Polytope]:
        """Return the two sides of a gap that a point is in. Raises `InfeasibleError`.

        Parameters
        ----------
        part: with the rows of the gaps from ``first`` on.
        point: that `holds` refuses.
        """
        sums = (self.matrix @ point + self.known).tolist()
        at = next(k for k, n in enumerate(sums) if not self.allows[k](n))
        row, known = first + at, int(self.known[at])
        *_, lows, highs = part.ends()
        smallest = max(int(part.low[row]), int(lows[row])) + known
        largest = min(int(part.high[row]), int(highs[row])) + known
        below = next(filter(self.allows[at], range(sums[at] - 1, smallest - 1, -1)), None)
        above = next(filter(self.allows[at], range(sums[at] + 1, largest + 1)), None)
        sides: list[Polytope] = []
        if below is not None:
            high = part.high.copy()
            high[row] = below - known
            sides.append(replace(part, high=high))
        if above is not None:
            low = part.low.copy()
            low[row] = above - known
            sides.append(replace(part, low=low))
        if not sides:
            raise InfeasibleError
        return sides


class _LinearProgram:
    """A part as a linear program, whose rows are prepared once."""

    def __init__(self, part: Polytope) -> None:
        low, high, matrix = part.low, part.high, part.matrix
        self.rows = len(low)
        self.equal = np.flatnonzero(low == high)
        self.above = np.flatnonzero((low < high) & (high < _NONE))
        self.under = np.flatnonzero((low < high) & (low > -_NONE))
        self.fixed: dict[str, Any] = {}
        if len(self.equal):
            self.fixed = {"A_eq": matrix[self.equal], "b_eq": high[self.equal]}
        if len(self.above) + len(self.under):
            signs = np.repeat([1, -1], [len(self.above), len(self.under)])
            both = np.concatenate([self.above, self.under])
            self.fixed["A_ub"] = matrix[both].multiply(signs[:, None]).tocsr()
            self.fixed["b_ub"] = np.concatenate([high[self.above], -low[self.under]])

    def solve(
        self, cost: Ints, least: Ints, most: Ints, deadline: float = np.inf
    ) -> tuple[Any, Any, int]:
        """Maximise; return the point, the duals of rows, and HiGHS' status."""
        until = {} if deadline == np.inf else {"time_limit": max(0.01, deadline - monotonic())}
        bounds = np.column_stack([least, np.where(most > _NONE, np.inf, most)]).astype(float)
        solution = _linprog(-cost, bounds=bounds, method="highs", options=until, **self.fixed)
        if solution.status != 0:
            return None, None, int(solution.status)
        duals = np.zeros(self.rows)
        if len(self.equal):
            duals[self.equal] = -solution.eqlin.marginals
        if len(self.above) + len(self.under):
            duals[self.above] -= solution.ineqlin.marginals[: len(self.above)]
            duals[self.under] += solution.ineqlin.marginals[len(self.above) :]
        return solution.x, duals, 0


def proved_most(part: Polytope, cost: Ints, duals: Any, near: float, *, whole: bool = True) -> int:
    """Return the least whole number that these duals prove no point exceeds; BIG: none.

    ``whole``: points of whole numbers; else of any numbers, and the limit is rounded up.

    ``near`` is about where it should be; fractions of more digits are tried where it is not.
    """
    best = BIG
    for scale in _SCALES:
        if best <= (np.floor(near + 1e-6) if whole else np.ceil(near - 1e-6)):
            break
        near_dual = np.rint(duals * scale)
        near_dual = np.where((near_dual > 0) & (part.high > _NONE), 0, near_dual)
        near_dual = np.where((near_dual < 0) & (part.low < -_NONE), 0, near_dual)
        rest = cost.astype(float) * scale - part.matrix.T @ near_dual
        infinite = (rest > 0) & (part.most > _NONE)
        size = np.abs(near_dual) @ np.maximum(np.abs(part.high), np.abs(part.low)).clip(max=_NONE)
        size += np.abs(rest) @ np.where(part.most > _NONE, 0, part.most).clip(1)
        if infinite.any() or size > _SAFE or np.abs(near_dual).sum() > _SAFE:
            continue
        exact = near_dual.astype(np.int64)
        over = cost * scale - part.matrix.T @ exact
        rows = np.where(
            exact > 0,
            exact * np.where(exact > 0, part.high, 0),
            exact * np.where(exact < 0, part.low, 0),
        )
        ends = np.where(over > 0, over * np.where(over > 0, part.most, 0), over * part.least)
        total = int(rows.sum()) + int(ends.sum())
        best = min(best, total // scale if whole else -(-total // scale))
    return best


def refuted(part: Polytope) -> Ints | None:
    """Prove that no numbers, whole or not, satisfy all rows; return rows that show it, or None.

    The rows may be missed by something that costs 1 a unit: a proof that this costs more than 0.
    """
    rows, unknowns = part.matrix.shape
    slack = eye_array(rows, dtype=np.int64, format="csr")
    matrix: Any = block_array([[part.matrix, slack, -slack]], format="csr")
    upper_limits = np.concatenate([part.most, np.full(2 * rows, BIG)])
    lower_limits = np.concatenate([part.least, np.zeros(2 * rows, np.int64)])
    loose = Polytope(matrix, part.low, part.high, lower_limits, upper_limits)
    cost = np.concatenate([np.zeros(unknowns, np.int64), np.full(2 * rows, -1)])
    point, duals, status = _LinearProgram(loose).solve(cost, lower_limits, upper_limits)
    if status != 0 or proved_most(loose, cost, duals, float(cost @ point)) >= 0:
        return None
    return np.flatnonzero(np.abs(duals) > 1e-9)  # no other is in the proof: it rounds to 0


@dataclass(eq=False)
class SumLimits:
    """What is known of some sums: proved limits, and what points of whole numbers reach."""

    low: Ints
    high: Ints
    reached_low: Ints
    reached_high: Ints


class Solver:
    """One part: its sums' limits, by points and proofs that all sums share.

    ``whole``: unknowns are whole numbers; else any, and no part is split. ``printable``: what else
    a point must keep, so that it counts as one that reaches a limit.
    """

    def __init__(
        self,
        part: Polytope,
        sums: Any,
        low: Ints,
        high: Ints,
        *,
        deadline: float = np.inf,
        whole: bool = True,
        printable: Printable | None = None,
    ) -> None:
        self.printable = printable
        self._gaps = len(part.low)  # where rows of the gaps begin
        if printable is not None:
            part = printable.added_to(part)
        self.part, self.sums, self.deadline, self.whole = part, sums, deadline, whole
        self.met: Ints | None = None  # the last point
        self.points: list[Ints] = []  # those that were met, up to `KEPT`
        count = sums.shape[0]
        self.found = SumLimits(
            np.maximum(sums @ part.least, low),
            np.minimum(sums @ part.most, high),
            np.full(count, BIG),
            np.full(count, -1),
        )

    @cached_property
    def _program(self) -> _LinearProgram:
        return _LinearProgram(self.part)

    def meet(self, point: Ints) -> None:
        """Take note of what a point reaches, unless a gap leaves it out."""
        if self.printable is not None and not self.printable.holds(point):
            return
        self.met, values = point, self.sums @ point
        if len(self.points) < KEPT:
            self.points.append(point)
        np.minimum(self.found.reached_low, values, out=self.found.reached_low)
        np.maximum(self.found.reached_high, values, out=self.found.reached_high)

    def best(self, cost: Ints, nodes: int = NODES) -> int:
        """Return a proved limit of ``cost`` from above; points on the way are met.

        Raises `InfeasibleError` where no numbers satisfy the part.
        """
        nodes = nodes if self.whole else 1
        best = closed = -BIG  # the largest that a point has, and of what is proved of closed nodes
        waiting = [(self.part, BIG)]
        while waiting:
            part, limit = waiting.pop()
            if limit <= best:
                continue
            if nodes <= 0 or monotonic() > self.deadline:
                return max([best, closed, limit, *(other for _, other in waiting)])
            nodes -= 1
            try:
                limit, value, halves = self._node(cost, part, limit)
            except InfeasibleError:
                continue
            best = max(best, value)
            if limit <= best or not halves:
                closed = max(closed, limit)
            else:
                waiting += [(half, limit) for half in halves]
        if best == closed == -BIG:
            raise InfeasibleError
        return max(best, closed)

    def _node(self, cost: Ints, part: Polytope, limit: int) -> tuple[int, int, list[Polytope]]:
        """Return a proved limit, what a point has (-BIG: none was found), and halves."""
        part = part.tightened()
        is_cut = part.low is not self.part.low or part.high is not self.part.high
        program = _LinearProgram(part) if is_cut else self._program
        point, duals, status = program.solve(cost, part.least, part.most, self.deadline)
        if status == 2 and refuted(part) is not None:
            raise InfeasibleError
        if status != 0:  # there is no limit, or nothing is proved of the whole node
            return (BIG, -BIG, []) if status == 3 else (limit, -BIG, _halves(part, part.least))
        limit = min(limit, proved_most(part, cost, duals, float(cost @ point), whole=self.whole))
        whole = np.rint(point).astype(np.int64)
        if not part.holds(whole):
            return limit, -BIG, _halves(part, point)
        if self.printable is not None and not self.printable.holds(whole):
            return limit, -BIG, self.printable.beside_gap(part, whole, self._gaps)
        self.meet(whole)
        return limit, int(cost @ whole), _halves(part, point)

    def settle(self, observer: Observer = SILENT, only_low: Sequence[int] = ()) -> SumLimits:
        """Find the limits of all sums; of those in ``only_low`` the lower one."""
        wanted_high = np.ones(self.sums.shape[0], bool)
        wanted_high[list(only_low)] = False
        many, done = 2 * self.sums.shape[0], 0

        def tell() -> None:
            nonlocal done
            left = sum(int(self._is_open(sign, wanted_high).sum()) for sign in (1, -1))
            observer.advance(max(0, many - left - done))
            done = max(done, many - left)

        for sign in (1, -1):
            self._together(sign, wanted_high, tell)
        limits = self.found
        for sign in (1, -1):
            for at in range(self.sums.shape[0]):
                if at % SHOWN_EACH == 0:
                    tell()
                if monotonic() > self.deadline or not self._is_open(sign, wanted_high)[at]:
                    continue
                cost = sign * self.sums[[at]].toarray().ravel()
                limit = self.best(cost)
                if sign > 0:
                    limits.high[at] = min(limits.high[at], limit)
                else:
                    limits.low[at] = max(limits.low[at], -limit)
        observer.advance(many - done)
        return limits

    def spread(self, width: int, nodes: int = 12) -> Any:
        """Return for each sum whether two points were found whose sums differ by ``width``."""
        limits = self.found

        def is_open() -> Any:
            return limits.reached_high - limits.reached_low < width

        while (before := is_open()).any() and monotonic() < self.deadline:
            for sign in (1, -1):
                sums = self.sums[np.flatnonzero(before)].sum(axis=0)
                self.best(sign * np.asarray(sums).ravel(), nodes=nodes)
            if is_open().sum() > 0.9 * before.sum():
                break
        for at in np.flatnonzero(is_open()):
            for sign in (1, -1):
                if is_open()[at] and monotonic() < self.deadline:
                    self.best(sign * self.sums[[at]].toarray().ravel(), nodes=nodes)
        return ~is_open()

    def _is_open(self, sign: int, wanted_high: Any) -> Any:
        limits = self.found
        if sign > 0:
            return wanted_high & (limits.reached_high < limits.high)
        return limits.reached_low > limits.low

    def _together(self, sign: int, wanted_high: Any, tell: Callable[[], None]) -> None:
        """Look for points that reach many limits at the same time, while that settles some."""
        while monotonic() < self.deadline:
            before = self._is_open(sign, wanted_high)
            if not before.any():
                return
            cost = sign * np.asarray(self.sums[np.flatnonzero(before)].sum(axis=0)).ravel()
            if (cost > 0).any() and (self.part.most[cost > 0] > _NONE).any():
                cost = np.where(self.part.most > _NONE, 0, cost)
            self.best(cost.astype(np.int64), nodes=40)
            tell()
            after = self._is_open(sign, wanted_high)
            if before.sum() - after.sum() < max(2, 0.02 * before.sum()):
                return


def _halves(part: Polytope, point: Any) -> list[Polytope]:
    """Split the unknown that is the least whole at the point, else the widest; none: all fixed."""
    away = np.abs(point - np.rint(point))
    width = part.most - part.least
    at = int(away.argmax()) if away.max() > 1e-6 else int(width.argmax())
    if not width[at]:
        return []
    cut = max(int(np.floor(min(point[at], part.most[at] - 1))), int(part.least[at]))
    lower, upper = part.most.copy(), part.least.copy()
    lower[at], upper[at] = cut, cut + 1
    return [replace(part, most=lower), replace(part, least=upper)]


def parts_of(part: Polytope, linked: Any = False) -> list[tuple[Any, Any]]:
    """Return rows that still limit (maybe none) and unknowns, of the parts that share none.

    ``linked``: which rows are kept also where they limit nothing, shape (rows,).
    """
    free = part.least < part.most
    row, _, _, lows, highs = part.ends()
    at = part.matrix.indices
    limits = (lows < part.low) | ((highs > part.high) & (part.high < _NONE)) | linked
    edges = limits[row] & free[at]
    rows, unknowns = part.matrix.shape
    graph = csr_array(
        (np.ones(edges.sum(), np.int8), (row[edges], rows + at[edges])),
        shape=(rows + unknowns, rows + unknowns),
    )
    _, labels = connected_components(graph, directed=False)
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for index in np.flatnonzero(free):
        parts.setdefault(int(labels[rows + index]), ([], []))[1].append(int(index))
    for index in np.flatnonzero(limits):
        if (label := int(labels[index])) in parts:
            parts[label][0].append(int(index))
    return [(np.array(a, np.int64), np.array(b, np.int64)) for a, b in parts.values()]


def distinct(part: Polytope) -> Polytope:
    """Make one row of those with the same unknowns, with all their limits."""
    part.matrix.sort_indices()
    first: dict[bytes, int] = {}
    low, high = part.low.copy(), part.high.copy()
    for at in range(len(low)):
        some = slice(part.matrix.indptr[at], part.matrix.indptr[at + 1])
        key = part.matrix.indices[some].tobytes() + part.matrix.data[some].tobytes()
        if (row := first.setdefault(key, at)) != at:
            low[row], high[row] = max(low[row], low[at]), min(high[row], high[at])
    rows = np.fromiter(first.values(), np.int64)
    return replace(part, matrix=part.matrix[rows], low=low[rows], high=high[rows])


def restricted(part: Polytope, rows: Ints, unknowns: Ints) -> Polytope:
    """Return some rows of some unknowns, the others fixed at their lower limit."""
    matrix = part.matrix[rows][:, unknowns].tocsr()
    known = part.matrix[rows] @ part.least - matrix @ part.least[unknowns]
    return Polytope(
        matrix,
        np.where(part.low[rows] > -_NONE, part.low[rows] - known, -BIG),
        np.where(part.high[rows] < _NONE, part.high[rows] - known, BIG),
        part.least[unknowns],
        part.most[unknowns],
    )
