"""Beliefs passed between people and tables, for any evidence about counts.

Tables are factors of a graph whose variables are people, and beliefs are passed along it
(loopy belief propagation; Kschischang, Frey and Loeliger 2001). The message of a table to person
``i`` about value ``u`` is

    log Pr[cells | i has u] = log sum_c Pr[count of the others = c] Pr[cell | c + 1] + const,

against the same sum with ``Pr[cell | c]``: the others' count has the mean and variance of their
beliefs from all *other* tables, as a normal distribution. With one table and two values nothing
else is approximate: both cells of a group are one count. Rounded and withheld cells are read as
the sets of counts that they leave, cells counted from released rows as values with a variance.

Tables that share columns repeat each other, and belief propagation counts a repeated fact twice.
The spread of the others' counts is therefore widened by a factor, the `overlap`, that sinks from
20: early beliefs stay mild, and where to stop is learned from simulated releases.

What published cells say of a count: a set of values, some likelier than others.

A rounded or withheld cell leaves runs of equally likely counts. The chance of what was published,
when the others' count is normal, is then a sum of values of the normal distribution function at
the ends of the runs: exact for the sets, whatever their width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from narcissus._arrays import Floats
from narcissus.attacks.table.base import Simulated, View, softmax, view_of
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import CellRule, GaussianNoise, ProtectedCounts
from narcissus.mechanisms.queries import Pattern

Counted = NDArray[np.int64]

LIMIT = 30.0  # of a log odds, from one table or from the prior: beyond, it is certain
REACH = 6.0  # deviations; beliefs farther from what was published pull as if they were so near
UNLIKELY = -40.0  # log chances below the likeliest count's that are taken as none

LEVELS: Floats = np.geomspace(20.0, 1.0, 20)
"""How far counts are widened in each pass."""

SCALES = (0.5, 64.0)
USUAL_SCALE = 2.0
DAMPING = 0.5
FLOOR = 0.05  # of the variance of a count, so that certain people leave it a shape
DOUBT = 1e-3  # where less is left to what the prior allows, the release is believed instead
BLOCK = 4_000_000  # entries of an array


@dataclass(frozen=True, eq=False)
class Runs:
    """The counts that published cells leave, as runs of equally likely ones."""

    cell: Counted  # To which cell a run belongs, shape (runs,), in ``[0, cells)``, ascending
    low: Counted  # First count of each run, shape (runs,)
    high: Counted  # Last count
    # How likely a count of the run makes what was published, relative to the likeliest count
    weight: Floats

    def ends(self, cells: int) -> tuple[Counted, Counted]:
        """Return the least and the largest count that is left, shape (cells,) each."""
        start = np.flatnonzero(np.diff(self.cell, prepend=-1))
        assert start.size == cells, "every cell has a run"
        return np.minimum.reduceat(self.low, start), np.maximum.reduceat(self.high, start)


def runs_of(rule: CellRule, cells: Floats, people: Counted) -> Runs:
    """Return the counts that the published cells (groups, size) of groups of ``people`` leave.

    Cell ``v`` of group ``g`` is number ``g * size + v``; of two cells, which are one count, only
    the second is there, with what both say, and has number ``g``.
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


def within_totals(runs: Runs, people: Counted, size: int) -> Runs:
    """Cut each cell's counts to what the other cells of its group leave of the group's people."""
    first, last = (x.reshape(-1, size) for x in runs.ends(len(people) * size))
    low = people[:, None] - (last.sum(axis=1, keepdims=True) - last)
    high = people[:, None] - (first.sum(axis=1, keepdims=True) - first)
    good = np.maximum(low, first) <= np.minimum(high, last)  # else a rule contradicts itself
    low = np.maximum(runs.low, np.where(good, low, first).ravel()[runs.cell])
    high = np.minimum(runs.high, np.where(good, high, last).ravel()[runs.cell])
    mask = low <= high
    # Between two runs nothing may be left: then the cell is left as it was.
    lost = np.bincount(runs.cell[mask], minlength=first.size)[runs.cell] == 0
    low, high = np.where(lost, runs.low, low), np.where(lost, runs.high, high)
    mask |= lost
    return Runs(runs.cell[mask], low[mask], high[mask], runs.weight[mask])


@dataclass(frozen=True, eq=False)
class CountSets:
    """What cells say of a count, as sums of values of its distribution function."""

    # Where the distribution function of the others' count is needed, shape (groups, cells, edges)
    edges: Floats
    without: Floats  # Its coefficients in the chance of what was published without a person there
    with_one: Floats  # The same with them in the cell
    first: Floats  # The least count that is left, shape (groups, cells)
    last: Floats  # The largest

    @property
    def width(self) -> int:
        return self.edges[0].size

    @classmethod
    def of(cls, rule: CellRule, cells: Floats, people: Counted) -> CountSets:
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
        for presence in (0, 1):
            low, high = np.maximum(runs.low - presence, 0), np.minimum(runs.high - presence, others)
            weight = np.where(low <= high, runs.weight, 0.0)
            places += [low, high + 1]  # edges lie half below these
            signs += [(presence, -weight), (presence, weight)]
        return cls(*_gathered(runs.cell, places, signs, (groups, width)), first, last)

    def log_odds(self, group: Counted, mean: Floats, deviation: Floats) -> Floats:
        pull = REACH * deviation
        mean = np.clip(mean, self.first[group] - 1 - pull, self.last[group] + pull)
        below = special.ndtr((self.edges[group] - mean[:, :, None]) / deviation[:, :, None])
        without, with_one = (
            np.log(np.maximum(np.einsum("ncj,ncj->nc", part[group], below), 1e-300))
            for part in (self.without, self.with_one)
        )
        return np.clip(with_one - without, -LIMIT, LIMIT)


def _gathered(
    cell: Counted, places: list[Counted], signs: list[tuple[int, Floats]], shape: tuple[int, int]
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
        weights = np.concatenate(
            [w if presence == which else np.zeros_like(w) for presence, w in signs]
        )
        table = np.zeros_like(edges)
        table[owner, column] = np.bincount(inverse, weights=weights, minlength=distinct.size)
        sums.append(table.reshape(*shape, -1))
    return edges.reshape(*shape, -1), sums[0], sums[1]


def propagated_beliefs(view: View, overlap: float, scale: float) -> Floats:
    """Return everybody's beliefs when counts are widened no less than ``overlap``, (n, values)."""
    steps = max(1, int((LEVELS / overlap > 1 - 1e-9).sum()))
    *_, beliefs = passes(view, LEVELS[:steps], scale)
    return beliefs


def usual_overlap(targets: Targets) -> float:
    """Return the overlap that serves without training: none of a single table."""
    return min(1.5, float(np.sqrt(sum(p.tables for p in targets.queries.patterns))))


def learned_overlap(simulated: Sequence[Simulated], scale: float) -> tuple[float, float]:
    """Return the overlap with which most people are guessed right, and the share that are."""
    right = np.zeros(LEVELS.size)
    for simulation in simulated:
        success = simulation.targets.success
        for place, beliefs in enumerate(
            passes(view_of(simulation.targets, simulation.release), LEVELS, scale)
        ):
            right[place] += success.score(simulation.secrets, success.decide(beliefs)).mean()
    return float(LEVELS[right.argmax()]), float(right.max() / len(simulated))


def learned_scale(simulated: Sequence[Simulated]) -> float:
    """Return the scale with which most people are guessed right, walking from the usual one."""
    scale, best = USUAL_SCALE, learned_overlap(simulated, USUAL_SCALE)[1]
    for factor in (0.5, 2.0):
        while SCALES[0] <= scale * factor <= SCALES[1]:
            share = learned_overlap(simulated, scale * factor)[1]
            if share <= best:
                break
            scale, best = scale * factor, share
    return scale


def passes(view: View, levels: Floats, scale: float) -> Iterator[Floats]:
    """Yield everybody's beliefs after each pass over the tables, shape (n, values).

    In each the variance of a count is widened by a factor, its level.
    """
    targets = view.targets
    tables = table_factors(targets, reader_of(view, scale))
    logits = np.maximum(targets.log_prior, -LIMIT / 2)  # one table can overrule the prior
    messages = [np.zeros((targets.people, table.pattern.size)) for table in tables]
    for level in levels:
        for number, table in enumerate(tables):
            cavity = table.pattern.sum_to(softmax(logits - table.whole(messages[number])))
            change = DAMPING * (table.message(cavity, float(level)) - messages[number])
            messages[number] += change
            logits += table.whole(change)
        beliefs = softmax(logits)
        # zero to what the prior rules out, unless the release says that it is wrong
        possible_beliefs = np.where(targets.prior > 0, beliefs, 0.0)
        total = possible_beliefs.sum(axis=1, keepdims=True)
        yield np.where(total > DOUBT, possible_beliefs / np.maximum(total, DOUBT), beliefs)


class CountEvidence(Protocol):
    """What the released cells of a table say of the counts of its groups."""

    @property
    def width(self) -> int:
        """How many numbers are computed for each person."""
        ...

    def log_odds(self, group: Counted, mean: Floats, deviation: Floats) -> Floats:
        """Return the log ratio of what was released with one more person in a cell and without.

        Shapes (n,), (n, cells), (n, cells): each person's group, and the mean and the standard
        deviation of the others' count; of two cells only the second is there.
        """
        ...


@dataclass(frozen=True, eq=False)
class Measured:
    """Cells as values with normal errors."""

    # Shape (groups, cells); of two cells, only the second is there, as the mean of what both say
    cells: Floats
    variance: float  # Of each value, in counts squared

    @classmethod
    def of(cls, cells: Floats, people: Counted, variance: float) -> Measured:
        """Read the cells of groups, shape (groups, size), of so many people each."""
        if cells.shape[1] == 2:
            return cls((cells[:, 1:] + people[:, None] - cells[:, :1]) / 2, variance / 2)
        return cls(cells, variance)

    @property
    def width(self) -> int:
        return self.cells.shape[1]

    def log_odds(self, group: Counted, mean: Floats, deviation: Floats) -> Floats:
        odds = (self.cells[group] - mean - 0.5) / (deviation**2 + self.variance)
        return np.clip(odds, -LIMIT, LIMIT)


Reader = Callable[[Counted, Counted], CountEvidence]
"""From numbers of cells, shape (groups, size), and the groups' people to evidence."""


def reader_of(view: View, scale: float) -> Reader:
    """Return how the cells of a release are read; ``scale`` is of cells counted from rows."""
    release, targets = view.release, view.targets
    if isinstance(release, ProtectedCounts):
        return lambda cells, people: CountSets.of(release.rule, release.cells[cells], people)
    if view.noise is None:
        values, variance = release.counts(targets.queries, targets.people), scale**2
    else:
        values = release
        variance = view.noise.scale**2 * (1 if isinstance(view.noise, GaussianNoise) else 2)
    return lambda cells, people: Measured.of(values[cells], people, variance)


@dataclass(frozen=True, eq=False)
class TableFactor:
    """One table as a factor: which people share a count, and what was published of it."""

    group: Counted  # Each person's group, whose known columns of the table agree, shape (n,)
    people: Counted  # How many people are in each group, shape (groups,)
    evidence: CountEvidence  # What the published cells leave
    pattern: Pattern  # The table's unknown columns

    def whole(self, part: Floats) -> Floats:
        """Repeat values of the table over all joint values: (n, size) -> (n, values)."""
        spread = self.pattern.spread(part)
        table = np.broadcast_to(spread, (len(part), *self.pattern.unknown_shape))
        return table.reshape(len(part), -1)

    @cached_property
    def _members(self) -> sparse.csr_array:
        """Who is in which group, shape (groups, n)."""
        n = len(self.group)
        return sparse.csr_array(
            (np.ones(n), (self.group, np.arange(n))), shape=(len(self.people), n)
        )

    def message(self, cavity: Floats, overlap: float) -> Floats:
        """Return what the table says of each value of each person, up to a constant, (n, size).

        The ``cavity`` are the beliefs about its unknown columns from everything else.
        """
        two = self.pattern.size == 2
        chance = cavity[:, 1:] if two else cavity
        spread = chance * (1 - chance)
        mean, variance = self._members @ chance, self._members @ spread
        odds = np.empty_like(chance)
        step = max(1, BLOCK // self.evidence.width)
        for a in range(0, len(chance), step):
            block = slice(a, a + step)
            group = self.group[block]
            rest = overlap * (variance[group] - spread[block])
            deviation = np.sqrt(np.maximum(rest, FLOOR))
            odds[block] = self.evidence.log_odds(group, mean[group] - chance[block], deviation)
        if two:
            return np.concatenate([np.zeros_like(odds), odds], axis=1)
        # The cells of a group have one degree of freedom less than there are cells: were they
        # taken as independent, two cells would say twice what they say.
        return odds * ((self.pattern.size - 1) / self.pattern.size)


def table_factors(targets: Targets, reader: Reader) -> list[TableFactor]:
    """Return every released table, as far as people of the data set fall into it."""
    queries = targets.queries
    factors: list[TableFactor] = []
    for pattern, base in zip(queries.patterns, targets.bases, strict=True):
        for t in range(pattern.tables):
            first, group = np.unique(base[:, t], return_inverse=True)
            people = np.bincount(group, minlength=first.size)
            evidence = reader(first[:, None] + np.arange(pattern.size), people)
            factors.append(TableFactor(group, people, evidence, pattern))
    return factors
