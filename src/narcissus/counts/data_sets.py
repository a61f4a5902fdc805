"""How many data sets are consistent with all tables: counted one by one, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, prod

import numpy as np

from narcissus.counts.intervals import Part
from narcissus.counts.system import BIG, Ints

STEPS = 300_000
"""Most values that are tried in all."""


class Steps:
    """The steps that are left to a search."""

    def __init__(self, left: int = STEPS) -> None:
        self.left = left

    def take(self) -> bool:
        """Use one; false where none is left."""
        self.left -= 1
        return self.left >= 0


def points(part: Part, steps: Steps) -> Iterator[Ints]:
    """Yield all points of whole numbers of a part, in order; fewer where steps run out.

    Each unknown takes each value that the rows, and the limits of the unknowns behind it, allow.
    """
    matrix = part.matrix.tocsc()
    count = matrix.shape[1]
    columns = [
        list(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True))
        for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False)
    ]
    order = _order(columns, len(part.low))
    low, high = part.low.tolist(), part.high.tolist()
    # what unknowns not yet chosen add to each row, at least and at most
    small = [0] * len(low)
    large = [0] * len(low)
    least, most = part.least.tolist(), part.most.tolist()
    for at, column in enumerate(columns):
        for row, sign in column:
            ends = (least[at], most[at]) if sign > 0 else (-most[at], -least[at])
            small[row] += ends[0]
            large[row] += ends[1]
    point = np.zeros(count, np.int64)

    def choose(depth: int) -> Iterator[Ints]:
        if depth == count:
            yield point.copy()
            return
        at = order[depth]
        begin, end = least[at], most[at]
        for row, sign in columns[at]:
            others_small = small[row] - (least[at] if sign > 0 else -most[at])
            others_large = large[row] - (most[at] if sign > 0 else -least[at])
            if sign > 0:
                begin, end = max(begin, low[row] - others_large), min(end, high[row] - others_small)
            else:
                begin = max(begin, others_small - high[row])
                end = min(end, others_large - low[row])
        for value in range(begin, end + 1):
            if not steps.take():
                return
            point[at] = value
            before = [(row, small[row], large[row]) for row, _ in columns[at]]
            for row, sign in columns[at]:
                small[row] += value - least[at] if sign > 0 else most[at] - value
                large[row] += value - most[at] if sign > 0 else least[at] - value
            yield from choose(depth + 1)
            for row, old_small, old_large in before:
                small[row], large[row] = old_small, old_large

    if count < 900:  # one call a level
        yield from choose(0)
    else:
        steps.left = -1


def _order(columns: list[list[tuple[int, int]]], rows: int) -> list[int]:
    """Order unknowns so that those of one row come together."""
    members: list[list[int]] = [[] for _ in range(rows)]
    for at, column in enumerate(columns):
        for row, _ in column:
            members[row].append(at)
    found: dict[int, None] = {}
    seen = set[int]()
    for first in sorted(range(rows), key=lambda row: len(members[row])):
        waiting = [first]
        while waiting:
            row = waiting.pop()
            if row in seen:
                continue
            seen.add(row)
            for at in members[row]:
                if at not in found:
                    found[at] = None
                    waiting += sorted(
                        (r for r, _ in columns[at] if r not in seen),
                        key=lambda r: -len(members[r]),
                    )
    return [*found, *(at for at in range(len(columns)) if at not in found)]


def weight(point: Ints, sizes: Ints) -> int:
    """Return in how many ways people of unknowns can be in the finest cells that these hold."""
    return prod(comb(int(n) + int(m) - 1, int(m) - 1) for n, m in zip(point, sizes, strict=True))


def count_part(part: Part, sizes: Ints, limit: int, steps: Steps) -> tuple[int, bool]:
    """Count a part's data sets up to ``limit``, and whether these are all."""
    if (part.most >= BIG // 2).any():
        return limit, False  # without a limit there are infinitely many
    total = 0
    for point in points(part, steps):
        total += weight(point, sizes)
        if total > limit:
            return total, False
    return total, steps.left >= 0
