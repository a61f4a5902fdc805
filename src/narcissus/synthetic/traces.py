"""People of the data who appear in the file by any of its columns, whatever a study makes of them.

Copies may be whole rows, rows but for one column, or the columns that a study leaves out: a case
number, a date and a bill that appears next to synthetic values name the person all the same. Each
set
of columns is a separate claim. Half of the error is for all columns, the rest for all other sets
(Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.evidence.intervals import TwoSamples
from narcissus.synthetic.changes import ChangedPeople
from narcissus.synthetic.column_sets import NOT_LOOKED, Looked, look_at_sets
from narcissus.synthetic.column_swaps import people_elsewhere
from narcissus.synthetic.copies import (
    BesideControl,
    BesideMoves,
    Copies,
    FileFacts,
    LimitedCount,
    Views,
    beside_control,
    copies_but_one,
    copies_by,
    copies_of,
    copies_on,
    file_facts,
)
from narcissus.synthetic.digits import Swapped, swapped_digits
from narcissus.synthetic.full_files import WholeColumn, WholeFiles
from narcissus.synthetic.mirrors import look_mirrored, nearer_mirrored
from narcissus.synthetic.near_copies import EXPECTED, NearerPeople, nearer_people, nearly_copied
from narcissus.synthetic.part_copies import partly_copied
from narcissus.synthetic.recoding import look_recoded
from narcissus.synthetic.row_groups import GroupedPeople, look_grouped
from narcissus.synthetic.row_rules import look_by_row
from narcissus.synthetic.rows_in_order import RowsInOrder, look_at_order

Positions = NDArray[np.int64]
How = Literal[
    "all columns",
    "columns that number nobody",
    "columns that are used",
    "but one column",
    "columns left out",
    "one column",
    "values of one column",
    "two columns",
    "numbers of people",
    "nearest records",
    "all columns but any one",
    "last digits",
    "columns chosen by half of the people",
    "nearly all columns",
    "changed columns",
    "few columns",
    "groups of rows",
]
WHOLE: How = "all columns"
BUT_ANY: How = "all columns but any one"
NEAREST: How = "nearest records"
BY_VALUES: How = "values of one column"
DIGITS: How = "last digits"
PARTLY: How = "columns chosen by half of the people"
NEARLY: How = "nearly all columns"
CHANGED: How = "changed columns"
FEW: How = "few columns"
GROUPS: How = "groups of rows"
PRIMARY = 0.5
"""Share of the error for all columns; the other sets divide the rest.

With a control two claims divide it: more than of the control, and more than by coincidence. A
control of few people would hide what no coincidence explains.
"""
BUT_ANY_SHARE = 0.1
"""Share of the error for rows that are a person's but for one column, whichever it is."""
DIGITS_SHARE = 0.1
"""Share of the error for people who appear in the file beyond those with swapped digits."""
PARTLY_SHARE = 0.1
"""Share of the error for people of whom several columns appear in the file, whichever these are."""
NEARLY_SHARE = 0.05
"""Share of the error for people of whom a row has nearly the numbers."""
BESIDE_SHARE = 0.05
"""Share of the error, with a control, for people who are counted by a way that the data chose.

That is columns recoded, mirrored or exchanged, rows that are nearly a person, and few columns. The
way is chosen where coincidence explains no such count, at a separate error. People of the
control are then looked up in the same way.
"""
MOST_PAIRED = 12
"""Most columns of which any two are looked at together."""
MOST_BUT_ONE = 40
"""Most columns of which each is left out by itself."""
_SPREAD = 20  # fewest of these
FINE = 0.25
"""Different numbers for each person from which on a column has distances."""
_MOST_NEAR = 12  # columns by which the nearest record is sought
MOST_SOUGHT = 50_000
"""Most rows of a side whose nearest records are sought."""
_LOOKED_AT = 2_000  # people whose nearest neighbour is sought
NEARER = 0.01
"""Share of the people who are nearer to another than what counts as near."""
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_MOVES = tuple(by for by in range(-5, 6) if by)
_NAME_MOVES = 100  # up and down
_LIKELY = 0.05  # error at which coincidence explains who stands in the file, with no move
_NEIGHBOURS = 10  # numbers that lie close together, and are as likely in any of these rows
_LINKED = 20  # fewest rows with one number in both files
_MOST_LINKED = 2_000
_SHUFFLES = 999
STRIKING = 10
"""A set strikes if it would be shown at so small a part of the error, were it the only one."""
MOST_LIMITED = 5
"""Most striking sets whose excess is limited exactly, those of most people."""
OWN_VALUES = 0.001
"""Error of telling that values of single columns appear in the file beyond coincidence."""
NAMELESS = 0.9
"""Part of a limit that counts where columns are compared that have no name."""
ALIKE_ROWS = 0.002
"""Error of the test of whether rows with one number are alike."""


@dataclass(frozen=True)
class Numbered(LimitedCount):
    """Numbers of people that the data and the file have, next to those next to them.

    Where numbers lie close together, a file of other numbers meets as many of the data's as it
    meets of these moved by one, two or three.
    """

    unique: int
    standing: int
    expected: float

    def most_coincidences(self, error: float) -> float:
        """Return the coincidences that are exceeded by chance in at most ``error`` of files."""
        # the expected number is an estimate: it is taken two standard errors higher
        high = self.expected + 2 * np.sqrt(self.expected + 1)
        return min(float(self.unique), float(scipy.stats.poisson.isf(error, high)))


@dataclass(frozen=True)
class NamesThere(LimitedCount):
    """Names of people that the data and the file have: hardly anybody else has one of them.

    A file of other names meets as many of the data's as it meets of these moved up and down. Where
    names are no numbers, none is expected.
    """

    unique: int
    standing: int
    moved: int = 0  # names that the file has, after all moves together
    moves: int = 1

    @property
    def expected(self) -> float:
        """Coincidences: names of the data in a file of others."""
        return self.moved / self.moves

    def most_coincidences(self, error: float) -> float:
        """Return the coincidences that are exceeded by chance in at most ``error`` of files."""
        high = 0.0
        if self.moves > 1:
            high = float(scipy.stats.gamma.isf(error / 2, self.moved + 1)) / self.moves
        return min(float(self.unique), max(1.0, float(scipy.stats.poisson.isf(error / 2, high))))


@dataclass(frozen=True)
class Trace(BesideControl):
    """People of the data who appear in the file by some columns."""

    how: How
    columns: tuple[str, ...]
    share: float  # of the error
    copies: Copies | Numbered | NamesThere | Swapped
    beside: TwoSamples | None  # people of the data and the control
    change: str = ""  # of the columns, by which people stand in the file

    def excess(self, error: float, *, beside: bool) -> tuple[float, float, float]:
        """Return the share who are copied, with limits that err in ``error`` of files each way.

        That is the error of all sets together: each takes its share of it. ``beside``: compare with
        the control, if there is one, and not with coincidence.
        """
        if self.beside is None or not beside:
            return self.copies.excess(error * self.share)
        estimate = self.beside.excess(confidence=1 - 2 * error * self.share)
        assert estimate.low is not None
        assert estimate.high is not None
        return estimate.value, estimate.low, estimate.high

    def is_striking(self, error: float, *, beside: bool) -> bool:
        """Check whether it would be shown, were it the only set."""
        if self.beside is None or not beside:
            return self.copies.standing > self.copies.most_coincidences(error)
        return self.beside.fisher <= error


@dataclass(frozen=True)
class Linked:
    """A column that numbers rows in both files, and whether rows with one number are alike."""

    column: str
    rows: int  # of the file, with a number of the data
    p_value: float | None  # of the rows with one number being no more alike; None: too few

    @property
    def is_alike(self) -> bool:
        return self.p_value is not None and self.p_value <= ALIKE_ROWS


@dataclass(frozen=True)
class NearPeople:
    """Rows of the file that are nearer to a person than nearly all people are to one another."""

    columns: tuple[str, ...]
    rows: int  # of the file, that have all these numbers
    near: int
    expected: float


class _CountedBeside(Protocol):
    """People who were counted by some columns, next to those of the control."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def standing(self) -> int: ...

    @property
    def beside(self) -> TwoSamples | None: ...


@dataclass(frozen=True)
class Traces:
    """What appears in the file by any columns."""

    facts: FileFacts  # by all columns that do not only number people
    each: tuple[Trace, ...]  # the first is that of all columns
    linked: tuple[Linked, ...]
    near: NearPeople | None
    # columns that are used, whose own values of people stand in the file beyond coincidence: these
    # exceed nothing without a control, since a generator may draw its values from the data
    values: tuple[Trace, ...] = ()
    # any few columns by which more people stand in the file than coincidence explains
    sets: Looked = NOT_LOOKED
    nearer: NearerPeople | None = None  # of whom rows are far nearer than others are
    in_order: RowsInOrder | None = None  # rows that follow the order of the data
    elsewhere: NearerPeople | None = None  # whose values stand in a row under other names
    mirrored: ChangedPeople | None = None  # who stand in the file mirrored or exchanged
    nearer_mirrored: NearerPeople | None = None  # the same as nearer, of the file mirrored
    # the same of all rows of a person together
    nearer_together: NearerPeople | None = None
    recoded: ChangedPeople | None = None  # who stand in the file under other codes
    by_row: ChangedPeople | None = None  # whose row was changed by a rule of that row
    groups: GroupedPeople | None = None  # groups of rows that stand in the file whole

    @property
    def changed(self) -> ChangedPeople | None:
        """The people who appear in the file after a change of it, by the one that shows most."""
        each = [p for p in (self.mirrored, self.recoded, self.by_row) if p is not None]
        return max(each, key=lambda people: people.standing) if each else None

    def chosen(self) -> Iterator[Trace]:
        """Yield who is counted next to the control by a way that the data chose."""
        near = (
            (self.nearer, ""),
            (self.nearer_mirrored, "mirrored"),
            (self.nearer_together, "all rows of a person together"),
            (self.elsewhere, "under the names of one another"),
        )
        ways = 1 + len(near) + 2
        share, rows = BESIDE_SHARE / ways, self.facts.rows

        def trace(how: How, part: float, people: _CountedBeside, of: int, change: str) -> Trace:
            many = Copies(of, of, people.standing, rows, 0)
            return Trace(how, people.columns, share * part, many, people.beside, change)

        if self.changed is not None:
            yield trace(CHANGED, 1, self.changed, self.changed.people, self.changed.way)
        for people, change in near:
            if people is not None:
                yield trace(NEARLY, 1, people, people.people, change)
        if self.groups is not None:
            yield trace(GROUPS, 1, self.groups, self.groups.people, self.groups.change)
        for some in self.sets.striking:
            yield trace(FEW, 1 / max(1, self.sets.sets), some, some.unique, "")

    def deciding(self, error: float, *, beside: bool) -> Trace:
        """Return the set of columns by which most people surely appear in the file.

        All columns, unless another set strikes.
        """
        rest = [trace for trace in self.each[1:] if beside or trace.how != BY_VALUES]
        striking = [t for t in rest if t.is_striking(error / STRIKING, beside=beside)]
        striking.sort(key=lambda t: -t.copies.standing / max(1, t.copies.unique))
        some = [self.each[0], *striking[:MOST_LIMITED]]

        def limit(trace: Trace) -> float:
            # a set of named columns tells more than that some column may differ
            return trace.excess(error, beside=beside)[1] * (NAMELESS if trace.how == BUT_ANY else 1)

        return max(some, key=limit) if striking else some[0]


_Found: TypeAlias = "tuple[How, tuple[str, ...], Copies | Numbered | NamesThere, TwoSamples | None]"


def trace_of_all(facts: FileFacts) -> Trace:
    """Return the trace by all columns, where no other set of columns is a claim."""
    return Trace(WHOLE, facts.sets[0].columns, 1.0, facts.copies, facts.beside)


def traces_of(
    files: WholeFiles, used: Sequence[str], unknown: Sequence[str], *, entropy: int
) -> Traces:
    """Seek people of the data in the file, by all columns and by many sets of them.

    used: Columns that the study uses; others are left out of it.
    unknown: Columns that the study guesses; counts on all others are facts, and decide nothing.
    """
    rng = child(entropy, 4)
    files = _varying(files)
    whole = files.select(_primary(files))
    facts = file_facts(
        whole, [whole.names.index(name) for name in unknown if name in whole.names], entropy=entropy
    )
    ours = files.one_of_each(files.rows("real"), rng)
    others = files.one_of_each(files.rows("control"), rng)
    facts = replace(facts, copies=_beside_moves(whole, ours, facts.copies, rng))
    if files.control and facts.control is not None:
        shared = whole.of_control()
        people = shared.one_of_each(shared.rows("real"), child(entropy, 7))
        views = Views(shared, child(entropy, 7))
        both = copies_of(views, people, child(entropy, 8))
        facts = replace(
            facts,
            control=_beside_moves(whole, others, facts.control, rng),
            shared=_beside_moves(shared, people, both, rng),
        )
    sets: dict[tuple[str, ...], How] = {}
    for how, names in _sets(files, used):
        if names != whole.names:
            sets.setdefault(names, how)
    findings: list[_Found] = []
    for names, how in sets.items():
        some = files.select(names)
        views = Views(some, rng)
        beside = beside_control(views, ours, others) if len(others) else None
        many = _beside_moves(some, ours, copies_by(views, ours, facts.copies), rng)
        findings.append((how, names, many, beside))
    for column in files.columns:
        if column.is_dense and not column.counts and _is_telling(files, column):
            views = Views(files.select([column.name]), rng)
            beside = beside_control(views, ours, others) if len(others) else None
            numbered = _numbered(files, column, ours)
            findings.append(("numbers of people", (column.name,), numbered, beside))
    near, reached = _near(files, ours, others, facts.copies, rng)
    findings += [reached] if reached is not None else []
    value_findings = list(_own_values(files, used, (ours, others), facts.copies, rng))
    findings += [finding for finding in value_findings if finding[3] is not None]
    views = Views(whole, child(entropy, 5))
    each = list(_of_large_share(whole, (ours, others), facts.copies, views, rng, child(entropy, 9)))
    rest = 1 - PRIMARY - sum(trace.share for trace in each) - BESIDE_SHARE * (len(others) > 0)
    each += [
        Trace(how, names, rest / len(findings), copies, beside)
        for how, names, copies, beside in findings
    ]
    first = replace(trace_of_all(facts), share=PRIMARY if each else 1.0)
    if first.beside is not None:
        first = replace(first, share=first.share / 2)
        each.insert(0, replace(first, beside=None))
    linked = [_linked(files, column, rng) for column in files.columns if column.is_dense]
    numbering = tuple(column for column in linked if column is not None)
    value_findings += _names_there(files, (ours, others), rng)
    error = OWN_VALUES / max(1, len(value_findings))
    values = tuple(
        Trace(*finding[:2], error, *finding[2:])
        for finding in value_findings
        if _is_beyond(finding[2], error)
    )
    small = look_at_sets(whole, views, (ours, others), child(entropy, 10))
    sides = ours, others
    mirroring = child(entropy, 12)
    return Traces(
        *(facts, (first, *each), numbering, near, values, small),
        nearer_people(whole, views, sides, largest=MOST_SOUGHT),
        look_at_order(files.with_repeated or files, child(entropy, 11)),
        people_elsewhere(whole, sides),
        look_mirrored(whole, sides, facts.copies, mirroring),
        nearer_mirrored(whole, views, sides, mirroring),
        _nearer_together(files, child(entropy, 13)),
        look_recoded(whole, sides, facts.copies, child(entropy, 14)),
        look_by_row(whole, sides, facts.copies, child(entropy, 15)),
        look_grouped(files.groups, child(entropy, 16), files.together),
    )


def _varying(files: WholeFiles) -> WholeFiles:
    """Leave out columns of one value in all rows of all files, which tell nothing of anybody."""
    names = [c.name for c in files.columns if (c.codes != c.codes[:1]).any()]
    return files.select(names) if names else files


def _nearer_together(files: WholeFiles, rng: np.random.Generator) -> NearerPeople | None:
    """Return the people whose rows, all together, are far nearer to those of one of the file."""
    if files.together is None:
        return None
    people = files.together.files
    sides = people.rows("real"), people.rows("control")
    return nearer_people(people, Views(people, rng), sides, largest=MOST_SOUGHT)


def _of_large_share(
    whole: WholeFiles,
    sides: tuple[Positions, Positions],
    like: Copies,
    views: Views,
    rng: np.random.Generator,
    halving: np.random.Generator,
) -> Iterator[Trace]:
    """Yield the traces that have a share of the error of their own."""
    ours, others = sides
    if (but_any := copies_but_one(views, ours, like)) is not None:

        def again(moved: Views) -> int:
            recount = copies_but_one(moved, ours, like)
            return 0 if recount is None else recount.standing

        but_any = _beside_moves(whole, ours, but_any, rng, again)
        yield Trace(BUT_ANY, whole.names, BUT_ANY_SHARE, but_any, None)
    if len(ours) <= MOST_SOUGHT and (digits := swapped_digits(whole, views, ours, rng)) is not None:
        yield Trace(DIGITS, whole.names, DIGITS_SHARE, digits, None)
    if max(len(ours), len(others), whole.synthetic) <= MOST_SOUGHT:
        partly = partly_copied(whole, ours, others, halving)
        if partly is not None:
            yield Trace(PARTLY, partly[0], PARTLY_SHARE, *partly[1:])
        for copies, beside in nearly_copied(whole, views, sides, like):
            share = NEARLY_SHARE / len(EXPECTED)
            yield Trace(NEARLY, whole.names, share, copies, beside)


def _beside_moves(
    files: WholeFiles,
    ours: Positions,
    many: Copies,
    rng: np.random.Generator,
    count: Callable[[Views], int] | None = None,
) -> Copies:
    """Count again with neighbouring numbers, where pairs of people do not explain a count.

    That is of columns that may number people, or groups of rows: their pairs say nothing. Of
    several such columns that one is moved which leaves most people in the file.
    """
    some = files.numberings()
    if not some or many.standing <= many.most_coincidences(_LIKELY):
        return many
    again = count or (lambda views: copies_on(views, ours, range(len(views.fine))).standing)
    moved = max(sum(again(Views(files.moved(j, by), rng)) for by in _MOVES) for j in some)
    is_measured = not any(files.columns[j].may_number for j in some)
    if is_measured and moved <= len(_MOVES) * many.expected:
        return many
    values = {field.name: getattr(many, field.name) for field in fields(Copies)}
    return BesideMoves(**values, moved=moved, moves=len(_MOVES))


def _own_values(
    files: WholeFiles,
    used: Sequence[str],
    sides: tuple[Positions, Positions],
    like: Copies,
    rng: np.random.Generator,
) -> Iterator[_Found]:
    """Yield who appears in the file by a value of one column that nobody else of the data has."""
    ours, others = sides
    for column in files.columns:
        if column.name in used and not (column.is_dense or column.names_people):
            views = Views(files.select([column.name]), rng)
            many = copies_by(views, ours, like)
            if many.unique >= _SPREAD:
                beside = beside_control(views, ours, others) if len(others) else None
                yield BY_VALUES, (column.name,), many, beside


def _names_there(
    files: WholeFiles, sides: tuple[Positions, Positions], rng: np.random.Generator
) -> Iterator[_Found]:
    """Yield the people whose name appears in the file, by each column that names them."""
    ours, others = sides
    for column in files.columns:
        if not column.names_people or column.is_dense:
            continue
        some = files.select([column.name])
        views = Views(some, rng)
        copies = copies_on(views, ours, [0])
        many = NamesThere(copies.unique, copies.standing)
        if column.numbers is not None:
            there = np.unique(column.numbers[column.codes[files.rows("synthetic")]])
            here = column.numbers[column.codes[ours]]
            moves = [by for by in range(-_NAME_MOVES, _NAME_MOVES + 1) if by]
            moved = sum(int(np.isin(here + by, there).sum()) for by in moves)
            many = replace(many, moved=moved, moves=len(moves))
        beside = beside_control(views, ours, others) if len(others) else None
        yield BY_VALUES, (column.name,), many, beside


def _is_beyond(many: Copies | Numbered | NamesThere, error: float) -> bool:
    """Check whether more own values appear in the file than coincidence explains.

    Where most people share theirs, a generator may favour the rare ones: so for any law.
    """
    limit = many.most_coincidences(error)
    if isinstance(many, Copies) and 2 * many.unique < many.people:
        limit = max(limit, many.most_of_any_law(error))
    return many.standing > limit


def _primary(files: WholeFiles) -> list[str]:
    """Return all columns but those that only number or name people."""
    return [name for name in files.names if name not in files.aside]


def _sets(files: WholeFiles, used: Sequence[str]) -> Iterator[tuple[How, tuple[str, ...]]]:
    """Yield the sets of columns by which people are sought."""
    plain = [column for column in files.columns if column.may_number or not column.is_dense]
    names = [column.name for column in plain]
    primary = _primary(files)
    if some := tuple(name for name in primary if not files.column(name).is_dense):
        yield "columns that number nobody", some
    left = [name for name in names if name not in used]
    if some := tuple(name for name in names if name in used):
        yield "columns that are used", some
    if len(left) > 1:
        yield "columns left out", tuple(left)
    for column in plain:
        if (column.name in left or column.names_people) and not column.is_dense:
            yield "one column", (column.name,)
    if files.is_large:
        return
    if len(primary) > 2:
        for name in primary[:MOST_BUT_ONE]:
            yield "but one column", tuple(other for other in primary if other != name)
    telling = [c.name for c in plain if c.name in left or _is_telling(files, c)]
    for pair in combinations(telling[:MOST_PAIRED], 2):
        yield "two columns", pair


def _is_telling(files: WholeFiles, column: WholeColumn) -> bool:
    """Check whether half of the people have a separate value."""
    many = np.bincount(column.codes[files.rows("real")])
    return 2 * int((many == 1).sum()) >= files.real


def _numbered(files: WholeFiles, column: WholeColumn, people: Positions) -> Numbered:
    """Count the numbers of one person each that the file has, and those next to them."""
    assert column.numbers is not None
    known, times = np.unique(column.numbers[column.codes[people]], return_counts=True)
    theirs = np.unique(column.numbers[column.codes[files.rows("synthetic")]])
    theirs = theirs[np.isfinite(theirs)]
    ours = known[np.isfinite(known) & (times == 1)]
    low, high = np.nanmin(known), np.nanmax(known)
    span = (high - low) / column.step + 1
    inside = int(((theirs >= low) & (theirs <= high)).sum())
    beside = [int(np.isin(theirs, ours + shift * column.step).sum()) for shift in _SHIFTS]
    expected = max(inside * len(ours) / span, float(np.mean(beside)))
    return Numbered(len(ours), int(np.isin(ours, theirs).sum()), expected)


def _linked(files: WholeFiles, column: WholeColumn, rng: np.random.Generator) -> Linked | None:
    """Test whether rows of both files with the same number are alike in other columns."""
    real, made = files.rows("real"), files.rows("synthetic")
    _, first, second = np.intersect1d(column.codes[real], column.codes[made], return_indices=True)
    if len(first) < _LINKED:
        return Linked(column.name, len(first), None)
    pairs = rng.permutation(len(first))[:_MOST_LINKED]
    if column.may_number:  # whoever earns as much may be alike: only neighbours change places
        pairs = np.sort(pairs)
    here, there = real[first[pairs]], made[second[pairs]]
    apart = np.arange(len(pairs)) // _NEIGHBOURS if column.may_number else np.zeros(len(pairs))
    scores: list[NDArray[np.float64]] = []
    for other in files.columns:
        if other.is_dense or other.names_people:
            continue
        if other.numbers is None:
            ours, theirs = other.codes[here], other.codes[there]
            scores.append(_matches(ours, theirs, apart, rng))
        else:
            ranks = [scipy.stats.rankdata(other.numbers[other.codes[s]]) for s in (here, there)]
            ours, theirs = (rank - rank.mean() for rank in ranks)
            scores.append(_products(ours, theirs, apart, rng))
    if not scores:
        return Linked(column.name, len(first), None)
    best = np.max(scores, axis=0)
    p_value = (1 + int((best[1:] >= best[0]).sum())) / (1 + _SHUFFLES)
    return Linked(column.name, len(first), p_value)


def _orders(apart: NDArray[Any], rng: np.random.Generator) -> Iterator[Positions]:
    """Yield random orders of rows, in which those of one part change places among themselves."""
    for _ in range(_SHUFFLES):
        yield np.argsort(apart + rng.random(len(apart)))


def _products(
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
    apart: NDArray[Any],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the standardised sum of products, of the rows as they are and shuffled."""
    shuffled = [ours @ theirs[order] for order in _orders(apart, rng)]
    return _standardised(np.array([ours @ theirs, *shuffled]))


def _matches(
    ours: Positions, theirs: Positions, apart: NDArray[Any], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the standardised number of equal values, as they are and shuffled."""
    shuffled = [int(np.count_nonzero(ours == theirs[order])) for order in _orders(apart, rng)]
    here = int(np.count_nonzero(ours == theirs))
    return _standardised(np.array([here, *shuffled], np.float64))


def _standardised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread > 0 else np.zeros(len(scores))


def _near(
    files: WholeFiles, ours: Positions, others: Positions, like: Copies, rng: np.random.Generator
) -> tuple[NearPeople | None, tuple[How, tuple[str, ...], Copies, TwoSamples | None] | None]:
    """Count rows of the file that are nearer to a person than other people are.

    Two people are alike if they are half as near as the nearest two of the data. So hardly any
    coincidence is expected, and the count is judged as that of equal rows is.
    """
    columns = _with_distances(files)
    made = files.rows("synthetic")
    if len(columns) < 2 or max(len(ours), len(made), len(others)) > MOST_SOUGHT:
        return None, None
    numbers = np.column_stack([c.numbers[c.codes] for c in columns if c.numbers is not None])
    complete: NDArray[np.bool_] = np.asarray(np.isfinite(numbers).all(axis=1))
    ours, made, others = (rows[complete[rows]] for rows in (ours, made, others))
    if len(ours) < _LINKED or not len(made):
        return None, None
    spread = numbers[ours].std(axis=0)
    numbers = numbers / np.where(spread > 0, spread, 1.0)
    people = scipy.spatial.cKDTree(numbers[ours])
    some = rng.permutation(ours)[:_LOOKED_AT]
    apart = _nearest(people, numbers[some])[0][:, 1]
    if not (apart > 0).any():
        return None, None
    reach = float(apart[apart > 0].min()) / 2
    names = tuple(column.name for column in columns)
    fresh = _nearest(people, numbers[others])[0][:, 0] if len(others) else apart
    usual = float(np.quantile(fresh, NEARER))
    distance, nearest = _nearest(people, numbers[made])
    near = int((distance[:, 0] < usual).sum())
    expected = len(made) * float((fresh < usual).mean())
    together: Any = people.count_neighbors(people, reach)
    pairs = (float(together) - len(ours)) / 2
    unique = _nearest(people, numbers[ours])[0][:, 1] > reach
    hit = (distance[:, 0] <= reach) & (distance[:, 1] > reach)
    standing = len(np.unique(nearest[hit & unique[nearest]]))
    copies = Copies(
        *(len(ours), int(unique.sum()), standing, len(made), pairs),
        *(like.decoys, like.decoys_standing, like.decoys_expected),
    )
    beside = _near_beside(numbers, ours, others, made) if len(others) else None
    return NearPeople(names, len(made), near, expected), (NEAREST, names, copies, beside)


def _with_distances(files: WholeFiles) -> list[WholeColumn]:
    """Return the columns of most different numbers that measure something."""
    candidates: list[tuple[int, WholeColumn]] = []
    for column in files.columns:
        if column.numbers is not None and not column.names_people:
            many = len(np.unique(column.codes[files.rows("real")]))
            if many >= max(_SPREAD, FINE * files.real):
                candidates.append((many, column))
    candidates.sort(key=lambda candidate: (-candidate[0], candidate[1].name))
    return [column for _, column in candidates[:_MOST_NEAR]]


def _nearest(
    people: scipy.spatial.cKDTree, rows: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Positions]:
    """Return how far the two nearest people are from each row, and who is the nearest."""
    neighbours: tuple[Any, Any] = people.query(rows, k=2)
    return np.asarray(neighbours[0], np.float64), np.asarray(neighbours[1], np.int64)[:, 0]


def _near_beside(
    numbers: NDArray[np.float64], ours: Positions, others: Positions, made: Positions
) -> TwoSamples:
    """Count the people of each side whom a row of the file is nearest to.

    Of both sides together one person in twenty is called near. Given these, chance alone tells
    which side a person is on, if the file was made without either.
    """
    both = np.concatenate([ours, others])
    apart = _nearest(scipy.spatial.cKDTree(numbers[made]), numbers[both])[0][:, 0]
    hit = apart <= np.quantile(apart, 0.05)
    sides = hit[: len(ours)], hit[len(ours) :]
    (a, n), (b, m) = ((int(side.sum()), len(side)) for side in sides)
    return TwoSamples(a, n, b, m)
