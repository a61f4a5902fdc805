"""What follows with certainty from published tables: limits of cells, people, data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np
from scipy.sparse import eye_array, vstack

from narcissus._visible import visible
from narcissus.counts.contradiction import contradiction
from narcissus.counts.data_sets import Steps, count_part, weight
from narcissus.counts.groups import (
    LARGEST_SMALL,
    MOST_BOXES,
    Candidate,
    Crossing,
    SizeRule,
    indicators,
)
from narcissus.counts.intervals import (
    Gaps,
    InfeasibleError,
    Polytope,
    Solver,
    SumLimits,
    distinct,
    parts_of,
    restricted,
    trimmed_ends,
)
from narcissus.counts.key_search import KeyedDataSets
from narcissus.counts.keys import added_up
from narcissus.counts.marks import Meaning
from narcissus.counts.people import FoundPeople, search_people
from narcissus.counts.ranges import cut_ranges, overlapping_ranges, read_ranges
from narcissus.counts.reading import Cell
from narcissus.counts.system import BIG, Dimension, Structure, System, build, dimensions_of
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer

MOST_PEOPLE = 1_000  # that are listed
NOTHING_PRINTED = (
    "No cell of these tables is printed as a number: an attacker has the marks and a prior alone."
)
_ENOUGH = 10**7  # people in a cell, where nothing limits them
FINEST = 5_000  # cells whose people are looked for
SEEN = 48
"""Data sets by which groups are chosen whose limits are derived."""


@dataclass(frozen=True)
class CellLimits:
    """A published cell with the least and the most that all tables together leave it.

    Numbers of people, or multiples of the unit of a total.
    """

    cell: Cell
    low: int
    high: int | None  # None: nothing limits it
    exact: bool  # whether consistent data sets have both numbers; else the true limits are inside
    seen: tuple[int, int] | None = None  # least and most of data sets that were found; None: none

    @property
    def determined(self) -> bool:
        return self.low == self.high

    @property
    def width(self) -> float:
        """How far its limits are apart; infinite where nothing limits it."""
        return np.inf if self.high is None else self.shown(self.high - self.low)

    def shown(self, number: int) -> int | float:
        """Return people as they are, and units of a total as the total."""
        value = number if self.cell.unit is None else number * self.cell.unit
        return int(value) if value == int(value) else float(value)

    def may_be_within(self, width: float) -> bool:
        """Check whether the true limits may be less than ``width`` apart, and it is not decided.

        They are not where two data sets were found that are so far apart, whatever lies beyond.
        """
        if self.exact or self.width < width:
            return False
        return self.seen is None or self.shown(self.seen[1] - self.seen[0]) < width

    @property
    def ends(self) -> tuple[int | float, int | float | None]:
        """The least and the most, as printed."""
        return self.shown(self.low), None if self.high is None else self.shown(self.high)

    @property
    def is_hidden(self) -> bool:
        """Whether its publisher meant to hide the number."""
        return self.cell.count.kind not in ("exact", "derived")

    def to_dict(self) -> dict[str, Any]:
        """Return labels by dimension, then what is known."""
        cell, (low, high) = self.cell, self.ends
        return {
            **cell.labels,
            "file": cell.file,
            "line": cell.line,
            "column": cell.column,
            "of": "count" if cell.unit is None else "total",
            "printed": cell.printed,
            "low": low,
            "high": high,
            "determined": self.determined,
            "exact": self.exact,
        }


@dataclass(frozen=True)
class Disclosed:
    """All people of a row, or all but none, are in one category: whoever is in it is known."""

    file: str
    labels: Mapping[str, str]  # of the people
    dimension: str
    label: str
    people: int  # at least


@dataclass(frozen=True)
class TablesAudit:
    """What follows from published tables.

    Options
    -------
    cells: every published cell with its limits.
    data_sets: how many data sets are consistent, as far as they were counted; None: not at all.
    all_counted: whether there are no others.
    people: those who are determined with all their values, up to `MOST_PEOPLE`.
    determined_people: how many these are; None where that was not assessed.
    is_all_determined: whether there are no others.
    disclosed: rows whose people are all in one category.
    notes: what the numbers assume, and what was not used.
    groups: of people whom no cell prints, and whose number is known all the same.
    groups_left: which such groups were not looked at ("": none).
    """

    cells: tuple[CellLimits, ...]
    data_sets: int | None
    all_counted: bool
    people: tuple[Mapping[str, str | int], ...]
    determined_people: int | None
    is_all_determined: bool
    disclosed: tuple[Disclosed, ...]
    notes: tuple[str, ...]
    groups: tuple[CellLimits, ...] = ()
    groups_left: str = ""

    @property
    def hidden(self) -> tuple[CellLimits, ...]:
        """Cells that their publisher meant to hide."""
        return tuple(cell for cell in self.cells if cell.is_hidden)

    @property
    def narrowest(self) -> float | None:
        """The least width of the limits of a hidden cell; None: there is none."""
        width = min((cell.width for cell in self.hidden), default=np.inf)
        return None if width == np.inf else width

    def without_exact(self) -> TablesAudit:
        """Return it with limits that may be wider than necessary: not all is accounted for."""
        cells = (replace(limits, exact=limits.determined, seen=None) for limits in self.cells)
        return replace(self, cells=tuple(cells), all_counted=False, is_all_determined=False)

    def without_people(self) -> TablesAudit:
        """Return it without people and groups that are known: a label may be a total or a group."""
        less = replace(self, people=(), determined_people=None, disclosed=(), data_sets=None)
        return replace(less, groups=(), groups_left="").without_exact()

    def renamed(self, name: Callable[[Cell], Cell]) -> TablesAudit:
        """Return it with other labels of its cells."""
        cells = tuple(replace(limits, cell=name(limits.cell)) for limits in self.cells)
        return replace(self, cells=cells)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``narcissus tables --json`` prints."""
        return {
            "grade": "proved",
            "cells": [row.to_dict() for row in self.cells],
            "data_sets": self.data_sets,
            "all_counted": self.all_counted,
            "people": [dict(row) for row in self.people],
            "determined_people": self.determined_people,
            "all_determined": self.is_all_determined,
            "disclosed": [
                {
                    "file": row.file,
                    **row.labels,
                    "people": row.people,
                    "is": {row.dimension: row.label},
                }
                for row in self.disclosed
            ],
            "notes": list(self.notes),
        }


def audit_tables(
    cells: Sequence[Cell],
    structure: Structure | None = None,
    *,
    limit: int = 1_000,
    seconds: float = np.inf,
    observer: Observer = SILENT,
    sizes: SizeRule | None = None,
) -> TablesAudit:
    """Derive what published tables tell with certainty, by no prior and no assumption on people.

    Options
    -------
    cells: of all tables, from `read_published`.
    structure: hierarchies, parts of the people, unlisted categories, the variable.
    limit: data sets are counted up to here, 1 to 1e6.
    seconds: of work; limits that are not shown to be reached by then are marked, and hold, and
        data sets are counted in part.
    sizes: which groups must not be known that no cell prints; None: none is looked for.

    Raises `InputError` for tables that contradict each other, with a smallest set of cells that do.
    """
    declarations = structure or Structure()
    if not cells:
        raise InputError("there are no cells: name a table")
    if not 1 <= limit <= 1_000_000:
        raise InputError(f"`limit` must be from 1 to 1,000,000, got {limit}")
    dimensions = dimensions_of(cells, declarations)
    published_cells = cells
    cells = _with_keys(cells, dimensions, declarations)
    system = build(cells, dimensions, declarations, with_keys=True)
    deadline = monotonic() + seconds
    try:
        solved = _Solved(system, cells, deadline, observer)
        search = None
        if any(cell.statistics for cell in cells):
            search = search_people(cells, dimensions, declarations, limit=limit, deadline=deadline)
    except InfeasibleError:
        raise contradiction(cells, dimensions, declarations, deadline) from None
    observer.start("Groups, people and data sets", 0)
    notes = [
        *_notes(solved.system, search, cells, declarations.others),
        *_overlaps(cells, declarations),
    ]
    limits = solved.limits(bool(search and not search.all_found))
    limits = [
        replace(cell_limits, cell=cell)
        for cell_limits, cell in zip(limits, published_cells, strict=True)
    ]
    is_searched = search is not None and search.all_found and not solved.is_keyed
    groups: list[CellLimits] = []
    left = ""
    if sizes is not None and cells[0].unit is None:
        groups, left = solved.small_groups(dimensions, sizes, deadline)
    if cells[0].unit is not None:  # the search for people needs a variable
        count, is_all, people, many = None, False, list[dict[str, str | int]](), None
        is_all_people = False
    elif search is None:
        count, is_all = solved.count(limit, deadline)
        people, many, is_all_people = solved.determined()
    else:
        is_all = is_searched
        count = None if solved.is_keyed else len(search.data_sets)
        people, many, is_all_people = search.determined(), None, is_all
        if search.all_found:
            limits = _by_search(limits, search, is_exact=is_searched)
            many = len(people)
    return TablesAudit(
        tuple(limits),
        count,
        is_all,
        tuple(people[:MOST_PEOPLE]),
        many,
        is_all_people,
        tuple(_disclosed(limits, dimensions)) if cells[0].unit is None else (),
        tuple(notes),
        tuple(groups),
        left,
    )


def limits_of(
    cells: Sequence[Cell], structure: Structure | None = None, *, seconds: float = np.inf
) -> list[CellLimits]:
    """Derive the limits of published cells alone, without people and data sets.

    Raises `narcissus.counts.intervals.InfeasibleError` for cells that contradict each other.
    """
    declarations = structure or Structure()
    dimensions = dimensions_of(cells, declarations)
    cells = _with_keys(cells, dimensions, declarations)
    system = build(cells, dimensions, declarations, with_keys=True)
    return _Solved(system, cells, monotonic() + seconds, SILENT, people=False).limits(False)


def protected(
    cells: Sequence[Cell], chosen: Sequence[int], width: int, deadline: float = np.inf
) -> set[int]:
    """Return the chosen cells of which two consistent data sets were found to differ by ``width``.

    Of a cell that is left out, there may be such data sets, too.
    """
    dimensions = dimensions_of(cells, Structure())
    cells = _with_keys(cells, dimensions, Structure())
    system, gaps = build(cells, dimensions, Structure(), with_keys=True), gaps_of(cells)
    part = gaps.trimmed(_whole(system))
    if any(map(is_keyed, cells)):
        *_, low, high = part.ends()
        low, high = np.maximum(low, part.low), np.minimum(high, part.high)
        data_sets = KeyedDataSets(part, cells, low[: len(cells)], high[: len(cells)], deadline)
        return {at for at in chosen if data_sets.most[at] - data_sets.least[at] >= width}
    part = replace(part, most=np.minimum(part.most, part.least + _ENOUGH))
    columns, safe_cells = system.matrix.tocsc(), set[int]()
    for rows, unknowns in parts_of(part, _linked(part, gaps)) if len(chosen) else ():
        sums = columns[:, unknowns].tocsr()[chosen]
        mine = np.flatnonzero(np.diff(sums.indptr))
        if not len(rows):  # each has any of its values
            free = sums @ (part.most - part.least)[unknowns] >= width
            safe_cells |= {int(chosen[at]) for at in np.flatnonzero(free).tolist()}
        elif len(mine):
            local = distinct(restricted(part, rows, unknowns))
            no_end = np.full(len(mine), BIG)
            printable = gaps.of_part(part, unknowns) if len(gaps) else None
            solver = Solver(
                local, sums[mine], -no_end, no_end, deadline=deadline, printable=printable
            )
            is_spread = solver.spread(width)
            safe_cells |= {int(chosen[at]) for at in mine[is_spread].tolist()}
    return safe_cells


def _with_keys(
    cells: Sequence[Cell], dimensions: Mapping[str, Dimension], given: Structure
) -> list[Cell]:
    """Return cells of a cell-key table without the counts that keys of sums leave out."""
    if not any(map(is_keyed, cells)):
        return list(cells)
    matrix = build(cells, dimensions, given).matrix
    ends = matrix.indptr[: len(cells) + 1]
    rows = [frozenset(matrix.indices[a:b].tolist()) for a, b in pairwise(ends)]
    return added_up(cells, rows)


def is_keyed(cell: Cell) -> bool:
    """Check whether a key printed a cell, so that its number may be another one."""
    return cell.count.key is not None and cell.count.kind != "exact"


def gaps_of(cells: Sequence[Cell]) -> Gaps:
    """Return the cells that leave out some numbers between the least and the most."""
    rows = [at for at, cell in enumerate(cells) if cell.count.has_gaps]
    allows = [chance for at in rows if (chance := cells[at].count.chance) is not None]
    return Gaps(np.array(rows, np.int64), tuple(allows))


def _linked(part: Polytope, gaps: Gaps) -> Any:
    """Return which rows stay in a part even where they limit nothing, shape (rows,)."""
    linked = np.zeros(len(part.low), bool)
    linked[gaps.rows] = True
    return linked


def _whole(system: System) -> Polytope:
    unknowns = len(system.sizes)
    return Polytope(
        system.matrix,
        system.low,
        system.high,
        np.zeros(unknowns, np.int64),
        np.full(unknowns, BIG, np.int64),
    )


def _notes(
    system: System, found: FoundPeople | None, cells: Sequence[Cell], others: Sequence[str]
) -> list[str]:
    some = "people are" if cells[0].unit is None else "contributions are 0 or more, and are"
    names = ", ".join(f"`{visible(name)}`" for name in others)
    but = f", of all dimensions but {names}" if others else ""
    notes = [
        f"All {some} taken to have one of the labels that are shown{but} (--others declares other "
        "ones), and tables to be printed as declared."
    ]
    if all(cell.count.kind == "suppressed" for cell in cells):
        notes.insert(0, NOTHING_PRINTED)
    if not system.exact:
        notes.append(
            "The tables are too large to cross all their dimensions: limits hold, and may be wider "
            "than necessary."
        )
    if any(map(is_keyed, cells)):
        notes.append(
            "Cells of the same people are taken to have one key, in all tables. Two tables that "
            "print some people differently are taken to have different keys. A limit with a "
            "question mark may be narrower by how keys add up."
        )
    places = {statistic.places for cell in cells for statistic in cell.statistics.values()}
    if places:
        shown = " or ".join(map(str, sorted(places)))
        notes.append(
            f"Means, medians and totals are taken to be rounded to {shown} decimal(s), as the most "
            "that a table prints (--decimals declares it)."
        )
    if found is not None and not found.all_found:
        notes.append(
            f"{found.why}: limits follow from the counts alone; they hold, and may be wider than "
            "necessary."
        )
    return notes


def _overlaps(cells: Sequence[Cell], given: Structure) -> Iterator[str]:
    """Name labels of one dimension that look like ranges, and overlap."""
    labels = dict[tuple[str, str], set[str]]()
    for cell in cells:
        for name, label in cell.labels.items():
            labels.setdefault((cell.file, name), set()).add(label)
    for (file, name), some in labels.items():
        if name in given.parents or name in given.ranges or given.variable is not None:
            continue
        pieces = cut_ranges(overlapping_ranges(read_ranges([sorted(some)])))
        if pair := next((holders[:2] for holders in pieces.values() if len(holders) > 1), None):
            yield (
                f"{file}: {' and '.join(pair)} of {name} seem to overlap, and are taken to hold "
                f"different people; else declare --variable {name}=LOW:HIGH or --hierarchy."
            )


class _Solved:
    """A system whose parts are solved."""

    def __init__(
        self,
        system: System,
        cells: Sequence[Cell],
        deadline: float,
        observer: Observer,
        *,
        people: bool = True,
    ) -> None:
        observer.start("Preparing sums of cells", 0)
        self.system, self.cells, self.gaps = system, cells, gaps_of(cells)
        unknowns = len(system.sizes)
        self.part = self.gaps.trimmed(_whole(system), deadline)
        self._parts = parts_of(self.part, _linked(self.part, self.gaps))
        self._is_count = cells[0].unit is None
        self.finest = people and self._is_count and system.is_whole and unknowns <= FINEST
        singles = np.flatnonzero(system.sizes == 1) if self.finest else np.array([], np.int64)
        self._singles = singles
        targets: Any = system.matrix[: len(cells)]
        if len(singles):
            each: Any = eye_array(unknowns, dtype=np.int64, format="csr")
            targets = vstack([targets, each[singles]], format="csr")
        self._met: dict[int, Any] = {}  # a data set of a part, by the first unknown of the part
        self._points: dict[int, list[Any]] = {}  # data sets of a part
        self.observer, self.deadline = observer, deadline
        limits = self._limits_of(targets.tocsr(), deadline, len(cells), len(cells))
        self.low, self.high = limits.low, limits.high
        self.reached_low, self.reached_high = limits.reached_low, limits.reached_high
        self.is_keyed = any(map(is_keyed, cells))
        self.keyed: KeyedDataSets | None = None
        if self.is_keyed:  # without keys, nothing is reached
            many = len(cells)
            self.keyed = KeyedDataSets(
                self.part, cells, self.low[:many], self.high[:many], deadline
            )
            self.reached_low[:many] = self.keyed.least
            self.reached_high[:many] = self.keyed.most

    def _limits_of(
        self, targets: Any, deadline: float, published: int = 0, both: int | None = None
    ) -> SumLimits:
        """Derive limits of sums: the first ones are of ``published`` cells.

        Of all but the first ``both``, only the lower limit is derived; None: both of all.
        """
        part, observer = self.part, self.observer
        tied = [block for block in self._parts if len(block[0])]
        loose = np.ones(len(part.least), np.int64)  # all others have any of their values
        loose[np.concatenate([[], *(block[1] for block in tied)]).astype(np.int64)] = 0
        low = targets @ (loose * part.least)
        high = np.minimum(targets @ (loose * part.most), BIG)
        limits = SumLimits(low, high, low.copy(), high.copy())
        columns, work = targets.tocsc(), []
        for rows, unknowns in tied:
            local = columns[:, unknowns].tocsr()
            mine = np.flatnonzero(np.diff(local.indptr))
            work.append((rows, unknowns, local[mine], mine))
        observer.start(
            f"Limits of cells{_at_most(deadline)}", sum(2 * len(block[3]) for block in work)
        )
        for rows, unknowns, sums, mine in work:
            solver = self._solver(rows, unknowns, sums, mine[mine < published], deadline)
            known = self._points.setdefault(int(unknowns[0]), [])
            for point in known:
                solver.meet(point)
            only_low = [] if both is None else np.flatnonzero(mine >= both).tolist()
            part_limits = solver.settle(observer, only_low)
            self._met[int(unknowns[0])] = solver.met
            known += solver.points
            limits.low[mine] += part_limits.low
            limits.high[mine] = np.minimum(limits.high[mine] + part_limits.high, BIG)
            limits.reached_low[mine] = np.minimum(
                limits.reached_low[mine] + part_limits.reached_low, BIG
            )
            limits.reached_high[mine] += part_limits.reached_high
        if (limits.low > limits.high).any():  # both are proved
            raise InfeasibleError
        observer.finish()
        return limits

    def _solver(
        self, rows: Any, unknowns: Any, sums: Any, published: Sequence[int], deadline: float
    ) -> Solver:
        """Return what solves sums of one part, of which the first ones are published cells."""
        part = self.part
        local = restricted(part, rows, unknowns)
        low = np.full(sums.shape[0], -BIG)
        high = np.full(sums.shape[0], BIG)
        # a row that still limits is in one part, with what the row itself says
        place = {int(row): at for at, row in enumerate(rows)}
        for at, target in enumerate(published):
            if int(target) in place:
                low[at] = local.low[place[int(target)]]
                high[at] = local.high[place[int(target)]]
        printable = self.gaps.of_part(part, unknowns) if len(self.gaps) else None
        return Solver(
            distinct(local),
            sums,
            low,
            high,
            deadline=deadline,
            whole=self._is_count,
            printable=printable,
        )

    def points(self, many: int) -> Any:
        """Return some data sets, shape (data sets, unknowns); none where a part has none."""
        part = self.part
        if self.keyed is not None:
            return np.array(self.keyed.points[:many]).reshape(-1, len(part.least))
        points = np.repeat(part.least[None], many, axis=0)
        # the unknowns that nothing ties: at both ends
        points[1::2] = np.minimum(part.most, part.least + LARGEST_SMALL)
        for rows, unknowns in self._parts:
            if not len(rows):
                continue
            known = self._points.get(int(unknowns[0]), [])
            if not known:
                return points[:0]
            at = np.linspace(0, len(known) - 1, many).round().astype(int)
            points[:, unknowns] = np.array(known)[at]
        return points

    def _inhabited(self, points: Any, deadline: float) -> Any:
        """Return which unknowns may hold people, shape (unknowns,)."""
        alive = self.part.most > 0
        unseen = np.flatnonzero(alive & (points.max(axis=0) == 0))
        limits = self._limits_of(
            indicators([(at,) for at in unseen.tolist()], len(alive)), deadline
        )
        alive[unseen] = limits.high > 0
        return alive

    def small_groups(
        self, dimensions: Mapping[str, Dimension], rule: SizeRule, deadline: float
    ) -> tuple[list[CellLimits], str]:
        """Derive which groups that no cell prints are known; also return what was left out."""
        points = self.points(SEEN)
        if not len(points):
            return (
                [],
                "Time ran out before a data set was found, so unprinted groups were not looked at.",
            )
        alive, groups = self._inhabited(points, deadline), list[Candidate]()
        for block in range(len(self.system.blocks)):
            crossing = Crossing(self.cells, dimensions, self.system, block, points, rule, alive)
            if crossing.boxes > MOST_BOXES:
                return [], "The tables have too many labels: unprinted groups were not looked at."
            groups += crossing.candidates(deadline)
        if monotonic() > deadline:
            return [], "Time ran out before unprinted groups were looked at."
        sets = [*(group.inside for group in groups), *(group.touched for group in groups)]
        limits = self._limits_of(indicators(sets, len(self.system.sizes)), deadline)
        known: list[CellLimits] = []
        is_open = 0
        for at, group in enumerate(groups):
            low, high = int(limits.low[at]), int(limits.high[at + len(groups)])
            if rule.is_broken(low, high):
                cell = Cell(
                    group.file, 0, "count", "", group.labels, Meaning(low, high, "difference")
                )
                known.append(CellLimits(cell, low, high, low == high))
                continue
            smallest, largest = (
                int(limits.reached_low[at]),
                int(limits.reached_high[at + len(groups)]),
            )
            if self.keyed is not None:
                smallest, largest = self.keyed.ends_of(group.inside, group.touched, rule.width)
            is_open += largest - smallest < rule.width and smallest >= 1 and smallest < rule.below
        note = f"Whether {is_open:,} unprinted groups are known was not settled." if is_open else ""
        return known, note

    def limits(self, is_partial: bool) -> list[CellLimits]:
        """Return the limits of published cells; ``is_partial``: other rules may narrow them."""
        cell_limits: list[CellLimits] = []
        for at, cell in enumerate(self.cells):
            low, high = int(self.low[at]), int(self.high[at])
            if cell.count.has_gaps and cell.count.chance is not None:
                low, high = trimmed_ends(low, high, cell.count.chance)
            no_end = high >= BIG // 2
            reached = self.reached_low[at] == low and (no_end or self.reached_high[at] == high)
            are_data_sets = self.system.exact and not is_partial
            exact = bool(reached and are_data_sets)
            seen = int(self.reached_low[at]), int(self.reached_high[at])
            cell_limits.append(
                CellLimits(
                    cell,
                    low,
                    None if no_end else high,
                    exact or low == high,
                    seen if are_data_sets and seen[0] <= seen[1] else None,
                )
            )
        return cell_limits

    def count(self, limit: int, deadline: float) -> tuple[int | None, bool]:
        """Count data sets up to the limit and until the deadline, and say whether these are all.

        Where cliques are crossed, each set counted stands for one data set or more; where tables
        are, some stand for none, and nothing is counted.
        """
        if not self.system.exact or len(self.gaps) or self.is_keyed:
            return None, False
        part, sizes, steps = self.part, self.system.sizes, Steps(deadline=deadline)
        settled = part.least == part.most
        total = weight(part.least[settled], sizes[settled])
        is_all = self.system.is_whole
        for rows, unknowns in self._parts:
            if total > limit:
                break
            many, all_of_it = count_part(
                restricted(part, rows, unknowns),
                sizes[unknowns],
                limit,
                steps,
                self._met.get(int(unknowns[0])),
            )
            if not many and monotonic() > deadline:  # perhaps there is none
                return None, False
            total *= max(many, 1)
            is_all = is_all and all_of_it
        is_all = is_all and total <= limit
        return (total, True) if is_all else (max(1, min(total, limit)), False)

    def determined(self) -> tuple[list[dict[str, str | int]], int | None, bool]:
        """List people who are determined with all their labels, count them: whether all of them.

        They are the people of finest cells whose number is known. Of a cell of 1 to 4 people,
        nobody is determined.
        """
        if not self.finest:
            return [], None, False
        lows = self.low[len(self.cells) :]
        some = np.flatnonzero(lows > 0)
        sets = [(at,) for at in self._singles[some].tolist()]
        limits = self._limits_of(indicators(sets, len(self.system.sizes)), self.deadline)
        known = np.maximum(limits.low, lows[some])
        is_known = known == limits.high
        people: list[dict[str, str | int]] = []
        for at, number in zip(self._singles[some[is_known]], known[is_known], strict=True):
            many = min(int(number), MOST_PEOPLE - len(people))
            people += [{**self.system.names[at]} for _ in range(many)]
        is_open = (self.reached_low[len(self.cells) :] > lows).any()
        is_open |= (limits.reached_high[~is_known] <= limits.reached_low[~is_known]).any()
        return (
            people,
            int(known[is_known].sum()),
            bool(self.system.exact and not is_open and not self.is_keyed),
        )


def _at_most(deadline: float) -> str:
    """Say how long a stage may last; empty: nothing limits it."""
    seconds = deadline - monotonic()
    if seconds == np.inf:
        return ""
    return f" (at most {max(0, seconds):,.0f} seconds; --seconds sets how long)"


def _by_search(
    limits: Sequence[CellLimits], found: FoundPeople, *, is_exact: bool
) -> list[CellLimits]:
    """Narrow limits to what all data sets have; keys may leave out some of these."""
    return [
        replace(
            cell_limits,
            low=max(low, cell_limits.low),
            high=high if cell_limits.high is None else min(high, cell_limits.high),
            exact=is_exact,
            seen=None,
        )
        for cell_limits, (low, high) in zip(limits, found.limits(), strict=True)
    ]


def _disclosed(
    limits: Sequence[CellLimits], dimensions: Mapping[str, Dimension]
) -> list[Disclosed]:
    """Find rows of a table with people in one category alone, by limits of all tables."""
    tables: dict[tuple[str, frozenset[str], str], list[CellLimits]] = {}
    for cell_limits in limits:
        labels = cell_limits.cell.labels
        for dimension in labels:
            rest = frozenset(f"{k}={v}" for k, v in labels.items() if k != dimension)
            tables.setdefault((cell_limits.cell.file, rest, dimension), []).append(cell_limits)
    disclosures: list[Disclosed] = []
    for (file, _, dimension), row in tables.items():
        leaf_sets = [
            dimensions[dimension].holds[cell_limits.cell.labels[dimension]] for cell_limits in row
        ]
        leaves = [leaf for some in leaf_sets for leaf in some.tolist()]
        if sorted(leaves) != list(range(len(dimensions[dimension].leaves))) or len(row) < 2:
            continue  # not all categories, or overlapping ones
        some = [
            cell_limits for cell_limits in row if cell_limits.high is None or cell_limits.high > 0
        ]
        if len(some) == 1 and some[0].low > 0:
            labels = {k: v for k, v in some[0].cell.labels.items() if k != dimension}
            disclosures.append(
                Disclosed(file, labels, dimension, some[0].cell.labels[dimension], some[0].low)
            )
    return disclosures
