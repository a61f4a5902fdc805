"""People of whom a row of the file has nearly the numbers, and all else: a year more, an odd sum.

Where all rows of a file are moved so, nearest records show it. Where a part of them is, rows of the
others hide it, unless each row is held against people who are like it in all else. Chance puts as
many rows beside people when each row has the finest of its numbers from a row that has about the
same; and people of the data stand as near to one another. The larger of both is expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.copies import BesideMoves, Copies, Views
from narcissus.synthetic.whole import WholeFiles

Positions = NDArray[np.int64]
Numbers = NDArray[np.float64]
EXPECTED = (0.5, 2.0, 8.0)
"""Rows that chance puts so near a person, for each of the distances that are tried."""
_NEAREST = (0.02, 0.05, 0.15)  # share of the people of data and control who are called near
_MOVES = (-0.06, -0.05, -0.04, -0.03, -0.02, 0.02, 0.03, 0.04, 0.05, 0.06)  # of the rows
_SPREAD = 20  # fewest different values of a column of which some are near
_FEWEST = 20  # people and rows
_FAR = 10.0  # between people who differ in another column: distances are up to 1


@dataclass(frozen=True)
class _Places:
    """Where people and rows stand: their numbers as shares of the people who have less."""

    people: Numbers  # shape (people, columns and one)
    others: Numbers
    rows: Numbers
    finest: int


def nearly_copied(
    files: WholeFiles,
    views: Views,
    sides: tuple[Positions, Positions],
    like: Copies,
) -> Iterator[tuple[BesideMoves, TwoSamples | None]]:
    """Yield the people whom a row is nearly, at each of some distances, and beside the control."""
    places = _placed(files, views, sides)
    if places is None:
        return
    people = scipy.spatial.cKDTree(places.people)
    apart, who = _nearest(people, places.rows)
    order = np.argsort(places.rows[:, places.finest], kind="stable")
    moved: list[tuple[Numbers, Positions]] = []
    for share in _MOVES:
        rows = places.rows.copy()
        by = int(np.sign(share)) * max(2, round(abs(share) * len(rows)))
        rows[order, places.finest] = rows[np.roll(order, by), places.finest]
        moved.append(_nearest(people, rows))
    found: Any = people.query(places.people, k=2, p=np.inf, distance_upper_bound=1.0)
    between = np.asarray(found[0], np.float64)[:, 1]
    chance = np.sort(np.concatenate([one for one, _ in moved]))
    own = np.sort(between)
    many, rows = len(places.people), len(places.rows)
    for number, expected in enumerate(EXPECTED):
        reach = min(
            float(chance[min(len(chance) - 1, int(expected * len(_MOVES)))]),
            float(own[min(many - 1, int(expected * many / rows))]),
        )
        if not np.isfinite(reach):
            reach = 1.0
        copies = BesideMoves(
            *(many, many, len(np.unique(who[apart <= reach])), rows),
            float((between <= reach).sum()) / 2,
            *(like.decoys, like.decoys_standing, like.decoys_expected),
            moved=sum(len(np.unique(someone[one <= reach])) for one, someone in moved),
            moves=len(_MOVES),
        )
        yield copies, _beside(places, _NEAREST[number]) if len(places.others) else None


def _nearest(people: scipy.spatial.cKDTree, rows: Numbers) -> tuple[Numbers, Positions]:
    """Return how far the nearest person is from each row, and who that is; none is at infinity."""
    found: Any = people.query(rows, p=np.inf, distance_upper_bound=1.0)
    return np.asarray(found[0], np.float64), np.asarray(found[1], np.int64)


def _placed(files: WholeFiles, views: Views, sides: tuple[Positions, Positions]) -> _Places | None:
    """Place people of both sides and rows of the file; None where no column has near values."""
    ours, others = sides
    numbers: list[Numbers] = []
    few: list[int] = []
    for j, column in enumerate(files.columns):
        if column.numbers is None or len(np.unique(column.codes[ours])) < _SPREAD:
            few.append(j)
        else:
            numbers.append(column.numbers[column.codes])
    if not numbers:
        return None
    rows = views.rows[views.members[0]]
    values = np.column_stack(numbers)
    complete = np.asarray(np.isfinite(values).all(axis=1))
    each = [some[complete[some]] for some in (ours, others, rows)]
    if min(len(each[0]), len(each[2])) < _FEWEST:
        return None
    for j in range(values.shape[1]):
        there = np.unique(values[each[0], j])
        values[:, j] = np.interp(values[:, j], there, np.arange(len(there)) / len(there))
    keys = [views.keys(some, 0, few) for some in each]
    place = np.unique(np.concatenate(keys), return_inverse=True)[1].ravel() * _FAR
    parts = np.split(place, np.cumsum([len(key) for key in keys])[:-1])
    placed: list[Numbers] = [
        np.column_stack([values[some], part]).astype(np.float64)
        for some, part in zip(each, parts, strict=True)
    ]
    finest = max(range(values.shape[1]), key=lambda j: len(np.unique(values[each[2], j])))
    return _Places(placed[0], placed[1], placed[2], finest)


def _beside(places: _Places, share: float) -> TwoSamples:
    """Count the people of each side whom a row is nearest to, a share of both together."""
    both = np.concatenate([places.people, places.others])
    apart, _ = _nearest(scipy.spatial.cKDTree(places.rows), both)
    hit = np.isfinite(apart) & (apart <= np.quantile(apart, share, method="lower"))
    ours, others = hit[: len(places.people)], hit[len(places.people) :]
    return TwoSamples(int(ours.sum()), len(ours), int(others.sum()), len(others))
