"""People of the data who appear in the file: counts, and how many would by coincidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.notation import RULES

Positions = NDArray[np.int64]
Keys = NDArray[np.uint64]
CopiesName = Literal["copies"]
COPIES: CopiesName = "copies"
"""Name of the claim that people of the data appear in the file beyond others."""
Flags = NDArray[np.bool_]
MOST_VIEWS = 500
"""Most ways of being coarse that rows of one file are read by."""
DECOYS = 5_000
"""Most people whom a decoy is made of."""
TELLING = 3
"""Columns of the set that makes most people unique."""
_CUT = RULES.index("cut")
_FEW_CUT = 3  # columns that may be cut: all sets of so many are
_MOST_CUT = 8  # sets of these
_LOOKED_AT = 50_000  # rows by which these are chosen
_AGREE = (
    0.75,
    0.5,
    0.3,
    0.1,
)  # share of the other columns that a person and a donor have in common


class AtLevels(Protocol):
    """What a column's values become where cells of the file are coarser."""

    @property
    def levels(self) -> Positions: ...

    def at_level(self, level: int) -> Positions: ...


@runtime_checkable
class RoundedLevels(AtLevels, Protocol):
    """The same of numbers that are rounded by one of a few rules."""

    def has_rule(self, level: int, rule: int) -> bool: ...


class SeenFiles(Protocol):
    """The rows of all files: as a study reads them, or as they are published."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def covers(self) -> Mapping[int, AtLevels]: ...

    @property
    def units(self) -> Positions | None: ...

    def fine(self, column: int) -> Positions: ...

    def rows(self, which: str) -> Positions: ...

    def one_of_each(self, rows: Positions, rng: np.random.Generator) -> Positions: ...


@dataclass(frozen=True)
class Standing:
    """People who are unique in the data on some columns, and appear in the file by these."""

    columns: tuple[str, ...]
    unique: int
    standing: int
    expected: float  # by coincidence


class _CountOfPeople(Protocol):
    """People who appear in the file, and how many would by coincidence."""

    @property
    def unique(self) -> int: ...

    @property
    def standing(self) -> int: ...

    @property
    def expected(self) -> float: ...

    def most_coincidences(self, error: float) -> float: ...


class _PeopleAndControl(Protocol):
    @property
    def beside(self) -> TwoSamples | None: ...


class BesideControl:
    """People who appear in the file, or are near it, next to those of the control."""

    @property
    def is_explained(self: _PeopleAndControl) -> bool:
        """Whether people of the control do so at least half as often."""
        samples = self.beside
        if samples is None:
            return False
        return 2 * samples.others * samples.trials >= samples.successes * samples.other_trials


class LimitedCount:
    """People who appear in the file, of whom coincidences are limited in one way or another."""

    def excess(self: _CountOfPeople, error: float) -> tuple[float, float, float]:
        """Return the share of unique people who are copied: estimate, lower and upper limit."""
        if not self.unique:
            return 0.0, 0.0, 0.0
        value = max(0.0, self.standing - self.expected) / self.unique
        low = (self.standing - self.most_coincidences(error)) / self.unique
        return value, min(low, value), self.standing / self.unique


@dataclass(frozen=True)
class Copies(LimitedCount):
    """People of one side, one row of each, of whom copies are counted.

    In a file of m fresh people of the same population, the unique people of n who appear in it are
    at most 2 m / n times as many as there are pairs of people who are alike, on average: both are
    sums over kinds of people, of ``n p exp(-n p) (1 - exp(-m p))`` and ``(n p)^2 exp(-n p) / 2``
    (Good 1953). So coincidences are limited by the test of two Poisson counts (Przyborowski and
    Wilenski 1940). A file of another law may have more of them: see `most_of_any_law`. Copies in
    the file do not enter this yardstick.
    """

    people: int
    unique: int
    standing: int
    rows: int  # of the file
    pairs: float  # of people who are like one another and nobody else
    decoys: int = 0
    decoys_standing: int = 0
    decoys_expected: float = 0.0  # in a fresh sample as long as the file
    # values of the file that nobody and that two people of this side have; None: not counted
    absent: int | None = None
    twins: int | None = None

    def factor(self, *, surely: bool) -> float:
        """How much likelier the file holds plausible people than a fresh sample, at least 1.

        Where it need not be sure, chance is allowed for: two standard errors of what is expected.
        """
        each = 2 * self.rows / self.people  # rows of the file for one of half of the data
        margin = 1 if surely else 2 * math.sqrt(each * (self.decoys_expected + each))
        return max(1.0, (self.decoys_standing + surely) / (self.decoys_expected + margin))

    @property
    def expected(self) -> float:
        """Coincidences: unique people who would appear in a file of other people.

        At most ``u (1 - exp(-x / u))`` of u people on average, if x rows of the file are theirs.
        """
        matches = 2 * self.rows / self.people * self.pairs * self.factor(surely=False)
        return self.unique * -math.expm1(-matches / max(1, self.unique))

    def most_coincidences(self, error: float) -> float:
        """Return the coincidences that are exceeded by chance in at most ``error`` of files."""
        ratio, pairs = 2 * self.rows / self.people, math.ceil(self.pairs)
        low, high = -1, self.unique  # more than ``high`` is no question
        while high - low > 1:
            middle = (low + high) // 2
            tail = scipy.stats.binom.sf(middle, middle + 1 + pairs, ratio / (1 + ratio))
            low, high = (low, middle) if tail <= error else (middle, high)
        return min(float(self.unique), high * self.factor(surely=True))

    def most_of_any_law(self, error: float) -> float:
        """Limit coincidences whatever the law of the file, exceeded in ``error`` of data sets.

        Given a file that was made without these people, a value that each of n people has with
        chance p is nobody's, one person's or two people's with weights ``exp(-n p) (n p)^k / k!``.
        So over its values, by Cauchy and Schwarz, ``E1^2 <= 2 E0 E2``: whoever has plausible people
        in the file has pairs of them in the data. E0 and E2 are limited by the counts (Garwood
        1936), with half of the error for pairs, and a twentieth for what nobody has.
        """
        if self.absent is None or self.twins is None:
            return float(self.unique)
        absent = scipy.stats.gamma.isf(error / 20, self.absent + 1)
        pairs = scipy.stats.gamma.isf(error / 2, self.twins + 1)
        mean = math.sqrt(2 * absent * pairs)
        return min(float(self.unique), float(scipy.stats.poisson.isf(0.45 * error, mean)))

    def excess_of_any_law(self, error: float) -> float:
        """Return a lower limit on the share of unique people who are copied, for any law."""
        return (self.standing - self.most_of_any_law(error)) / max(1, self.unique)


@dataclass(frozen=True)
class BesideMoves(Copies):
    """People who appear in the file, where a column may number them and may measure them.

    Numbers that are given to one person each have no pairs, so these say nothing of coincidences.
    Then as many people are in a file of others as in one whose rows exchange the numbers with
    their neighbours. The larger of both is expected.
    """

    moved: int = 0  # people who stand in the file after all moves together
    moves: int = 1

    @property
    def expected(self) -> float:
        """Coincidences: unique people who would appear in a file of other people."""
        return max(super().expected, self.moved / self.moves)

    def most_coincidences(self, error: float) -> float:
        """Return the coincidences that are exceeded by chance in at most ``error`` of files."""
        mean = self.moved / self.moves
        # half of the error for what is expected, and two standard errors, as moves may depend
        high = float(scipy.stats.gamma.isf(error / 2, self.moved + 1)) / self.moves
        high = max(high, mean + 2 * math.sqrt(mean))
        limit = float(scipy.stats.poisson.isf(error / 2, high))
        return min(float(self.unique), max(super().most_coincidences(error), limit))


@dataclass(frozen=True)
class FileFacts:
    """What appears in the file. All counts are exact."""

    rows: int  # of the file
    verbatim: int  # of these, rows that equal a row of the data
    verbatim_expected: float
    near: int | None  # rows that equal no row of the data, and one in all columns but one
    near_expected: float | None
    unread: int  # rows coarse in so rare a way that they were not looked up
    is_data: float | None  # chance of a file with the very rows of the data; None: it has others
    sets: tuple[Standing, ...]
    copies: Copies
    beside: TwoSamples | None  # people of the data and the control who stand in the file
    control: Copies | None
    # people of the data whose row stands in the control; None: not sought
    shared: Copies | None = None


class Views:
    """Rows of the file by how coarse they are, with everybody written as coarsely."""

    def __init__(self, files: SeenFiles, rng: np.random.Generator) -> None:
        self.files = files
        self.rows = files.rows("synthetic")
        width = len(files.names)
        self.fine = [files.fine(j) for j in range(width)]
        sizes = [int(codes.max(initial=0)) + 1 for codes in self.fine]
        # sums of 64 random bits for each value: two rows that differ agree with chance 2^-64
        self.bits = [rng.integers(0, 2**64, size, dtype=np.uint64) for size in sizes]
        levels = np.zeros((len(self.rows), width), np.int64)
        for j, cover in files.covers.items():
            levels[:, j] = cover.levels[self.fine[j][self.rows]]
        kinds, which, times = np.unique(levels, axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(-times, kind="stable")[:MOST_VIEWS]
        self.kinds = [kinds[k] for k in order]
        self.members = [np.flatnonzero(which.ravel() == k) for k in order]
        self.unread = len(self.rows) - sum(map(len, self.members))
        # numbers may be rounded by other rules: the same rows are read again so
        self.many = len(self.kinds)
        self.again: dict[int, list[int]] = {}  # by view, those that read its rows again
        for view in range(self.many):
            self.again[view] = []
            for kind in _other_readings(self.kinds[view], files.covers):
                self.again[view].append(len(self.kinds))
                self.kinds.append(kind)
                self.members.append(self.members[view])

    def codes(self, column: int, view: int) -> Positions:
        """Return the codes of a column, shape (rows,), as coarse as the view is."""
        cover = self.files.covers.get(column)
        fine = self.fine[column]
        return fine if cover is None else cover.at_level(int(self.kinds[view][column]))[fine]

    def keys(self, rows: Positions, view: int | None, columns: Sequence[int]) -> Keys:
        """Return a key of each row, equal for rows that are equal in these columns."""
        sums = np.zeros(len(rows), np.uint64)
        for j in columns:
            codes = self.fine[j] if view is None else self.codes(j, view)
            sums += self.bits[j][codes[rows]]
        return sums

    def each(self) -> Iterator[tuple[int, Positions]]:
        """Yield each view with the places of its rows in the file."""
        yield from enumerate(self.members)


def _other_readings(kind: Positions, covers: Mapping[int, AtLevels]) -> Iterator[Positions]:
    """Yield levels by the other rules that may have written them, below 0 as `at_level` reads them.

    The middle is rounded to even or up in all columns, as one program does, and columns of which
    it is open whether they are rounded or cut are cut, in all ways where these are few.
    """
    rounded = {j: cover for j, cover in covers.items() if isinstance(cover, RoundedLevels)}
    cuts = [j for j, cover in rounded.items() if cover.has_rule(int(kind[j]), _CUT)]
    some = [(), tuple(cuts), *((j,) for j in cuts)]
    if len(cuts) <= _FEW_CUT:
        some = [each for size in range(len(cuts) + 1) for each in combinations(cuts, size)]
    seen = {kind.tobytes()}
    for cut in some[:_MOST_CUT]:
        for rule in range(_CUT):
            other = kind.copy()
            for j, cover in rounded.items():
                by = _CUT if j in cut else rule
                if cover.has_rule(int(kind[j]), by):
                    other[j] = -(len(RULES) * kind[j] + by)
            if other.tobytes() not in seen:
                seen.add(other.tobytes())
                yield other


def _places(*keys: Keys) -> list[Positions]:
    """Replace keys by numbers from 0, equal for equal keys only."""
    numbers = np.unique(np.concatenate(keys), return_inverse=True)[1].ravel()
    return np.split(numbers, np.cumsum([len(key) for key in keys])[:-1])


def _persons(places: Positions, units: Positions | None, size: int) -> Positions:
    """Count the different people at each place, shape (size,)."""
    if units is not None:
        pairs = np.unique(np.stack([places, units]), axis=1)
        places = pairs[0]
    return np.bincount(places, minlength=size)


def _standing(
    views: Views, ours: Positions, columns: Sequence[int], units: Positions | None = None
) -> tuple[Flags, Flags]:
    """Check who appears in the file, and which rows of the file are in the data.

    A person is in it if a row of the file is true of them and of nobody else. Shapes (people,)
    and (rows of the file,).
    """
    hit, covered = np.zeros(len(ours), np.bool_), np.zeros(len(views.rows), np.bool_)
    for view, members in views.each():
        here, there = _places(
            views.keys(ours, view, columns), views.keys(views.rows[members], view, columns)
        )
        size = 1 + max(int(here.max(initial=0)), int(there.max(initial=0)))
        is_there = np.bincount(there, minlength=size) > 0
        hit |= ((_persons(here, units, size) == 1) & is_there)[here]
        covered[members] |= (np.bincount(here, minlength=size) > 0)[there]
    return hit, covered


def _unique(
    views: Views, ours: Positions, columns: Sequence[int], units: Positions | None = None
) -> Flags:
    (places,) = _places(views.keys(ours, None, columns))
    return (_persons(places, units, int(places.max()) + 1) == 1)[places]


def _many(flags: Flags, units: Positions | None) -> int:
    return int(flags.sum()) if units is None else len(np.unique(units[flags]))


def _alike(
    views: Views, ours: Positions, columns: Sequence[int], units: Positions | None = None
) -> tuple[float, float]:
    """Return the share of people whom somebody is like, and how many pairs are alone alike.

    As coarse as the rows of the file, and their mean where these differ in that. A fresh person is
    like somebody in the data as often as people of the data are (Good 1953).
    """
    share = pairs = 0.0

    def counted(view: int) -> tuple[Positions, Positions]:
        (places,) = _places(views.keys(ours, view, columns))
        return places, _persons(places, units, int(places.max()) + 1)

    for view in range(views.many):
        places, people = counted(view)
        weight = len(views.members[view]) / len(views.rows)
        share += weight * float((people > 1)[places].mean())
        pairs += weight * float((people == 2).sum())
        left = (people == 1)[places]
        for other in views.again[view]:  # who is alike by another rule alone
            others, again = counted(other)
            is_new = (again == 2)[others] & left
            left &= ~is_new
            pairs += weight * float(len(np.unique(others[is_new])))
    return share, pairs


def absent_and_twins(
    views: Views, ours: Positions, columns: Sequence[int], others: Positions | None = None
) -> tuple[int, int]:
    """Count the different values of the file that nobody has, and that two people have.

    others: Of values that these people have, nothing is counted.
    """
    counts = np.zeros(3, np.int64)
    for view, members in views.each():
        rows = views.keys(views.rows[members], view, columns)
        if others is not None:
            rows = rows[~np.isin(rows, views.keys(others, view, columns))]
        here, there = _places(views.keys(ours, view, columns), rows)
        size = 1 + max(int(here.max(initial=0)), int(there.max(initial=0)))
        people = np.bincount(here, minlength=size)[np.unique(there)]
        counts += np.bincount(people.clip(max=3), minlength=4)[:3]
    return int(counts[0]), int(counts[2])


def copies_of(views: Views, ours: Positions, rng: np.random.Generator) -> Copies:
    """Count the people of one side who appear in the file, next to coincidences and decoys."""
    copies = copies_on(views, ours, range(len(views.fine)))
    if views.many > 1:
        return copies
    many, standing, expected = _decoys(views, ours, rng)
    return replace(copies, decoys=many, decoys_standing=standing, decoys_expected=expected)


def copies_by(views: Views, ours: Positions, like: Copies) -> Copies:
    """Count the same people by other columns; decoys are those of ``like``."""
    return replace(
        copies_on(views, ours, range(len(views.fine))),
        decoys=like.decoys,
        decoys_standing=like.decoys_standing,
        decoys_expected=like.decoys_expected,
    )


def copies_on(views: Views, ours: Positions, columns: Sequence[int]) -> Copies:
    """Count the people of one side who appear in the file by some columns, without decoys."""
    return Copies(
        len(ours),
        int(_unique(views, ours, columns).sum()),
        int(_standing(views, ours, columns)[0].sum()),
        len(views.rows),
        _alike(views, ours, columns)[1],
        0,
        0,
        0.0,
        *absent_and_twins(views, ours, columns),
    )


def _decoys(views: Views, ours: Positions, rng: np.random.Generator) -> tuple[int, int, float]:
    """Make plausible people whom one half of the data lacks; look for them in the file.

    A decoy is a unique person with one value of somebody who is like them in other columns. The
    other half of the data is a fresh sample: the file's law is compared with it. Returns how many
    decoys there are, how many appear in the file, and how many a fresh sample so long would have.
    """
    width = len(views.fine)
    half, rest = np.split(rng.permutation(ours), [len(ours) // 2])
    if width < 2 or not len(half):
        return 0, 0, 0.0
    codes = [views.codes(j, 0)[half] for j in range(width)]
    keys = views.keys(half, 0, range(width))
    known = np.sort(keys)
    left = rng.permutation(np.flatnonzero(_unique(views, half, range(width))))[:DECOYS]
    made: list[Keys] = []
    for share in _AGREE:
        changed = rng.integers(0, width, len(left))
        failed = np.ones(len(left), np.bool_)
        for j in range(width):
            who = np.flatnonzero(changed == j)
            others = rng.permutation(np.delete(np.arange(width), j))
            alike = others[: max(1, round(share * len(others)))]
            (group,) = _places(views.keys(half, 0, alike.tolist()))
            order = np.argsort(group, kind="stable")
            starts = np.searchsorted(group[order], np.arange(int(group.max()) + 2))
            groups = group[left[who]]
            size = starts[groups + 1] - starts[groups]
            donor = order[starts[groups] + (rng.random(len(who)) * size).astype(np.int64)]
            old, new = codes[j][left[who]], codes[j][donor]
            decoy = keys[left[who]] - views.bits[j][old] + views.bits[j][new]
            at = np.minimum(np.searchsorted(known, decoy), len(known) - 1)
            is_good = (old != new) & (known[at] != decoy)
            made.append(decoy[is_good])
            failed[who[is_good]] = False
        left = left[failed]
    decoys = np.concatenate(made)
    fresh = int(np.isin(decoys, views.keys(rest, 0, range(width))).sum())
    stand = int(np.isin(decoys, views.keys(views.rows, 0, range(width))).sum())
    return len(decoys), stand, fresh * len(views.rows) / max(1, len(rest))


def _near(views: Views, ours: Positions, exact: Flags) -> tuple[int | None, float | None]:
    """Count the rows of the file that equal a person in all columns but one, and no person.

    Next to it as many as there would be of fresh people, by how many people of the data have
    somebody so near them, and nobody like them.
    """
    width = len(views.fine)
    if width < TELLING or views.many > 1:
        return None, None
    both = np.concatenate([ours, views.rows])
    keys = views.keys(both, 0, range(width))
    (alike,) = _places(keys[: len(ours)])
    is_twin = (np.bincount(alike) > 1)[alike]
    near, beside = np.zeros(len(views.rows), np.bool_), np.zeros(len(ours), np.bool_)
    for j in range(width):
        (places,) = _places(keys - views.bits[j][views.codes(j, 0)[both]])
        here, there = places[: len(ours)], places[len(ours) :]
        many = np.bincount(here, minlength=int(places.max()) + 1)
        near |= (many > 0)[there]
        beside |= (many > 1)[here]
    expected = len(views.rows) * float((beside & ~is_twin).mean())
    return int((near & ~exact).sum()), expected


def copies_but_one(views: Views, ours: Positions, like: Copies) -> Copies | None:
    """Count who appears in the file but for one column, whichever it is; decoys of ``like``.

    Two rows are near if they agree in all columns but one, or in all. Somebody is unique whom
    nobody else of the data is near. As of equal rows, chance alone tells which row of a pair that
    is near nobody else is the fresh one, so such pairs of the data limit coincidences. None where
    columns are too few. Where rows of the file are coarse in different ways, those that are so in
    the most frequent one are looked at: to coarsen a few hides no others.
    """
    width = len(views.fine)
    if width < TELLING or not len(ours):
        return None
    both, people = np.concatenate([ours, views.rows[views.members[0]]]), len(ours)
    keys = views.keys(both, 0, range(width))
    # of each row: the first and the last person who is near it, and whether one set has two
    first, last = np.full(len(both), people), np.full(len(both), -1)
    is_crowded = np.zeros(len(both), np.bool_)
    index = np.arange(people)
    for column in range(width):
        (places,) = _places(keys - views.bits[column][views.codes(column, 0)[both]])
        here = places[:people]
        size = int(places.max()) + 1
        many = np.bincount(here, minlength=size)
        total = np.bincount(here, index, size).astype(np.int64)
        others, rest = many[places], total[places]
        others[:people] -= 1
        rest[:people] -= index
        is_near = others == 1
        first[is_near] = np.minimum(first, rest)[is_near]
        last[is_near] = np.maximum(last, rest)[is_near]
        is_crowded |= others > 1
    is_single = (first == last) & ~is_crowded
    unique = (last[:people] < 0) & ~is_crowded[:people]
    partner = np.where(is_single[:people], first[:people], index)
    pairs = int(((partner != index) & (partner[partner] == index)).sum())
    rows = is_single[people:]
    hit = np.unique(first[people:][rows])
    return replace(
        like,
        people=people,
        unique=int(unique.sum()),
        standing=int(unique[hit].sum()),
        pairs=pairs / 2,
        absent=None,
        twins=None,
    )


def _is_data(here: Positions, there: Positions) -> float | None:
    """Return the chance that a random division has the same rows on both sides; None: it has not.

    Of all ways to divide, those that give each side half of each type.
    """
    size = 1 + max(int(here.max()), int(there.max()))
    ours = np.bincount(here, minlength=size)
    if len(here) != len(there) or (ours != np.bincount(there, minlength=size)).any():
        return None

    def halved(many: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logarithm of the number of ways to take half of twice as many."""
        return scipy.special.gammaln(2 * many + 1) - 2 * scipy.special.gammaln(many + 1)

    return float(np.exp(halved(ours).sum() - halved(np.array([len(here)])).sum()))


def _telling(views: Views, ours: Positions, columns: Sequence[int]) -> list[int]:
    """Choose the columns that make most people unique, one after the other."""
    selection: list[int] = []
    while len(selection) < min(TELLING, len(columns)):
        left = [j for j in columns if j not in selection]
        selection.append(max(left, key=lambda j: int(_unique(views, ours, [*selection, j]).sum())))
    return sorted(selection)


def file_facts(files: SeenFiles, unknown: Sequence[int], *, entropy: int) -> FileFacts:
    """Count what appears in the file of the data, and of the control.

    Counts are of all rows. Verdicts count one row of each unit, drawn at random.
    """
    rng = child(entropy, 3)
    views, ours = Views(files, rng), files.rows("real")
    columns = list(range(len(files.names)))
    known = [j for j in columns if j not in unknown]
    units = None if files.units is None else files.units[ours]
    hit, exact = _standing(views, ours, columns, units)
    view = 0 if views.many == 1 else None
    whole = _places(views.keys(ours, view, columns), views.keys(views.rows, view, columns))
    few = _telling(views, rng.permutation(ours)[:_LOOKED_AT], known)
    sets: list[Standing] = []
    for some in dict.fromkeys(map(tuple, (columns, known, few))):
        stand = hit if len(some) == len(columns) else _standing(views, ours, some, units)[0]
        pairs = _alike(views, ours, some, units)[1]
        unique = _many(_unique(views, ours, some, units), units)
        sets.append(
            Standing(
                tuple(files.names[j] for j in some),
                unique,
                _many(stand, units),
                Copies(len(ours), unique, 0, len(views.rows), pairs).expected,
            )
        )
    drawn = files.one_of_each(ours, rng)
    others = files.one_of_each(files.rows("control"), rng)
    near = _near(views, ours, exact)
    return FileFacts(
        len(views.rows),
        int(exact.sum()),
        len(views.rows) * _alike(views, ours, columns, units)[0],
        *near,
        views.unread,
        _is_data(*whole),
        tuple(sets),
        copies_of(views, drawn, rng),
        beside_control(views, drawn, others) if len(others) else None,
        copies_of(views, others, rng) if len(others) else None,
    )


def beside_control(views: Views, ours: Positions, others: Positions) -> TwoSamples | None:
    """Count who appears in the file among people who are unique in data and control together.

    Given the file and who these are, nothing but chance tells which side a person is on, if the
    file was made without either side.
    """
    both, columns = np.concatenate([ours, others]), range(len(views.fine))
    unique, hit = _unique(views, both, columns), _standing(views, both, columns)[0]
    is_ours = np.arange(len(both)) < len(ours)
    sides = unique & is_ours, unique & ~is_ours
    if not all(side.any() for side in sides):
        return None
    (a, n), (b, m) = ((int(hit[side].sum()), int(side.sum())) for side in sides)
    return TwoSamples(a, n, b, m)
