"""Whether labels may be groups and the parts of these, by a mixed integer program.

Each label is a group or a part of one; a group is the sum of two parts or more, and the groups sum
to the printed total. Where numbers are hidden, that may hold as well as that all labels are parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

Ends = tuple[float, float]
"""The least and the most people."""
LARGEST = 40_000
"""Most numbers of a program: of rows, by labels, by labels."""
_SECONDS = 10.0
_milp: Any = milp


class _PartitionProgram:
    """A mixed integer program that is written row by row."""

    def __init__(self) -> None:
        self.most: list[float] = []
        self.least: list[float] = []
        self.whole: list[bool] = []
        self._rows: list[tuple[int, int, float]] = []
        self._low: list[float] = []
        self._high: list[float] = []

    def variable(self, least: float, most: float, *, whole: bool = False) -> int:
        """Add a variable, and return its place."""
        self.least.append(least)
        self.most.append(most)
        self.whole.append(whole)
        return len(self.most) - 1

    def row(self, entries: Sequence[tuple[int, float]], low: float, high: float) -> None:
        """Limit a sum of variables with factors."""
        self._rows += [(len(self._low), at, factor) for at, factor in entries]
        self._low.append(low)
        self._high.append(high)

    def solve(self) -> Any:
        """Return SciPy's answer."""
        rows, columns, factors = zip(*self._rows, strict=True)
        shape = (len(self._low), len(self.most))
        return _milp(
            np.zeros(len(self.most)),
            integrality=np.array(self.whole, np.int64),
            bounds=Bounds(np.array(self.least), np.array(self.most)),
            constraints=LinearConstraint(
                csr_array((np.array(factors), (rows, columns)), shape=shape), self._low, self._high
            ),
            options={"time_limit": _SECONDS},
        )


def find_partition(
    numbers: Sequence[Sequence[Ends]], totals: Sequence[Ends], may_hold: Sequence[bool]
) -> dict[int, int] | None:
    """Return the group of each label that is a part, if all labels may be groups and parts.

    None where they may not. Numbers need not be whole, so a partition may be one that no people
    have. Where time runs out, or the program is too large, labels are put into two groups as they
    come: that none exists is not shown.

    Parameters
    ----------
    numbers: of each row, the least and the most people of each label.
    totals: those of all labels in each row.
    may_hold: whether a label may be a group.
    """
    many = len(may_hold)
    anyhow = {at: 0 if at <= many // 2 else many - 1 for at in range(1, many - 1)}
    if len(numbers) * many * many > LARGEST:
        return anyhow
    program = _PartitionProgram()
    holds = [program.variable(0, float(may), whole=True) for may in may_hold]
    inside = {
        (part, whole): program.variable(0, float(part != whole), whole=True)
        for part, whole in product(range(many), repeat=2)
    }
    program.row([(at, 1.0) for at in holds], 2, inf)
    for at in range(many):
        program.row([(holds[at], 1.0), *((inside[at, to], 1.0) for to in range(many))], 1, 1)
        parts = [(inside[part, at], 1.0) for part in range(many)]
        program.row([*parts, (holds[at], -2.0)], 0, inf)
        program.row([*parts, (holds[at], -float(many))], -inf, 0)
    for ends, (lower_limit, upper_limit) in zip(numbers, totals, strict=True):
        if any(low > upper_limit for low, _ in ends):
            return None
        _add_sums(program, ends, (lower_limit, upper_limit), holds, inside)
    solved = program.solve()
    if solved.x is None:
        return None if solved.status == 2 else anyhow
    return {part: whole for (part, whole), at in inside.items() if solved.x[at] > 0.5}


def _add_sums(
    program: _PartitionProgram,
    ends: Sequence[Ends],
    total: Ends,
    holds: Sequence[int],
    inside: dict[tuple[int, int], int],
) -> None:
    """Add the numbers of a row: groups are the sums of their parts, and sum to the total."""
    upper_limit, many = total[1], len(ends)
    value = [program.variable(low, min(high, upper_limit)) for low, high in ends]
    tops: list[tuple[int, float]] = []
    flow = {pair: program.variable(0, upper_limit) for pair in inside}
    for at in range(many):
        top = program.variable(0, upper_limit)
        tops.append((top, 1.0))
        program.row([(top, 1.0), (holds[at], -upper_limit)], -inf, 0)
        # the number of a label is that of a group, or goes to its group
        outflows = [(flow[at, to], 1.0) for to in range(many)]
        program.row([(top, 1.0), *outflows, (value[at], -1.0)], 0, 0)
        parts = [(flow[part, at], 1.0) for part in range(many)]
        program.row([*parts, (top, -1.0)], 0, 0)
        for part in range(many):
            program.row([(flow[part, at], 1.0), (inside[part, at], -upper_limit)], -inf, 0)
    program.row(tops, *total)
