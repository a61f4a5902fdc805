"""What a study of a language model finds: documents recovered, told and planted, beside chance."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from narcissus.results import Grade
from narcissus.study.results.base import (
    SLACK,
    Count,
    Level,
    MergedGroups,
    NonNegative,
    Positive,
    ResultModel,
    SampledShare,
    Share,
)
from narcissus.study.results.extraction import ExtractionResults
from narcissus.study.results.recovered import (
    AndCopies,
    GainOverFresh,
    RecoveredStatus,
    require_gain,
    require_groups,
    shown_gain,
    status_of,
)


class BesideShadows(ResultModel):
    """What models that were trained without these documents give away of them: each is a trial."""

    recovered: tuple[Count, ...] = Field(min_length=1, description="By shadow model.")
    mean: SampledShare = Field(description="Share recovered from such a model, on average.")
    as_many: SampledShare = Field(
        description="How often such a model gives away as many as this one, or more."
    )
    chance: Share = Field(
        description="That this model would stand so high if it were one of them: "
        "(1 + shadows that give away as many) / (1 + shadows)."
    )


class DocumentGroup(ResultModel):
    """Documents with so many copies, or all of them: how many were recovered, and how many anyway.

    ``recovered`` is a count for this model and what the attack printed, no sample.
    """

    copies: Count = Field(description="Of each in the training text; 0: all documents.")
    documents: Positive = Field(description="Different ones that the model was trained on.")
    recovered: Count
    share: Share
    fresh: SampledShare | None = Field(
        description="Share of documents never seen that the same rule counts; null: there are none."
    )
    reference: SampledShare | None = Field(
        description="Share of these documents recovered from a model that was not trained on them; "
        "null: there is none."
    )
    gain: GainOverFresh | None
    chance: Share | None = Field(
        description="That as many or more of those recovered would be documents trained on if "
        "chance alone had decided (Fisher's exact test)."
    )
    shadows: BesideShadows | None = Field(
        None, description="The same attack on shadow models; left out where there are none."
    )
    and_copies: AndCopies = None
    later = frozenset({"shadows", "and_copies"})

    @property
    def shown_gain(self) -> float:
        """The gain that is shown; 0 or below: none."""
        return shown_gain(self.share, self.documents, self.fresh)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if abs(self.share - self.recovered / self.documents) > SLACK:
            raise ValueError("`share` is not `recovered` of `documents`")
        if self.shadows is not None:
            counts = self.shadows.recovered
            many = sum(one >= self.recovered for one in counts)
            wanted = (sum(counts) / len(counts) / self.documents, many / len(counts))
            said = (self.shadows.mean.value, self.shadows.as_many.value)
            if any(abs(a - b) > SLACK for a, b in zip(wanted, said, strict=True)) or (
                abs(self.shadows.chance - (1 + many) / (1 + len(counts))) > SLACK
            ):
                raise ValueError("`shadows` does not follow from what each gave away")
        require_gain(self.share, self.fresh, self.gain, "documents")
        if (self.chance is None) != (self.fresh is None):
            raise ValueError("a chance is said without fresh documents, or none with them")
        return self


class RankedBy(ResultModel):
    """The best texts by one score: how many hold a stretch of a document."""

    score: str
    texts: Positive
    trained: Count = Field(description="Hold a rare stretch of a document trained on.")
    fresh: Count = Field(description="Hold a rare stretch of a fresh document.")


class DocumentAttack(ResultModel):
    """One attack that recovers documents."""

    name: Literal["generation", "completion"]
    rule: str = Field(description="When a document counts as recovered.")
    groups: tuple[DocumentGroup, ...] = Field(min_length=1)
    ranked: tuple[RankedBy, ...] = Field(description="By score; empty where nothing is ranked.")
    merged: MergedGroups | None = Field(
        None, description="Null without groups, and in older records."
    )
    later = frozenset({"merged"})

    @property
    def whole(self) -> DocumentGroup:
        return self.groups[0]

    @property
    def worst(self) -> DocumentGroup:
        """The group with the largest gain for certain; all documents where others are equal."""
        return max(self.groups, key=lambda one: one.shown_gain)

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        groups = [(one.copies, one.recovered, one.documents) for one in self.groups]
        require_groups(groups, "documents")
        return self


class ToldAtRate(ResultModel):
    """Documents told from fresh ones, with few false alarms."""

    rate: Share = Field(description="False alarms, at most, at the level of a claim.")
    told: Share | None = Field(description="Of documents trained on; null: too few fresh ones.")
    needed: Positive = Field(description="Fresh documents that it takes.")

    @property
    def times(self) -> float | None:
        """How many times as often as chance."""
        return None if self.told is None else self.told / self.rate


class MembershipScore(ResultModel):
    """How far one score tells documents trained on from fresh ones."""

    score: str
    above: SampledShare = Field(
        description="Chance that a document trained on scores above a fresh one (area under ROC)."
    )
    rates: tuple[ToldAtRate, ...]


class CanaryGroup(ResultModel):
    """Canaries with as many copies; what a model that never saw them does is known exactly."""

    copies: Positive
    canaries: Positive
    alternatives: Positive = Field(description="Secrets that each was compared with.")
    named: Count = Field(description="Whose secret is likelier than every other one.")
    guess: Share = Field(description="Chance that a model that never saw one names it, exact.")
    by_chance: Count = Field(description="As many such a model names at most, at a claim's level.")
    chance: Share = Field(description="That such a model names as many or more.")
    completed: Count = Field(description="Whose secret is printed after the text before it.")
    guess_completed: Share = Field(description="Chance of that without having seen it, at most.")
    exposure: NonNegative = Field(description="Median, in bits.")
    most_exposure: NonNegative = Field(description="What it can be with so many alternatives.")

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if max(self.named, self.completed) > self.canaries:
            raise ValueError("there are more canaries named than planted")
        if abs(self.guess - 1 / (self.alternatives + 1)) > SLACK:
            raise ValueError("`guess` does not follow from `alternatives`")
        return self


class LanguageResults(ResultModel):
    """Everything found about a language model."""

    model: str = Field(description="What it is, in words.")
    parameters: Positive
    has_reference: bool
    trained: Positive = Field(description="Different documents that it was trained on.")
    trained_copies: Positive = Field(description="The same with their copies.")
    fresh: Positive
    by_chance: bool = Field(description="Whether chance decided on which documents it was trained.")
    confidence: Level
    claims: Positive = Field(description="Limits that hold at once, each at `claim_confidence`.")
    claim_confidence: Level
    attacks: tuple[DocumentAttack, ...] = Field(min_length=1)
    membership: tuple[MembershipScore, ...]
    canaries: tuple[CanaryGroup, ...]
    program: ExtractionResults | None
    most_gain: Share | None = Field(description="That is accepted; null: not asked.")
    most_quality: Share | None = Field(description="The same, of the program.")
    status: RecoveredStatus
    grade: Grade

    @property
    def merged(self) -> MergedGroups | None:
        return next((one.merged for one in self.attacks if one.merged is not None), None)

    @property
    def best(self) -> DocumentAttack:
        """The attack that gains most over fresh documents; the first of equals."""
        return max(self.attacks, key=lambda one: _gain(one.whole)[0])

    @property
    def program_exceeds(self) -> bool:
        """Whether the program is an extraction of more quality than is accepted."""
        found = self.program
        return (
            found is not None
            and self.most_quality is not None
            and found.verdict == "extraction"
            and found.quality > self.most_quality
        )

    @property
    def status_by_numbers(self) -> tuple[RecoveredStatus, Grade]:
        """Status and grade that the numbers have: attacks that fail prove nothing."""
        by_gain = status_of(self.most_gain, (_gain(one.whole) for one in self.attacks))
        if self.program_exceeds and by_gain != "exceeded":
            return "exceeded", "approximate"
        if self.most_gain is None and self.most_quality is not None:
            return "inconclusive", "sampled"
        return by_gain, "sampled"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if (self.status, self.grade) != self.status_by_numbers:
            raise ValueError(f"status and grade are {self.status_by_numbers} by the numbers")
        claims = sum(
            (g.fresh is not None) + (g.reference is not None) + 2 * (g.shadows is not None)
            for one in self.attacks
            for g in one.groups
        )
        claims += sum(1 + len(one.rates) for one in self.membership) + len(self.canaries)
        if self.claims != claims:
            raise ValueError(f"there are {claims} claims")
        return self


def _gain(group: DocumentGroup) -> tuple[float, float]:
    return (-1.0 if group.gain is None else group.gain.value), group.shown_gain
