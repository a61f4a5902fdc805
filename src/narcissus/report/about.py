"""What a record says next to its page, and who says it: the layout of a kind of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, ClassVar, NamedTuple, Protocol

from narcissus.judgement import StudyJudgement
from narcissus.report.first_screen import Glance
from narcissus.report.page import Headline, Page
from narcissus.results import Grade
from narcissus.rows import StudyRow
from narcissus.study.kinds import study_kind
from narcissus.study.record import Record
from narcissus.study.registry import loaded


@dataclass(frozen=True)
class EveryAttacker:
    """What no attacker exceeds, in a sentence, and what must hold for it."""

    text: str
    grade: Grade
    given: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """What a record is about, for somebody who decides."""

    released: str  # What is released, a sentence
    groups: bool = False  # Whether groups of people were looked at
    # What no attacker exceeds; empty where nothing limits all of them
    limits: tuple[EveryAttacker, ...] = field(default_factory=tuple)
    # Why it is no ground to decide on a release about people; empty where it is one
    no_ground: str = ""
    against: str = ""  # The class of attackers whom alone the limits are about; empty: all
    accepted: str = ""  # What was accepted beforehand; empty: the study's threshold


@dataclass(frozen=True)
class Answered:
    """What a record says to an item; the grade is None for what a study states and nobody tests."""

    text: str
    grade: Grade | None


class RealFigure(NamedTuple):
    """A figure that real records decide.

    name: What it is called.
    how: How it depends on real records, a sentence or two.
    where: Its places in a record, as patterns of dotted paths; numbers of list entries left out.
    """

    name: str
    how: str
    where: tuple[str, ...]

    def is_at(self, path: str) -> bool:
        """Return whether a place of the record is one of the figure's."""
        bare = ".".join(part for part in path.split(".") if not part.isdecimal())
        return any(fnmatchcase(bare, pattern) for pattern in self.where)


class ShownLayout(Protocol):
    """What a report asks of the layout of a kind whose records are rows."""

    def page(self, record: Record, case: StudyJudgement) -> Page: ...

    def subject(self, record: Record, case: StudyJudgement) -> Subject: ...

    def answers(self, record: Record, case: StudyJudgement) -> dict[str, Answered]: ...

    def figures(self, record: Record, case: StudyJudgement) -> list[RealFigure]: ...

    columns: ClassVar[Sequence[str]]

    def in_frame(self, row: StudyRow, case: StudyJudgement) -> Mapping[str, Any] | None: ...

    def threshold(self, record: Record, case: StudyJudgement) -> Mapping[str, Any]: ...

    def glance(self, case: StudyJudgement) -> Glance: ...

    def where(self, case: StudyJudgement) -> str: ...

    def numbers(self, case: StudyJudgement) -> list[Headline]: ...

    def verdict(self, case: StudyJudgement) -> str: ...

    def uncovered(self, case: StudyJudgement) -> list[str]: ...


def shown(record: Record) -> tuple[ShownLayout, StudyJudgement]:
    """Return the layout of a record, and what follows from its rows."""
    kind = study_kind(record.kind)
    return loaded(kind.layout), kind.judged(record)


def verdict_of(record: Record) -> str:
    """Return the verdict as it follows from the results; what the record says is not repeated."""
    layout, case = shown(record)
    return layout.verdict(case)


def uncovered_of(record: Record) -> list[str]:
    """Return what no number of a record speaks about, as it follows from the results."""
    layout, case = shown(record)
    return layout.uncovered(case)


def subject_of(record: Record) -> Subject:
    """Return what a record is about; what rests on something that is refuted limits nobody."""
    layout, case = shown(record)
    subject = layout.subject(record, case)
    if not record.contradictions:
        return subject
    return replace(
        subject, limits=tuple(replace(limit, grade="not assessed") for limit in subject.limits)
    )


def numbers_of(record: Record) -> list[Headline]:
    """Return the numbers where a verdict was decided: label, value, limits, grade."""
    layout, case = shown(record)
    return layout.numbers(case.alone)
