"""People whose values appear in the file under other codes: 1 to 5 in another order, AA for 0.

A code table carries each value of a column to one of another set. Of columns of few values it is
sought from counts alone, and from what columns have in common: values that as many rows have,
values that appears next to the same values of another column, and one table for all columns of the
same values. Copies are counted under each table that was sought. Any table makes some people
appear in the file, so as many are expected as are in it by tables that are sought in the same way
for files whose columns were shuffled among rows, and as pairs of people explain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.synthetic.changes import CHANGED_ERROR, ChangedPeople, most_people
from narcissus.synthetic.copies import Copies, Views, copies_on
from narcissus.synthetic.full_files import MOST_CODED, WholeColumn, WholeFiles

Positions = NDArray[np.int64]
Numbers = NDArray[np.float64]
Table = NDArray[np.int64]  # of each value of the file, the value of the data that it stands for
RECODED = "recoded"
MOST_RECODED = 200
"""Most columns whose code tables are sought."""
MOST_BUT_ONE = 10
"""Most columns next to recoded ones of which each is left out by itself."""
_ANCHORS = 12  # columns beside whose values those of another are compared
_FEWEST = 20  # people and rows
_LEAST = 4  # copies
_ROUNDS = 5  # in which tables are fitted to each other
_CLEAR = 4.0  # by which a table fits better than with two values exchanged, in squares of errors


@dataclass(frozen=True)
class _Codes:
    """A column of few values: codes of people and of rows, and how often each value is there."""

    column: int  # its place
    people: Positions  # codes from 0, shape (people,)
    rows: Positions
    values: tuple[Positions, Positions]  # the codes behind these, of people and of rows

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.values[0]), len(self.values[1])


@dataclass(frozen=True)
class _FittedTables:
    """A table for each column, and by how much it fits better than with two values exchanged."""

    tables: Sequence[Table]
    margins: Sequence[float]


def look_recoded(
    files: WholeFiles,
    sides: tuple[Positions, Positions],
    like: Copies,
    rng: np.random.Generator,
) -> ChangedPeople | None:
    """Return the people who appear in the file under other codes, where these are too many."""
    if files.is_large or min(len(sides[0]), len(files.rows("synthetic"))) < _FEWEST:
        return None
    return most_people(_recoded_people(files, sides, like, rng))


def _recoded_people(
    files: WholeFiles,
    sides: tuple[Positions, Positions],
    like: Copies,
    rng: np.random.Generator,
) -> Iterator[ChangedPeople]:
    """Yield the people of each set of recoded columns by which too many are there."""
    ours = sides[0]
    files = replace(files, columns=(*files.columns, *files.otherwise))
    columns = _few(files, ours, files.rows("synthetic"))
    ways = list(_ways(files, columns))
    error = CHANGED_ERROR / (2 * max(1, len(ways)))
    chance: float | None = None
    for names, some in ways:
        views = Views(some, rng)
        copies = copies_on(views, ours, range(len(views.fine)))
        if copies.standing <= max(_LEAST, copies.most_coincidences(error), like.standing):
            continue
        chance = _by_chance(files, columns, ours, rng) if chance is None else chance
        if copies.standing > scipy.stats.poisson.isf(error, chance + 2 * np.sqrt(chance + 1)):
            yield ChangedPeople.of(RECODED, names, copies, views, sides, expected=chance)


def _by_chance(
    files: WholeFiles, columns: Sequence[_Codes], ours: Positions, rng: np.random.Generator
) -> float:
    """Return how many people are in a file by tables that are sought for shuffled columns."""
    shuffled = [replace(each, rows=rng.permutation(each.rows)) for each in columns]
    counts = [0]
    for _, some in _ways(files, shuffled):
        views = Views(some, rng)
        counts.append(copies_on(views, ours, range(len(views.fine))).standing)
    return float(max(counts))


def _few(files: WholeFiles, ours: Positions, rows: Positions) -> list[_Codes]:
    """Return the columns of few values."""
    few: list[_Codes] = []
    for j, column in enumerate(files.columns):
        if column.names_people or column.counts:
            continue
        here, people = np.unique(column.codes[ours], return_inverse=True)
        there, made = np.unique(column.codes[rows], return_inverse=True)
        if min(len(here), len(there)) >= 2 and max(len(here), len(there)) <= MOST_CODED:
            few.append(_Codes(j, people.ravel(), made.ravel(), (here, there)))
    return few[:MOST_RECODED]


def _ways(
    files: WholeFiles, columns: Sequence[_Codes]
) -> Iterator[tuple[tuple[str, ...], WholeFiles]]:
    """Yield the names of recoded columns, and the files with the values that these stand for.

    First with one table for all columns of the same values, then with one for each column. Where
    the table of a column is not clear, the others are compared without it, too.
    """
    seen: list[list[Table]] = []
    for is_common in (True, False):
        groups = _groups(columns) if is_common else [[each] for each in columns]
        fitted = _fitted(columns, groups)
        is_known = any(
            all((a == b).all() for a, b in zip(fitted.tables, other, strict=True)) for other in seen
        )
        if is_known:
            continue
        seen.append(list(fitted.tables))
        is_clear = [margin >= _CLEAR for margin in fitted.margins]
        for some in ([True] * len(columns), is_clear)[: 1 + (not all(is_clear))]:
            names = tuple(
                files.names[each.column]
                for each, table, is_in in zip(columns, fitted.tables, some, strict=True)
                if is_in and not _is_as_it_is(each, table)
            )
            if names:
                left = {
                    files.names[c.column]
                    for c, is_in in zip(columns, some, strict=True)
                    if not is_in
                }
                names_left = [name for name in files.names if name not in left]
                recoded = _recoded(files, columns, fitted.tables)
                yield from ((names, recoded.select(some)) for some in _kept(names, names_left))


def _kept(names: Sequence[str], left: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield columns by which people are sought: all, recoded ones alone, all but each other one.

    Next to recoded columns others may be synthetic.
    """
    yield left
    others = [name for name in left if name not in names]
    if others and len(names) > 1:
        yield names
    if 1 < len(others) <= MOST_BUT_ONE:
        yield from ([name for name in left if name != other] for other in others)


def _groups(columns: Sequence[_Codes]) -> list[list[_Codes]]:
    """Return the columns of the same values, of people and of rows."""
    groups: dict[tuple[bytes, bytes], list[_Codes]] = {}
    for each in columns:
        groups.setdefault((each.values[0].tobytes(), each.values[1].tobytes()), []).append(each)
    return list(groups.values())


def _fitted(columns: Sequence[_Codes], groups: Sequence[Sequence[_Codes]]) -> _FittedTables:
    """Fit a table to each group: by counts, then by what appears next to other columns' values."""
    place = {each.column: k for k, each in enumerate(columns)}
    tables: list[Table] = [np.zeros(0, np.int64)] * len(columns)
    margins = [0.0] * len(columns)
    order = sorted(groups, key=_telling, reverse=True)
    anchors = sorted(columns, key=lambda each: _telling([each]), reverse=True)[: _ANCHORS + 1]
    for number in range(1 + _ROUNDS):
        before = list(tables)
        for group in order:
            apart = np.zeros(group[0].sizes[::-1])
            for each in group:
                apart += _by_counts(each)
                for anchor in (a for a in anchors if number and a.column != each.column):
                    apart += _by_anchor(each, anchor, tables[place[anchor.column]])
            table, margin = _assigned(apart)
            for each in group:
                tables[place[each.column]], margins[place[each.column]] = table, margin
        if number and all((a == b).all() for a, b in zip(before, tables, strict=True)):
            break
    return _FittedTables(tables, margins)


def _telling(group: Sequence[_Codes]) -> float:
    """Return how far the counts of values lie apart: tables of these are surest."""
    counts = np.sort(np.bincount(group[0].people))
    return float(np.diff(counts).min(initial=len(group[0].people))) * len(group)


def _shares(codes: Positions, size: int) -> Numbers:
    return np.bincount(codes, minlength=size) / len(codes)


def _by_counts(each: _Codes) -> Numbers:
    """Return how far the shares of two values lie apart, in squares of standard errors."""
    here, there = (
        _shares(side, n) for side, n in zip((each.people, each.rows), each.sizes, strict=True)
    )
    both = (here + there[:, None]) / 2
    spread = both * (1 - both) * (1 / len(each.people) + 1 / len(each.rows))
    return (there[:, None] - here) ** 2 / np.maximum(spread, 1e-12)


def _by_anchor(each: _Codes, anchor: _Codes, table: Table) -> Numbers:
    """Return how far two values lie apart in what appears next to them in another column."""
    size = anchor.sizes[0] + 1  # the last: values of the file that stand for none
    here = _crossed(each.people, anchor.people, each.sizes[0], size)
    there = _crossed(each.rows, table[anchor.rows], each.sizes[1], size)[:, None]
    many = 1 / len(each.people) + 1 / len(each.rows)
    both = (here * len(each.people) + there * len(each.rows)) / (len(each.people) + len(each.rows))
    spread = np.maximum(both * (1 - both) * many, many / (len(each.people) + len(each.rows)))
    return ((there - here) ** 2 / spread).sum(axis=2)


def _crossed(codes: Positions, others: Positions, size: int, width: int) -> Numbers:
    cells = np.bincount(codes * width + others, minlength=size * width)
    return cells.reshape(size, width) / len(codes)


def _assigned(apart: Numbers) -> tuple[Table, float]:
    """Return the value of the data for each value of the file, where all together fit best.

    Next to it by how much that fits better than with two values exchanged.
    """
    rows: Positions
    values: Positions
    rows, values = scipy.optimize.linear_sum_assignment(apart)
    table = np.full(apart.shape[0], apart.shape[1], np.int64)
    table[rows] = values
    fits = apart[rows][:, values]
    diagonal = np.diag(fits)
    worse = fits + fits.T - diagonal - diagonal[:, None]
    return table, float(worse[~np.eye(len(rows), dtype=np.bool_)].min(initial=np.inf))


def _is_as_it_is(each: _Codes, table: Table) -> bool:
    """Check whether a table carries every value to itself, and only what is new to nothing."""
    carried = np.append(each.values[0], -1)[table]
    is_new = (carried < 0) & ~np.isin(each.values[1], each.values[0])
    return bool((is_new | (carried == each.values[1])).all())


def _recoded(files: WholeFiles, columns: Sequence[_Codes], tables: Sequence[Table]) -> WholeFiles:
    """Return the files with values of the file as those of the data that they stand for."""
    made = files.rows("synthetic")
    changed: list[WholeColumn] = list(files.columns)
    for each, table in zip(columns, tables, strict=True):
        base = files.columns[each.column]
        codes = base.codes.copy()
        meant = np.append(each.values[0], int(codes.max()) + 1)
        codes[made] = meant[table][each.rows]
        changed[each.column] = replace(base, codes=codes, numbers=None, cover=None)
    return replace(files, columns=tuple(changed))
