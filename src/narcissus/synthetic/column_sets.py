"""Any few columns by which more people of the data appear in the file than coincidence explains.

A part of the rows may have a part of the columns of a person each. All sets of two and three
columns are counted, and larger ones that grow out of those by which most people appear in the file.

Whatever the law of a file of independent rows, people who are alone in a cell meet its rows there
no more often, on average, than ``t`` times the cells of exactly two people, and ``1 / t`` times the
cells of nobody and of several rows: of a cell that a person has with chance p and a row with chance
q, ``n p m q`` is at most ``(t (n p)^2 + (m q)^2 / t) / 2``. Where a column is drawn from the data,
as many meet as rows have the other columns of a person and this one by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.copies import BesideControl, Views, beside_control, copies_on
from narcissus.synthetic.full_files import WholeFiles

Positions = NDArray[np.int64]
Numbers = NDArray[np.float64]
Columns = tuple[int, ...]
ERROR = 0.002
"""Error of telling of a set of columns, divided among all sets that are counted."""
MOST_WORK = 3 * 10**8
"""Most sets, times the people and rows that are sorted for each."""
MOST_SETS = 5_000
"""Most sets that are counted."""
MOST_TOLD = 3
"""Most sets of columns that are told."""
_MOVES = tuple(by for by in range(-5, 6) if by)
_GROWN = 5  # sets of three that larger ones grow out of
_DEPENDENT = 1.5  # times as many as by chance, where columns hang together
_FEWEST = 5  # people who stand in the file by a set that is told


@dataclass(frozen=True)
class SomeColumns(BesideControl):
    """People who are alone in the data by some columns, and appear in the file by these."""

    columns: tuple[str, ...]
    unique: int
    standing: int
    expected: float
    beside: TwoSamples | None  # people of the data and the control
    # by some of the columns alone, where more people are beyond what pairs of people explain
    alone: SomeColumns | None = None


@dataclass(frozen=True)
class Looked:
    """The sets of columns that were counted, and those that strike."""

    striking: tuple[SomeColumns, ...]
    sets: int
    left: int  # sets of two and three columns that were too many to count
    # people of whom each set that tells most people apart would strike; None: no set does that
    least: int | None = None


NOT_LOOKED = Looked((), 0, 0)


@dataclass(frozen=True)
class SetCount:
    """Who appears in the file by a set of columns, and how many would by coincidence."""

    columns: Columns
    unique: int
    standing: int
    direct: float  # expected by cells of people, and by cells of rows
    spread: float  # of that, its variance
    drawn: float  # expected where one column is drawn from the data

    @property
    def expected(self) -> float:
        return max(self.direct, self.drawn)

    @property
    def excess(self) -> float:
        """People beyond those whom chance explains."""
        return self.standing - self.expected

    @property
    def surprise(self) -> float:
        return (self.standing - self.expected) / math.sqrt(self.expected + 1)

    def is_beyond(self, error: float) -> bool:
        """Check whether chance explains who appears in the file in at most ``error`` of files."""
        return self.standing > self.most(error)

    def most(self, error: float) -> float:
        """Return how many chance explains, but in at most ``error`` of files."""
        high = max(self.direct + 2 * math.sqrt(self.spread), _DEPENDENT * self.drawn)
        return max(_FEWEST - 1, float(scipy.stats.poisson.isf(error, high)))

    def is_telling(self, people: int) -> bool:
        """Check whether most people are alone by these columns."""
        return 2 * self.unique >= people


class Cells:
    """People and rows of the file by some of their columns."""

    def __init__(self, place: Positions, size: int, people: int, columns: Columns) -> None:
        self.columns, self.place, self.size = columns, place, size
        self.here = np.bincount(place[:people], minlength=size)
        self.there = np.bincount(place[people:], minlength=size)
        self.people = people

    @classmethod
    def of(cls, codes: Sequence[Positions], people: int, columns: Columns) -> Cells:
        """Cross the codes of some columns."""
        place, size = codes[columns[0]], int(codes[columns[0]].max()) + 1
        for j in columns[1:]:
            place, size = _crossed(place, size, codes[j])
        return cls(place, size, people, columns)

    @property
    def rows_of_each(self) -> Numbers:
        """Rows of the file in the cell of each person, shape (people,)."""
        return self.there[self.place[: self.people]].astype(np.float64)

    @property
    def is_alone(self) -> NDArray[np.bool_]:
        return (self.here == 1)[self.place[: self.people]]

    def counted(self, by_chance: Sequence[Numbers]) -> SetCount:
        """Count who appears in the file.

        by_chance: Rows that each person meets where one column is drawn from the data.
        """
        people, rows = self.people, len(self.place) - self.people
        standing = int(((self.here == 1) & (self.there > 0)).sum())
        pairs = int((self.here == 2).sum())
        repeated = int(((self.there > 1) & (self.here == 0)).sum())
        t = rows / people
        direct = t * pairs + repeated / t
        alone = self.is_alone
        drawn = max(
            (float(meetings[alone].clip(max=1).sum()) for meetings in by_chance), default=0.0
        )
        spread = t * t * pairs + repeated / (t * t) + max(t, 1 / t)
        return SetCount(self.columns, int(alone.sum()), standing, direct, spread, drawn)


def _crossed(place: Positions, size: int, codes: Positions) -> tuple[Positions, int]:
    width = int(codes.max()) + 1
    cells = place * width + codes
    if size * width <= 4 * len(place):
        return cells, size * width
    kinds, cells = np.unique(cells, return_inverse=True)
    return cells.ravel(), len(kinds)


def look_at_sets(
    files: WholeFiles, views: Views, sides: tuple[Positions, Positions], rng: np.random.Generator
) -> Looked:
    """Count people by all small sets of columns, as coarsely as most rows of the file are."""
    ours, others = sides
    width, rows = len(files.columns), views.rows[views.members[0]]
    both = np.concatenate([ours, rows])
    if width < 2 or not len(ours):
        return Looked((), 0, 0)
    codes = [
        np.unique(views.codes(j, 0)[both], return_inverse=True)[1].ravel() for j in range(width)
    ]
    search = SetSearch(codes, len(ours))
    counts = search.run(max(1, min(MOST_SETS, MOST_WORK // len(both))))
    error = ERROR / max(1, len(counts))
    striking = [count for count in counts if count.is_beyond(error)]
    striking.sort(key=lambda count: (-count.excess, -count.surprise))
    findings: list[SomeColumns] = []
    for counted in striking:
        names = tuple(files.names[j] for j in counted.columns)
        if any(set(names) & set(other.columns) for other in findings):
            continue
        some = files.select(names)
        count = replace(counted, drawn=max(counted.drawn, _moved(some, ours, rng)))
        if count.is_beyond(error):
            beside = beside_control(Views(some, rng), ours, others) if len(others) else None
            each = count.unique, count.standing, count.expected, beside
            findings.append(SomeColumns(names, *each, _most_alone(count, counts, files.names)))
        if len(findings) == MOST_TOLD:
            break
    limits = [
        count.most(error) + 1 - count.expected for count in counts if count.is_telling(len(ours))
    ]
    return Looked(
        tuple(findings), len(counts), search.left, math.ceil(max(limits)) if limits else None
    )


def _most_alone(
    count: SetCount, counts: Sequence[SetCount], names: Sequence[str]
) -> SomeColumns | None:
    """Return some of the columns by which most people are there, where these alone tell of more."""
    parts = [part for part in counts if set(part.columns) < set(count.columns)]
    part = max(parts, key=lambda part: part.standing - part.direct, default=count)
    if part.standing - part.direct <= count.standing - count.direct:
        return None
    some = tuple(names[j] for j in part.columns)
    return SomeColumns(some, part.unique, part.standing, part.expected, None)


def most_meeting(views: Views, ours: Positions, error: float) -> float:
    """Return how many people who are alone a file of any law meets, but in ``error`` of files.

    By all columns together, as coarsely as most rows of the file are.
    """
    both = np.concatenate([ours, views.rows[views.members[0]]])
    codes = [
        np.unique(views.codes(j, 0)[both], return_inverse=True)[1].ravel()
        for j in range(len(views.fine))
    ]
    return Cells.of(codes, len(ours), tuple(range(len(codes)))).counted([]).most(error)


def _moved(files: WholeFiles, ours: Positions, rng: np.random.Generator) -> float:
    """Return how many appear in the file after numbers that may name people are exchanged."""

    def again(j: int) -> float:
        moved = (Views(files.moved(j, by), rng) for by in _MOVES)
        return float(np.mean([copies_on(v, ours, range(len(v.fine))).standing for v in moved]))

    return max(map(again, files.numberings()), default=0.0)


class SetSearch:
    """Count people by sets of columns.

    codes: Of each column, those of the people first and then of the rows, shape (people and rows,).
    """

    def __init__(self, codes: Sequence[Positions], people: int) -> None:
        self.codes, self.people = codes, people
        self.width = len(codes)
        self.rows = len(codes[0]) - people
        self.single = [Cells.of(codes, people, (j,)).rows_of_each for j in range(self.width)]
        # sums of 64 random bits for each value: two cells have one key with chance 2^-64
        bits = child(people, self.rows)
        self.keys = [bits.integers(0, 2**64, int(c.max()) + 1, np.uint64)[c] for c in codes]
        self.left = 0
        self._known: dict[Columns, Numbers] = {(j,): rows for j, rows in enumerate(self.single)}

    def count(self, columns: Columns) -> SetCount:
        """Count who appears in the file by a set of columns, given by their places."""
        cells = self.cells(columns)
        if len(columns) < 3:
            self._known[columns] = cells.rows_of_each
        return cells.counted(list(self._by_chance(columns)))

    def cells(self, columns: Columns) -> Cells:
        """Return the people and rows by some columns."""
        return Cells.of(self.codes, self.people, columns)

    def _by_chance(self, columns: Columns) -> Iterator[Numbers]:
        # by a single column, whoever it is drawn from is there: only pairs tell
        for j in columns if len(columns) > 1 else ():
            rest = tuple(other for other in columns if other != j)
            known = self._known.get(rest)
            rows = self.rows_of_each(rest) if known is None else known
            yield rows * self.single[j] / self.rows

    def rows_of_each(self, columns: Columns) -> Numbers:
        """Return the rows of the file that are each person's by some columns, shape (people,)."""
        keys = np.stack([self.keys[j] for j in columns]).sum(axis=0, dtype=np.uint64)
        here, there = keys[: self.people], np.sort(keys[self.people :])
        first, last = (np.searchsorted(there, here, side) for side in ("left", "right"))
        return (last - first).astype(np.float64)

    def run(self, most: int) -> list[SetCount]:
        """Count at most so many sets: all of two, all of three, and what grows out of these."""
        counts: list[SetCount] = []
        small = [*combinations(range(self.width), 2), *combinations(range(self.width), 3)]
        self.left = max(0, len(small) - most)
        counts = [self.count(some) for some in small[:most]]
        seen = {count.columns for count in counts}
        best = sorted(counts, key=lambda count: -count.surprise)
        for seed in [count for count in best if len(count.columns) == 3][:_GROWN]:
            now = seed
            while len(now.columns) < self.width - 1 and len(counts) < most:
                wider = [tuple(sorted({*now.columns, j})) for j in range(self.width)]
                wider = [w for w in wider if len(w) > len(now.columns) and w not in seen]
                if not wider:
                    break
                each = [self.count(some) for some in wider]
                seen |= set(wider)
                counts += each
                now = max(each, key=lambda count: count.surprise)
        return counts
