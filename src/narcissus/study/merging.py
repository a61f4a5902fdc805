"""Groups of so few real people that their numbers would be about each of them: merged.

The share that is recovered of one person reads that person's secret off, whatever the guarantee
of the release. So no number is shown of fewer real people than `groups.least_group`, and none
that follows from those that are by adding and subtracting: of a total and all other groups, or of
groups by several columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.linalg import null_space
from scipy.sparse.csgraph import connected_components

from narcissus.rows import Fact, Positive

COPIES = "number of copies"
SMALLER = "smaller groups"
"""What merged groups are called."""

Counts = NDArray[np.int64]
Parts = tuple[tuple[int, ...], ...]
"""For each group that is shown the groups that it is made of."""


class MergedGroups(Fact):
    """Which groups of real people were too small to be shown by themselves."""

    least: Positive = Field(
        description="Fewest people, documents or images of which a number is shown."
    )
    merged: Mapping[str, Positive] = Field(
        description="By what they are divided, how many groups were made one."
    )
    left_out: tuple[str, ...] = Field(
        description="Divisions that are not shown: one group would remain, or groups of another "
        "division would leave too few by subtraction."
    )
    people: Positive = Field(description="Different ones that were played.")


def merge(sizes: NDArray[Any], least: int) -> Parts:
    """Put the smaller groups of one division of people together until none shows too few.

    sizes: people of each group, shape (groups,).
    least: fewest that may be shown, of a group and of what is left of all people without others.
    Returns tuple: for each group that remains the groups it is made of, the merged one last; empty
        where only everybody would remain.

    >>> merge(np.array([40, 3, 0, 25, 12]), 10)
    ((0,), (2,), (3,), (1, 4))
    >>> merge(np.array([40, 3]), 10)
    ()
    """
    order = [int(group) for group in np.argsort(sizes, kind="stable") if sizes[group]]
    some = [group for group in order if sizes[group] < least]
    while some and (len(some) == 1 or sum(sizes[some]) < least) and len(some) < len(order):
        some.append(order[len(some)])
    if some and len(some) == len(order):
        return ()
    alone = [(group,) for group in range(len(sizes)) if group not in some]
    return (*alone, tuple(sorted(some))) if some else tuple(alone)


def merge_sides(sides: Sequence[NDArray[Any]], least: int) -> Parts:
    """Merge groups until each side has nobody in a group, or enough.

    sides: members of each group, of each side shape (groups,); the first has some wherever any has.
    least: as in `merge`.

    >>> merge_sides([np.array([40, 12, 30]), np.array([40, 3, 20])], 10)
    ((0,), (1, 2))
    """
    for nobody in (np.inf, 0.5):  # 0.5: with such a side others are merged until it has enough
        parts = merge(np.min([np.where(side > 0, side, nobody) for side in sides], axis=0), least)
        sums = [side[list(part)].sum() for part in parts for side in sides]
        if all(some == 0 or some >= least for some in sums):
            return parts
    return ()


def by_copies(
    sides: Sequence[NDArray[Any]], least: int
) -> tuple[list[tuple[int, ...]], MergedGroups | None]:
    """Group documents or images by their number of copies, the smaller groups merged.

    sides: copies of each, of each side that numbers are shown of, shape (members,); those trained
        on come first.
    least: fewest of a side that a group may have.
    Returns tuple: the numbers of copies of each group, and what was merged; none and None where all
        come equally often.
    """
    numbers = np.unique(sides[0])
    if len(numbers) < 2:
        return [], None
    counts = [np.array([(side == n).sum() for n in numbers], dtype=float) for side in sides]
    parts = merge_sides(counts, least)
    groups = sorted(tuple(int(numbers[i]) for i in part) for part in parts)
    few = sum(len(part) for part in parts if len(part) > 1)
    return groups, MergedGroups(
        least=least,
        merged={COPIES: few} if few else {},
        left_out=() if parts else (COPIES,),
        people=len(sides[0]),
    )


def least_difference(table: Counts) -> float:
    """Fewest people whose numbers follow from groups by two columns, by adding and subtracting.

    table: People by the groups of one column and of another, shape (groups, groups).

    float: The least cut above 0 between the groups of both columns, joined by those who are in
        both: groups on one side, added by the one column and subtracted by the other, leave who is
        cut. Infinite where nothing is left.

    Source: Stoer and Wagner 1997, A simple min-cut algorithm, of each connected part.
    """
    a, b = table.shape
    weights = np.zeros((a + b, a + b))
    weights[:a, a:], weights[a:, :a] = table, table.T
    parts, part = connected_components(weights > 0, directed=False)
    cuts = [_least_cut(weights[np.ix_(part == p, part == p)]) for p in range(parts)]
    return min(cuts, default=np.inf)


def _least_cut(weights: NDArray[np.float64]) -> float:
    """Least cut of a connected graph; infinite for one edge, which parts nothing, or a point."""
    weights, best = weights.copy(), np.inf
    if len(weights) <= 2:
        return best
    while len(weights) > 1:
        added = np.zeros(len(weights), dtype=bool)
        reach = np.zeros(len(weights))
        last = before = 0
        cut = np.inf
        for _ in range(len(weights)):
            before, last = last, int(np.argmax(np.where(added, -1.0, reach)))
            added[last] = True
            cut = reach[last]
            reach = reach + weights[last]
        best = min(best, cut)
        weights[before] += weights[last]
        weights[:, before] += weights[:, last]
        weights[before, before] = 0.0
        weights = np.delete(np.delete(weights, last, axis=0), last, axis=1)
    return best


def tells_of_fewer(
    labels: NDArray[np.int64] | None, beside: Sequence[NDArray[np.int64]], least: int
) -> bool:
    """Return whether groups of one division less groups of another are of too few people.

    labels: the group of each person, shape (people,); None where nobody can tell.
    next to: the same of other divisions, which are shown.
    least: fewest people of whom numbers may be known.
    """
    if labels is None:
        return False
    pairs = any(least_difference(_table(labels, other)) < least for other in beside)
    return pairs or (len(beside) > 1 and _several_leave_few([labels, *beside], least))


def _several_leave_few(divisions: Sequence[NDArray[np.int64]], least: int) -> bool:
    """Check whether sums over three or more divisions may be about fewer people than ``least``.

    People who are in the same groups form a type. A sum over groups, each with any weight, that is
    about fewer people gives weight 0 to every type of ``least`` or more. None exists if these
    equations leave no other type a weight. One up to its scale is counted; of several the
    smallest is not searched for, and the answer is that there may be one.
    """
    types, counts = np.unique(np.stack(divisions, axis=1), axis=0, return_counts=True)
    groups = np.concatenate([np.eye(column.max() + 1)[column] for column in types.T], axis=1)
    few = counts < least
    weights = null_space(groups[~few].T @ groups[~few], rcond=1e-9)
    left = groups[few] @ weights
    rank = np.linalg.matrix_rank(left, tol=1e-6) if left.size else 0
    if rank == 1:
        return bool(counts[few][(abs(left) > 1e-6).any(axis=1)].sum() < least)
    return bool(rank)


def numbered(parts: Parts, count: int) -> NDArray[np.int64]:
    """For each group of a division the number of the one that it is shown in."""
    numbers = np.zeros(count, dtype=np.int64)
    for number, part in enumerate(parts):
        numbers[list(part)] = number
    return numbers


def _table(one: NDArray[np.integer], other: NDArray[np.integer]) -> Counts:
    shape = int(one.max()) + 1, int(other.max()) + 1
    flat = np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1])
    return flat.reshape(shape)
