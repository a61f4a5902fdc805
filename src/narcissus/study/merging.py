"""Groups of so few real people that their numbers would be about each of them: merged.

The share that is recovered of one person reads that person's secret off, whatever the guarantee
of the release. So no number is shown of fewer real people than `groups.least_group`, and none
that is the difference of two that are: of a total and all other groups, or of groups by two
columns that overlap but for a few people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

SMALLER = "smaller groups"
"""What merged groups are called."""

Counts = NDArray[np.int64]
Parts = tuple[tuple[int, ...], ...]
"""For each group that is shown the groups that it is made of."""


def merge(sizes: NDArray[Any], least: int) -> Parts:
    """Put the smaller groups of one division of people together until none shows too few.

    Parameters
    ----------
    sizes
        People of each group, shape (groups,).
    least
        Fewest that may be shown, of a group and of what is left of all people without others.

    Returns
    -------
    tuple
        For each group that remains the groups it is made of, the merged one last; empty where
        only everybody would remain.

    Examples
    --------
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


def least_difference(table: Counts) -> float:
    """Fewest people whose numbers follow from groups by two columns, by adding and subtracting.

    Parameters
    ----------
    table
        People by the groups of one column and of another, shape (groups, groups).

    Returns
    -------
    float
        The least cut above 0 between the groups of both columns, joined by those who are in both:
        groups on one side, added by the one column and subtracted by the other, leave who is cut.
        Infinite where nothing is left.

    Notes
    -----
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
    """Tell whether groups of one division less groups of another are of too few people.

    Parameters
    ----------
    labels
        The group of each person, shape (people,); None where nobody can tell.
    beside
        The same of other divisions, which are shown.
    least
        Fewest people of whom numbers may be known.
    """
    if labels is None:
        return False
    return any(least_difference(_table(labels, other)) < least for other in beside)


def numbered(parts: Parts, count: int) -> NDArray[np.int64]:
    """For each group of a division the number of the one that it is shown in."""
    found = np.zeros(count, dtype=np.int64)
    for number, part in enumerate(parts):
        found[list(part)] = number
    return found


def _table(one: NDArray[np.integer], other: NDArray[np.integer]) -> Counts:
    shape = int(one.max()) + 1, int(other.max()) + 1
    flat = np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1])
    return flat.reshape(shape)
