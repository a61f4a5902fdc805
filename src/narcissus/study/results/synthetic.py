"""What an audit of a given synthetic file finds: three risks, on its people and on others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from narcissus.results import Estimate
from narcissus.study.results.base import (
    SLACK,
    Count,
    Level,
    MergedGroups,
    Positive,
    ResultModel,
    Share,
    Signed,
    require_order,
)
from narcissus.synthetic.assess import RISKS

RiskVerdict = Literal["exceeded", "not shown", "not assessed"]


class FileSizes(ResultModel):
    """How many rows each file has, and how many of them were scored."""

    real: Positive
    synthetic: Positive
    control: Count = Field(description="0 where there is none.")
    columns: Positive
    real_scored: Positive
    control_scored: Count


class CountedShare(ResultModel):
    """A share of people, with limits by Clopper and Pearson."""

    successes: Count
    people: Positive
    share: Share
    low: Share
    high: Share

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        require_order(self.low, self.share, self.high)
        if abs(self.successes / self.people - self.share) > SLACK:
            raise ValueError(f"{self.successes} of {self.people} is no share of {self.share:g}")
        return self


class SignedLimits(ResultModel):
    """A difference of two shares, with its limits."""

    value: Signed
    low: Signed
    high: Signed

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_order(self.low, self.value, self.high)
        return self

    @classmethod
    def of(cls, estimate: Estimate) -> Self:
        """Take the numbers of an estimate with limits on both sides."""
        low, high = estimate.low, estimate.high
        assert low is not None
        assert high is not None
        return cls(value=estimate.value, low=low, high=high)


class ExcessResult(SignedLimits):
    """How much more often the people of the real data are hit than those of the control."""

    fisher: Share = Field(description="One-sided p-value that they are not; of this claim alone.")
    detectable: Signed | None = Field(
        description="The least excess that would have been shown to be above what is accepted, the "
        "control as it is; null where none would."
    )


class TriedAttack(ResultModel):
    """What an attack reached on the people that attacks were chosen on."""

    real: Share
    control: Share | None


class GuessedShares(ResultModel):
    """The best guess without the release, on the same people."""

    by: str
    real: CountedShare
    control: CountedShare | None
    above: SignedLimits = Field(description="The attack less the guess, on people of the data.")
    taught: SignedLimits | None = Field(
        description="The attack less the guess, on people of the control: what the file says of "
        "everybody."
    )


class GroupRisk(ResultModel):
    """How a group fares."""

    by: str
    group: str
    real: CountedShare
    control: CountedShare | None = Field(description="Null where the control has none of them.")
    excess: SignedLimits | None


class RiskResult(ResultModel):
    """One risk, and the verdict on it."""

    risk: Literal["inference", "singling out", "linkability"]
    secret: str = Field(description="What is guessed; empty where nothing is.")
    attack: str = Field(description="The one that was chosen.")
    tried: Mapping[str, TriedAttack]
    real: CountedShare
    control: CountedShare | None
    excess: ExcessResult | None = Field(description="Limits hold for all claims at once.")
    guess: GuessedShares | None
    facts: Mapping[str, Count]
    at_most: Share = Field(description="The excess that is accepted.")
    worst_group: Share | None = Field(description="The same for each group; null: not asked.")
    verdict: RiskVerdict
    groups: tuple[GroupRisk, ...]

    @property
    def name(self) -> str:
        return f"{self.risk} of {self.secret}" if self.secret else self.risk

    @property
    def groups_beyond(self) -> tuple[GroupRisk, ...]:
        """The groups whose excess is shown to be above what is accepted for each."""
        if self.worst_group is None:
            return ()
        return tuple(g for g in self.groups if g.excess and g.excess.low > self.worst_group)

    @property
    def is_beyond(self) -> bool:
        """Whether the numbers show more than is accepted, whether or not it may be said."""
        everybody = self.excess is not None and self.excess.low > self.at_most
        return everybody or bool(self.groups_beyond)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.attack not in self.tried:
            raise ValueError(f"the attack {self.attack!r} is none of those tried")
        if (self.control is None) != (self.excess is None):
            raise ValueError("there is an excess without a control, or none with one")
        if self.verdict != "not assessed" and (
            self.excess is None or (self.verdict == "exceeded") != self.is_beyond
        ):
            raise ValueError(f"the verdict is {self.verdict!r}, and the limits say other")
        if self.excess is not None and self.control is not None:
            found = self.real.share - self.control.share
            if abs(found - self.excess.value) > SLACK:
                raise ValueError("the excess is not the difference of the two shares")
        return self


class UnlikeResult(ResultModel):
    """The value whose share differs most between the real data and the control."""

    column: str
    value: str
    real: Share
    control: Share
    p_value: Share = Field(description="Two-sided, corrected for all values looked at.")
    is_shown: bool = Field(description="Whether that refutes that both are of one population.")


class SyntheticResults(ResultModel):
    """What was found about a given file."""

    files: FileSizes
    confidence: Level
    claims: Positive = Field(description="Decided at once: each excess is limited at this level.")
    claim_confidence: Level
    group_confidence: Level
    unlike: UnlikeResult | None = Field(description="Null without a control.")
    risks: tuple[RiskResult, ...] = Field(min_length=1)
    merged: MergedGroups | None = Field(
        None, description="Null where no groups are asked for, and in older records."
    )
    later = frozenset({"merged"})

    @property
    def verdicts(self) -> set[RiskVerdict]:
        return {risk.verdict for risk in self.risks}

    @property
    def verdict(self) -> RiskVerdict:
        """The verdict on the file: exceeded if any risk is."""
        order: tuple[RiskVerdict, ...] = ("exceeded", "not assessed", "not shown")
        return next(v for v in order if v in self.verdicts)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if {risk.risk for risk in self.risks} != set(RISKS):
            raise ValueError(f"each risk must be there: {', '.join(RISKS)}")
        refuted = self.unlike is None or self.unlike.is_shown
        if refuted and self.verdicts != {"not assessed"}:
            raise ValueError("there is a verdict without a control of the same population")
        if (self.unlike is None) != (self.files.control == 0):
            raise ValueError("there is a control, and it was not held against the real data")
        return self
