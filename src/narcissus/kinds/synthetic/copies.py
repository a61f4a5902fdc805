"""What is in a given file: people and rows that are counted, and questions that stay open."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Protocol, Self

import numpy as np
from pydantic import Field, model_validator

from narcissus._validation import some_of
from narcissus.evidence.intervals import TwoSamples
from narcissus.kinds.synthetic.excess import ExcessShare
from narcissus.results import Grade
from narcissus.rows import Count, Fact, Place, Positive, Quantity, Share, StudyRow, Unaccounted
from narcissus.synthetic.assessment import ALIKE
from narcissus.synthetic.changes import ChangedPeople
from narcissus.synthetic.copies import COPIES, Copies, FileFacts
from narcissus.synthetic.full_files import WholeFiles
from narcissus.synthetic.histories import MOST_GROUPED
from narcissus.synthetic.names_in_values import AS_NUMBERS, IN_VALUES, NamesInside
from narcissus.synthetic.near_copies import MOST_NEARER, NearerPeople
from narcissus.synthetic.part_copies import PartlyCopied
from narcissus.synthetic.recoding import MOST_RECODED
from narcissus.synthetic.row_groups import AS_THEY_ARE, GroupedPeople
from narcissus.synthetic.rows_in_order import RowsInOrder
from narcissus.synthetic.traces import (
    BUT_ANY,
    BY_VALUES,
    DIGITS,
    MOST_SOUGHT,
    NEAREST,
    NEARLY,
    WHOLE,
    Trace,
    Traces,
)
from narcissus.tables.formats import AMONG_NUMBERS, ORDER, REPEATED, SHEET, is_part_beside

LAW = (
    "a file made without these people holds plausible people no more often, beyond what its decoys "
    "show, than a fresh sample of the population does"
)
INDEPENDENT = (
    "the people of the data were drawn independently of one another, and none was left out for "
    "being like another"
)
VERBATIM = "rows of the file that are rows of the data"
UNIQUE = "unique people who stand in the file"
NEAR = "rows that differ from a person in one column"
LAST_DIGITS = (
    "a file of other people is as likely to hold a person's numbers as like numbers with swapped "
    "last digits"
)
NEARER = "rows nearer to a person than 99 of 100 other people"
VALUES = "people whose own value stands in the file"
UNIQUE_ONES = "people who are unique in the data"
OF_SEVERAL = "people with several rows"
GROUPS = "groups of rows that are unique in the data"
GROUPS_LEFT = "histories and groups of rows{} that are changed by their own rules, or not whole"
"""What of households, classes or addresses nobody looked at, where there are some."""
MOST_SETS = 12
"""Most sets of columns that are told next to all columns."""
_FEWEST_LEFT = 2  # columns that a study compares
WRITTEN_ALIKE = "these columns in the words of the data"
"""What decides where too few columns would be left without those that are written otherwise."""
_OTHERWISE = (WHOLE, BUT_ANY, DIGITS, NEAREST, NEARLY, BY_VALUES)  # told in rows of their own
Number = Annotated[float, Field(ge=0)]


class UniquePeople(Protocol):
    """People who are unique on some columns, and appear in the file by these."""

    @property
    def unique(self) -> int: ...

    @property
    def standing(self) -> int: ...

    @property
    def expected(self) -> float: ...


class CopiedDetail(Fact):
    """People of one side who appear in the file; one row of each person or household."""

    people: Positive
    unique: Count
    standing: Count
    expected: Number
    most: Number = Field(description="Coincidences are no more, at the level of the claim.")
    most_of_any_law: Number = Field(
        description="The same, whatever kinds of people the file prefers."
    )
    decoys: Count = Field(description="Plausible people whom half of the data lacks.")
    decoys_standing: Count
    decoys_expected: Number

    @classmethod
    def of(cls, found: Copies, error: float) -> CopiedDetail:
        any_law = found.most_of_any_law(error)
        return cls.taken(found, most=found.most_coincidences(error), most_of_any_law=any_law)

    @property
    def is_beyond(self) -> bool:
        return self.standing > self.most

    def is_beyond_any_law(self, at_most: float = 0.0) -> bool:
        """Whether no law of the file explains who is in it, beyond an accepted share."""
        return self.standing - max(self.most, self.most_of_any_law) > at_most * max(1, self.unique)


class LinkedDetail(Fact):
    """A column that numbers rows in both files."""

    column: str
    rows: Count = Field(description="Of the file, with a number that the data have.")
    p_value: Share | None = Field(
        description="Of rows with one number being no more alike than others; null: too few."
    )
    is_alike: bool = Field(description="Whether that is refuted.")


class FileCount(Fact):
    """How many rows of the file, or people of the data, are there in a way."""

    what: str
    columns: tuple[str, ...] = Field(default=(), description="By which; empty: all.")
    standing: Count = Field(description="How many are there.")
    expected: Number | None = Field(description="By coincidence.")
    of: Count = Field(description="Of how many.")

    @classmethod
    def of_people(cls, what: str, columns: tuple[str, ...], count: UniquePeople) -> FileCount:
        return cls.taken(count, what=what, columns=columns, of=count.unique)

    @model_validator(mode="after")
    def _among_these(self) -> Self:
        if self.standing > self.of:
            raise ValueError(f"{self.standing:,} of {self.of:,} {self.what}")
        return self

    def row(self) -> StudyRow:
        return StudyRow(
            role="measure",
            of="count",
            name=self.what,
            quantity=Quantity(value=self.standing, grade="counted"),
            baseline=self.expected,
            at={"group": "", "attack": ", ".join(self.columns)},
            about=self,
        )


ASKED = "people of a question that stays open"


class CountedQuestion(Unaccounted):
    """A question that is about people, who were counted."""

    who: str = Field(description="Who they are among, in the plural.")
    does: str = Field(description="What is counted of them, a verb and what follows it.")
    standing: Count
    of: Positive
    expected: Number = Field(description="By coincidence.")

    @property
    def share(self) -> float:
        return self.standing / self.of

    @property
    def baseline(self) -> float:
        """Share that coincidence explains."""
        return min(1.0, self.expected / self.of)

    @property
    def counts(self) -> str:
        expected = round(self.expected)
        return f"{self.standing:,} of {self.of:,} {self.who}; about {expected:,} by coincidence"

    @model_validator(mode="after")
    def _among_these(self) -> Self:
        if self.standing > self.of:
            raise ValueError(f"{self.standing:,} of {self.of:,} {self.who}")
        return self

    def row(self) -> StudyRow:
        counted = (self.standing, self.of)
        return StudyRow(
            role="measure",
            of="question",
            name=ASKED,
            quantity=Quantity(value=self.share, grade="counted", counted=counted),
            baseline=self.baseline,
            at={"group": "", "attack": self.subject},
            about=self,
        )


class Coincidences(Fact):
    """How many people of a fresh file would be like people of the data."""

    share: Number = Field(description="Expected, of the unique people.")
    most: Count = Field(description="They are no more, at the level of the claim.")


class CopiedPeople(Fact):
    """Unique people of the data who appear in the file, by the columns that decide."""

    how: str = Field(description="How they were sought.")
    columns: tuple[str, ...] = Field(default=(), description="By which; empty: row by row.")
    change: str = Field(default="", description="What was done to these columns; empty: nothing.")
    people: Quantity
    scored: tuple[Count, Count] | None = Field(
        default=None,
        description="How many of how many decide, where half of the people chose the columns.",
    )
    coincidences: Coincidences | None = Field(
        default=None, description="Null where people of the control take their place."
    )
    control: tuple[Count, Count] | None = Field(
        default=None,
        description="How many of its unique people appear in the file, where that is told.",
    )
    lacking: tuple[str, ...] = Field(
        default=(), description="Columns of these that the control lacks."
    )
    excess: ExcessShare

    @property
    def counted(self) -> tuple[int, int]:
        """How many people appear in the file, of how many who are unique."""
        assert self.people.counted is not None
        return self.people.counted

    @property
    def deciding(self) -> tuple[int, int]:
        """The same of those who decide: of half of the people where others chose the columns."""
        return self.scored or self.counted

    @property
    def is_beside(self) -> bool:
        """Whether the people of the data are compared with those of the control."""
        return self.coincidences is None

    @property
    def baseline(self) -> float:
        """Share of the unique people of the control, or that coincidence explains."""
        if self.coincidences is not None:
            return self.coincidences.share
        assert self.control is not None
        return self.control[0] / max(1, self.control[1])

    @property
    def attack(self) -> str:
        return ": ".join([self.how, *([", ".join(self.columns)] if self.columns else [])])

    @model_validator(mode="after")
    def _compared(self) -> Self:
        if self.people.counted is None or (self.control is None and self.coincidences is None):
            raise ValueError("people are not counted, or compared with nobody")
        pairs = (self.people.counted, self.scored, self.control)
        if any(pair is not None and pair[0] > pair[1] for pair in pairs):
            raise ValueError("more people appear in the file than there are")
        return self

    def rows(self) -> Iterator[StudyRow]:
        at: dict[str, Place] = {"group": "", "attack": self.attack}
        yield StudyRow(
            role="attack",
            of="copied",
            name=COPIES,
            quantity=self.people,
            at=at,
            baseline=self.baseline,
            about=self,
        )
        yield self.excess.row(COPIES, at, self)


class CopiesDetail(Fact):
    """Who appears in the file, and how people were sought."""

    unread: Count = Field(description="Rows that are coarse in too rare a way to be looked up.")
    is_data: Share | None = Field(description="The chance of a file with the data's very rows.")
    people: CopiedDetail
    control: CopiedDetail | None = Field(description="Limits at level .999.")
    shared: CopiedDetail | None = Field(
        default=None,
        description="People of the data who appear in the control, at level .999; null "
        "without one.",
    )
    sets: Count = Field(
        default=0, description="Sets of columns by which people were sought; 0: what is used."
    )
    small_sets: Count = Field(
        default=0, description="Sets of few columns, of which those that strike wait for a control."
    )
    least: Count | None = Field(
        default=None,
        description="People copied in some columns alone whom each set of columns that tells most "
        "people apart would show; null: none tells them apart, or none was looked at.",
    )
    columns: Count = Field(default=0, description="Columns of both files that were looked at.")
    coarse: tuple[str, ...] = Field(
        default=(), description="How the file writes columns that are finer in the data."
    )
    linked: tuple[LinkedDetail, ...] = Field(default=(), description="Columns that number rows.")
    aside: tuple[str, ...] = Field(
        default=(),
        description="Columns that name or number people: rows are compared without them, and they "
        "are sought by themselves.",
    )
    lacking: tuple[str, ...] = Field(
        default=(),
        description="Columns that the control lacks: copies by them are compared with coincidence.",
    )
    left_out: tuple[str, ...] = Field(
        default=(), description="Lines above and below the tables, taken for titles and notes."
    )

    @property
    def refutes_control(self) -> bool:
        """Whether people of the control appear in the file, or in the data, beyond coincidence."""
        return self.is_shared or (self.control is not None and self.control.is_beyond)

    @property
    def is_shared(self) -> bool:
        """Whether people of the data appear in the control beyond coincidence."""
        return self.shared is not None and self.shared.is_beyond

    @classmethod
    def of(
        cls, found: FileFacts, error: float, traces: Traces | None = None, **more: Any
    ) -> CopiesDetail:
        people = CopiedDetail.of(found.copies, error)
        control = None if found.control is None else CopiedDetail.of(found.control, ALIKE)
        shared = None if found.shared is None else CopiedDetail.of(found.shared, ALIKE)
        more = {
            "shared": shared,
            "sets": 0,
            "small_sets": 0,
            "least": None,
            "linked": (),
            "columns": 0,
            "coarse": (),
        } | more
        if traces is not None:
            more["sets"] = len(traces.each)
            more["small_sets"], more["least"] = traces.sets.sets, traces.sets.least
            more["linked"] = tuple(LinkedDetail.taken(link) for link in traces.linked)
        return cls.taken(found, people=people, control=control, **more)


def unaccounted(
    whole: WholeFiles | None,
    traces: Traces,
    at_most: float,
    *,
    can_tell: bool,
    is_exceeded: bool = False,
) -> Iterator[Unaccounted]:
    """Yield what was published and could not be compared, or that only a control explains.

    at_most: The share of people who appear in the file beyond coincidence that is accepted.
    can_tell: Whether there is a control that nothing refutes.
    is_exceeded: Whether copies are shown already: columns that show them are no question.
    """
    if whole is None:
        return
    if not is_exceeded:
        yield from _together(whole, traces, at_most, can_tell=can_tell)
    for question in _of_columns(whole, traces, at_most, can_tell=can_tell, is_exceeded=is_exceeded):
        yield _in_rows(question, whole.counts_rows) if whole.counts_rows else question


def _of_columns(
    whole: WholeFiles, traces: Traces, at_most: float, *, can_tell: bool, is_exceeded: bool
) -> Iterator[Unaccounted]:
    """Yield the questions of `unaccounted` that count each row, and those that count nothing."""
    for part, why in whole.beside.items():
        yield Unaccounted(
            subject=name_declared(part),
            reason=f"{why[0].upper()}{why[1:]}.",
            declaration=_irrelevant([part]),
        )
    yield from _of_rows(whole)
    asked = [] if traces.changed is None else [*traces.changed.columns]
    # who stands in a column is asked by itself
    asked += [each.within for each in _inside_left(whole, at_most, can_tell=can_tell)]
    yield from _of_strange(whole, asked)
    if alike := [trace.column for trace in traces.linked if trace.is_alike]:
        reason = (
            "Rows of both files with the same number are alike: they may be the same people, or "
            "both files are sorted alike."
        )
        yield _undeclared(alike, reason)
    values = [] if is_exceeded else _own_left(traces, at_most, can_tell=can_tell)
    if values:
        yield _of_own(whole, values, can_tell=can_tell)
    if not (is_exceeded and can_tell):
        yield from _nearly(traces, at_most, can_tell=can_tell)
    columns = {trace.columns[0] for trace in values}
    if not is_exceeded:
        yield from _of_few(whole, traces, at_most, columns, can_tell=can_tell)
    yield from _inside(whole, at_most, can_tell=can_tell)
    if traces.in_order is not None and not (can_tell and traces.in_order.is_explained):
        yield _of_order(traces.in_order, can_tell=can_tell)
    if not (is_exceeded and can_tell):
        yield from _changed(traces, at_most, can_tell=can_tell)


def _of_strange(whole: WholeFiles, asked: Sequence[str] = ()) -> Iterator[Unaccounted]:
    """Yield the columns of the file alone, and those that could not be compared.

    asked: Columns under whose other codes people are: to declare these away would hide the people.
    """
    together = [] if whole.bound is None or whole.unit else [*whole.bound.by]
    for name in (name for name in whole.unread if name in together and name not in asked):
        assert whole.bound is not None
        yield _of_unit(name, whole.bound.common if name == together[0] else ())
    asked = [*asked, *together]
    if names := [name for name in (*whole.strange, *whole.unread) if name not in asked]:
        alone = "the data have no such column, so it may be one of them under another name"
        reason = next((why for name, why in whole.unread.items() if name in names), alone)
        told = "".join(
            f"A row holds {each.values} values or more of {each.standing:,} of {each.people:,} "
            f"people there; coincidence explains about {round(each.expected):,}. "
            for each in (whole.held,)
            if each is not None
        )
        left = {*whole.names}.difference(whole.unread)
        declaration = _same_or_irrelevant(whole, names)
        declaration = declaration if len(left) >= _FEWEST_LEFT else WRITTEN_ALIKE
        question = _undeclared(names, f"{told}{reason[0].upper()}{reason[1:]}.", declaration)
        if whole.held is not None:
            does = f"have {whole.held.values} values or more in a row there"
            question = _about_people(question, whole.held, whole.held.people, "people", does)
        yield question


def _same_or_irrelevant(whole: WholeFiles, names: Sequence[str]) -> str:
    """Say how columns are declared: as those of the data under another name, where some lack."""
    renamed = [name for name in names if name in whole.strange]
    if not renamed or not whole.absent:
        return _irrelevant(names)
    names_of_both = whole.absent[0], renamed[0]
    quoted = " = ".join(json.dumps(name, ensure_ascii=False) for name in names_of_both)
    others = "" if len(whole.absent) == len(renamed) == 1 else ", and so on,"
    return (
        f"`same = {{{quoted}}}` in `[data]`, or `--same {shlex.quote('='.join(names_of_both))}`"
        f"{others} for columns of the data under another name; or {_irrelevant(names)}"
    )


def _of_unit(name: str, common: Sequence[str]) -> Unaccounted:
    """Return the question of a column under which rows are together: it names a unit."""
    how = f" and have {some_of([f'`{each}`' for each in common], 4)} in common" if common else ""
    return Unaccounted(
        subject=f"column `{name}`",
        reason=f"Several rows of the data have one `{name}`{how}: they may be of one person or "
        "household each.",
        declaration=f'`unit = "{name}"` in `[data]`, or `--unit {shlex.quote(name)}`',
    )


def _own_left(traces: Traces, at_most: float, *, can_tell: bool) -> list[Trace]:
    """Return the columns whose own values of people are beyond what is accepted."""
    left = [trace for trace in traces.values if not (can_tell and trace.is_explained)]
    return [trace for trace in left if trace.copies.excess(trace.share)[1] > at_most]


def _of_own(whole: WholeFiles, left: Sequence[Trace], *, can_tell: bool) -> Unaccounted:
    """Return the question of people whose own values appear in the file."""
    worst = _largest(left).copies
    reason = (
        f"The file holds values that only one person of the data has, of {worst.standing:,} "
        f"of {worst.unique:,} people; coincidence explains about {round(worst.expected):,}."
    )
    names = [trace.columns[0] for trace in left]
    reason += _without_control(names, whole.lacking)
    is_lacking = any(name in whole.lacking for name in names)
    reason += _of_control(_largest(left).beside, can_tell=can_tell)
    question = _undeclared(names, reason, ACCEPTED if can_tell and not is_lacking else CONTROL)
    who = f"people with a unique value in `{_largest(left).columns[0]}`"
    return _about_people(question, worst, worst.unique, who, "appear in the file by it")


def _of_few(
    whole: WholeFiles, traces: Traces, at_most: float, asked: set[str], *, can_tell: bool
) -> Iterator[Unaccounted]:
    """Yield each few columns by which too many people appear in the file, but for asked ones."""
    for some in traces.sets.striking:
        is_explained = can_tell and some.is_explained
        is_accepted = some.standing - some.expected <= at_most * max(1, some.unique)
        if not (is_explained or is_accepted or asked & set(some.columns)):
            reason = (
                f"By these columns {some.standing:,} of {some.unique:,} people who are unique in "
                f"the data appear in the file; coincidence explains about {round(some.expected):,}."
            )
            if (alone := some.alone) is not None:
                shown = some_of([f"`{name}`" for name in alone.columns], 4)
                reason += (
                    f" By {shown} alone these are {alone.standing:,} of {alone.unique:,}; "
                    f"coincidence explains about {round(alone.expected):,}."
                )
            reason += _without_control(some.columns, whole.lacking)
            is_lacking = any(name in whole.lacking for name in some.columns)
            is_by_control = can_tell and not is_lacking
            declaration = ACCEPTED if is_by_control else f"{CONTROL}; or {ACCEPTED}"
            reason += _of_control(some.beside, can_tell=can_tell)
            question = _undeclared(some.columns, reason, declaration)
            yield _about_people(
                question, some, some.unique, UNIQUE_ONES, "appear in the file by these columns"
            )


def _in_rows(question: Unaccounted, numbering: str) -> Unaccounted:
    """Return a question about people whose rows are counted as a question about rows."""
    if not isinstance(question, CountedQuestion) or question.who == OF_SEVERAL:
        return question
    rows = f"rows (several of each `{numbering}`)"
    reason = question.reason.replace(f"of {question.of:,} people", f"of {question.of:,} {rows}", 1)
    words = {"people who are": f"{rows} that are", "people": rows}
    old = next(each for each in words if question.who.startswith(each))
    return question.model_copy(
        update={
            "who": question.who.replace(old, words[old], 1),
            "reason": reason.replace("other people are", "other rows are").replace(
                f"{rows} who are", f"{rows} that are"
            ),
            "does": question.does.replace("other people are", "other rows are"),
        }
    )


def _nearly(traces: Traces, at_most: float, *, can_tell: bool) -> Iterator[Unaccounted]:
    """Yield the people to whom a row is far nearer than chance explains, and equals not."""
    nearer, copies = traces.nearer, traces.facts.copies
    if nearer is None or nearer.excess <= at_most * nearer.people:
        return
    # whole copies are counted and told: asked about is who else a row is near
    is_beyond = nearer.beside_copies(copies.standing, copies.people).is_beyond
    if is_beyond and not (can_tell and nearer.is_explained):
        yield _of_nearer(nearer, can_tell=can_tell)


def _together(
    whole: WholeFiles, traces: Traces, at_most: float, *, can_tell: bool
) -> Iterator[Unaccounted]:
    """Yield the people whose rows are, all together, nearly those of a person of the file."""
    groups, nearer = traces.groups, traces.nearer_together
    if groups is not None:
        is_accepted = groups.standing - groups.expected <= at_most * max(1, groups.people)
        if not (is_accepted or (can_tell and groups.is_explained)):
            yield _of_groups(groups, can_tell=can_tell)
    if nearer is None or whole.together is None or nearer.excess <= at_most * nearer.people:
        return
    if not (can_tell and nearer.is_explained):
        subject = f"rows that are nearly a person, those of each `{whole.together.by}` together"
        yield _of_nearer(nearer, subject, can_tell=can_tell)


def _of_groups(groups: GroupedPeople, *, can_tell: bool) -> CountedQuestion:
    """Return the question of groups of rows that stand in the file whole, or by some columns."""
    by = "" if groups.is_whole else f" by {some_of([f'`{name}`' for name in groups.columns], 4)}"
    by += "" if groups.reading == AS_THEY_ARE else f", {groups.reading},"
    question = Unaccounted(
        subject=f"the rows of whole groups by `{groups.way}`",
        reason=f"{groups.standing:,} of {groups.people:,} groups of several rows that are unique "
        f"in the data{by} appear in the file, with all of their rows in one group; coincidence "
        f"explains about {round(groups.expected):,}."
        + _of_control(groups.beside, can_tell=can_tell),
        declaration=ACCEPTED if can_tell else CONTROL,
    )
    does = "appear in the file with all of their rows"
    return _about_people(question, groups, groups.people, GROUPS, does)


def name_declared(name: str) -> str:
    """Name a column, or something that a file holds next to its table, as it is declared.

    >>> name_declared("sheet Codes"), name_declared("comments"), name_declared("hired")
    ('sheet `Codes`', 'the comments', '`hired`')
    """
    if name.startswith(SHEET):
        return f"{SHEET}`{name.removeprefix(SHEET)}`"
    return f"the {name}" if is_part_beside(name) else f"`{name}`"


def _of_rows(whole: WholeFiles) -> Iterator[Unaccounted]:
    """Yield rows of one person each, perhaps, and texts where numbers are expected."""
    if whole.repeated is not None and not whole.repeated.kept:
        many = [(whole.repeated.real, "the data"), (whole.repeated.control, "the control")]
        rows = " and ".join(f"{n:,} rows of {where}" for n, where in many if n)
        yield Unaccounted(
            subject="the rows that appear more than once",
            reason=f"{rows} equal another row, and independent people are alike in another way: "
            "they may be several rows of one person each.",
            declaration="`unit = COLUMN` in `[data]`, or `--unit COLUMN`, a column that numbers "
            f'the people; or `irrelevant = ["{REPEATED}"]`, or `--irrelevant "{REPEATED}"`, where '
            "each row is a person",
        )
    columns = [column for column in whole.columns if column.name in whole.with_texts]
    if columns:
        rows = sum(column.texts for column in columns)
        yield Unaccounted(
            subject="the texts among the numbers of "
            f"{some_of([f'`{name}`' for name in whole.with_texts], 4)}",
            reason=f"The data have numbers alone there, and the file has texts in {rows:,} of its "
            "cells: a second table may begin there, or a text may stand for a number.",
            declaration=f'`irrelevant = ["{AMONG_NUMBERS}"]` in `[data]`, or `--irrelevant '
            f'"{AMONG_NUMBERS}"`, where they tell nothing of a person',
        )


def _inside_left(whole: WholeFiles, at_most: float, *, can_tell: bool) -> list[NamesInside]:
    """Return whose names and numbers are inside values, and neither control nor user explain."""
    return [
        each
        for each in whole.inside
        if each.standing - each.expected > at_most * each.people
        and not (can_tell and each.is_explained)
    ]


def _inside(whole: WholeFiles, at_most: float, *, can_tell: bool) -> Iterator[Unaccounted]:
    """Yield each column whose names of people are inside other values of the file."""
    columns: set[str] = set()
    for names in _inside_left(whole, at_most, can_tell=can_tell):
        if names.column in columns:
            continue
        columns.add(names.column)
        reason = (
            f"{names.noun[0].upper()}{names.noun[1:]} of {names.standing:,} of {names.people:,} "
            f"people appear in `{names.within}` of the file, {names.how}; coincidence explains "
            f"about {round(names.expected):,}."
        )
        is_value = names.how in (AS_NUMBERS, IN_VALUES)
        decides = (ACCEPTED if is_value else "") if can_tell else CONTROL
        question = _undeclared([names.column], reason, decides)
        does = f"have their {'value' if is_value else 'name'} in `{names.within}` of the file"
        who = OF_SEVERAL if names.how == IN_VALUES else "people"
        yield _about_people(question, names, names.people, who, does)
    for names in whole.put_back:
        is_accepted = names.standing - names.expected <= at_most * names.people
        if not (is_accepted or (can_tell and names.is_explained)):
            yield Unaccounted(
                subject=f"column `{names.within}`, which is declared to say nothing about a person",
                reason=f"Values of `{names.column}` of {names.standing:,} of {names.people:,} "
                f"people of the data, which nobody else has, appear in `{names.within}` of the "
                f"file; coincidence explains about {round(names.expected):,}.",
                declaration=f"a file without `{names.within}`; or {ACCEPTED}"
                + ("" if can_tell else f"; or {CONTROL}"),
            )


def _of_order(rows: RowsInOrder, *, can_tell: bool) -> Unaccounted:
    """Return the question of rows that follow the order of the data."""
    here, there = rows.columns
    return Unaccounted(
        subject="the order of the rows",
        reason=f"Rows of the file hang together with rows of the data at the same places, "
        f"`{here}` of the data with `{there}` of the file foremost, and rows in any other "
        f"order do not: they may be the same people.",
        declaration=f'`irrelevant = ["{ORDER}"]` in `[data]`, or `--irrelevant "{ORDER}"`'
        + ("" if can_tell else f"; or {CONTROL}"),
    )


def _changed(traces: Traces, at_most: float, *, can_tell: bool) -> Iterator[Unaccounted]:
    """Yield the people who seem to appear in the file in another order, or under other names."""
    declaration = ACCEPTED if can_tell else CONTROL
    elsewhere = traces.elsewhere
    if elsewhere is not None:
        is_accepted = elsewhere.standing - elsewhere.expected <= at_most * elsewhere.people
        if not (is_accepted or (can_tell and elsewhere.is_explained)):
            question = Unaccounted(
                subject="values under the names of other columns",
                reason=f"With {elsewhere.standing:,} of {elsewhere.people:,} people a row shares "
                f"more rare values under other names than people share with one another; chance "
                f"explains about {round(elsewhere.expected):,}."
                + _of_control(elsewhere.beside, can_tell=can_tell),
                declaration=declaration,
            )
            does = "share rare values with a row under other names"
            yield _about_people(question, elsewhere, elsewhere.people, "people", does)
    people = traces.changed
    is_asked = False
    if people is not None:
        is_accepted = people.standing - people.expected <= at_most * max(1, people.people)
        is_asked = not (is_accepted or (can_tell and people.is_explained))
        if is_asked:
            yield _of_changed(people, can_tell=can_tell)
    nearer = traces.nearer_mirrored
    if nearer is not None and not is_asked:
        is_accepted = nearer.excess <= at_most * nearer.people
        if not (is_accepted or (can_tell and nearer.is_explained)):
            yield _of_nearer(
                nearer, "rows that, once mirrored, are nearly a person", can_tell=can_tell
            )


def _of_changed(people: ChangedPeople, *, can_tell: bool) -> CountedQuestion:
    """Return the question of people who appear in the file after it was changed in a way."""
    names = some_of([f"`{name}`" for name in people.columns], 4)
    question = Unaccounted(
        subject=f"columns {people.way}" if " " in people.way else f"{people.way} columns",
        reason=f"With {names} {people.way}, {people.standing:,} of {people.people:,} people who "
        f"are unique in the data appear in the file; coincidence explains about "
        f"{round(people.expected):,}.{_of_control(people.beside, can_tell=can_tell)}",
        declaration=ACCEPTED if can_tell else CONTROL,
    )
    does = f"appear in the file with columns {people.way}"
    return _about_people(question, people, people.people, UNIQUE_ONES, does)


def _of_nearer(
    nearer: NearerPeople, subject: str = "rows that are nearly a person", *, can_tell: bool
) -> Unaccounted:
    """Return the question of people to whom rows are far nearer than chance explains."""
    many = f"{nearer.standing:,} of {nearer.people:,} people"
    how = f"To {many} a row is far nearer than other people are"
    does = "have a row that is far nearer to them than other people are"
    if nearer.limit is not None:
        does = "have a row that is nearest to them and to which they are nearest"
        how = f"{many} {does}"
    question = Unaccounted(
        subject=f"the {subject}",
        reason=f"{how}; chance explains about {round(nearer.expected):,}."
        + _of_control(nearer.beside, can_tell=can_tell),
        declaration=ACCEPTED if can_tell else CONTROL,
    )
    return _about_people(question, nearer, nearer.people, "people", does)


def _of_control(beside: TwoSamples | None, *, can_tell: bool) -> str:
    """Say how many people of the control do the same; nothing where none are counted."""
    if beside is None or not can_tell:
        return ""
    ours = f"{beside.successes:,} of {beside.trials:,} people of the data"
    theirs = f"{beside.others:,} of {beside.other_trials:,} of the control"
    return f" Looked up alike, {ours} and {theirs} do."


class _PeopleOfQuestion(Protocol):
    @property
    def standing(self) -> int: ...

    @property
    def expected(self) -> float: ...


def _about_people(
    question: Unaccounted, people: _PeopleOfQuestion, of: int, who: str, does: str
) -> CountedQuestion:
    """Return a question with the people whom it is about."""
    return CountedQuestion.taken(
        question, who=who, does=does, standing=people.standing, expected=people.expected, of=of
    )


def _largest(left: Sequence[Trace]) -> Trace:
    return max(left, key=lambda trace: trace.copies.standing)


def in_both(copies: CopiesDetail) -> str:
    """Say how many people of the data appear in the control."""
    assert copies.shared is not None
    many, limit = copies.shared.standing, math.ceil(copies.shared.most)
    return (
        f"{many:,} unique people of the data appear in the control, and coincidence explains at "
        f"most {limit:,}"
    )


def not_sought(whole: WholeFiles, traces: Traces) -> Iterator[str]:
    """Yield how copies were not sought, since files are large or coarse in rare ways."""
    if left := traces.sets.left:
        yield f"copies by {left:,} of all sets of two and three columns"
    unread = traces.facts.unread
    if whole.is_large:
        yield LEFT_IN_LARGE
    elif len(whole.columns) + len(whole.otherwise) > MOST_RECODED:
        yield LEFT_IN_WIDE
    if max(whole.real, whole.synthetic, whole.control) > MOST_SOUGHT:
        yield "nearest records, and copies of some columns of people, in files of so many rows"
    if max(whole.real, whole.synthetic, whole.control) > MOST_GROUPED:
        yield "groups of rows, in files of so many rows"
    if max(whole.real, whole.synthetic) > MOST_NEARER:
        yield "values of people under the names of other columns, in files of so many rows"
    if stand_together(whole):
        some = [f"`{name}`" for name in groups_by(whole)]
        yield GROUPS_LEFT.format(f" by {some_of(some, 4)}" if some else "")
    yield from _not_compared(whole)
    if unread:
        yield f"{unread:,} rows of the file that are coarse in rare ways"


def _not_compared(whole: WholeFiles) -> Iterator[str]:
    """Yield what the file holds that nobody could compare."""
    yield from whole.unseen
    if whole.several.running:
        shown = some_of([f"`{name}`" for name in whole.several.running], 4)
        yield f"people by running numbers in {shown}, which any file that numbers its people has"
    if whole.is_in_memory:
        yield WRITTEN


def groups_by(whole: WholeFiles) -> list[str]:
    """Return the columns under which rows are together, as far as is known."""
    is_each = whole.units is None or len(np.unique(whole.units[whole.rows("real")])) == whole.real
    named = [name for name in ("" if is_each else whole.unit, whole.numbering) if name]
    named += [] if whole.together is None else [whole.together.by]
    named += [each.by for each in whole.groups if each.is_clear]
    return list(dict.fromkeys([*named, *(whole.bound.by if whole.bound else ())]))


def stand_together(whole: WholeFiles) -> bool:
    """Check whether rows of one person or group are together in the data."""
    return bool(groups_by(whole)) or (whole.bound is not None and whole.bound.is_by_order)


def has_groups_left(not_sought: Sequence[str]) -> bool:
    """Check whether histories or groups are among what was not looked at."""
    return any(text.startswith(GROUPS_LEFT.partition("{")[0]) for text in not_sought)


LEFT_IN_LARGE = (
    "copies by two columns, by all but a given one, mirrored, and under other codes, in files of "
    "so many rows"
)
LEFT_IN_WIDE = "copies under other codes, in files of so many columns"
WRITTEN = "what a file that is written of the data frame holds besides its cells, levels and notes"
"""What nobody looked at where the published file is a data frame in memory."""
CONTROL = '`control = "FILE"` in `[data]`, or `--control FILE`, a file of other people'
"""What decides whether values are in a file by coincidence."""
ACCEPTED = (
    "`copies = SHARE` in `[threshold]`, or `--copies SHARE`, the share of people that is accepted"
)
"""What decides on people who are in a file, where a control does not explain them."""


def _without_control(names: Sequence[str], lacking: Sequence[str]) -> str:
    """Say that the control lacks some of these columns; nothing where it has all."""
    absent = [f"`{name}`" for name in names if name in lacking]
    return f" The control lacks {some_of(absent)}." if absent else ""


def _undeclared(names: Sequence[str], reason: str, declaration: str = "") -> Unaccounted:
    shown = ", ".join(f"`{name}`" for name in names)
    return Unaccounted(
        subject=f"{'column' if len(names) == 1 else 'columns'} {shown}",
        reason=reason,
        declaration=declaration or _irrelevant(names),
    )


def _irrelevant(names: Sequence[str]) -> str:
    """Return how names are declared, in a study and as an option that a shell takes as it is.

    >>> print(_irrelevant(["column 2", "hired"]))
    `irrelevant = ["column 2", "hired"]` in `[data]`, or `--irrelevant "column 2,hired"`
    """
    listed = ",".join(names)
    option = shlex.quote(listed)
    if option == f"'{listed}'" and not set(listed) & set('"$`\\!'):
        option = f'"{listed}"'
    quoted = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
    return f"`irrelevant = [{quoted}]` in `[data]`, or `--irrelevant {option}`"


def counts_of(
    found: FileFacts, traces: Traces | None = None, error: float = 0.0
) -> Iterator[FileCount]:
    """Yield what is counted in the file.

    ``error`` decides which sets of columns strike: these are told, and columns by themselves.
    """
    verbatim, near = found.verbatim_expected, found.near_expected
    yield FileCount(what=VERBATIM, standing=found.verbatim, expected=verbatim, of=found.rows)
    seen: set[tuple[str, ...]] = set()
    told = [(trace.columns, trace.copies) for trace in (_told(traces, error) if traces else ())]
    sets = [(count.columns, count) for count in found.sets]
    few = [(some.columns, some) for some in (traces.sets.striking if traces else ())]
    for columns, count in (*sets, *told, *few):
        if columns not in seen:
            seen.add(columns)
            yield FileCount.of_people(UNIQUE, columns, count)
    for trace in traces.values if traces else ():
        yield FileCount.of_people(VALUES, trace.columns[:1], trace.copies)
    if found.near is not None:
        yield FileCount(what=NEAR, standing=found.near, expected=near, of=found.rows)
    if traces is not None and (people := traces.near) is not None:
        yield FileCount(
            what=NEARER,
            columns=people.columns,
            standing=people.near,
            expected=people.expected,
            of=people.rows,
        )


def _told(traces: Traces, error: float) -> list[Trace]:
    """Return the sets of columns to tell: what strikes, and columns by themselves."""
    rest = [trace for trace in traces.each[1:] if trace.how not in _OTHERWISE]
    striking = [trace for trace in rest if trace.is_striking(error, beside=False)]
    striking.sort(key=lambda trace: -trace.copies.standing)
    alone = [trace for trace in rest if len(trace.columns) == 1 and trace not in striking]
    return [*striking, *alone][:MOST_SETS]


def deciding_trace(traces: Traces, error: float, at_most: float, *, can_tell: bool) -> Trace:
    """Return the set of columns that decides.

    Where copies beyond coincidence assume how files are made, those beyond the control decide
    first, if there are any.
    """
    trace = traces.deciding(error, beside=can_tell)
    if can_tell and trace.excess(error, beside=True)[1] <= at_most:
        chosen = [each for each in traces.chosen() if each.beside is not None]
        lows = [each.excess(error, beside=True)[1] for each in chosen]
        if max(lows, default=at_most) > at_most:
            return chosen[lows.index(max(lows))]
    if not can_tell or trace.beside is not None or _is_of_any_law(trace, error, at_most):
        return trace
    each = tuple(other for other in traces.each if other.beside is not None)
    if not each:
        return trace
    by_control = replace(traces, each=each).deciding(error, beside=True)
    return by_control if by_control.excess(error, beside=True)[1] > at_most else trace


def _is_of_any_law(trace: Trace, error: float, at_most: float) -> bool:
    """Check whether people appear in the file beyond what any law of it explains."""
    many = trace.copies
    return isinstance(many, Copies) and many.excess_of_any_law(error * trace.share) > at_most


def copied_people(
    trace: Trace,
    is_data: float | None,
    at_most: float,
    confidence: float,
    *,
    can_tell: bool,
    lacking: Sequence[str] = (),
    tested: TwoSamples | None = None,
) -> CopiedPeople:
    """Return the unique people who appear in the file, and how far they are beyond others.

    trace: The set of columns that decides.
    is_data: The chance of a file with the very rows of the data; None: it has others.
    can_tell: Whether there is a control; else coincidences take its place.
    lacking: Columns that the control lacks.
    tested: People of the data and the control by all columns, where these decide nothing.
    """
    error = (1 - confidence) / 2
    value, low, high = trace.excess(error, beside=can_tell)
    many = trace.copies
    beside = trace.beside if can_tell else None
    grade: Grade = "approximate" if beside is None else "sampled"
    premises: tuple[str, ...] = ()
    chance: Coincidences | None = None
    counted = (many.standing, many.unique)
    if beside is None:
        most = many.most_coincidences(error * trace.share)
        chance = Coincidences(share=many.expected / max(1, many.unique), most=math.ceil(most))
        premises = (LAST_DIGITS,) if trace.how == DIGITS else (INDEPENDENT, LAW)
        if isinstance(many, Copies):
            sure = min(low, many.excess_of_any_law(error * trace.share))
            if sure > at_most:
                low, premises = sure, (INDEPENDENT,)
    else:
        counted, tested = (beside.successes, beside.trials), beside
    if is_data is not None and is_data <= error:  # whether anybody is unique or not
        value, high = 1.0, 1.0
        if beside is None:
            low = 1.0
        else:
            value -= beside.others / beside.other_trials
        low = max(low, min(value, 1 / max(1, many.unique)))
        premises = ()
    excess = Quantity(
        value=value,
        low=low,
        high=high,
        grade=grade,
        confidence=confidence,
        takes_as_given=premises,
    )
    everybody, scored = counted, None
    if isinstance(many, PartlyCopied):  # decided by half of the people, and told of all
        everybody, scored = (many.all_standing, many.all_unique), counted
    return CopiedPeople(
        how=_how(trace),
        columns=_columns_of(trace),
        change=trace.change,
        people=Quantity(
            value=everybody[0] / max(1, everybody[1]), grade="counted", counted=everybody
        ),
        scored=scored,
        coincidences=chance,
        control=(tested.others, tested.other_trials) if can_tell and tested is not None else None,
        lacking=tuple(name for name in trace.columns if name in lacking),
        excess=ExcessShare(share=excess)
        if beside is None
        else ExcessShare.of(beside, excess, at_most, error * trace.share),
    )


def _how(trace: Trace) -> str:
    if trace.how in (WHOLE, DIGITS):
        return "row by row"
    return "nearly row by row" if trace.how == BUT_ANY else trace.how


def _columns_of(trace: Trace) -> tuple[str, ...]:
    """Return by which columns people were sought; empty: all."""
    if trace.how in (WHOLE, DIGITS):
        return ()
    return (BUT_ANY,) if trace.how == BUT_ANY else trace.columns
