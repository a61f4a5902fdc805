"""What an audit of a table finds at each setting of the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, RootModel, Tag, model_validator

from narcissus.results import Grade
from narcissus.study.results.base import (
    Count,
    Level,
    NonNegative,
    Positive,
    ResultModel,
    Share,
    Signed,
    require_order,
)
from narcissus.study.record import Status


class Interval(ResultModel):
    """Limits of a share."""

    low: Share
    high: Share

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_order(self.low, self.high, None)
        return self


class ApproximateLimits(Interval):
    """Limits whose level holds only roughly; they decide nothing."""

    method: str


class LimitedMean(ResultModel):
    """A share that was sampled, with limits that hold."""

    share: Share
    low: Share
    high: Share

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_order(self.low, self.share, self.high)
        return self


class PriorTest(ResultModel):
    """What guesses without the release score on real people, less what the prior says of them."""

    by_the_prior: Share
    confidence: Level
    off: Signed
    off_low: Signed
    off_high: Signed

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        require_order(self.off_low, self.off, self.off_high)
        return self


class GuessResult(LimitedMean):
    """What the best guess without the release gets right."""

    by_the_prior: PriorTest | None = Field(description="Null where the prior is known exactly.")


class DecoyResult(LimitedMean, PriorTest):
    """What an attack scores that is shown a release of other secrets."""


class HitCounts(ResultModel):
    """How many targets were recovered in how many trials."""

    targets: tuple[Count, ...]
    trials: tuple[Positive, ...]

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len(self.targets) != len(self.trials):
            raise ValueError("there is not one number of trials for each number of targets")
        return self


class ColumnResult(LimitedMean):
    """What was recovered of one unknown column."""

    baseline: Share


class AttackResult(LimitedMean):
    """What one attack recovered at one setting, beside its own baseline."""

    low_joint: Share | None = Field(
        description="A lower limit that holds for all attacks and settings at once."
    )
    approximate: ApproximateLimits | None
    narrowest: Interval | None = Field(description="The nearest that valid limits could be.")
    decoy: DecoyResult | None = Field(description="Null where the baseline is exact.")
    baseline: Share = Field(description="The same attempts on fresh people, or the decoy.")
    baseline_low: Share
    baseline_high: Share
    baseline_exact: bool
    gain: Signed
    gain_low: Signed
    gain_high: Signed
    gain_low_joint: Signed | None
    advantage: Signed
    advantage_low: Signed
    advantage_high: Signed
    median: LimitedMean | None = Field(description="Of the share, over trials.")
    trials: Positive
    method: str
    distribution: HitCounts
    columns: Mapping[str, ColumnResult]
    title: str
    uses: str

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        require_order(self.baseline_low, self.baseline, self.baseline_high)
        require_order(self.gain_low, self.gain, self.gain_high)
        require_order(self.advantage_low, self.advantage, self.advantage_high)
        require_order(self.low_joint, self.share, None)
        if sum(self.distribution.trials) != self.trials:
            raise ValueError(f"the trials of `distribution` are not its {self.trials}")
        return self


class _TableBound(ResultModel):
    """What no attacker exceeds, by a theorem."""

    theorem: str = Field(description="With its source.")
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

    limits: Literal["count"]
    confidence: Level
    at_most: Count = Field(description="Of the people played.")
    of: Positive
    at_most_of_population: Count | None = Field(description="Of others like them; sampled.")

    @model_validator(mode="after")
    def _within(self) -> Self:
        require_order(None, max(self.at_most, self.at_most_of_population or 0), self.of)
        return self


class GroupAttack(LimitedMean):
    """What one attack recovered of a group."""

    baseline: Share
    over_guess: Signed = Field(description="Above the best guess on the same people.")
    over_guess_low: Signed
    people: Positive

    @model_validator(mode="after")
    def _over(self) -> Self:
        require_order(self.over_guess_low, self.over_guess, None)
        return self


class GroupResult(ResultModel):
    """How a group of people fares."""

    by: str
    group: str
    by_secret: bool | None = Field(description="Whether membership is hidden; null: not recorded.")
    share_of_people: Share
    guess: LimitedMean
    attacks: Mapping[str, GroupAttack]
    ceiling: GroupAttack | None


class FindingResult(ResultModel):
    """One graded statement (`narcissus.findings.Finding`)."""

    quantity: str
    source: str
    low: float | None
    high: float | None
    kind: Grade
    grade: Grade
    assumptions: tuple[str, ...]
    confidence: Level | None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None:
            require_order(self.low, self.high, None)
        return self


class ExcessResult(ResultModel):
    """One finding, held against the threshold: positive is beyond it."""

    role: Literal["attack", "ceiling", "bound"]
    name: str
    group: str = Field(description="Empty for everybody.")
    value: Signed
    low: Signed | None
    high: Signed | None
    kind: Grade
    trials: Positive | None = Field(description="That would tell its sign; null: none would.")


class ThresholdResult(ResultModel):
    """What was judged by, the study's own or a policy's."""

    share: Share | None
    advantage: Share | None
    targets: Count | None
    worst_group: Share | None
    decided_at: str | None = Field(description="Label of the setting that it is about; null: all.")
    reason: str
    origin: str

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(value is not None for value in (self.share, self.advantage, self.targets)) != 1:
            raise ValueError("not exactly one of `share`, `advantage` and `targets` is given")
        return self


class NoiseResult(ResultModel):
    """The noise on each cell; a scale of 0 is none."""

    kind: str
    scale: NonNegative


TableBound = Annotated[ShareBound | CountBound, Field(discriminator="limits")]


class SettingNumbers(ResultModel):
    """What was measured and what is proved at one setting, before it is judged."""

    epsilon: NonNegative | None
    label: str
    delta: Share | None
    mu: NonNegative | None
    noise: NoiseResult
    marginals: Count
    cells: Count
    people: Positive
    trials: Positive
    confidence: Level
    prior_is_exact: bool
    guess: GuessResult
    attacks: Mapping[str, AttackResult]
    ceiling: AttackResult | None
    best: str | None = Field(description="The attack with most evidence.")
    bounds: tuple[TableBound, ...]
    groups: tuple[GroupResult, ...]

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if (self.best is None) != (not self.attacks) or (
            self.best is not None and self.best not in self.attacks
        ):
            raise ValueError(f"`best` is {self.best!r}, and the attacks {[*self.attacks]}")
        played = [*self.attacks.values(), *([self.ceiling] if self.ceiling else [])]
        if any(max(one.distribution.targets) > self.people for one in played):
            raise ValueError(f"more targets are recovered than the {self.people} people")
        if any(one.trials > self.trials for one in played):
            raise ValueError(f"an attack has more trials than the {self.trials} of the setting")
        return self

    @property
    def noiseless(self) -> bool:
        """Whether exact counts are released."""
        return self.noise.scale == 0

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

    @property
    def population_share(self) -> float:
        """The limit of the mean share of all people like those played; 1 where there is none."""
        bound = self.share_bound
        if bound is None or bound.share_of_population is None:
            return 1.0
        return bound.share_of_population


class SettingResult(SettingNumbers):
    """What was found at one setting, and the verdict on it."""

    threshold: ThresholdResult | None
    excesses: tuple[ExcessResult, ...]
    findings: tuple[FindingResult, ...]
    decides: bool = Field(description="Whether the verdict on a sweep is about this setting.")
    status: Status
    held_back_by: str | None = Field(
        description="The setting with more noise at which the threshold is not met, so that it is "
        "not claimed here, where it would be met; null: nothing is held back."
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
        """Give the grade of a bound here: what is contradicted proves nothing."""
        return "not assessed" if self.contradictions else bound.grade

    def edge(self, bound: ShareBound | CountBound | None) -> bool:
        """Tell whether a bound is a place where no attacker is: proved, and no if."""
        return bound is not None and self.grade_of(bound) == "proved"


def _how_many(value: Any) -> str:
    """Tell a sweep, a list of settings, from a study of one."""
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
        """All settings."""
        return self.root if isinstance(self.root, tuple) else (self.root,)
