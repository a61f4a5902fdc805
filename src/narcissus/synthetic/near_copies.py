"""People of whom a row of the file has nearly the numbers, and all else: a year more, an odd sum.

Where all rows of a file are moved so, nearest records show it. Where a part of them is, rows of the
others hide it, unless each row is compared with people who are like it in all else. Chance puts as
many rows next to people when each row has the finest of its numbers from a row that has about the
same; and people of the data appear as near to one another. The larger of both is expected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.copies import BesideControl, BesideMoves, Copies, Views
from narcissus.synthetic.full_files import WholeFiles

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
    """Where people and rows are: their numbers as shares of the people who have less."""

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
    """Yield the people whom a row is nearly, at each of some distances, and next to the control."""
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
    rows = views.rows
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
    # of pairs of a person and a row: coincidences are no more, at `NEARER_ERROR`; None: no pairs
    limit: float | None = None

    def beside_copies(self, many: int, people: int) -> NearerPeople:
        """Return the people but for those whom a row of the file equals: so many of so many."""
        equal = round(many * self.people / max(1, people))
        return replace(self, standing=max(0, self.standing - equal))

    @property
    def excess(self) -> float:
        """Return how many more people are far nearer than is expected."""
        return self.standing - self.expected

    @property
    def is_beyond(self) -> bool:
        """Check whether more people are far nearer than chance explains."""
        if self.limit is not None:
            return self.standing > max(_LEAST, self.limit)
        high = self.expected + 2 * np.sqrt(self.expected + 1)
        return self.standing > max(_LEAST, float(scipy.stats.poisson.isf(NEARER_ERROR, high)))


NEARER_ERROR = 0.0005
"""Error of telling that rows are near people, at each of the shares that are tried."""
SHARES = (0.5, 0.7)
"""Shares of the distance to the next row, or person, within which a person is far nearer."""
NEAREST_OTHERS = (0, 2, 8)
"""People who are so near to one another, at each of the reaches that are tried."""
_LEAST = 4
_DIFFERENT = 0.99  # share of the people from which on equal rows are no coincidence
_MIDDLE = 0.5  # of the range of a column
_RANGE = (0.02, 0.98)  # shares of the people between which the range of a column lies
_BLOCK = 2**22  # differences that are held at a time
_FEWEST_VALUES = 5  # of a column of numbers
_MATCHED = 20  # the same, where answers on a scale are compared as words
_FEWEST_COLUMNS = 3
MOST_NEARER = 5_000
"""Most people or rows of which all distances are compared; of more, so many are looked at."""
_MOST_DISTANCES = 3 * 10**7  # of people from rows, where some are looked at
NEAREST_PAIRS = (0.1, 0.3, 1.0)
"""Shares of the pairs that are nearest to each other, of all people and rows, the nearest first."""


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
    files: WholeFiles,
    views: Views,
    sides: tuple[Positions, Positions],
    *,
    largest: int = MOST_NEARER,
) -> NearerPeople | None:
    """Return the people who are far nearer to a row than to all others, where these are too many.

    Of people and rows of one law, a person is as likely far nearer to a row than to all people as
    to a person than to all rows, and so is a row. Distances are sums over all numbers, as shares
    of their range, and over all other columns that differ. Rows that are written coarsely count
    with all others: whoever rounds a few rows would hide them.

    largest: Most people, or rows, of a file that is looked at.
    """
    ours, others = sides
    rows = _different(views, ours)
    if min(len(ours), len(rows)) < _FEWEST or max(len(ours), len(rows)) > largest:
        return None
    for fewest in (_FEWEST_VALUES, _MATCHED):
        apart = _Apart.of(files, views, ours, rows, fewest)
        if len(files.columns) >= _FEWEST_COLUMNS:
            people = _nearer_by(apart, files.names, (ours, others), rows)
            if people is None:
                people = _nearest_pairs(apart, files.names, (ours, others), rows)
            if people is not None:
                return people
    return None


def _different(views: Views, ours: Positions) -> Positions:
    """Return the rows of the file, of equal ones one, where hardly any people are equal."""
    every = range(len(views.fine))
    if len(np.unique(views.keys(ours, None, every))) < _DIFFERENT * len(ours):
        return views.rows
    first = np.unique(views.keys(views.rows, None, every), return_index=True)[1]
    return views.rows[np.sort(first)]


def _looked_at(rows: Positions, to: int) -> Positions:
    """Return rows that are looked at, evenly in their order: all, if these are few."""
    many = min(len(rows), max(MOST_NEARER // 5, min(MOST_NEARER, _MOST_DISTANCES // to)))
    return rows[np.linspace(0, len(rows) - 1, many).astype(np.int64)]


def _nearer_by(
    apart: _Apart, names: tuple[str, ...], sides: tuple[Positions, Positions], rows: Positions
) -> NearerPeople | None:
    (ours, others), both = sides, max(len(sides[0]), len(rows))
    ratio = len(rows) / len(ours)
    some, made = _looked_at(ours, both), _looked_at(rows, both)
    others = _looked_at(others, both) if len(others) else others
    between, to_rows = apart.nearest(some, ours), apart.nearest(some, rows)
    among, to_people = apart.nearest(made, rows), apart.nearest(made, ours)
    fresh, around = apart.nearest(others, rows), apart.nearest(others, ours)
    scale = len(some) / len(ours) * len(rows) / len(made)  # of rows, as people are looked at
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
        reach = min(_reach(between, quota / ratio), _reach(among, quota * ratio / scale))
        near_people, theirs = int((between < reach).sum()), int((among < reach).sum())
        reaches.append(_Reach(reach, reach, reach, near_people, theirs))
    clearest: NearerPeople | None = None
    for reach in reaches:
        is_near = to_rows < reach.people
        standing = min(int(is_near.sum()), int(scale * (to_people < reach.rows).sum()))
        expected = max(reach.own * ratio, scale * reach.theirs / ratio)
        people = NearerPeople(names, len(some), standing, expected, None)
        if people.is_beyond and (clearest is None or people.excess > clearest.excess):
            clearest = people
            if len(others):
                hit = int((fresh < reach.others).sum())
                beside = TwoSamples(int(is_near.sum()), len(some), hit, len(others))
                clearest = replace(people, beside=beside)
    return clearest


def _nearest_pairs(
    apart: _Apart, names: tuple[str, ...], sides: tuple[Positions, Positions], rows: Positions
) -> NearerPeople | None:
    """Return the people who make a pair with a row, where such pairs are too many.

    Two of all people and rows make a pair if each is the nearest to the other. Where people lie
    with intensity a and rows with b, a pair is of two people, of both or of two rows with weights
    ``a^2``, ``2 a b`` and ``b^2``. So over all places, by Cauchy and Schwarz, pairs of both are at
    most ``2 sqrt(P R)`` on average, for P and R of the other two, whatever the laws of people and
    rows. With as many people and rows in pairs, they are no more than where both are of one law, of
    which chance is exact (Wigginton, Cutler and Abecasis 2005). Rows that are one person several
    times make a pair with that person, and not with one another. Which pairs are near, and which
    are looked at, does not depend on who makes them.
    """
    ours, others = sides
    # whoever comes first among those who are as near must not depend on the side
    both = child(len(ours), len(rows)).permutation(np.concatenate([ours, rows]))
    some = np.arange(len(both))
    if len(both) > 2 * MOST_NEARER:
        some = some[: len(_looked_at(both, len(both)))]
    distance, place = apart.nearest_of(both[some], both)
    back = place[place] if len(some) == len(both) else apart.nearest_of(both[place], both)[1]
    is_pair = (back == some) & ~((place < len(some)) & (place < some))
    is_person = np.isin(both, ours)
    looked_at = np.zeros(len(both), np.bool_)
    looked_at[some] = looked_at[place[is_pair]] = True
    for share in NEAREST_PAIRS:
        reach = float(np.quantile(distance[is_pair], share)) if is_pair.any() else 0.0
        pairs = is_pair & (distance <= reach)
        many = is_person[some[pairs]].astype(np.int64) + is_person[place[pairs]]
        counts = np.bincount(many, minlength=3)
        sides_of = int(2 * counts[2] + counts[1]), int(2 * counts[0] + counts[1])
        people = NearerPeople(
            names,
            int((looked_at & is_person).sum()),
            int(counts[1]),
            sides_of[0] * sides_of[1] / max(1, sum(sides_of) - 1),
            None,
            most_mixed(*sides_of, NEARER_ERROR),
        )
        if people.is_beyond:
            if not len(others):
                return people
            sample = [_looked_at(side, len(rows)) for side in sides]
            near = [apart.nearest(side, rows) <= reach for side in sample]
            (a, n), (b, m) = ((int(side.sum()), len(side)) for side in near)
            return replace(people, beside=TwoSamples(a, n, b, m))
    return None


def most_mixed(people: int, rows: int, error: float) -> float:
    """Return the pairs of both that random pairs of so many have more of with chance ``error``."""
    pairs = (people + rows) // 2
    mixed = np.arange(people % 2, min(people, rows) + 1, 2)
    logs = mixed * math.log(2) - sum(
        scipy.special.gammaln(1 + (side - mixed) / 2) for side in (people, rows)
    )
    logs -= scipy.special.gammaln(1 + mixed)
    chances = np.exp(logs - scipy.special.logsumexp(logs)) if pairs else np.ones(1)
    beyond = np.cumsum(chances[::-1])[::-1] - chances  # of more than each
    return float(mixed[np.argmax(beyond <= error)]) if pairs else 0.0


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
            known = np.zeros(0) if values is None else values[ours][np.isfinite(values[ours])]
            low, high = np.quantile(known, _RANGE) if len(known) else (0.0, 0.0)
            if values is None or high <= low or len(np.unique(known)) < fewest:
                codes.append(views.codes(j, 0))
                continue
            is_missing = ~np.isfinite(values)
            place = (values - low) / (high - low)
            if is_missing[both].any():  # as far from the least and the largest number as these are
                place = np.where(is_missing, _MIDDLE, place)
                numbers.append(np.where(is_missing, _MIDDLE, 0.0))
            numbers.append(place)
        size = len(files.columns[0].codes)
        return cls(
            np.column_stack(numbers or [np.zeros((size, 0))]),
            np.column_stack(codes or [np.zeros((size, 0), np.int64)]),
        )

    def nearest(self, some: Positions, to: Positions) -> Numbers:
        """Return how far the nearest other one is, shape (some,)."""
        return self.nearest_of(some, to)[0]

    def nearest_of(self, some: Positions, to: Positions) -> tuple[Numbers, Positions]:
        """Return how far the nearest other one is, and its place among those, shape (some,)."""
        distances, places = np.empty(len(some), np.float64), np.empty(len(some), np.int64)
        step = max(1, _BLOCK // len(to))
        for start in range(0, len(some), step):
            at = some[start : start + step]
            apart = scipy.spatial.distance.cdist(self.numbers[at], self.numbers[to], "cityblock")
            if self.codes.shape[1]:
                differ = scipy.spatial.distance.cdist(self.codes[at], self.codes[to], "hamming")
                apart += self.codes.shape[1] * differ
            apart[at[:, None] == to[None]] = np.inf
            nearest = apart.argmin(axis=1)
            places[start : start + step] = nearest
            distances[start : start + step] = apart[np.arange(len(at)), nearest]
        return distances, places
