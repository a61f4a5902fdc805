"""People whose numbers appear in the file mirrored, or under each other's names.

Answers from 1 to 5 may be turned to those from 5 to 1, and questions may change their names. Copies
are sought again with all numbers of the file mirrored at the middle of the data's range, with each
of them alone, and with columns of the same values exchanged so that their shares fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.synthetic.changes import CHANGED_ERROR, ChangedPeople, most_people
from narcissus.synthetic.column_sets import look_at_sets
from narcissus.synthetic.copies import Copies, Views, copies_on
from narcissus.synthetic.full_files import WholeColumn, WholeFiles
from narcissus.synthetic.near_copies import NearerPeople, nearer_people

Positions = NDArray[np.int64]
Numbers = NDArray[np.float64]
MOST_ALONE = 40
"""Most columns that are mirrored each by itself."""
_FEWEST_VALUES = 3
_MOST_TOGETHER = 20  # columns of which all sets are counted
_FEW_VALUES = 12  # of a scale of answers
_DIGITS = 9  # that numbers are compared by
_LEAST = 4


@dataclass(frozen=True)
class _Way:
    words: str
    columns: tuple[str, ...]
    files: WholeFiles  # as it would be, the columns that are compared alone


def look_mirrored(
    files: WholeFiles,
    sides: tuple[Positions, Positions],
    like: Copies,
    rng: np.random.Generator,
) -> ChangedPeople | None:
    """Return the people who appear in the file mirrored or exchanged, where these are too many."""
    if not len(sides[0]) or files.is_large:
        return None
    return most_people(_mirrored_people(files, sides, like, rng)) or _some_mirrored(
        files, sides, rng
    )


def _mirrored_people(
    files: WholeFiles,
    sides: tuple[Positions, Positions],
    like: Copies,
    rng: np.random.Generator,
) -> Iterator[ChangedPeople]:
    """Yield the people of each way of mirroring or exchanging by which too many are there."""
    ours = sides[0]
    ways = list(_ways(files, ours))
    for way in ways:
        views = Views(way.files, rng)
        copies = copies_on(views, ours, range(len(views.fine)))
        if copies.standing > max(_LEAST, _most(copies, CHANGED_ERROR / len(ways)), like.standing):
            yield ChangedPeople.of(way.words, way.columns, copies, views, sides)


def _some_mirrored(
    files: WholeFiles, sides: tuple[Positions, Positions], rng: np.random.Generator
) -> ChangedPeople | None:
    """Return the people who appear in the file by some columns, all of them mirrored."""
    some = _numeric(files, sides[0])
    if not 2 < len(some) <= _MOST_TOGETHER:
        return None
    changed = _changed(files, {j: mirrored(files, j) for j in some})
    changed = changed.select([files.names[j] for j in some])
    for each in look_at_sets(changed, Views(changed, rng), sides, rng).striking:
        counts = each.unique, each.standing, each.expected, each.beside
        return ChangedPeople("mirrored", each.columns, *counts)
    return None


def nearer_mirrored(
    files: WholeFiles, views: Views, sides: tuple[Positions, Positions], rng: np.random.Generator
) -> NearerPeople | None:
    """Return the people to whom a row is far nearer after all numbers were mirrored together."""
    some = _numeric(files, sides[0])
    if not some or files.is_large:
        return None
    changed = _changed(files, {j: mirrored(files, j) for j in some})
    return nearer_people(changed, Views(changed, rng), sides)


def _most(copies: Copies, error: float) -> float:
    return max(copies.most_coincidences(error), copies.most_of_any_law(error))


def _numeric(files: WholeFiles, ours: Positions) -> list[int]:
    """Return the columns of numbers that have a scale."""
    return [
        j
        for j, column in enumerate(files.columns)
        if column.numbers is not None
        and not (column.names_people or column.counts)
        and len(np.unique(column.codes[ours])) >= _FEWEST_VALUES
    ]


def _ways(files: WholeFiles, ours: Positions) -> Iterator[_Way]:
    """Yield the files with columns changed, and with these alone where all others differ."""
    some = _numeric(files, ours)
    turned = {j: mirrored(files, j) for j in some}
    if some:
        yield from _both("mirrored", files, turned)
    for group in _scales(files, some, ours):
        if 1 < len(group) < len(some):
            yield from _both("mirrored", files, {j: turned[j] for j in group})
    if len(some) > 1:
        for j in some[:MOST_ALONE]:
            changed = _changed(files, {j: turned[j]})
            yield _Way("mirrored", (files.names[j],), changed)
    for words, is_turned in (("exchanged", False), ("exchanged and mirrored", True)):
        exchanged = _exchanged(files, some, ours, turned if is_turned else None)
        if exchanged:
            yield from _both(words, files, exchanged)


def _scales(files: WholeFiles, some: list[int], ours: Positions) -> list[list[int]]:
    """Return the columns of each scale of few numbers, and all others."""
    scales: dict[tuple[float, ...], list[int]] = {}
    for j in some:
        numbers = files.columns[j].numbers
        assert numbers is not None
        here = numbers[np.unique(files.columns[j].codes[ours])]
        ends = (float(np.nanmin(here)), float(np.nanmax(here)))
        scales.setdefault(ends if len(here) <= _FEW_VALUES else (), []).append(j)
    return list(scales.values())


def _both(words: str, files: WholeFiles, columns: dict[int, WholeColumn]) -> Iterator[_Way]:
    """Yield the changed columns next to all others, and the changed ones by themselves."""
    names = tuple(files.names[j] for j in columns)
    changed = _changed(files, columns)
    yield _Way(words, names, changed)
    if 1 < len(names) < len(files.names):
        yield _Way(words, names, changed.select(names))


def _changed(files: WholeFiles, columns: dict[int, WholeColumn]) -> WholeFiles:
    each = (columns.get(j, column) for j, column in enumerate(files.columns))
    return replace(files, columns=tuple(each))


def mirrored(files: WholeFiles, column: int) -> WholeColumn:
    """Return a column with the file's numbers mirrored at the middle of the data's range."""
    base = files.columns[column]
    assert base.numbers is not None
    numbers = base.numbers[base.codes].copy()
    here = numbers[files.rows("real")]
    made = files.rows("synthetic")
    numbers[made] = np.nanmin(here) + np.nanmax(here) - numbers[made]
    return _of_numbers(base, numbers)


def _of_numbers(base: WholeColumn, numbers: Numbers) -> WholeColumn:
    values, codes = np.unique(np.round(numbers, _DIGITS), return_inverse=True)
    return replace(base, codes=codes.ravel().astype(np.int64), numbers=values, cover=None)


def _exchanged(
    files: WholeFiles, some: list[int], ours: Positions, turned: dict[int, WholeColumn] | None
) -> dict[int, WholeColumn]:
    """Return columns of like ranges with the file's values of those whose shares fit best.

    turned: The columns with the file's numbers mirrored, where these are exchanged.
    """
    made = files.rows("synthetic")
    changed: dict[int, WholeColumn] = {}
    for group in _scales(files, some, ours):
        theirs = [(turned or {}).get(j, files.columns[j]) for j in group]
        here = [_shares(files.columns[j], ours) for j in group]
        there = [_shares(column, made) for column in theirs]
        apart = np.array([[scipy.stats.wasserstein_distance(a, b) for b in there] for a in here])
        fits: tuple[NDArray[np.int64], NDArray[np.int64]]
        fits = scipy.optimize.linear_sum_assignment(apart)
        for j, k in zip(*(side.tolist() for side in fits), strict=True):
            if j != k:
                base = files.columns[group[j]]
                assert base.numbers is not None
                column = theirs[k]
                assert column.numbers is not None
                numbers = base.numbers[base.codes].copy()
                numbers[made] = column.numbers[column.codes[made]]
                changed[group[j]] = _of_numbers(base, numbers)
            elif turned is not None:
                changed[group[j]] = turned[group[j]]
    is_so = turned is not None and all(changed.get(j) is turned[j] for j in changed)
    return {} if is_so else changed


def _shares(column: WholeColumn, rows: Positions) -> Numbers:
    assert column.numbers is not None
    numbers = column.numbers[column.codes[rows]]
    finite = numbers[np.isfinite(numbers)]
    return finite if len(finite) else np.zeros(1)
