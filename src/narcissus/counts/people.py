"""Data sets of people with a variable, from published counts, means, medians and totals.

A data set is a multiset of people: labels of all dimensions, and a whole number of the variable.
It is consistent if every published cell holds: the number of its people is within what the cell
tells, the mean and the total are within half a unit of the last decimal of the printed ones, and so
is the median (the middle one, or half the sum of the middle two). First all numbers of people of
each group are listed, then for each the variable of everyone, by limits that are tightened and
halved. Both are complete; where steps run out, that is said. The attack is that of Garfinkel, Abowd
and Martindale 2018, whose Table 1 it solves without a solver of constraints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import inf

import numpy as np
from scipy.sparse import csr_array

from narcissus.counts.data_sets import Steps, points
from narcissus.counts.intervals import InfeasibleError, Polytope
from narcissus.counts.marks import around
from narcissus.counts.reading import Cell, Statistic, Variable
from narcissus.counts.system import BIG, OTHER, Dimension, Structure, selection

MOST_GROUPS = 2_000
MOST_PEOPLE = 60
STEPS = 150_000  # halvings in all

Members = tuple[int, ...]
Values = list[int]
DataSet = tuple[tuple[int, int], ...]  # people: group and variable, sorted


@dataclass(frozen=True)
class _Row:
    """A published cell: groups, ranges of the variable (None: any), and what it tells."""

    cell: Cell
    groups: frozenset[int]
    spans: tuple[tuple[int, int], ...] | None

    def holds(self, group: int, value: int) -> bool:
        inside = self.spans is None or any(a <= value <= b for a, b in self.spans)
        return inside and group in self.groups


@dataclass(frozen=True)
class FoundPeople:
    """Data sets that were found, and whether there are no others."""

    data_sets: tuple[DataSet, ...]
    all_found: bool
    why: str  # what ended the search before
    rows: tuple[_Row, ...]
    groups: tuple[Mapping[str, str], ...]
    variable: str

    def limits(self) -> list[tuple[int, int]]:
        """Return the least and the most people of each published cell over the data sets."""
        counts = np.array(
            [
                [sum(row.holds(*pair) for pair in data) for row in self.rows]
                for data in self.data_sets
            ]
        )
        return list(zip(counts.min(axis=0).tolist(), counts.max(axis=0).tolist(), strict=True))

    def determined(self) -> list[dict[str, str | int]]:
        """List the people whom every data set has as often; none where not all are known."""
        if not self.all_found:
            return []
        shared = Counter(self.data_sets[0])
        for data in self.data_sets[1:]:
            many = Counter(data)
            shared = Counter({person: n for person, n in shared.items() if many[person] == n})
        return [
            {**self.groups[group], self.variable: value}
            for group, value in sorted(shared.elements(), key=lambda person: (person[1], person[0]))
        ]


def search_people(
    cells: Sequence[Cell],
    dimensions: Mapping[str, Dimension],
    given: Structure,
    *,
    limit: int,
    steps: int | None = None,
    deadline: float = inf,
) -> FoundPeople:
    """Find data sets that are consistent with all cells, up to ``limit``.

    ``steps``: of counting and of halving, each; None: as many as an audit takes. Raises
    `InfeasibleError` where there is none.
    """
    variable = given.variable
    assert variable is not None  # reading refuses statistics without one
    variable_dimension = next(filter(variable.is_named, dimensions), None)
    others = [dimension for name, dimension in dimensions.items() if name != variable_dimension]
    groups = [
        {dimension.name: dimension.leaves[at] for dimension, at in zip(others, places, strict=True)}
        for places in _places(others)
    ]

    def ended(found: Sequence[DataSet], why: str, rows: Sequence[_Row] = ()) -> FoundPeople:
        return FoundPeople(
            tuple(found),
            not why,
            why,
            tuple(rows),
            tuple(groups),
            variable_dimension or variable.name,
        )

    if not groups or (
        variable_dimension is not None and OTHER in dimensions[variable_dimension].leaves
    ):
        return ended([], f"Means and medians are used of at most {MOST_GROUPS} groups")
    rows = [_row(cell, dimensions, others, variable_dimension, given) for cell in cells]
    part = _group_counts(rows, len(groups)).tightened()
    if part.most.sum() > BIG // 2:
        return ended([], "Nothing limits the number of people")
    data_sets: list[DataSet] = []
    why = _search(part, rows, variable, limit, data_sets, steps, deadline)
    if not data_sets and not why:
        raise InfeasibleError
    return ended(data_sets, why, rows)


def _search(
    part: Polytope,
    rows: Sequence[_Row],
    variable: Variable,
    limit: int,
    found: list[DataSet],
    given: int | None,
    deadline: float,
) -> str:
    """Add data sets to ``found``; return what ended the search before its end, if something did."""
    counting = Steps(deadline=deadline) if given is None else Steps(given, deadline)
    steps, cost = Steps(STEPS if given is None else given, deadline), 1
    for point in points(part, counting):
        if point.sum() > MOST_PEOPLE:
            return f"Means and medians are used of at most {MOST_PEOPLE} people"
        search = _Search(point.tolist(), rows, variable)
        if given is not None:  # a game has many tables: a step takes as long in large ones
            steps.take(len(rows) ** 2 // 1000)
            cost = 1 + search.size // 1000
        for data in search.run(steps, cost):
            if len(found) == limit:
                return f"More than {limit:,} data sets are consistent"
            found.append(data)
        if steps.left < 0:
            break
    ran_out = steps.left < 0 or counting.left < 0
    return "The search for data sets was ended after its steps, or --seconds" if ran_out else ""


def _places(others: Sequence[Dimension]) -> Iterator[tuple[int, ...]]:
    sizes = [range(len(dimension.leaves)) for dimension in others]
    if np.prod([len(size) for size in sizes], dtype=float) <= MOST_GROUPS:
        yield from product(*sizes)


def _row(
    cell: Cell,
    dimensions: Mapping[str, Dimension],
    others: Sequence[Dimension],
    own: str | None,
    given: Structure,
) -> _Row:
    chosen, variable = selection(cell, dimensions, given), given.variable
    inside = [
        set(chosen[dimension.name].tolist()) if dimension.name in chosen else None
        for dimension in others
    ]
    groups = frozenset(
        at
        for at, places in enumerate(_places(others))
        if all(some is None or place in some for place, some in zip(places, inside, strict=True))
    )
    if own is None or own not in chosen or variable is None:
        return _Row(cell, groups, None)
    spans: list[tuple[int, int]] = []
    for at in chosen[own].tolist():
        a, b = variable.span(dimensions[own].leaves[at]) or (0, -1)
        if spans and spans[-1][1] == a - 1:
            spans[-1] = spans[-1][0], b
        else:
            spans.append((a, b))
    return _Row(cell, groups, tuple(spans))


def _group_counts(rows: Sequence[_Row], groups: int) -> Polytope:
    """Limit the numbers of people of groups; a cell of a range says how many at least."""
    indices = [sorted(row.groups) for row in rows]
    pointers = np.cumsum([0, *map(len, indices)])
    flat = np.array([at for each in indices for at in each], dtype=np.int64)
    matrix = csr_array((np.ones(len(flat), np.int64), flat, pointers), shape=(len(rows), groups))
    high = [
        BIG if row.spans is not None or row.cell.count.high is None else row.cell.count.high
        for row in rows
    ]
    return Polytope(
        matrix,
        np.array([row.cell.count.low for row in rows], np.int64),
        np.array(high, np.int64),
        np.zeros(groups, np.int64),
        np.full(groups, BIG, np.int64),
    )


class _Search:
    """The variable of everyone, where the number of people of each group is known."""

    def __init__(self, counts: Sequence[int], rows: Sequence[_Row], variable: Variable) -> None:
        self._group = [group for group, count in enumerate(counts) for _ in range(count)]
        self._rows, self._variable = rows, variable
        # members, and limits of their sum; the places of two in order, and limits of their sum
        self._sums: list[tuple[Members, int, int]] = []
        self._middles: list[tuple[Members, int, int, int, int]] = []
        # members of whom at most so many (last) are at most, or at least (True), a bound
        self._few: list[tuple[Members, int, bool, int]] = []
        self.possible = all(map(self._prepare, rows))
        for (some, low, high), (superset, lower_limit, upper_limit) in product(
            list(self._sums), repeat=2
        ):
            if set(some) < set(superset):
                rest = tuple(sorted(set(superset) - set(some)))
                self._sums.append((rest, lower_limit - high, upper_limit - low))

    def _prepare(self, row: _Row) -> bool:
        members = tuple(at for at, group in enumerate(self._group) if group in row.groups)
        count, lower_limit, upper_limit = len(members), row.cell.count.low, row.cell.count.high
        if row.spans is not None:  # statistics of a range are checked at the end
            (low, high), variable = row.spans[0], self._variable
            if len(row.spans) == 1 and upper_limit is not None and low <= variable.low:
                self._few += [
                    (members, high, False, upper_limit),
                    (members, high + 1, True, count - lower_limit),
                ]
            elif len(row.spans) == 1 and upper_limit is not None and high >= variable.high:
                self._few += [
                    (members, low, True, upper_limit),
                    (members, low - 1, False, count - lower_limit),
                ]
            return count >= lower_limit
        for name, printed in row.cell.statistics.items():
            if name == "median":
                limits = around(printed.value, printed.places, 2)
                self._middles.append((members, (count + 1) // 2, count // 2 + 1, *limits))
            else:
                times = count if name == "mean" else 1
                self._sums.append((members, *around(printed.value, printed.places, times)))
        return count > 0 or not row.cell.statistics

    @property
    def size(self) -> int:
        """Number of members of all limits of sums and of places in order."""
        return sum(len(limit[0]) for limit in (*self._sums, *self._middles))

    def run(self, steps: Steps, cost: int = 1) -> Iterator[DataSet]:
        """Yield all data sets, each once: people of a group are in order of the variable."""
        if not self.possible:
            return
        waiting = [
            ([self._variable.low] * len(self._group), [self._variable.high] * len(self._group))
        ]
        while waiting:
            if not steps.take(cost):
                return
            low, high = waiting.pop()
            if not self._tighten(low, high):
                continue
            widths = [(b - a, at) for at, (a, b) in enumerate(zip(low, high, strict=True)) if b > a]
            if not widths:
                data = tuple(zip(self._group, low, strict=True))
                if all(self._checks(row, data) for row in self._rows):
                    yield data
                continue
            _, at = min(widths)
            cut = (low[at] + high[at]) // 2
            below, above = list(high), list(low)
            below[at], above[at] = cut, cut + 1
            waiting += [(above, high), (low, below)]

    def _tighten(self, low: list[int], high: list[int]) -> bool:
        """Tighten limits in place until nothing changes; false where none are left."""
        while True:
            before = (list(low), list(high))
            for at, (group, other) in enumerate(pairwise(self._group)):
                if group == other:
                    low[at + 1] = max(low[at], low[at + 1])
            for at in range(len(low) - 2, -1, -1):
                if self._group[at] == self._group[at + 1]:
                    high[at] = min(high[at], high[at + 1])
            is_feasible = (
                all(_tighten_sum(*group, low, high) for group in self._sums)
                and all(_tighten_middle(*group, low, high) for group in self._middles)
                and all(_few(*group, low, high) for group in self._few)
            )
            if not is_feasible or any(a > b for a, b in zip(low, high, strict=True)):
                return False
            if before == (low, high):
                return True

    def _checks(self, row: _Row, data: DataSet) -> bool:
        """Check a published cell on a data set, exactly."""
        values = sorted(value for group, value in data if row.holds(group, value))
        limits = row.cell.count
        if len(values) < limits.low or (limits.high is not None and len(values) > limits.high):
            return False
        if limits.chance is not None and not limits.chance(len(values)):
            return False
        return all(
            agrees(name, statistic, values) for name, statistic in row.cell.statistics.items()
        )


def agrees(name: str, printed: Statistic, values: Sequence[int]) -> bool:
    """Check a printed mean, median or total of values, which are in order."""
    count = len(values)
    if not count:
        return False
    if name == "median":
        low, high = around(printed.value, printed.places, 2)
        return low <= values[(count - 1) // 2] + values[count // 2] <= high
    low, high = around(printed.value, printed.places, count if name == "mean" else 1)
    return low <= sum(values) <= high


def _tighten_sum(members: Members, least: int, most: int, low: Values, high: Values) -> bool:
    lows, highs = sum(low[at] for at in members), sum(high[at] for at in members)
    for at in members:
        own_low, own_high = low[at], high[at]
        high[at] = min(own_high, most - (lows - own_low))
        low[at] = max(own_low, least - (highs - own_high))
    return lows <= most and highs >= least


def _tighten_middle(
    members: Members, one: int, two: int, least: int, most: int, low: Values, high: Values
) -> bool:
    """Let the places ``one`` and ``two`` in order, from 1 (the same, or neighbours), have a sum."""
    lows, highs = sorted(low[at] for at in members), sorted(high[at] for at in members)
    a, b, c, d = lows[one - 1], highs[one - 1], lows[two - 1], highs[two - 1]
    if one == two:
        a = c = max(a, -(-least // 2))
        b = d = min(b, most // 2)
    for _ in range(2):
        b, c = min(b, d, most - c), max(c, a, least - b)
        a, d = max(a, least - d), min(d, most - a)
    count = len(members)
    return (
        a <= b
        and c <= d
        # fewer than `one` are below the first, and at most so many above it as come after
        and _few(members, a - 1, False, one - 1, low, high)
        and _few(members, b + 1, True, count - one, low, high)
        and _few(members, c - 1, False, two - 1, low, high)
        and _few(members, d + 1, True, count - two, low, high)
    )


def _few(members: Members, bound: int, is_from: bool, most: int, low: Values, high: Values) -> bool:
    """Let at most so many be at most ``bound``, or at least it with ``is_from``."""
    surely = [at for at in members if (low[at] >= bound if is_from else high[at] <= bound)]
    if len(surely) == most:
        for at in set(members).difference(surely):
            if is_from:
                high[at] = min(high[at], bound - 1)
            else:
                low[at] = max(low[at], bound + 1)
    return len(surely) <= most
