"""People of whom several columns are together in the file, whichever these columns are.

Partly synthetic files keep some columns of a person and replace the others. Which ones is unknown,
so half of the people choose the columns, and the other half are counted by them. As the people are
independent, the choice needs no correction.

Each person of the first half may have a partner among the rows. A column of the partner is the
person's with a probability of the column's own, and drawn from the file otherwise (the mixture of
Fellegi and Sunter 1969, fitted by expectation and maximisation). Columns that were kept together
end near probability 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.copies import (
    Copies,
    Views,
    absent_and_twins,
    beside_control,
    copies_by,
    copies_of,
    copies_on,
)
from narcissus.synthetic.full_files import WholeFiles

Positions = NDArray[np.int64]
Numbers = NDArray[np.float64]
FEWEST = 50
"""Fewest people of each half."""
MOST_PARTNERED = 500
"""Most people whose partners choose the columns."""
STARTS = 12
"""Most probabilities that the fit begins with: three for all columns alike, the rest at random."""
_MOST_WORK = 4 * 10**8  # people, rows, columns and starts
_ROUNDS = 60  # most steps of a fit
_STILL = 0.003  # a fit ends where no probability moves by as much
_LARGEST = 1 - 1e-4  # probability of a column: a row that differs in it is still possible
_OWN = 20  # fewest people with a value of their own that a file may draw from the data


@dataclass(frozen=True)
class PartlyCopied(Copies):
    """People who appear in the file by columns that other people chose.

    Limits hold for any law of the file, and for files that draw the values of one column from the
    data: ``drawn`` people appear in the file, at most, where one of the columns is shuffled.
    """

    drawn: int = 0
    # people of both halves who are unique by these columns, in the control too if there is one,
    # and who stand in the file
    all_unique: int = 0
    all_standing: int = 0
    by_chance: float = 0.0  # share of unique people that is expected, by pairs of both halves

    @property
    def expected(self) -> float:
        """Coincidences: unique people who would appear in a file of other people."""
        return self.unique * self.by_chance

    def most_coincidences(self, error: float) -> float:
        """Return the coincidences that are exceeded by chance in at most ``error`` of files."""
        # the expected number is an estimate: it is taken two standard errors higher
        high = self.drawn + 2 * np.sqrt(self.drawn + 1)
        limit = max(
            super().most_coincidences(error),
            self.most_of_any_law(error),
            float(scipy.stats.poisson.isf(error, high)),
            self.expected,
        )
        return min(float(self.unique), limit)


def partly_copied(
    files: WholeFiles, ours: Positions, others: Positions, rng: np.random.Generator
) -> tuple[tuple[str, ...], PartlyCopied, TwoSamples | None] | None:
    """Choose columns by half of the people, and count the other half by them.

    ours, others: One row of each person of the data, and of the control.

    Whoever is scored is like nobody of the first half: that is given, as the columns are.

    Return the names of the columns, the people, and these next to the control. None where columns
    or people are too few.
    """
    first, second = np.array_split(rng.permutation(ours), 2)
    if len(files.columns) <= 2 or len(second) < FEWEST:
        return None
    chosen = files.select(_chosen(Views(files, rng), first, rng))
    views = Views(chosen, rng)
    second, others_scored = (some[~_is_among(views, some, first)] for some in (second, others))
    if len(second) < FEWEST:
        return None
    # people of the second half have none of the values of the first: these are no coincidences
    absent, twins = absent_and_twins(views, second, range(len(views.fine)), first)
    many = replace(copies_of(views, second, rng), absent=absent, twins=twins)
    alone = [copies_on(views, second, [j]).unique for j in range(len(chosen.columns))]
    telling = [j for j, unique in enumerate(alone) if unique >= _OWN]
    drawn = [copies_by(Views(chosen.shuffled(j, rng), rng), second, many).standing for j in telling]
    values = {field.name: getattr(many, field.name) for field in fields(Copies)}
    beside = beside_control(views, second, others_scored) if len(others_scored) else None
    both = copies_on(views, ours, range(len(chosen.columns)))
    by_chance = _by_chance(views, first, both, many.factor(surely=False))
    everybody = {"all_unique": both.unique, "all_standing": both.standing}
    if len(others) and (all_beside := beside_control(views, ours, others)) is not None:
        everybody = {"all_unique": all_beside.trials, "all_standing": all_beside.successes}
    limits = {"drawn": max(drawn, default=0), "by_chance": by_chance}
    return chosen.names, PartlyCopied(**values, **limits, **everybody), beside


def _is_among(views: Views, some: Positions, people: Positions) -> NDArray[np.bool_]:
    """Check who of some is like one of the people, as coarse as any row of the file is."""
    columns = range(len(views.fine))
    is_among = np.zeros(len(some), np.bool_)
    for view, _ in views.each():
        is_among |= np.isin(views.keys(some, view, columns), views.keys(people, view, columns))
    return is_among


def _by_chance(views: Views, first: Positions, both: Copies, factor: float) -> float:
    """Return the share of unique people who would appear in a file of other people.

    Pairs of the first half are none: its people chose columns by which they are hardly alike.
    """
    columns, many, half = range(len(views.fine)), both.people, len(first)
    pairs = max(0.0, both.pairs - copies_on(views, first, columns).pairs)
    pairs *= math.comb(many, 2) / (math.comb(many, 2) - math.comb(half, 2))
    matches = 2 * both.rows / many * pairs * factor
    return -math.expm1(-matches / max(1, both.unique)) if both.unique else 0.0


def _chosen(views: Views, people: Positions, rng: np.random.Generator) -> list[str]:
    """Choose the columns by which most people appear in the file beyond what is expected.

    Candidates are the likeliest columns of each fit, from two to all but one.
    """
    names, width = views.files.names, len(views.fine)
    rows = views.rows
    codes = np.column_stack([views.codes(j, 0) for j in range(width)])
    fit = Partners(codes[people[:MOST_PARTNERED]], codes[rows])
    starts = [np.full(width, share) for share in (0.5, 0.2, 0.9)]
    starts += [np.where(rng.random(width) < 0.5, 0.9, 0.05) for _ in range(STARTS - len(starts))]
    sets: set[tuple[int, ...]] = set()
    for start in starts[: max(1, _MOST_WORK // codes[rows].size // len(fit.frequency))]:
        order = np.argsort(-fit.probabilities(start), kind="stable").tolist()
        sets |= {tuple(sorted(order[:size])) for size in range(2, width)}

    def surprise(some: tuple[int, ...]) -> float:
        """Return by how many standard errors more people appear in the file than expected."""
        many = copies_on(views, people, some)
        return (many.standing - many.expected) / math.sqrt(many.expected + 1)

    return [names[j] for j in max(sorted(sets), key=surprise)]


class Partners:
    """People who may each have a partner among rows, and which values both have.

    people, rows: Codes, shape (people, columns) and (rows, columns).
    """

    def __init__(self, people: Positions, rows: Positions) -> None:
        columns = range(people.shape[1])
        self.rows = len(rows)
        self.frequency = np.column_stack([_frequency(people[:, j], rows[:, j]) for j in columns])
        self.places, size = _places(people)
        self.equal = _equal(people, rows, self.places, size)

    def probabilities(self, start: Numbers) -> Numbers:
        """Return the probability that a column of a partner is the person's, shape (columns,).

        start: The probabilities that the fit begins with, in (0, 1).
        """
        estimate, partnered = start, 0.5
        for _ in range(_ROUNDS):
            before = estimate
            estimate, partnered = self.step(estimate, partnered)
            if np.abs(estimate - before).max() < _STILL:
                break
        return estimate

    def step(self, found: Numbers, partnered: float) -> tuple[Numbers, float]:
        """Return the probabilities after one step of the fit, and that of having a partner."""
        people, width = self.frequency.shape
        everybody = np.arange(people)
        differs = np.log1p(-found)
        weights = np.zeros((self.equal.shape[1], people), np.float32)
        same = np.log(found / self.frequency + 1 - found) - differs
        for j in range(width):
            weights[self.places[j], everybody] = same[:, j]
        chance = self.equal @ weights
        top = chance.max(axis=0)
        chance = np.exp(chance - top) * np.float32(partnered / self.rows)
        total = chance.sum(axis=0, dtype=np.float64)
        whole = total + (1 - partnered) * np.exp(-top - differs.sum())
        share = total / whole
        alike = self.equal.T @ (chance / whole)
        agree = np.column_stack([alike[self.places[j], everybody] for j in range(width)])
        posterior = found / (found + (1 - found) * self.frequency)
        after = (agree * posterior).sum(axis=0) / max(float(share.sum()), 1e-9)
        low, high = 1 - _LARGEST, _LARGEST
        return after.clip(low, high), float(share.mean().clip(low, high))


def _frequency(here: Positions, there: Positions) -> Numbers:
    """Return how frequent each person's value is in the file, never 0."""
    times = np.bincount(there, minlength=int(here.max()) + 1)
    return (times[here] + 0.5) / (len(there) + 1)


def _places(people: Positions) -> tuple[list[Positions], int]:
    """Return a number for each person's value, by column, and how many numbers there are."""
    numbers: list[Positions] = []
    size = 0
    for j in range(people.shape[1]):
        kinds, place = np.unique(people[:, j], return_inverse=True)
        numbers.append(place.ravel() + size)
        size += len(kinds)
    return numbers, size


def _equal(
    people: Positions, rows: Positions, places: Sequence[Positions], size: int
) -> scipy.sparse.csr_array:
    """Return which of the people's values each row has, shape (rows, values)."""
    at: list[Positions] = []
    which: list[Positions] = []
    for j, place in enumerate(places):
        number = np.full(1 + int(max(people[:, j].max(), rows[:, j].max())), -1)
        number[people[:, j]] = place
        value = number[rows[:, j]]
        at.append(np.flatnonzero(value >= 0))
        which.append(value[value >= 0])
    cells = np.concatenate(at), np.concatenate(which)
    ones = np.ones(len(cells[0]), np.float32)
    return scipy.sparse.csr_array((ones, cells), shape=(len(rows), size))
