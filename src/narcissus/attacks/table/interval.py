"""What published cells say of a count: a set of values, some likelier than others.

A rounded or withheld cell leaves runs of equally likely counts. The chance of what was published,
when the others' count is normal, is then a sum of values of the normal distribution function at
the ends of the runs: exact for the sets, whatever their width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus.attacks.table.base import Floats
from narcissus.mechanisms import CellRule

LIMIT = 30.0  # of a log odds, from one table or from the prior: beyond, it is certain
REACH = 6.0  # deviations; beliefs farther from what was published pull as if they were so near
UNLIKELY = -40.0  # log chances below the likeliest count's that are taken as none


@dataclass(frozen=True, eq=False)
class Runs:
    """The counts that published cells leave, as runs of equally likely ones.

    Attributes
    ----------
    cell
        To which cell a run belongs, shape (runs,), in ``[0, cells)``, ascending.
    low, high
        First and last count of each run, shape (runs,).
    weight
        How likely a count of the run makes what was published, relative to the likeliest count.
    """

    cell: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    weight: Floats

    def ends(self, cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the least and the largest count that is left, shape (cells,) each."""
        start = np.flatnonzero(np.diff(self.cell, prepend=-1))
        assert start.size == cells, "every cell has a run"
        return np.minimum.reduceat(self.low, start), np.maximum.reduceat(self.high, start)


def runs_of(rule: CellRule, cells: Floats, people: NDArray[np.int64]) -> Runs:
    """Give the counts that the published cells of groups of so many people leave.

    Parameters
    ----------
    rule
        How a cell depends on its count.
    cells
        Published cells of each group, shape (groups, size).
    people
        How many people fall into each group, shape (groups,).

    Returns
    -------
    Runs
        Cell ``v`` of group ``g`` is number ``g * size + v``; of two cells, which are one count,
        only the second is there, with what both say, and has number ``g``.
    """
    size = cells.shape[1]
    entries = people + 1
    group = np.repeat(np.arange(len(cells)), entries)
    start = np.cumsum(entries) - entries
    counts = np.arange(group.size) - start[group]
    logs = rule.log_likelihood(cells[group].T, counts.astype(np.float64)[None])
    if size == 2:
        logs = logs[1:] + logs[:1, start[group] + people[group] - counts]
    # What no count can have led to says nothing: the rule and the people contradict each other.
    best = np.maximum.reduceat(logs, start, axis=1)
    best, logs = np.where(np.isneginf(best), np.inf, best), np.where(np.isnan(logs), -np.inf, logs)
    logs = np.where(np.isposinf(best)[:, group], 0.0, logs - best[:, group])
    logs[logs < UNLIKELY] = -np.inf
    fresh = np.ones(logs.shape, dtype=bool)
    fresh[:, 1:] = logs[:, 1:] != logs[:, :-1]
    fresh[:, start] = True
    begin = np.flatnonzero(fresh)
    end = np.append(begin[1:], logs.size) - 1
    possible = np.isfinite(logs.ravel()[begin])
    begin, end = begin[possible], end[possible]
    cell = group[begin % group.size] * len(logs) + begin // group.size
    order = np.argsort(cell, kind="stable")
    begin, end = begin[order], end[order]
    low, high = counts[begin % group.size], counts[end % group.size]
    return Runs(cell[order], low, high, np.exp(logs.ravel()[begin]))


def within_totals(runs: Runs, people: NDArray[np.int64], size: int) -> Runs:
    """Cut each cell's counts to what the other cells of its group leave of the group's people."""
    first, last = (x.reshape(-1, size) for x in runs.ends(len(people) * size))
    low = people[:, None] - (last.sum(axis=1, keepdims=True) - last)
    high = people[:, None] - (first.sum(axis=1, keepdims=True) - first)
    good = np.maximum(low, first) <= np.minimum(high, last)  # else a rule contradicts itself
    low = np.maximum(runs.low, np.where(good, low, first).ravel()[runs.cell])
    high = np.minimum(runs.high, np.where(good, high, last).ravel()[runs.cell])
    kept = low <= high
    # Between two runs nothing may be left: then the cell is left as it was.
    lost = np.bincount(runs.cell[kept], minlength=first.size)[runs.cell] == 0
    low, high = np.where(lost, runs.low, low), np.where(lost, runs.high, high)
    kept |= lost
    return Runs(runs.cell[kept], low[kept], high[kept], runs.weight[kept])


@dataclass(frozen=True, eq=False)
class CountSets:
    """What cells say of a count, as sums of values of its distribution function.

    Attributes
    ----------
    edges
        Where the distribution function of the others' count is needed, shape
        (groups, cells, edges).
    without, with_one
        Its coefficients in the chance of what was published when a person is not in the cell,
        and when they are; same shape.
    first, last
        The least and the largest count that is left, shape (groups, cells).
    """

    edges: Floats
    without: Floats
    with_one: Floats
    first: Floats
    last: Floats

    @property
    def width(self) -> int:
        """How many numbers are computed for each person."""
        return self.edges[0].size

    @classmethod
    def of(cls, rule: CellRule, cells: Floats, people: NDArray[np.int64]) -> CountSets:
        """Read the published cells of groups, shape (groups, size), of so many people each."""
        groups, size = cells.shape
        runs = runs_of(rule, cells, people)
        if size > 2:
            runs = within_totals(runs, people, size)
        width = 1 if size == 2 else size
        first, last = (
            x.reshape(groups, width).astype(np.float64) for x in runs.ends(groups * width)
        )
        others = people[runs.cell // width] - 1
        places, signs = [], []
        for one in (0, 1):
            low, high = np.maximum(runs.low - one, 0), np.minimum(runs.high - one, others)
            weight = np.where(low <= high, runs.weight, 0.0)
            places += [low, high + 1]  # edges lie half below these
            signs += [(one, -weight), (one, weight)]
        return cls(*_gathered(runs.cell, places, signs, (groups, width)), first, last)

    def log_odds(self, group: NDArray[np.int64], mean: Floats, deviation: Floats) -> Floats:
        """Give the log ratio of what was published with one more person in a cell and without.

        Parameters
        ----------
        group
            The group of each person, shape (n,).
        mean, deviation
            Of the others' count, shape (n, cells).
        """
        pull = REACH * deviation
        mean = np.clip(mean, self.first[group] - 1 - pull, self.last[group] + pull)
        below = special.ndtr((self.edges[group] - mean[:, :, None]) / deviation[:, :, None])
        without, with_one = (
            np.log(np.maximum(np.einsum("ncj,ncj->nc", part[group], below), 1e-300))
            for part in (self.without, self.with_one)
        )
        return np.clip(with_one - without, -LIMIT, LIMIT)


def _gathered(
    cell: NDArray[np.int64],
    places: list[NDArray[np.int64]],
    signs: list[tuple[int, Floats]],
    shape: tuple[int, int],
) -> tuple[Floats, Floats, Floats]:
    """Put edges at the same place of a cell together; pad to the most that a cell has."""
    reach = int(max(place.max() for place in places)) + 1
    keys = np.concatenate([cell * reach + np.clip(place, 0, None) for place in places])
    distinct, inverse = np.unique(keys, return_inverse=True)
    owner = distinct // reach
    number = np.bincount(owner, minlength=shape[0] * shape[1])
    column = np.arange(owner.size) - np.repeat(np.cumsum(number) - number, number)
    edges = np.zeros((number.size, int(number.max())))
    edges[owner, column] = distinct % reach - 0.5
    sums: list[Floats] = []
    for which in (0, 1):
        weights = np.concatenate([w if one == which else np.zeros_like(w) for one, w in signs])
        table = np.zeros_like(edges)
        table[owner, column] = np.bincount(inverse, weights=weights, minlength=distinct.size)
        sums.append(table.reshape(*shape, -1))
    return edges.reshape(*shape, -1), sums[0], sums[1]
