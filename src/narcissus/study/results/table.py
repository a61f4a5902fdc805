"""What an audit of a table finds at each setting of the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, RootModel, Tag, model_validator

from narcissus.findings import Finding
from narcissus.results import Grade, Status
from narcissus.study.results.base import (
    ByTheorem,
    Count,
    Level,
    MergedGroups,
    NonNegative,
    Positive,
    ResultModel,
    Share,
    require_order,
)
from narcissus.study.results.table_attacks import (
    AttackResult,
    GroupResult,
    GuessResult,
    OwnRelease,
)

AboutShare = Annotated[float, Field(ge=-1, le=2)]
"""A limit of a share that is a share more or less a difference."""
AboutExcess = Annotated[float, Field(ge=-2, le=1)]
"""A share less what is allowed, which may be another share and a gain."""


class _TableBound(ByTheorem):
    """What no attacker on a table exceeds."""

    name: str
    guarantee: str = Field(description="What it follows from, in words.")
    grade: Grade = Field(description="'not assessed' where there is no guarantee: all is all.")
    for_comparison: bool = Field(description="Shown beside others; no verdict rests on it.")
    assumptions: tuple[str, ...]
    takes_as_given: tuple[str, ...]

    @model_validator(mode="after")
    def _graded(self) -> Self:
        expected = "proved if" if self.takes_as_given else "proved"
        if self.grade not in (expected, "not assessed"):
            raise ValueError(f"the grade is {self.grade!r}, and what it takes as given says other")
        return self

    @property
    def counts(self) -> bool:
        """Whether it may be leaned on: it follows from a guarantee, and is not only compared."""
        return self.grade != "not assessed" and not self.for_comparison


class ShareBound(_TableBound):
    """A limit on the mean share that is recovered."""

    limits: Literal["share"]
    share_at_most: Share = Field(description="Of the people played.")
    share_of_population: Share | None = Field(description="Of all people like them; sampled.")


class CountBound(_TableBound):
    """A limit on how many are recovered in one release."""

    later = ByTheorem.later | {"reached"}

    limits: Literal["count"]
    confidence: Level
    at_most: Count = Field(description="Of the people played.")
    of: Positive
    at_most_of_population: Count | None = Field(description="Of others like them; sampled.")
    reached: Count | None = Field(
        None,
        description="What some mechanism with this guarantee reaches of the people played, with "
        "the same confidence; null: not known.",
    )

    @model_validator(mode="after")
    def _within(self) -> Self:
        require_order(None, max(self.at_most, self.at_most_of_population or 0), self.of)
        if self.reached is not None and self.counts:
            require_order(self.reached, self.at_most, None)
        return self


class FindingResult(ResultModel):
    """One graded statement (`narcissus.findings.Finding`)."""

    quantity: str
    source: str
    low: AboutShare | None
    high: AboutShare | None
    kind: Grade
    grade: Grade
    assumptions: tuple[str, ...]
    confidence: Level | None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None:
            require_order(self.low, self.high, None)
        return self

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """Take the fields of a finding."""
        return cls(
            quantity=finding.quantity,
            source=finding.source,
            low=finding.low,
            high=finding.high,
            kind=finding.kind,
            grade=finding.grade,
            assumptions=finding.assumptions,
            confidence=finding.confidence,
        )


class Excess(ResultModel):
    """One finding, held against the threshold: positive is beyond it."""

    later = frozenset({"of", "low_apart"})

    role: Literal["attack", "ceiling", "bound"]
    name: str
    of: Literal["share", "advantage", "gain", "targets"] | None = Field(
        None, description="Which limit of the threshold; null in older records, which have one."
    )
    group: str = Field(description="The group that it is about; empty for everybody.")
    value: AboutExcess
    low: AboutExcess | None = Field(description="Null for a bound.")
    high: AboutExcess | None
    kind: Grade = Field(description="Of the numbers: a bound is sampled for all people alike.")
    trials: Positive | None = Field(description="That would tell its sign; null: none would.")
    low_apart: AboutExcess | None = Field(
        None,
        description="Another lower limit, where that of the paired difference does not tell: of "
        "what is recovered alone, less an upper limit of what is guessed, which people tell. Each "
        "fails with half of the error; null: not needed, or there is none.",
    )

    @property
    def at_least(self) -> float | None:
        """The larger of its lower limits."""
        return max((x for x in (self.low, self.low_apart) if x is not None), default=None)


class ThresholdResult(ResultModel):
    """What was judged by, the study's own or a policy's."""

    later = frozenset({"gain"})

    share: Share | None
    advantage: Share | None
    gain: Share | None = None
    targets: Count | None
    worst_group: Share | None
    decided_at: str | None = Field(description="Label of the setting that it is about; null: all.")
    reason: str
    origin: str

    @model_validator(mode="after")
    def _some(self) -> Self:
        if all(v is None for v in (self.share, self.advantage, self.gain, self.targets)):
            raise ValueError("none of `share`, `advantage`, `gain` and `targets` is given")
        return self


class NoiseResult(ResultModel):
    """The noise on each cell; a scale of 0 is none."""

    kind: str
    scale: NonNegative


class PrecisionResult(ResultModel):
    """How near the limits of the headline came, where the study asks for a precision."""

    aimed: Share = Field(description="Half the distance between limits, at most.")
    reached: Share = Field(
        description="Half the widest distance, of guess, best and ceiling, and of what the "
        "threshold limits: a gain, groups."
    )
    look: Positive = Field(description="At which the run ended.")
    most: Positive = Field(description="Trials that it could have had.")

    @property
    def is_reached(self) -> bool:
        """Whether limits are as near as was asked for."""
        return self.reached <= self.aimed


TableBound = Annotated[ShareBound | CountBound, Field(discriminator="limits")]


class SettingNumbers(ResultModel):
    """What was measured and what is proved at one setting, before it is judged."""

    later = frozenset(
        {
            *("released", "strength", "is_declared", "everybody", "precision", "share_of_columns"),
            "merged",
        }
    )

    epsilon: NonNegative | None
    label: str
    delta: Share | None
    mu: NonNegative | None
    released: str = Field("", description="What is released, in words; empty in older records.")
    strength: float | None = Field(
        None, description="Grows with protection, within a sweep; null: nothing orders it."
    )
    noise: NoiseResult | None = Field(description="On each cell; null: there is no such noise.")
    marginals: Count
    cells: Count
    people: Positive
    trials: Positive
    confidence: Level
    precision: PrecisionResult | None = Field(
        None, description="Null: the study gives its number of trials."
    )
    prior_is_exact: bool
    everybody: bool = Field(
        False, description="Whether the people are the whole table: there are no others like them."
    )
    is_declared: bool = Field(
        False, description="Whether what the release guarantees is the user's word alone."
    )
    share_of_columns: bool = Field(
        False, description="Whether shares are of people's unknown columns, not of people."
    )
    guess: GuessResult
    attacks: Mapping[str, AttackResult]
    ceiling: AttackResult | None
    best: str | None = Field(description="The attack with most evidence.")
    bounds: tuple[TableBound, ...]
    groups: tuple[GroupResult, ...]
    merged: MergedGroups | None = Field(
        None, description="Null where people are drawn from the prior, and in older records."
    )

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if (self.best is None) != (not self.attacks) or (
            self.best is not None and self.best not in self.attacks
        ):
            raise ValueError(f"`best` is {self.best!r}, and the attacks {[*self.attacks]}")
        played = [*self.attacks.values(), *([self.ceiling] if self.ceiling else [])]
        counted = [one.distribution for one in played if one.distribution is not None]
        if any(max(one.targets) > self.people for one in counted):
            raise ValueError(f"more targets are recovered than the {self.people} people")
        if len(counted) != (0 if self.share_of_columns else len(played)):
            raise ValueError("counts of targets, and each column counts by itself")
        if any(one.trials > self.trials for one in played):
            raise ValueError(f"an attack has more trials than the {self.trials} of the setting")
        return self

    @property
    def whose(self) -> str:
        """Of what shares are, after 'of these' and before 'on average'."""
        return "people's unknown columns" if self.share_of_columns else "people"

    @property
    def proved_if(self) -> str:
        """What the bounds take as given, in a few words; empty for nothing."""
        given = [] if self.prior_is_exact else ["the prior is right"]
        return " and ".join([*given, *(["what was declared holds"] if self.is_declared else [])])

    @property
    def is_ceiling_estimated(self) -> bool:
        """Whether the ceiling is an estimate, that attackers may be above."""
        return self.ceiling is not None and self.ceiling.is_estimated

    @property
    def noiseless(self) -> bool:
        """Whether exact counts are released."""
        return self.noise is not None and self.noise.scale == 0

    @property
    def protection(self) -> float:
        """Grows with protection, within a sweep; 0 where nothing orders the settings."""
        if self.strength is not None:
            return self.strength
        return 0.0 if self.noise is None else self.noise.scale

    @property
    def best_attack(self) -> AttackResult | None:
        """The attack with most evidence."""
        return None if self.best is None else self.attacks[self.best]

    @property
    def is_limited(self) -> bool:
        """Whether there is a guarantee that could limit an attacker."""
        return any(bound.counts for bound in self.bounds)

    @property
    def share_bound(self) -> ShareBound | None:
        """The least that is proved of the mean share."""
        found = [b for b in self.bounds if isinstance(b, ShareBound) and b.counts]
        return min(found, key=lambda b: b.share_at_most, default=None)

    @property
    def count_bound(self) -> CountBound | None:
        """The least that is proved of the count, at the highest level."""
        found = [b for b in self.bounds if isinstance(b, CountBound) and b.counts]
        return min(found, key=lambda b: (-b.confidence, b.at_most), default=None)

    def count_of_population(self, confidence: float) -> int | None:
        """Return the least limit of the count of others like those played; None where none is."""
        found = [
            b.at_most_of_population
            for b in self.bounds
            if isinstance(b, CountBound) and b.counts and b.confidence == confidence
        ]
        return min((most for most in found if most is not None), default=None)

    @property
    def population_share(self) -> float:
        """The limit of the mean share of all people like those played; 1 where there is none."""
        bound = self.share_bound
        if bound is None or bound.share_of_population is None:
            return 1.0
        return bound.share_of_population


class SettingResult(SettingNumbers):
    """What was found at one setting, and the verdict on it."""

    later = SettingNumbers.later | {"own_release"}

    own_release: OwnRelease | None = Field(
        None, description="What is recovered from a release that was made; null: there is none."
    )
    threshold: ThresholdResult | None
    excesses: tuple[Excess, ...]
    findings: tuple[FindingResult, ...]
    decides: bool = Field(description="Whether the verdict on a sweep is about this setting.")
    status: Status
    held_back_by: str | None = Field(
        description="The setting with more protection at which the threshold is not met, so that "
        "it is not claimed here, where it would be met; null: nothing is held back."
    )
    grade: Grade
    assumptions: tuple[str, ...]
    contradictions: tuple[str, ...]
    trials_needed: Positive | None = Field(description="That would settle what is open, roughly.")
    verdict: str
    odds: str
    evidence_for: tuple[str, ...]
    evidence_against: tuple[str, ...]

    def grade_of(self, bound: ShareBound | CountBound) -> Grade:
        """Return the grade of a bound here: what is contradicted proves nothing."""
        return "not assessed" if self.contradictions else bound.grade

    def is_edge(self, bound: ShareBound | CountBound) -> bool:
        """Return whether a bound is a place where no attacker is: proved, and no if."""
        return self.grade_of(bound) == "proved"


def _how_many(value: Any) -> str:
    """Distinguish a sweep, a list of settings, from a study of one."""
    return "sweep" if isinstance(value, list | tuple) else "setting"


class TableResults(
    RootModel[
        Annotated[
            Annotated[SettingResult, Tag("setting")]
            | Annotated[tuple[SettingResult, ...], Tag("sweep"), Field(min_length=1)],
            Discriminator(_how_many),
        ]
    ]
):
    """The one setting of a study, or a list of those that a study sweeps."""

    @property
    def settings(self) -> tuple[SettingResult, ...]:
        return self.root if isinstance(self.root, tuple) else (self.root,)

    @property
    def decisive(self) -> SettingResult:
        """The setting whose numbers stand for the study."""
        return decisive(self.settings)


# A sweep has the status of the setting that is worst, in this order.
WORST: tuple[Status, ...] = (
    "exceeded",
    "contradicted",
    "not assessed",
    "too few trials",
    "inconclusive",
    "met",
    "no threshold",
)


def decisive(settings: Sequence[SettingResult]) -> SettingResult:
    """Return the setting that a verdict on a sweep rests on, whose numbers stand for it.

    Of those that decide, the worst by their status; of these the least noise that is noise at all,
    so that nothing looks better than it is.
    """
    deciding = [one for one in settings if one.decides] or settings
    status = WORST[min(WORST.index(one.status) for one in deciding)]
    worst = [one for one in deciding if one.status == status]
    noisy = [one for one in worst if not one.noiseless]
    return min(noisy or worst, key=lambda one: one.protection)
