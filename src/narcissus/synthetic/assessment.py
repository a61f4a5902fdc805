"""The risks of a given file: attacks are chosen on some people and scored on others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._arrays import first_largest
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence.intervals import TwoSamples, standard_score
from narcissus.observer import SILENT, Observer
from narcissus.synthetic.control_gaps import by_lacking, with_lacking
from narcissus.synthetic.copies import FileFacts, file_facts
from narcissus.synthetic.files import MOST_CODES, Covers, GivenFiles, keys_of, measurements
from narcissus.synthetic.full_files import WholeFiles
from narcissus.synthetic.population_test import Together, compare_blocks, compare_together
from narcissus.synthetic.traces import Traces, traces_of
from narcissus.tables import Table
from narcissus.tables.spelling import how_to_bin

SUBSETS = 20
"""Most sets of columns of one size."""
CLOSE = 1e-4
"""Distances that differ by less are one: they are sums that were rounded."""
_BLOCK = 2**23  # distances that are held at a time
USUAL_PEOPLE = 10_000
"""Most people of each file that are tried, unless more are asked for."""
FEWEST_TRIED = 2_000
"""The same of the largest files."""
MOST_COMPARED = 10**9
"""Cells of the file that people of a side are compared with, where not all of these are tried."""
_FEWEST_CHOOSE = 500  # people of a side on whom a way to link is chosen
_CACHED = 2**17  # the same, of one column
_SPARSE = 0.05  # share of the distances up to which near rows are looked up one by one
NEAR = (1, 10)
"""How many of the nearest rows vote."""
Guesses: TypeAlias = "dict[tuple[Columns, int], Positions]"
_FEW = 64  # values of a column up to which a product of matrices is quicker
Columns = tuple[int, ...]
SPLITS = 4
"""Ways of dividing the columns that are tried where none is given."""
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]
Wins = NDArray[np.bool_]
FEWEST = 20
"""Fewest people of a file that can be divided."""
ALIKE = 0.001
"""Error of the test of whether the control is of the same population, value by value."""
TOGETHER = 0.009
"""Error of the test of the same, by all columns together."""
NAMED = 10
"""Fewest people of a file whose value is named: the record is made to be shown."""


INTERVALS = 20
"""Most intervals that the numbers of a column are compared by, where people are singled out."""
ALIKE_IN_CROWD = 5
"""Fewest people of a crowd with a value that can be a part of a link."""
BY_CHANCE = 1.0
"""Standard errors by which an attack may separate people where nothing is linked."""


BY_FILE = "guessed right by as many rows of the file alone"
BY_OTHERS = "guessed right by as many other people's records alone"
RiskName = Literal["inference", "singling out", "singling out by a value", "linkability"]
BY_VALUE: RiskName = "singling out by a value"
RISKS: tuple[RiskName, ...] = ("inference", "singling out", BY_VALUE, "linkability")
"""The three risks that anonymisation must rule out (Article 29 Working Party 2014, Opinion 05).

Singling out by the value of one column, which links nothing to it, is apart from that by several.
"""


@dataclass(frozen=True)
class FileThreat:
    """The attacker's targets.

    unknown: columns to guess, one by one and together; the attacker knows all other columns.
    linked: two sets of columns to link; None tries random divisions of all columns.
    people: most people to try from each file, drawn at random. Of large files fewer are tried,
        unless more than `USUAL_PEOPLE` are asked for.
    """

    unknown: tuple[str, ...]
    linked: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    people: int = USUAL_PEOPLE

    def tried(self, files: GivenFiles) -> int:
        """Return the most people of each file that are tried: a sample, where files are large."""
        if self.people > USUAL_PEOPLE:
            return self.people
        return min(self.people, max(FEWEST_TRIED, MOST_COMPARED // _cells(files)))

    def secrets(self, files: GivenFiles) -> dict[str, tuple[int, ...]]:
        """Return the columns of each secret by its name."""
        table = files.table
        columns = tuple(table.index(name) for name in self.unknown)
        if not columns or len(set(columns)) < len(columns):
            raise InputError("`unknown` must name at least one column, and none twice")
        if len(columns) == table.columns:
            raise InputError("`unknown` names every column: the attacker must know at least one")
        for name, j in zip(self.unknown, columns, strict=True):
            if table.sizes[j] > MOST_CODES:
                raise InputError(
                    f"the unknown column `{name}` has {table.sizes[j]:,} values, more than "
                    f"{MOST_CODES}: to guess one of them exactly is not the question: "
                    + how_to_bin(name, "quantiles=5", "common=20")
                )
        secrets = {name: (j,) for name, j in zip(self.unknown, columns, strict=True)}
        return secrets if len(columns) == 1 else {**secrets, " and ".join(self.unknown): columns}

    def division(self, files: GivenFiles) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return the positions of the two sets of columns to link."""
        if self.linked is None:
            return None
        columns, other = (tuple(files.table.index(name) for name in names) for names in self.linked)
        if not columns or not other or set(columns) & set(other):
            raise InputError(
                "`linked` must be two disjoint sets of columns, each with at least one"
            )
        return columns, other


@dataclass(frozen=True)
class Risk:
    """One risk, and for whom it came true."""

    risk: RiskName  # its name
    secret: str  # the guessed secret; empty if nothing is guessed
    attack: str  # the chosen attack
    # for each attack, its success on the people that it was chosen on, of the real data and
    # of the control; None without a control
    tried: Mapping[str, tuple[float, float | None]]
    # real, control: whether it succeeded, for each scored person; ``control`` is None without
    # a control
    real: Wins
    control: Wins | None
    guess: str = ""  # the best guess without the release; empty if nothing is guessed
    # guessed_real, guessed_control: whether that was right, for each scored person
    guessed_real: Wins | None = None
    guessed_control: Wins | None = None
    # numbers about the attack, by their meaning
    facts: dict[str, int] = field(default_factory=dict[str, int])

    def counts(self, real: Wins | None = None, control: Wins | None = None) -> TwoSamples | None:
        """Return the successes of both sides, within the masks if given; None if one side has
        nobody.
        """
        if self.control is None:
            return None
        ours = self.real if real is None else self.real[real]
        theirs = self.control if control is None else self.control[control]
        if not ours.size or not theirs.size:
            return None
        return TwoSamples(int(ours.sum()), ours.size, int(theirs.sum()), theirs.size)


def _cells(files: GivenFiles) -> int:
    return max(1, files.synthetic * files.table.columns)


def people_who_choose(files: GivenFiles) -> int:
    """Return the most people of a side on whom a way to link is chosen."""
    return max(_FEWEST_CHOOSE, MOST_COMPARED // (SPLITS * _cells(files)))


def compared_cells(files: GivenFiles, threat: FileThreat) -> int:
    """Return how many cells of the file people are compared with, by all attacks together."""
    sides = [min(side, threat.tried(files)) for side in (files.real, files.control)]
    by_nearest = 3 * sum(sides) // 2  # by some columns those who choose, by two halves the scored
    splits = 1 if threat.linked is not None else SPLITS
    to_choose = splits * sum(min(side // 2, people_who_choose(files)) for side in sides)
    return _cells(files) * (by_nearest + to_choose)


def kinds_of_predicates(width: int, rng: np.random.Generator) -> dict[str, list[Columns]]:
    """Return the kinds of predicates that link columns: their number, and the sets to try.

    More than `SUBSETS` sets of one size are sampled.
    """
    sizes = sorted({min(2, width), min(3, width), math.ceil(width / 2), width} - {1})
    return {f"{size} columns": _subsets(width, size, rng) for size in sizes}


def _subsets(width: int, size: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    if math.comb(width, size) <= SUBSETS:
        return list(combinations(range(width), size))
    drawn = (rng.permutation(width)[:size] for _ in range(SUBSETS))
    return sorted({tuple(sorted(map(int, columns))) for columns in drawn})


def singled_out(
    codes: Codes,
    subsets: Sequence[Columns],
    rows: Positions,
    people: Positions,
    crowd: Positions,
    *,
    inside: bool = False,
) -> NDArray[np.bool_]:
    """Check whether a predicate isolates each of ``people`` from a crowd, shape (people,).

    A predicate states that some columns have the values, by their ``codes``, of exactly one of
    ``rows``, those of the synthetic file. It isolates a person for whom it holds if it holds for
    nobody in the crowd. The result for one person does not depend on the other people, so they stay
    independent. ``inside``: the people are themselves part of the crowd, once each.
    """
    is_isolated = np.zeros(len(people), np.bool_)
    ends = np.cumsum([len(people), len(rows)])
    for columns in subsets:
        keys = keys_of(codes[np.concatenate([people, rows, crowd])][:, columns])
        here, there, around = np.split(keys, ends)
        size = int(keys.max()) + 1
        unique = np.bincount(there, minlength=size) == 1
        alone = np.bincount(around, minlength=size) <= inside
        is_isolated |= (unique & alone)[here]
    return is_isolated


def compared(table: Table, crowd: Positions) -> tuple[Codes, Codes]:
    """Return the codes by which a person is singled out: by a value alone, and by a link.

    Numbers and dates are compared by the intervals, of nearly equal size in the crowd, that they
    lie in: an exact measurement is hardly anybody else's. For a link a value that fewer than
    `ALIKE_IN_CROWD` of the crowd have is one with all others that are as rare. So no value does it
    alone: a file whose columns were shuffled singles nobody out by a link. The crowd decides, so
    people who are scored stay exchangeable. Both have shape (rows, columns).
    """
    alone, linked = table.codes.copy(), table.codes.copy()
    groups = max(1, min(INTERVALS, len(crowd) // ALIKE_IN_CROWD))
    for j in range(table.columns):
        if (numbers := measurements(table, j)) is not None:
            at = numbers[table.codes[:, j]]
            known = at[crowd][~np.isnan(at[crowd])]
            cuts = (
                np.unique(np.quantile(known, np.arange(1, groups) / groups))
                if known.size
                else known
            )
            places = np.searchsorted(cuts, at, side="right")
            alone[:, j] = np.where(np.isnan(at), len(cuts) + 1, places)
        size = int(alone[:, j].max()) + 1
        times = np.bincount(alone[crowd, j], minlength=size)
        is_rare = times < ALIKE_IN_CROWD
        rest = size if times[is_rare].sum() >= ALIKE_IN_CROWD else int(times.argmax())
        linked[:, j] = np.where(is_rare, rest, np.arange(size))[alone[:, j]]
    return alone, linked


def distances(
    table: Table,
    people: NDArray[np.int64],
    rows: NDArray[np.int64],
    columns: Sequence[int],
    coarse: Mapping[int, Covers] = {},
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield the distances of people from rows: a slice of people, and shape (people there, rows).

    A distance is the sum over the columns of 0 or 1 for texts, and for numbers of the difference
    of their values, which are scaled to [0, 1] (Gower 1971, without dividing by the columns). A
    coarse value of a row is no distance from the values that it stands for.
    """
    few = [j for j in columns if table.sizes[j] <= _FEW and j not in coarse]
    many = [j for j in columns if j not in few]
    parts = [_apart(table, j)[:, table.codes[rows, j]] for j in few]
    towards = np.concatenate(parts) if parts else np.zeros((0, len(rows)), np.float32)
    starts = np.cumsum([0, *(table.sizes[j] for j in few)])
    step = max(1, _BLOCK // len(rows))
    for first in range(0, len(people), step):
        some = people[first : first + step]
        which = np.zeros((len(some), int(starts[-1])), np.float32)
        for start, j in zip(starts, few, strict=False):
            which[np.arange(len(some)), start + table.codes[some, j]] = 1
        matrix = which @ towards
        _add_columns(matrix, table, (some, rows), many, coarse)
        yield slice(first, first + len(some)), matrix


def _add_columns(
    matrix: NDArray[np.float32],
    table: Table,
    sides: tuple[NDArray[np.int64], NDArray[np.int64]],
    columns: Sequence[int],
    coarse: Mapping[int, Covers],
) -> None:
    """Add the distances in some columns, a part of the rows at a time that a cache can hold."""
    some, rows = sides
    each = [(j, _numbers(table, j, some), _numbers(table, j, rows)) for j in columns]
    step = max(1, _CACHED // len(some))
    buffer = np.empty((len(some), step), np.float32)
    for first in range(0, len(rows), step):
        part = matrix[:, first : first + step]
        apart = buffer[:, : part.shape[1]]
        for j, here, numbers in each:
            there = numbers[first : first + step]
            if j in coarse:
                fine = coarse[j].codes
                part += ~coarse[j].covers.T[np.ix_(fine[some], fine[rows[first : first + step]])]
            elif table.values[j] is None:
                part += here[:, None] != there
            else:
                np.subtract(here[:, None], there, out=apart)
                part += np.abs(apart, out=apart)


def _numbers(table: Table, column: int, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    values, codes = table.values[column], table.codes[rows, column]
    return (codes if values is None else values[codes]).astype(np.float32)


def _apart(table: Table, column: int) -> NDArray[np.float32]:
    """Return the distance of every two values of a column."""
    values = table.values[column]
    if values is None:
        return (1 - np.eye(table.sizes[column])).astype(np.float32)
    return np.abs(values[:, None] - values).astype(np.float32)


class _Ballot:
    """The value of a secret that each row votes for."""

    def __init__(self, keys: Positions) -> None:
        self.keys, self.size = keys, int(keys.max()) + 1
        # where votes tie, for the value that is more frequent in the file
        times = np.bincount(keys, minlength=self.size).astype(np.float32)
        self.frequent: NDArray[np.float32] = (times / (2 * len(keys))).astype(np.float32)

    def votes(self, is_near: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Count the votes of the rows that are near each person, shape (people, values)."""
        people = len(is_near)
        if np.count_nonzero(is_near) <= _SPARSE * is_near.size:
            who, row = np.nonzero(is_near)
            places = who * self.size + self.keys[row]
            times = np.bincount(places, minlength=people * self.size).astype(np.float32)
            return times.reshape(people, self.size) + self.frequent
        ballots = np.zeros((len(self.keys), self.size), np.float32)
        ballots[np.arange(len(self.keys)), self.keys] = 1
        return is_near.astype(np.float32) @ ballots + self.frequent


@dataclass(frozen=True)
class NearRows:
    """Votes of the nearest rows about several secrets, looked up once for the same people."""

    files: GivenFiles
    known: Sequence[int]  # positions of the columns by which rows are near
    secrets: Sequence[Columns]  # positions of the columns of each secret
    kept: dict[bytes, Guesses] = field(default_factory=dict[bytes, Guesses])

    def guesses(self, people: Positions, rows: Positions) -> Guesses:
        """Return, for each secret and number of neighbours, the place of each person's guess.

        The place is among the sorted values that the rows have. Votes are of the nearest rows,
        including all ties. For an empty secret it is the nearest row.
        """
        key = people.tobytes() + b"/" + rows.tobytes()
        if key not in self.kept:
            self.kept[key] = self._looked_up(people, rows)
        return self.kept[key]

    def _looked_up(self, people: Positions, rows: Positions) -> Guesses:
        codes = self.files.table.codes[rows]
        ballots = [_Ballot(keys_of(codes[:, list(secret)])) for secret in self.secrets]
        guesses: Guesses = {
            (s, k): np.empty(len(people), np.int64) for s in self.secrets for k in NEAR
        }
        guesses[(), 1] = np.empty(len(people), np.int64)
        for block, apart in distances(
            self.files.table, people, rows, self.known, self.files.covers
        ):
            guesses[(), 1][block] = apart.argmin(axis=1)
            places = [min(neighbours, len(rows)) - 1 for neighbours in NEAR]
            nearest = np.sort(np.partition(apart, max(places), axis=1)[:, : max(places) + 1])
            for neighbours, place in zip(NEAR, places, strict=True):
                is_near = apart <= nearest[:, [place]] + CLOSE
                for secret, ballot in zip(self.secrets, ballots, strict=True):
                    votes = ballot.votes(is_near)
                    guesses[secret, neighbours][block] = votes.argmax(axis=1)
        return guesses


@dataclass(frozen=True)
class Inference:
    """A guess of the joint value of some columns of a person who is known in others."""

    files: GivenFiles
    unknown: Columns  # positions of the columns to guess; all must be right
    known: Sequence[int]  # positions of the columns that the attacker knows
    near: NearRows  # of this secret, and perhaps of others

    def attempts(self) -> dict[str, Callable[..., Wins]]:
        """Return the attacks by name: functions of ``(people, rows)``, and perhaps of people whose
        answers are right instead, that return the correct guesses.
        """
        return {
            "nearest record": partial(self._vote, neighbours=1),
            "ten nearest records": partial(self._vote, neighbours=10),
            "naive Bayes": self._bayes,
        }

    def secrets(self, *sides: Positions) -> list[Positions]:
        """Return the joint values of the rows of each side, as numbers from 0."""
        codes = self.files.table.codes[np.concatenate(sides)]
        ends = np.cumsum([len(side) for side in sides])[:-1]
        return np.split(keys_of(codes[:, list(self.unknown)]), ends)

    def _vote(
        self, people: Positions, rows: Positions, whose: Positions | None = None, *, neighbours: int
    ) -> Wins:
        """Guess the most frequent value among the nearest rows, including all ties.

        ``whose``: the people whose answers count as right; None: their own.
        """
        truth, seen = self.secrets(people if whose is None else whose, rows)
        guess = self.near.guesses(people, rows)[self.unknown, neighbours]
        return np.unique(seen)[guess] == truth

    def _bayes(self, people: Positions, rows: Positions, whose: Positions | None = None) -> Wins:
        """Guess the most probable value if the known columns are independent given it."""
        truth, seen = self.secrets(people if whose is None else whose, rows)
        values, seen = np.unique(seen, return_inverse=True)
        times = np.bincount(seen)
        beliefs = np.tile(np.log(times), (len(people), 1))
        for column in self.known:
            codes = self.files.coarse[:, column]
            size = int(codes.max()) + 1
            counts = np.zeros((size, len(values)))
            np.add.at(counts, (codes[rows], seen), 1)
            # half a row is added to each cell (Krichevsky and Trofimov 1981)
            likely = np.log(counts + 0.5) - np.log(times + 0.5 * size)
            beliefs += likely[codes[people]]
        return values[first_largest(beliefs)] == truth


@dataclass(frozen=True)
class Link:
    """A way to link two sets of columns through the nearest rows of a file."""

    one: Columns  # positions of columns; neither set is empty, and they are disjoint
    other: Columns  # the other set
    # count a match only if fewer than one is expected from random rows: ties match easily
    is_rare: bool

    def links(
        self, files: GivenFiles, people: Positions, kept: dict[bytes, tuple[Wins, Wins]]
    ) -> Wins:
        """Check whether one row of the file is nearest by both sets of columns; shape (people,).

        ``kept`` holds what was found for the same division of the columns, rare or not.
        """
        key = repr((self.one, self.other)).encode() + people.tobytes()
        if key not in kept:
            kept[key] = self._both(files, people)
        return kept[key][self.is_rare]

    def _both(self, files: GivenFiles, people: Positions) -> tuple[Wins, Wins]:
        """Return who is linked, and who is by a meeting that is rare."""
        rows = files.rows("synthetic")
        is_linked, rare = np.zeros((2, len(people)), np.bool_)
        pairs = zip(
            distances(files.table, people, rows, self.one, files.covers),
            distances(files.table, people, rows, self.other, files.covers),
            strict=True,
        )
        for (block, here), (_, there) in pairs:
            near = here <= here.min(axis=1, keepdims=True) + CLOSE
            beside = there <= there.min(axis=1, keepdims=True) + CLOSE
            meets = (near & beside).any(axis=1)
            is_linked[block] = meets
            many = [np.count_nonzero(side, axis=1) for side in (near, beside)]
            rare[block] = meets & (many[0] * many[1] < len(rows))
        return is_linked, rare


def ways_to_link(
    files: GivenFiles, given: tuple[Columns, Columns] | None, rng: np.random.Generator
) -> dict[str, Link]:
    """Return the ways to link, by name: the given division, or `SPLITS` random divisions of all
    columns.
    """
    width = files.table.columns
    splits = {given} if given is not None else set[tuple[Columns, Columns]]()
    possible = math.comb(width, width // 2) // (2 - width % 2)
    while given is None and len(splits) < min(SPLITS, possible):
        order = [int(j) for j in rng.permutation(width)]
        halves = [tuple(sorted(order[: width // 2])), tuple(sorted(order[width // 2 :]))]
        splits.add((min(halves), max(halves)))
    return {
        f"{_named(files, columns)} with {_named(files, other)}{', rare meetings' * is_rare}": Link(
            columns, other, is_rare
        )
        for columns, other in sorted(splits)
        for is_rare in (True, False)
    }


def _named(files: GivenFiles, columns: Sequence[int]) -> str:
    return ", ".join(files.table.names[j] for j in columns)


@dataclass(frozen=True)
class Halves:
    """People to choose attacks on, and others to score them on, as positions in the table."""

    chosen_on: Positions  # of the real data
    scored: Positions  # of the real data
    control_chosen_on: Positions  # of the control; empty without one
    control_scored: Positions  # of the control; empty without one
    spare: Positions  # of the real data, beyond those that are tried

    @property
    def crowd(self) -> Positions:
        """Everybody that attacks were chosen on."""
        return np.concatenate([self.chosen_on, self.control_chosen_on])


@dataclass(frozen=True)
class Unlike:
    """The value whose share differs most between the real data and the control, and columns.

    ``p_value`` is Fisher's, two-sided, times the number of values considered, at most 1.
    ``together`` is how all columns differ together.
    """

    column: str
    value: str
    real: float
    control: float
    p_value: float
    together: Together
    # whether blocks of rows that follow one another show it: households alone do not do that
    is_by_blocks: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether the control is shown to be of another population."""
        return self.p_value < ALIKE or self.together.p_value <= TOGETHER


@dataclass(frozen=True)
class Assessment:
    """Findings about a file."""

    halves: Halves  # the people who were scored, and the others
    risks: tuple[Risk, ...]  # inference of each secret, singling out, linkability
    unlike: Unlike | None  # where the control differs most; None without a control
    facts: FileFacts  # what stands in the file
    traces: Traces | None = None  # the same by any columns of the published file
    lacking: Traces | None = None  # by sets of columns of which the control lacks one


def assess_file(
    files: GivenFiles,
    threat: FileThreat,
    *,
    entropy: int,
    observer: Observer = SILENT,
    whole: WholeFiles | None = None,
) -> Assessment:
    """Try the three risks on a given file.

    The people of the real data and of the control are each divided at random in halves. On one
    half, the attack is chosen that separates the two most, in standard errors; on the other, it is
    scored. If the synthetic file was made without the people of ``real`` (or carries no information
    about them in particular), the scored ones are exchangeable with the control's, given the file,
    the choice and its people. So a test of exchangeability keeps its level.

    whole: The files as they are published, where copies are sought; None: in ``files``.
    """
    secrets, division = threat.secrets(files), threat.division(files)
    halves = _halves(files, threat.tried(files), child(entropy, 0))
    unknown = {j for columns in secrets.values() for j in columns}
    known = [j for j in range(files.table.columns) if j not in unknown]
    risks: list[Risk] = []
    observer.start("copies of people", 0)
    traces = lacking = None
    if whole is not None and whole.columns:
        traces = traces_of(whole, files.names, threat.unknown, entropy=entropy)
        if whole.without_control is not None:
            used = [*files.names, *whole.lacking]
            more = traces_of(whole.without_control, used, threat.unknown, entropy=entropy)
            traces = with_lacking(traces, more, whole.lacking)
            lacking = by_lacking(more, whole.lacking)
    facts = traces.facts if traces else file_facts(files, sorted(unknown), entropy=entropy)
    observer.start("risks", len(secrets) + 2)
    near = NearRows(files, known, tuple(secrets.values()))
    for name, columns in secrets.items():
        inference = Inference(files, columns, known, near)
        risks.append(_inference(files, halves, name, inference, child(entropy, 6)))
        observer.advance()
    risks += _singling_out(files, halves, child(entropy, 1))
    observer.advance()
    risks.append(_linkability(files, halves, division, child(entropy, 2)))
    observer.advance()
    observer.finish()
    unlike = _unlike(files, halves, child(entropy, 4)) if files.control else None
    if unlike is not None and unlike.is_shown and files.units is None:
        sides = files.rows("real"), files.rows("control")
        p_value = compare_blocks(files, sides, TOGETHER, child(entropy, 7))
        unlike = replace(unlike, is_by_blocks=p_value <= TOGETHER)
    return Assessment(halves, tuple(risks), unlike, facts, traces, lacking)


def _halves(files: GivenFiles, most: int, rng: np.random.Generator) -> Halves:
    parts: list[Positions] = []
    spare = np.zeros(0, np.int64)
    for name in ("real", "control"):
        drawn = files.one_of_each(files.rows(name), rng)
        drawn, spare = drawn[:most], drawn[most:] if name == "real" else spare
        if 0 < len(drawn) < FEWEST:
            noun = "rows" if files.units is None else "units"
            raise InputError(
                f"the {name} file has {len(drawn)} {noun}: at least {FEWEST} are needed, half to "
                "choose an attack on and half to score it on"
            )
        parts += [drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]]
    return Halves(parts[0], parts[1], parts[2], parts[3], spare)


Attempts = Mapping[str, Callable[[Positions], Wins]]


def _chosen(
    attempts: Attempts, halves: Halves, by_chance: Attempts | None = None
) -> tuple[str, dict[str, tuple[float, float | None]]]:
    """Choose the attack with the best separation; without a control, the most successful.

    ``by_chance`` are attacks, by the same names, on a file that links nothing: what they separate
    is none of the merit, and one that separates much there comes last.
    """
    tried: dict[str, tuple[float, float | None]] = {}
    scores: dict[str, tuple[float, float]] = {}
    for name, attempt in attempts.items():
        real, control = _sides(attempt, halves)
        score = _separation(real, control)
        if by_chance and name in by_chance:
            chance = _separation(*_sides(by_chance[name], halves))
            score = score - max(0.0, chance) if chance < BY_CHANCE else -chance
        tried[name] = float(real.mean()), float(control.mean()) if control.size else None
        scores[name] = (score, tried[name][0])
    return max(scores, key=lambda name: scores[name]), tried


def _sides(attempt: Callable[[Positions], Wins], halves: Halves) -> tuple[Wins, Wins]:
    """Try an attack on the people that one is chosen on, of the data and of the control."""
    won = attempt(halves.crowd)
    return won[: len(halves.chosen_on)], won[len(halves.chosen_on) :]


def _separation(real: Wins, control: Wins) -> float:
    if not control.size:
        return 0.0
    counts = TwoSamples(int(real.sum()), real.size, int(control.sum()), control.size)
    return standard_score(counts)


def _scored(attempt: Callable[[Positions], Wins], halves: Halves) -> tuple[Wins, Wins | None]:
    won = attempt(np.concatenate([halves.scored, halves.control_scored]))
    real, control = won[: len(halves.scored)], won[len(halves.scored) :]
    return real, control if control.size else None


def _inference(
    files: GivenFiles, halves: Halves, name: str, inference: Inference, rng: np.random.Generator
) -> Risk:
    """Guess a secret from the synthetic rows, and from people who are not scored."""
    attempts = inference.attempts()
    rows = files.rows("synthetic")
    with_file = {a: (lambda people, f=f: f(people, rows)) for a, f in attempts.items()}
    attack, tried = _chosen(with_file, halves)
    real, control = _scored(with_file[attack], halves)
    # Who knows the population guesses without the file: the same attacks, on other people's
    # records. With a control these are its own half, and the real half chooses among the attacks;
    # without one the real half is divided once more, and as many people as the file has rows teach.
    if halves.control_chosen_on.size:
        others, choose_on = halves.control_chosen_on, halves.chosen_on
    else:
        middle = len(halves.chosen_on) // 2
        others = np.concatenate([halves.chosen_on[:middle], halves.spare])[: len(rows)]
        choose_on = halves.chosen_on[middle:]
    guesses = {a: (lambda people, f=f: f(people, others)) for a, f in attempts.items()}
    guess = max(guesses, key=lambda a: guesses[a](choose_on).mean())
    guessed_real, guessed_control = _scored(guesses[guess], halves)
    decoys = (
        {}
        if control is not None
        else _against_decoys(inference, attempts[attack], halves.scored, others)
    )
    if control is None:
        decoys |= _beside_others(
            attempts, (choose_on, halves.scored), rng.permutation(rows), others
        )
    return Risk(
        *("inference", name, attack, tried, real, control, guess, guessed_real, guessed_control),
        facts=decoys,
    )


def _beside_others(
    attempts: Mapping[str, Callable[..., Wins]],
    people: tuple[Positions, Positions],
    rows: Positions,
    others: Positions,
) -> dict[str, int]:
    """Count who is guessed right by rows of the file alone, and by as many other people alone.

    Where the file is a fresh sample, both are as likely: rows of the file and other people are
    exchangeable. The attack is the one that does best by both together on the first ``people``;
    it is scored on the second.
    """
    many = min(len(rows), len(others))
    sides = rows[:many], others[:many]
    scores = {
        name: sum(float(attack(people[0], side).mean()) for side in sides)
        for name, attack in attempts.items()
    }
    attack = attempts[max(scores, key=lambda name: scores[name])]
    by_file, by_others = (attack(people[1], side) for side in sides)
    return {
        BY_FILE: int((by_file & ~by_others).sum()),
        BY_OTHERS: int((by_others & ~by_file).sum()),
    }


def _against_decoys(
    inference: Inference, attack: Callable[..., Wins], people: Positions, others: Positions
) -> dict[str, int]:
    """Count whose own answer is named, and whose decoy's: the answer of somebody most like them.

    Only those count whose decoy has another answer.
    """
    rows = inference.files.rows("synthetic")
    like = others[inference.near.guesses(people, others)[(), 1]]
    answers, theirs = inference.secrets(people, like)
    differ = answers != theirs
    return {
        "people whose decoy has another answer": int(differ.sum()),
        "of these, own answer named": int((attack(people, rows) & differ).sum()),
        "of these, the decoy's named": int((attack(people, rows, like) & differ).sum()),
    }


def _singling_out(files: GivenFiles, halves: Halves, rng: np.random.Generator) -> tuple[Risk, Risk]:
    """Single people out by several columns, and by a value alone, which links nothing to it."""
    alone, linked = compared(files.table, halves.crowd)
    rows, width = files.rows("synthetic"), files.table.columns
    # a value singles out that the file has and nobody in the crowd
    columns = [j for j in range(width) if not np.isin(alone[rows, j], alone[halves.crowd, j]).all()]
    single: Kinds = {f"`{_named(files, [j])}` alone": (alone, [(j,)]) for j in columns or [0]}
    subsets = kinds_of_predicates(width, rng)
    kinds = {size: (linked, sets) for size, sets in subsets.items()}
    exact = {f"{n}, to the last digit": (files.table.codes, sets) for n, sets in subsets.items()}
    by_link = _isolating(files, halves, kinds | exact, "singling out", rng)
    return by_link, _isolating(files, halves, single, BY_VALUE)


Kinds = dict[str, tuple[Codes, list[Columns]]]
"""By the name of a kind of predicates, the codes by which columns are compared, and which."""


def _isolating(
    files: GivenFiles,
    halves: Halves,
    kinds: Kinds,
    risk: RiskName,
    rng: np.random.Generator | None = None,
) -> Risk:
    """Choose a kind of predicates, and count whom it isolates.

    With ``rng`` what the same file separates when each column is shuffled by itself is no merit.
    """
    rows, crowd = files.rows("synthetic"), halves.crowd

    def attempts(order: Positions | None = None) -> Attempts:
        return {
            name: partial(
                singled_out,
                codes if order is None else codes[order, places],
                sets,
                rows,
                crowd=crowd,
                inside=True,
            )
            for name, (codes, sets) in kinds.items()
        }

    places = np.arange(files.table.columns)
    order = np.repeat(np.arange(files.table.rows)[:, None], len(places), axis=1)
    by_chance = None
    if rng is not None:
        order[rows] = rng.permuted(order[rows], axis=0)  # of each column by itself
        by_chance = attempts(order)
    attack, tried = _chosen(attempts(), halves, by_chance)
    codes, sets = kinds[attack]
    real, control = _scored(partial(singled_out, codes, sets, rows, crowd=crowd), halves)
    return Risk(risk, "", attack, tried, real, control, facts={"crowd": len(crowd)})


def _linkability(
    files: GivenFiles,
    halves: Halves,
    division: tuple[tuple[int, ...], tuple[int, ...]] | None,
    rng: np.random.Generator,
) -> Risk:
    ways = ways_to_link(files, division, rng)
    cache: dict[bytes, tuple[Wins, Wins]] = {}
    attempts = {
        name: (lambda people, way=way: way.links(files, people, cache))
        for name, way in ways.items()
    }
    # whoever an attack is chosen on is independent of whom it is scored on: a sample will do
    few = people_who_choose(files)
    choosing = replace(
        halves,
        chosen_on=halves.chosen_on[:few],
        control_chosen_on=halves.control_chosen_on[:few],
    )
    attack, tried = _chosen(attempts, choosing)
    real, control = _scored(attempts[attack], halves)
    return Risk("linkability", "", attack, tried, real, control)


def _unlike(files: GivenFiles, halves: Halves, rng: np.random.Generator) -> Unlike:
    """Find the value whose share differs most, among values of nobody or of enough people.

    Where the shares of single values agree, columns may hang together in another way.
    """
    sides = files.rows("real"), files.rows("control")
    if files.units is not None:  # rows of one unit are alike: one of each is independent
        chosen = (
            (halves.chosen_on, halves.scored),
            (halves.control_chosen_on, halves.control_scored),
        )
        sides = np.concatenate(chosen[0]), np.concatenate(chosen[1])
    ours, theirs = map(len, sides)
    together = compare_together(files, sides, TOGETHER, rng)
    candidates: list[tuple[float, int, int, float, float]] = []
    looked_at = 0
    for j in range(files.table.columns):
        codes = files.coarse[:, j]
        size = int(codes.max()) + 1
        real, control = (np.bincount(codes[side], minlength=size) for side in sides)
        for code in range(size):
            a, b = int(real[code]), int(control[code])
            tails = scipy.stats.hypergeom.sf(a - 1, ours + theirs, a + b, ours)
            tails = min(tails, scipy.stats.hypergeom.cdf(a, ours + theirs, a + b, ours))
            looked_at += 1
            if not (0 < a < NAMED or 0 < b < NAMED):
                p_value = min(1.0, 2 * float(tails))
                candidates.append((p_value, j, code, a / ours, b / theirs))
    if not candidates:
        few = f"what fewer than {NAMED} people have"
        return Unlike("every column", few, 0.0, 0.0, 1.0, together)
    p_value, j, code, real, control = min(candidates)
    return Unlike(
        files.table.names[j],
        files.label(files.table.names[j], code),
        real,
        control,
        min(1.0, p_value * looked_at),
        together,
    )
