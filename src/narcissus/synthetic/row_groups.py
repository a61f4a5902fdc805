"""Groups of rows that appear in the file whole: households, classes, addresses.

A person of a household may be one of many with that age, sex and schooling, and be in the file by
coincidence. The people of one household together hardly are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.changes import CHANGED_ERROR, ChangedPeople
from narcissus.synthetic.column_sets import (
    MOST_SETS,
    Cells,
    Columns,
    SetCount,
    SetSearch,
    most_meeting,
)
from narcissus.synthetic.copies import Views, copies_on
from narcissus.synthetic.full_files import PeopleTogether, WholeColumn
from narcissus.tables.spelling import Value

Positions = NDArray[np.int64]
GROUPED = "all rows of a group together"
MOST_GROUP_WORK = 5 * 10**7
"""Most sets of columns, times the cells of a column in all groups."""
_DIGITS = 9  # that differences are compared by
Reading = Literal["as they are", "less the least of each group"]
AS_THEY_ARE: Reading = "as they are"
LESS_THE_LEAST: Reading = "less the least of each group"


@dataclass(frozen=True)
class GroupedPeople(ChangedPeople):
    """Groups that appear in the file by some of their columns."""

    reading: Reading = AS_THEY_ARE
    is_whole: bool = False  # by all columns, as they are

    @property
    def change(self) -> str:
        """What was done to their columns, in words."""
        return GROUPED if self.reading == AS_THEY_ARE else f"{GROUPED}, {self.reading}"

    @property
    def excess(self) -> float:
        """Return how many more groups appear in the file than are expected."""
        return self.standing - self.expected


def look_grouped(
    ways: Sequence[PeopleTogether],
    rng: np.random.Generator,
    histories: PeopleTogether | None = None,
) -> GroupedPeople | None:
    """Return the groups whose rows are all in a group of the file, where these are too many.

    histories: The same of the people who have several rows each, where somebody names them.

    Groups that are like one another limit coincidences, as people do for rows: groups of another
    law are met no more often than cells of two groups, or of rows of the file alone, explain.
    All columns are counted, and sets of these where surely more groups appear in the file by them,
    as numbers are and as they are less the least of their group.
    """
    error = CHANGED_ERROR / (2 * max(1, len(ways)))
    wholes: list[GroupedPeople] = []
    some: list[GroupedPeople] = []
    for way in ways if histories is None else (*ways, histories):
        views = Views(way.files, rng)
        sides = way.files.rows("real"), way.files.rows("control")
        copies = copies_on(views, sides[0], range(len(views.fine)))
        is_beyond = copies.standing > most_meeting(views, sides[0], error)
        if is_beyond:
            people = ChangedPeople.of(way.by, way.files.names, copies, views, sides)
            wholes.append(GroupedPeople(**vars(people), is_whole=True))
        some += _by_sets(way, views, error / 2, copies.standing if is_beyond else 0)
    whole = max(wholes, key=lambda people: people.standing, default=None)
    return max(some, key=lambda people: people.excess, default=whole)


def _by_sets(
    way: PeopleTogether, views: Views, error: float, whole: int
) -> Iterator[GroupedPeople]:
    """Yield the groups of the set of columns that shows most of them, by each reading.

    whole: Groups that appear in the file by all columns.
    """
    for reading in (AS_THEY_ARE, LESS_THE_LEAST):
        columns = _group_columns(way, views, reading)
        ours, rows, others = (way.files.rows(f) for f in ("real", "synthetic", "control"))
        if not columns:
            continue
        sides = GroupSides(ours, rows, others, way.is_in_order)
        search = _GroupSearch([*columns.values()], sides)
        counts = search.run_whole()
        part = error / (2 * len(counts))
        striking = [c for c in counts if c.is_beyond(part) and c.standing - c.most(part) > whole]
        count = max(striking, key=lambda count: count.excess, default=None)
        if count is not None:
            names = tuple(name for j, name in enumerate(columns) if j in count.columns)
            whole = count.standing
            each = count.unique, count.standing, count.expected, search.beside(count.columns)
            yield GroupedPeople(way.by, names, *each, reading)


def _group_columns(way: PeopleTogether, views: Views, reading: Reading) -> dict[str, Positions]:
    """Return the codes of each column that the rows of a group have, shape (groups, places).

    Columns that name, number or count groups are none: these tell of one group by design.
    """
    cells: dict[str, dict[int, int]] = {}
    for j, name in enumerate(way.files.names):
        base, _, place = name.rpartition(" (")
        cells.setdefault(base, {})[int(place.removesuffix(")"))] = j
    last = max(max(places) for places in cells.values())
    codes: dict[str, Positions] = {}
    is_changed = False
    for base, places in cells.items():
        columns = [way.files.columns[j] for j in places.values()]
        if any(column.names_people or column.is_dense for column in columns):
            continue
        each = [views.codes(j, 0) for j in places.values()]
        if reading == AS_THEY_ARE or any(column.numbers is None for column in columns):
            read = _values_of(columns, each)
        else:
            is_changed = True
            read = _less_the_least(columns, each)
        whole = np.full((len(read), last), int(read.max()) + 1)
        whole[:, [place - 1 for place in places]] = read
        codes[base] = whole
    return codes if is_changed or reading == AS_THEY_ARE else {}


def _values_of(columns: Sequence[WholeColumn], codes: Sequence[Positions]) -> Positions:
    """Return codes that are the same for the same value at each place of a group."""
    place: dict[Value | None, int] = {}
    return np.column_stack(
        [
            np.array([place.setdefault(value, len(place)) for value in column.values])[each]
            for column, each in zip(columns, codes, strict=True)
        ]
    )


def _less_the_least(columns: Sequence[WholeColumn], codes: Sequence[Positions]) -> Positions:
    """Return codes of how far numbers are from the least of their group."""
    numbers = np.column_stack(
        [c.numbers[each] for c, each in zip(columns, codes, strict=True) if c.numbers is not None]
    )
    least = np.fmin.reduce(numbers, axis=1)
    apart = np.round(numbers - least[:, None], _DIGITS)
    return np.unique(apart, return_inverse=True)[1].reshape(apart.shape).astype(np.int64)


@dataclass(frozen=True)
class GroupSides:
    """Which groups are of which file, and whether their rows have an order."""

    ours: Positions
    rows: Positions
    others: Positions
    is_in_order: bool


class _GroupSearch(SetSearch):
    """Groups by sets of columns: two are alike if their rows are, in an order or in any."""

    def __init__(self, columns: Sequence[Positions], sides: GroupSides) -> None:
        self.each, self.sides = columns, sides
        bits = child(len(columns), len(sides.ours), len(sides.rows))
        self.bits = [bits.integers(0, 2**64, int(c.max()) + 1, np.uint64) for c in columns]
        self.places = bits.integers(0, 2**64, columns[0].shape[1], np.uint64)
        self.rng = bits
        both = np.concatenate([sides.ours, sides.rows])
        singles = [self._group_codes((j,), both) for j in range(len(columns))]
        super().__init__(singles, len(sides.ours))

    def cells(self, columns: Columns) -> Cells:
        """Return the groups of the data and of the file by some columns."""
        both = np.concatenate([self.sides.ours, self.sides.rows])
        place = self._group_codes(columns, both)
        return Cells(place, int(place.max()) + 1, self.people, columns)

    def rows_of_each(self, columns: Columns) -> NDArray[np.float64]:
        """Return the groups of the file that are as each of the data, shape (groups,)."""
        return self.cells(columns).rows_of_each

    def run_whole(self) -> list[SetCount]:
        """Count all sets that rows are sought by, all columns together, and all but each."""
        every = tuple(range(self.width))
        whole = [every, *(tuple(k for k in every if k != j) for j in every if self.width > 2)]
        most = min(MOST_SETS, MOST_GROUP_WORK // self.each[0].size)
        counts = self.run(max(1, most)) if self.width > 2 else []
        seen = {count.columns for count in counts}
        return [*counts, *(self.count(some) for some in whole if some not in seen)]

    def beside(self, columns: Columns) -> TwoSamples | None:
        """Count who appears in the file, of groups that are alone in data and control together."""
        ours, others = len(self.sides.ours), len(self.sides.others)
        every = np.concatenate([self.sides.ours, self.sides.others, self.sides.rows])
        place = self._group_codes(columns, every)
        cells = Cells(place, int(place.max()) + 1, ours + others, columns)
        hit, unique = cells.is_alone & (cells.rows_of_each > 0), cells.is_alone
        sides = slice(None, ours), slice(ours, None)
        (a, n), (b, m) = ((int(hit[side].sum()), int(unique[side].sum())) for side in sides)
        return TwoSamples(a, n, b, m) if n and m else None

    def _group_codes(self, columns: Columns, groups: Positions) -> Positions:
        """Return a code of each group, the same where rows are equal by some columns.

        A row is the sum of 64 random bits for each of its values, and a group that of its rows.
        """
        keys = np.sum(
            [self.bits[j][self.each[j][groups]] for j in columns], axis=0, dtype=np.uint64
        )
        if self.sides.is_in_order:
            keys = keys + self.places
        kinds, row = np.unique(keys, return_inverse=True)
        bits = self.rng.integers(0, 2**64, len(kinds), np.uint64)
        sums = bits[row.reshape(keys.shape)].sum(axis=1, dtype=np.uint64)
        return np.unique(sums, return_inverse=True)[1].ravel()
