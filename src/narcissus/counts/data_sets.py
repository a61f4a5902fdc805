"""How many data sets are consistent with all tables: counted one by one, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import comb, inf, prod
from time import monotonic

import numpy as np

from narcissus.counts.intervals import InfeasibleError, Polytope
from narcissus.counts.system import BIG, Ints

STEPS = 60_000  # halvings of a search; of large systems each counts for several


class Steps:
    """The steps that are left to a search; none after the deadline."""

    def __init__(self, left: int = STEPS, deadline: float = inf) -> None:
        self.left, self.deadline = left, deadline

    def take(self, some: int = 1) -> bool:
        """Use some; false where none are left."""
        self.left = self.left - some if monotonic() <= self.deadline else -1
        return self.left >= 0


def points(part: Polytope, steps: Steps, near: Ints | None = None) -> Iterator[Ints]:
    """Yield all points of whole numbers of a part, each once; fewer where steps run out.

    The limits of unknowns are tightened by the rows, and the narrowest is halved. The half that
    holds ``near``, a point of the part, is searched first: others are often next to it.
    """
    cost = 1 + part.matrix.nnz // 1000
    waiting = [part]
    while waiting and steps.take(cost):
        try:
            part = waiting.pop().tightened()
        except InfeasibleError:
            continue
        width = part.most - part.least
        if not width.any():
            yield part.least
            continue
        at = int(np.where(width > 0, width, BIG).argmin())
        below, above = part.most.copy(), part.least.copy()
        below[at] = (part.least[at] + part.most[at]) // 2
        above[at] = below[at] + 1
        waiting += [replace(part, least=above), replace(part, most=below)]
        if near is not None and near[at] >= above[at]:
            waiting[-2:] = waiting[:-3:-1]


def weight(point: Ints, sizes: Ints) -> int:
    """Return in how many ways people of unknowns can be in the finest cells that these hold."""
    return prod(comb(int(n) + int(m) - 1, int(m) - 1) for n, m in zip(point, sizes, strict=True))


def count_part(
    part: Polytope, sizes: Ints, limit: int, steps: Steps, near: Ints | None = None
) -> tuple[int, bool]:
    """Count a part's data sets up to ``limit``, and whether these are all."""
    if (part.most >= BIG // 2).any():
        return limit, False  # without a limit there are infinitely many
    total = 0
    for point in points(part, steps, near):
        total += weight(point, sizes)
        if total > limit:
            return total, False
    return total, steps.left >= 0
