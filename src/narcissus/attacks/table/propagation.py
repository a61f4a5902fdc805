"""Beliefs passed between people and tables, for any evidence about counts.

Tables are factors of a graph whose variables are people, and beliefs are passed along it
(loopy belief propagation; Kschischang, Frey and Loeliger 2001). The message of a table to person
``i`` about value ``u`` is

    log Pr[cells | i has u] = log sum_c Pr[count of the others = c] Pr[cell | c + 1] + const,

against the same sum with ``Pr[cell | c]``: the others' count has the mean and variance of their
beliefs from all *other* tables, as a normal distribution. With one table and two values nothing
else is approximate: both cells of a group are one count. Rounded and withheld cells are read as
the sets of counts that they leave (`narcissus.attacks.table.interval`), cells counted from
released rows as values with a variance.

Tables that share columns repeat each other, and belief propagation counts a repeated fact twice.
The spread of the others' counts is therefore widened by a factor, the `overlap`, that sinks from
20: early beliefs stay mild, and where to stop is learned from simulated releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus.attacks.table.base import Floats, View, softmax, view_of
from narcissus.attacks.table.interval import LIMIT, CountSets
from narcissus.attacks.table.training import Simulated
from narcissus.knowledge.columns import Targets
from narcissus.mechanisms import GaussianNoise, ProtectedCounts
from narcissus.mechanisms.patterns import Pattern

LEVELS: Floats = np.geomspace(20.0, 1.0, 20)
"""How far counts are widened in each pass."""

SCALES = (0.5, 64.0)
USUAL_SCALE = 2.0
DAMPING = 0.5
FLOOR = 0.05  # of the variance of a count, so that certain people leave it a shape
DOUBT = 1e-3  # where less is left to what the prior allows, the release is believed instead
BLOCK = 4_000_000  # entries of an array


def propagated_beliefs(view: View, overlap: float, scale: float) -> Floats:
    """Give everybody's beliefs when counts are widened no less than ``overlap``, (n, values)."""
    steps = max(1, int((LEVELS / overlap > 1 - 1e-9).sum()))
    *_, beliefs = passes(view, LEVELS[:steps], scale)
    return beliefs


def usual_overlap(targets: Targets) -> float:
    """Give the overlap that serves without training: none of a single table."""
    return min(1.5, float(np.sqrt(sum(p.tables for p in targets.queries.patterns))))


def learned_overlap(simulated: Sequence[Simulated], scale: float) -> tuple[float, float]:
    """Give the overlap with which most people are guessed right, and the share that are."""
    right = np.zeros(LEVELS.size)
    for one in simulated:
        success = one.targets.success
        for place, beliefs in enumerate(passes(view_of(one.targets, one.release), LEVELS, scale)):
            right[place] += success.score(one.secrets, success.decide(beliefs)).mean()
    return float(LEVELS[right.argmax()]), float(right.max() / len(simulated))


def learned_scale(simulated: Sequence[Simulated]) -> float:
    """Give the scale with which most people are guessed right, walking from the usual one."""
    scale, best = USUAL_SCALE, learned_overlap(simulated, USUAL_SCALE)[1]
    for factor in (0.5, 2.0):
        while SCALES[0] <= scale * factor <= SCALES[1]:
            share = learned_overlap(simulated, scale * factor)[1]
            if share <= best:
                break
            scale, best = scale * factor, share
    return scale


def passes(view: View, levels: Floats, scale: float) -> Iterator[Floats]:
    """Give everybody's beliefs after each pass over the tables, shape (n, values).

    Parameters
    ----------
    view
        The people and the release.
    levels
        By what factor the variance of a count is widened in each pass.
    scale
        Of rows, the standard deviation of a cell that is counted from them.
    """
    targets = view.targets
    tables = table_factors(targets, reader_of(view, scale))
    logits = np.maximum(targets.log_prior, -LIMIT / 2)  # one table can overrule the prior
    messages = [np.zeros((targets.people, table.size)) for table in tables]
    for level in levels:
        for number, table in enumerate(tables):
            cavity = table.part(softmax(logits - table.whole(messages[number])))
            change = DAMPING * (table.message(cavity, float(level)) - messages[number])
            messages[number] += change
            logits += table.whole(change)
        yield _with_prior(targets, softmax(logits))


def _with_prior(targets: Targets, beliefs: Floats) -> Floats:
    """Give zero to what the prior rules out, unless the release says that it is wrong."""
    kept = np.where(targets.prior > 0, beliefs, 0.0)
    total = kept.sum(axis=1, keepdims=True)
    return np.where(total > DOUBT, kept / np.maximum(total, DOUBT), beliefs)


class CountEvidence(Protocol):
    """What the released cells of a table say of the counts of its groups."""

    @property
    def width(self) -> int:
        """How many numbers are computed for each person."""
        ...

    def log_odds(self, group: NDArray[np.int64], mean: Floats, deviation: Floats) -> Floats:
        """Give the log ratio of what was released with one more person in a cell and without.

        Shapes (n,), (n, cells), (n, cells): each person's group, and the mean and the standard
        deviation of the others' count; of two cells only the second is there.
        """
        ...


@dataclass(frozen=True, eq=False)
class Measured:
    """Cells as values with normal errors.

    Attributes
    ----------
    cells
        Shape (groups, cells); of two cells, which are one count, only the second is there, as
        the mean of what both say.
    variance
        Of each value, in counts squared.
    """

    cells: Floats
    variance: float

    @classmethod
    def of(cls, cells: Floats, people: NDArray[np.int64], variance: float) -> Measured:
        """Read the cells of groups, shape (groups, size), of so many people each."""
        if cells.shape[1] == 2:
            return cls((cells[:, 1:] + people[:, None] - cells[:, :1]) / 2, variance / 2)
        return cls(cells, variance)

    @property
    def width(self) -> int:
        """How many numbers are computed for each person."""
        return self.cells.shape[1]

    def log_odds(self, group: NDArray[np.int64], mean: Floats, deviation: Floats) -> Floats:
        """Give the log ratio of two normal densities, one person apart."""
        odds = (self.cells[group] - mean - 0.5) / (deviation**2 + self.variance)
        return np.clip(odds, -LIMIT, LIMIT)


Reader = Callable[[NDArray[np.int64], NDArray[np.int64]], CountEvidence]
"""From numbers of cells, shape (groups, size), and the groups' people to evidence."""


def reader_of(view: View, scale: float) -> Reader:
    """Say how the cells of a release are read; ``scale`` is of cells counted from rows."""
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
    """One table as a factor: which people share a count, and what was published of it.

    Attributes
    ----------
    group
        Each person's group, whose known columns of the table agree, shape (n,).
    people
        How many people are in each group, shape (groups,).
    evidence
        What the published cells leave.
    pattern
        The table's unknown columns.
    """

    group: NDArray[np.int64]
    people: NDArray[np.int64]
    evidence: CountEvidence
    pattern: Pattern

    @property
    def size(self) -> int:
        """How many joint values its unknown columns have."""
        return self.pattern.size

    def part(self, joint: Floats) -> Floats:
        """Sum joint values to those of the table's unknown columns: (n, values) -> (n, size)."""
        return self.pattern.sum_to(joint)

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
        """Give what the table says of each value of each person, up to a constant, (n, size).

        Parameters
        ----------
        cavity
            Beliefs about the table's unknown columns from everything else, shape (n, size).
        overlap
            By what factor the variance of the others' count is widened.
        """
        two = self.size == 2
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
        return odds * ((self.size - 1) / self.size)


def table_factors(targets: Targets, reader: Reader) -> list[TableFactor]:
    """Give every released table, as far as people of the data set fall into it."""
    queries = targets.queries
    found: list[TableFactor] = []
    for pattern, base in zip(queries.patterns, targets.bases, strict=True):
        for t in range(pattern.tables):
            first, group = np.unique(base[:, t], return_inverse=True)
            people = np.bincount(group, minlength=first.size)
            evidence = reader(first[:, None] + np.arange(pattern.size), people)
            found.append(TableFactor(group, people, evidence, pattern))
    return found
