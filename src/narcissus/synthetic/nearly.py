"""People of whom a row of the file has nearly the numbers, and all else: a year more, an odd sum.

Where all rows of a file are moved so, nearest records show it. Where a part of them is, rows of the
others hide it, unless each row is held against people who are like it in all else. Chance puts as
many rows beside people when each row has the finest of its numbers from a row that has about the
same; and people of the data stand as near to one another. The larger of both is expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.copies import BesideControl, BesideMoves, Copies, Views
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
    neighbours: Any = people.query(places.people, k=2, p=np.inf, distance_upper_bound=1.0)
    between = np.asarray(neighbours[0], np.float64)[:, 1]
    chance = np.sort(np.concatenate([distances for distances, _ in moved]))
    spacings = np.sort(between)
    many, rows = len(places.people), len(places.rows)
    for number, expected in enumerate(EXPECTED):
        reach = min(
            float(chance[min(len(chance) - 1, int(expected * len(_MOVES)))]),
            float(spacings[min(many - 1, int(expected * many / rows))]),
        )
        if not np.isfinite(reach):
            reach = 1.0
        copies = BesideMoves(
            *(many, many, len(np.unique(who[apart <= reach])), rows),
            float((between <= reach).sum()) / 2,
            *(like.decoys, like.decoys_standing, like.decoys_expected),
            moved=sum(len(np.unique(someone[distances <= reach])) for distances, someone in moved),
            moves=len(_MOVES),
        )
        yield copies, _beside(places, _NEAREST[number]) if len(places.others) else None


def _nearest(people: scipy.spatial.cKDTree, rows: Numbers) -> tuple[Numbers, Positions]:
    """Return how far the nearest person is from each row, and who that is; none is at infinity."""
    neighbours: Any = people.query(rows, p=np.inf, distance_upper_bound=1.0)
    return np.asarray(neighbours[0], np.float64), np.asarray(neighbours[1], np.int64)


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


@dataclass(frozen=True)
class NearerPeople(BesideControl):
    """People who are far nearer to a row of the file than rows and people are to one another."""

    columns: tuple[str, ...]
    people: int
    standing: int
    expected: float
    beside: TwoSamples | None

    def beside_copies(self, many: int) -> NearerPeople:
        """Return the people but for those whom a row of the file equals."""
        return replace(self, standing=max(0, self.standing - many))

    @property
    def is_beyond(self) -> bool:
        """Check whether more people are far nearer than chance explains."""
        high = self.expected + 2 * np.sqrt(self.expected + 1)
        return self.standing > max(_LEAST, float(scipy.stats.poisson.isf(NEARER_ERROR, high)))


NEARER_ERROR = 0.0005
"""Error of telling that rows are near people, at each of the shares that are tried."""
SHARES = (0.5, 0.7)
"""Shares of the distance to the next row, or person, within which a person is far nearer."""
NEAREST_OTHERS = (0, 2, 8)
"""People who are so near to one another, at each of the reaches that are tried."""
_LEAST = 4
_RANGE = (0.02, 0.98)  # shares of the people between which the range of a column lies
_BLOCK = 2**22  # differences that are held at a time
_FEWEST_VALUES = 5  # of a column of numbers
_MATCHED = 20  # the same, where answers on a scale are compared as words
_FEWEST_COLUMNS = 3
MOST_NEARER = 5_000
"""Most people or rows of which all distances are compared."""


@dataclass(frozen=True)
class _Reach:
    """How near is far nearer: one distance, or one for each person, shape (people,)."""

    people: Numbers | float
    rows: Numbers | float
    others: Numbers | float
    own: int  # people who are so near to a person
    theirs: int  # rows that are so near to a row


def _reach(apart: Numbers, most: float) -> float:
    """Return the longest distance that at most so many are nearer than."""
    return float(np.sort(apart)[min(len(apart) - 1, int(most))])


def nearer_people(
    files: WholeFiles, views: Views, sides: tuple[Positions, Positions]
) -> NearerPeople | None:
    """Return the people who are far nearer to a row than to all others, where these are too many.

    Of people and rows of one law, a person is as likely far nearer to a row than to all people as
    to a person than to all rows, and so is a row. Distances are sums over all numbers, as shares
    of their range, and over all other columns that differ.
    """
    ours, others = sides
    rows = views.rows[views.members[0]]
    if not _FEWEST <= min(len(ours), len(rows)) <= max(len(ours), len(rows)) <= MOST_NEARER:
        return None
    for fewest in (_FEWEST_VALUES, _MATCHED):
        apart = _Apart.of(files, views, ours, rows, fewest)
        if apart.numbers.shape[1] + apart.codes.shape[1] >= _FEWEST_COLUMNS:
            people = _nearer_by(apart, files.names, (ours, others), rows)
            if people is not None:
                return people
    return None


def _nearer_by(
    apart: _Apart, names: tuple[str, ...], sides: tuple[Positions, Positions], rows: Positions
) -> NearerPeople | None:
    ours, others = sides
    between, to_rows = apart.nearest(ours, ours), apart.nearest(ours, rows)
    among, to_people = apart.nearest(rows, rows), apart.nearest(rows, ours)
    fresh, around = apart.nearest(others, rows), apart.nearest(others, ours)
    ratio = len(rows) / len(ours)
    # a share of the distance to all others, where numbers are many; else one reach for everybody
    reaches: list[_Reach] = []
    if apart.numbers.shape[1] >= _FEWEST_COLUMNS:
        for share in SHARES:
            near_people, theirs = (
                (between < share * to_rows).sum(),
                (among < share * to_people).sum(),
            )
            reach = share * between, share * among, share * around
            reaches.append(_Reach(*reach, int(near_people), int(theirs)))
    for quota in NEAREST_OTHERS:
        reach = min(_reach(between, quota / ratio), _reach(among, quota * ratio))
        near_people, theirs = int((between < reach).sum()), int((among < reach).sum())
        reaches.append(_Reach(reach, reach, reach, near_people, theirs))
    for reach in reaches:
        is_near = to_rows < reach.people
        standing = min(int(is_near.sum()), int((to_people < reach.rows).sum()))
        expected = max(reach.own * ratio, reach.theirs / ratio)
        people = NearerPeople(names, len(ours), standing, expected, None)
        if people.is_beyond and len(others):
            hit = int((fresh < reach.others).sum())
            return replace(
                people, beside=TwoSamples(int(is_near.sum()), len(ours), hit, len(others))
            )
        if people.is_beyond:
            return people
    return None


@dataclass(frozen=True)
class _Apart:
    """How far people and rows are from one another."""

    numbers: Numbers  # of everybody, as shares of their range, shape (people and rows, columns)
    codes: Positions  # of the other columns

    @classmethod
    def of(
        cls, files: WholeFiles, views: Views, ours: Positions, rows: Positions, fewest: int
    ) -> _Apart:
        """Place everybody; a column of fewer different numbers is equal or it is not."""
        both = np.concatenate([ours, rows])
        numbers: list[Numbers] = []
        codes: list[Positions] = []
        for j, column in enumerate(files.columns):
            values = None if column.numbers is None else column.numbers[column.codes]
            if values is None or not np.isfinite(values[both]).all():
                codes.append(views.codes(j, 0))
                continue
            low, high = np.quantile(values[ours], _RANGE)
            if high > low and len(np.unique(values[ours])) >= fewest:
                numbers.append((values - low) / (high - low))
            else:
                codes.append(views.codes(j, 0))
        size = len(files.columns[0].codes)
        return cls(
            np.column_stack(numbers or [np.zeros((size, 0))]),
            np.column_stack(codes or [np.zeros((size, 0), np.int64)]),
        )

    def nearest(self, some: Positions, to: Positions) -> Numbers:
        """Return how far the nearest other one is, shape (some,)."""
        distances = np.empty(len(some), np.float64)
        step = max(1, _BLOCK // len(to))
        for start in range(0, len(some), step):
            at = some[start : start + step]
            apart = scipy.spatial.distance.cdist(self.numbers[at], self.numbers[to], "cityblock")
            if self.codes.shape[1]:
                differ = scipy.spatial.distance.cdist(self.codes[at], self.codes[to], "hamming")
                apart += self.codes.shape[1] * differ
            apart[at[:, None] == to[None]] = np.inf
            distances[start : start + step] = apart.min(axis=1)
        return distances
