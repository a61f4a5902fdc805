"""What stands in a given file, as rows and as a part of the record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from narcissus.evidence.intervals import TwoSamples
from narcissus.results import Grade
from narcissus.rows import Count, Fact, Positive, Quantity, Share, StudyRow
from narcissus.synthetic.assess import ALIKE
from narcissus.synthetic.copies import COPIES, Copies, FileFacts

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
Number = Annotated[float, Field(ge=0)]


class CopiedDetail(Fact):
    """People of one side who stand in the file; one row of each person or household."""

    people: Positive
    unique: Count
    standing: Count
    expected: Number
    most: Number = Field(description="Coincidences are no more, at the level of the claim.")
    most_of_any_law: Number | None = Field(
        default=None,
        description="The same, whatever kinds of people the file prefers; null in older records.",
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
        """Whether no law of the file explains who stands in it, beyond an accepted share."""
        any_law = self.unique if self.most_of_any_law is None else self.most_of_any_law
        return self.standing - max(self.most, any_law) > at_most * max(1, self.unique)


class CopiesDetail(Fact):
    """What stands in the file, beside the counts, which are rows."""

    unread: Count = Field(description="Rows that are coarse in too rare a way to be looked up.")
    is_data: Share | None = Field(description="The chance of a file with the data's very rows.")
    people: CopiedDetail
    control: CopiedDetail | None = Field(description="Limits at level .999.")

    @property
    def refutes_control(self) -> bool:
        """Whether people of the control stand in the file beyond coincidence."""
        return self.control is not None and self.control.is_beyond

    @classmethod
    def of(cls, found: FileFacts, error: float) -> CopiesDetail:
        people = CopiedDetail.of(found.copies, error)
        control = None if found.control is None else CopiedDetail.of(found.control, ALIKE)
        return cls.taken(found, people=people, control=control)


def fact_rows(found: FileFacts) -> Iterator[StudyRow]:
    """Yield the counts, each with its coincidences as the baseline."""

    def row(name: str, value: float, expected: float | None, of: int, on: str = "") -> StudyRow:
        counted = Quantity(value=value, grade="proved")
        at: dict[str, int | float | str] = {"group": "", "attack": on}
        return StudyRow(role="measure", of="count", name=name, quantity=counted,
                        baseline=expected, at=at, facts={"of": of})  # fmt: skip

    yield row(VERBATIM, found.verbatim, found.verbatim_expected, found.rows)
    for one in found.sets:
        yield row(UNIQUE, one.standing, one.expected, one.unique, ", ".join(one.columns))
    if found.near is not None:
        yield row(NEAR, found.near, found.near_expected, found.rows)


def copied_rows(
    facts: FileFacts, beside: TwoSamples | None, at_most: float, confidence: float
) -> Iterator[StudyRow]:
    """Yield the share of unique people who stand in the file, and how far it is beyond others'.

    beside: the same of the data and a control; None: coincidences take the control's place.
    """
    found, error = facts.copies, (1 - confidence) / 2
    at: dict[str, int | float | str] = {"group": "", "attack": "row by row"}
    grade: Grade = "approximate" if beside is None else "sampled"
    given: tuple[str, ...]
    if beside is None:
        own = {"successes": found.standing, "people": found.unique}
        share = found.standing / max(1, found.unique)
        baseline = found.expected / max(1, found.unique)
        value, low, high = found.excess(error)
        given = (INDEPENDENT, LAW)
        if (sure := min(low, found.excess_of_any_law(error))) > at_most:
            low, given = sure, (INDEPENDENT,)
        more: dict[str, int | float | str] = {}
        if facts.is_data is not None and facts.is_data <= error:
            value = low = high = 1.0  # of the rows
            given = ()
    else:
        own = {"successes": beside.successes, "people": beside.trials}
        share, baseline = beside.successes / beside.trials, beside.others / beside.other_trials
        limits = beside.excess(confidence=confidence)
        value, low, high = limits.value, limits.low, limits.high
        given = ()
        more = {"fisher": min(1.0, beside.fisher)}
        if (least := beside.detectable(at_most, error=error)) is not None:
            more["detectable"] = least
    counted = Quantity(value=share, grade="proved")
    yield StudyRow(role="attack", of="copied", name=COPIES, quantity=counted, at=at,
                   baseline=baseline, facts=own)  # fmt: skip
    excess = Quantity(value=value, low=low, high=high, grade=grade, confidence=confidence,
                      takes_as_given=given)  # fmt: skip
    yield StudyRow(role="excess", of="excess", name=COPIES, quantity=excess, at=at, facts=more)
