"""The result of an assessment: the files, each risk with its groups, and copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Self

from pydantic import Field, model_validator

from narcissus.disclosure import FileMeasures
from narcissus.kinds.synthetic.copies import CopiedPeople, CopiesDetail, CountedQuestion, FileCount
from narcissus.kinds.synthetic.excess import ExcessShare
from narcissus.rows import (
    Count,
    Fact,
    Level,
    Place,
    Positive,
    Quantity,
    Share,
    StudyResult,
    StudyRow,
    Unaccounted,
)
from narcissus.study.merging import MergedGroups
from narcissus.synthetic.assessment import ALIKE, RISKS, RiskName, Unlike


class FileSizes(Fact):
    """How many rows each file has, and how many of them were scored."""

    real: Positive
    synthetic: Positive
    control: Count = Field(description="0 where there is none.")
    columns: Positive
    real_scored: Positive
    control_scored: Count
    real_people: Count = Field(default=0, description="Units of the rows; 0 where none are named.")
    control_people: Count = Field(default=0, description="Likewise.")


class ComparedTogether(Fact):
    """How the real data and the control differ in all columns together."""

    p_value: Share = Field(description="Of an exact test by relabelling, of two together.")
    columns: tuple[str, ...] = Field(description="The two that differ most together.")


class UnlikeControl(Fact):
    """The value whose share differs most between the real data and the control, and columns."""

    column: str
    value: str
    real: Share
    control: Share
    p_value: Share = Field(description="Two-sided, corrected for all values looked at.")
    is_shown: bool = Field(description="Whether that refutes that both are of one population.")
    together: ComparedTogether | None = Field(
        default=None, description="All columns together; null where they cannot be compared."
    )
    is_by_blocks: bool = Field(
        default=False,
        description="Whether blocks of rows that follow one another show it: rows that depend on "
        "their neighbours do not explain it.",
    )

    @classmethod
    def of(cls, found: Unlike) -> UnlikeControl:
        return cls.taken(found, together=ComparedTogether.taken(found.together))

    @property
    def is_together(self) -> bool:
        """Whether only all columns together show it."""
        return self.is_shown and self.p_value >= ALIKE


class TriedAttack(Fact):
    """What an attack reached on the people that attacks were chosen on."""

    real: Share
    control: Share | None


class RiskOfPeople(Fact):
    """How often an attack succeeds on people of the data and of the control: all, or a group."""

    column: str = Field(default="", description="Its values make groups; empty: everybody.")
    value: str = Field(default="", description="That the group has.")
    real: Quantity
    control: Quantity | None = Field(default=None, description="Null: nobody to compare with.")
    excess: ExcessShare | None = Field(default=None, description="Null: nothing can be told of it.")

    @property
    def group(self) -> str:
        return f"{self.column} {self.value}" if self.column else ""

    @property
    def low(self) -> float:
        """Lower limit of the excess."""
        excess = self.excess
        return -1.0 if excess is None or excess.share.low is None else excess.share.low

    @property
    def high(self) -> float:
        """Upper limit of the excess."""
        excess = self.excess
        return 1.0 if excess is None or excess.share.high is None else excess.share.high

    @model_validator(mode="after")
    def _compared(self) -> Self:
        if self.excess is not None and self.control is None:
            raise ValueError("there is an excess, and nobody to compare with")
        return self

    def rows(self, name: str, attack: str) -> Iterator[StudyRow]:
        at: dict[str, Place] = {"group": self.group, "attack": attack}
        yield StudyRow(
            role="attack",
            of="risk",
            name=name,
            quantity=self.real,
            at=at,
            baseline=None if self.control is None else self.control.value,
            about=self,
        )
        if self.excess is not None:
            yield self.excess.row(name, at, self)


class SecretGuess(Fact):
    """The best guess without the file, and how far above it the attack is."""

    name: str
    real: Quantity
    control: Quantity | None
    above: Quantity = Field(description="The attack less the guess, on people of the data.")
    taught: Quantity | None = Field(
        description="The same on people of the control: what the file teaches about everybody."
    )

    def rows(self, name: str, attack: str) -> Iterator[StudyRow]:
        at: dict[str, Place] = {"group": "", "attack": self.name}
        yield StudyRow(role="guess", of="guess", name=name, quantity=self.real, at=at, about=self)
        if self.taught is not None:
            at = {"group": "", "attack": attack}
            yield StudyRow(
                role="gain", of="taught", name=name, quantity=self.taught, at=at, about=self
            )


class AssessedRisk(Fact):
    """One risk, of everybody and of groups."""

    risk: RiskName
    secret: str = Field(description="What is guessed; empty where nothing is.")
    attack: str = Field(description="The one that was chosen.")
    tried: Mapping[str, TriedAttack]
    attack_counts: Mapping[str, Count] = Field(
        description="Numbers about the attack, by their meaning."
    )
    how: str = Field(
        default="right",
        description="How right a guess is: 'to the right fifth' of a secret that is binned.",
    )
    everybody: RiskOfPeople
    groups: tuple[RiskOfPeople, ...] = ()
    guess: SecretGuess | None = Field(default=None, description="Null where nothing is guessed.")

    @property
    def label(self) -> str:
        """The secret, and its bins."""
        return f"{self.secret} {self.how.removeprefix('right').lstrip()}".rstrip()

    @property
    def name(self) -> str:
        return f"{self.risk} of {self.label}" if self.secret else self.risk

    @property
    def title(self) -> str:
        return f"{self.name[0].upper()}{self.name[1:]}"

    @model_validator(mode="after")
    def _was_tried(self) -> Self:
        if self.attack not in self.tried:
            raise ValueError(f"the attack {self.attack!r} is none of those tried")
        if self.everybody.group or not all(group.group for group in self.groups):
            raise ValueError("everybody is no group, and a group has a column")
        return self

    def rows(self) -> Iterator[StudyRow]:
        yield from self.everybody.rows(self.name, self.attack)
        if self.guess is not None:
            yield from self.guess.rows(self.name, self.attack)
        for group in self.groups:
            yield from group.rows(self.name, self.attack)


class SyntheticResult(StudyResult):
    """The files, what was tried on them, and what appears in the file."""

    files: FileSizes
    confidence: Level
    claims: Positive = Field(description="Decided jointly: each excess is limited at this level.")
    claim_confidence: Level
    group_confidence: Level
    unlike: UnlikeControl | None = Field(description="Null without a control.")
    risks: tuple[AssessedRisk, ...]
    merged: MergedGroups | None = Field(
        default=None, description="Null where no groups are asked for."
    )
    copied: CopiedPeople = Field(description="People who appear in the file: these decide.")
    counts: tuple[FileCount, ...] = Field(min_length=1, description="The first is of whole rows.")
    copies: CopiesDetail = Field(description="What appears in the file, and how it was sought.")
    measures: Mapping[str, FileMeasures] = Field(
        description="Of the real and of the synthetic file."
    )
    unaccounted: tuple[CountedQuestion | Unaccounted, ...] = Field(
        default=(), description="Columns that could not be compared."
    )
    not_sought: tuple[str, ...] = Field(
        default=(), description="How copies were not sought, since the files are large."
    )
    declared: tuple[str, ...] = Field(
        default=(), description="What tells nothing about a person, as the user declares."
    )

    units: tuple[str, ...] = Field(
        default=(),
        description="Columns whose values look like the number of a household or person of several "
        "rows, where no unit is named.",
    )
    numbering: str = Field(
        default="",
        description="The column of the data that numbers people of several rows, "
        "where no unit is named: then rows are counted, and no people. Empty: none does.",
    )
    one_of_each: str = Field(
        default="",
        description="The column that the user names as the unit, where some have several rows: "
        "one row of each was tried. Empty: every row was.",
    )
    agreeing: tuple[str, ...] = Field(
        default=(),
        description="Columns in which most rows agree with another row of the same file and "
        "hardly any with one of the other, as several rows of one person do.",
    )

    is_by_order: bool = Field(
        default=False,
        description="Whether rows of the data that follow one another are alike, as those of one "
        "household are, where no unit is named: then rows are not independent.",
    )

    @property
    def may_be_grouped(self) -> bool:
        """Whether a control may differ since rows of one household depend on one another."""
        is_unlike = self.unlike is not None and self.unlike.is_shown
        named = self.units or self.agreeing or self.copies.is_shared
        is_foreign = self.unlike is not None and self.unlike.is_by_blocks
        return is_unlike and self.is_by_order and not named and not is_foreign

    @property
    def can_tell(self) -> bool:
        """Whether there is a control of the same population, as far as is known."""
        return can_tell(self.unlike, self.copies)

    @property
    def groups(self) -> tuple[RiskOfPeople, ...]:
        """Groups of all risks."""
        return tuple(group for risk in self.risks for group in risk.groups)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if {risk.risk for risk in self.risks} != set(RISKS):
            raise ValueError(f"each risk must be there: {', '.join(RISKS)}")
        if (self.unlike is None) != (self.files.control == 0):
            raise ValueError("there is a control, and it was not compared with the real data")
        return self

    def rows(self) -> Iterator[StudyRow]:
        """Yield each risk of everybody and of groups, copies with their excess, and counts."""
        for risk in self.risks:
            yield from risk.rows()
        yield from self.copied.rows()
        for count in self.counts:
            yield count.row()
        for question in self.unaccounted:
            if isinstance(question, CountedQuestion):
                yield question.row()


def can_tell(unlike: UnlikeControl | None, copies: CopiesDetail) -> bool:
    """Check whether there is a control of the same population, as far as is known."""
    return unlike is not None and not unlike.is_shown and not copies.refutes_control
