"""People whose row was changed by a rule of that row: a code table, a mirror, a shift.

A rule that holds for a part of the rows alone shows in no count of values, and two rules for two
halves of the rows show in none either. What a rule leaves as it is is compared instead: which
columns of a row have the same value, where one table carries each value to another; how far
numbers are from the middle of their scale, where some are mirrored; and how far the numbers of a
row are from their median, where all of them are moved alike. Nothing is fitted, so people who have
this in common with one another limit coincidences, as they do for rows as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from narcissus.synthetic.changes import CHANGED_ERROR, ChangedPeople, most_people
from narcissus.synthetic.column_sets import most_meeting
from narcissus.synthetic.copies import Copies, Views, copies_by, copies_on
from narcissus.synthetic.full_files import MOST_CODED, WholeColumn, WholeFiles
from narcissus.tables.spelling import Value

Positions = NDArray[np.int64]
Numbers = NDArray[np.float64]
FEWEST_ALIKE = 5
"""Fewest columns of one scale that a rule changes together."""
MOST_ALIKE = 200
"""Most columns of one scale that are compared."""
_COMMON = 0.6  # share of the values of two columns that both have, where these are of one scale
_DIGITS = 9  # that numbers are compared by


@dataclass(frozen=True)
class _ChangedRows:
    words: str
    columns: tuple[str, ...]
    plain: WholeFiles  # the columns as they are
    files: WholeFiles  # what the rule leaves of them


def look_by_row(
    files: WholeFiles,
    sides: tuple[Positions, Positions],
    like: Copies,
    rng: np.random.Generator,
) -> ChangedPeople | None:
    """Return the people whose row was changed by their own rules, where these are too many."""
    if not len(sides[0]) or files.is_large:
        return None
    return most_people(_changed_people(files, sides, like, rng))


def _changed_people(
    files: WholeFiles,
    sides: tuple[Positions, Positions],
    like: Copies,
    rng: np.random.Generator,
) -> Iterator[ChangedPeople]:
    """Yield the people of each rule by which more are there than as they are, or by chance."""
    ours = sides[0]
    ways = list(_ways(replace(files, columns=(*files.columns, *files.otherwise)), ours))
    error = CHANGED_ERROR / (2 * max(1, len(ways)))
    for way in ways:
        views = Views(way.files, rng)
        copies = copies_by(views, ours, like)
        coincidences = max(copies.most_coincidences(error), most_meeting(views, ours, error))
        plain = Views(way.plain, rng)
        as_they_are = copies_on(plain, ours, range(len(plain.fine))).standing
        if copies.standing - max(as_they_are, like.standing) > coincidences:
            yield ChangedPeople.of(way.words, way.columns, copies, views, sides)


def _ways(files: WholeFiles, ours: Positions) -> Iterator[_ChangedRows]:
    """Yield what each rule leaves of the columns of a scale, next to all others and alone."""
    for group in scales(files, ours):
        for words, changed in _rules(files, group, ours):
            names = tuple(files.names[j] for j in group)
            each = (changed.get(j, column) for j, column in enumerate(files.columns))
            whole = replace(files, columns=tuple(each))
            yield _ChangedRows(words, names, files.select(names), whole.select(names))
            if len(names) < len(files.names):
                yield _ChangedRows(words, names, files, whole)


def _rules(
    files: WholeFiles, group: Sequence[int], ours: Positions
) -> Iterator[tuple[str, dict[int, WholeColumn]]]:
    """Yield the words for each rule, and what it leaves of the columns."""
    columns = [files.columns[j] for j in group]
    firsts = first_alike(columns)
    bare = [replace(column, numbers=None, cover=None) for column in columns]
    yield (
        "recoded row by row",
        {j: replace(c, codes=f) for j, c, f in zip(group, bare, firsts.T, strict=True)},
    )
    if any(column.numbers is None for column in columns):
        return
    values = np.column_stack([c.numbers[c.codes] for c in columns if c.numbers is not None])
    here = values[ours]
    if not np.isfinite(here).any(axis=0).all():
        return
    middle = (np.nanmin(here, axis=0) + np.nanmax(here, axis=0)) / 2
    median = np.sort(values, axis=1)[:, values.shape[1] // 2]
    left = {
        "mirrored row by row": np.abs(values - middle),
        "moved row by row": values - median[:, None],
    }
    for words, numbers in left.items():
        yield (
            words,
            {j: _of_numbers(c, n) for j, c, n in zip(group, bare, numbers.T, strict=True)},
        )


def _of_numbers(base: WholeColumn, numbers: Numbers) -> WholeColumn:
    codes = np.unique(np.round(numbers, _DIGITS), return_inverse=True)[1]
    return replace(base, codes=codes.ravel().astype(np.int64))


def scales(files: WholeFiles, ours: Positions) -> list[list[int]]:
    """Return the columns of few values that have most of these in common, group by group."""
    groups: list[tuple[set[Value | None], list[int]]] = []
    for j, column in enumerate(files.columns):
        there = np.unique(column.codes[ours])
        if column.names_people or column.counts or not 3 <= len(there) <= MOST_CODED:
            continue
        if not column.values:
            continue
        values = {column.values[at] for at in there.tolist()}
        for known, group in groups:
            if len(known & values) >= _COMMON * len(known | values) and len(group) < MOST_ALIKE:
                group.append(j)
                break
        else:
            groups.append((values, [j]))
    return [group for _, group in groups if len(group) >= FEWEST_ALIKE]


def first_alike(columns: Sequence[WholeColumn]) -> Positions:
    """Return, for each row and column, the first column of the row that has the same value.

    Shape (rows, columns). Any table that carries values one to one leaves it as it is.
    """
    place: dict[Value | None, int] = {}
    each = np.column_stack(
        [
            np.array([place.setdefault(value, len(place)) for value in column.values])[column.codes]
            for column in columns
        ]
    )
    firsts = np.tile(np.arange(len(columns)), (len(each), 1))
    for k in range(len(columns) - 1, 0, -1):
        for j in range(k - 1, -1, -1):
            firsts[each[:, j] == each[:, k], k] = j
    return firsts
