"""What attacks on a table recovered: of everybody, of each column, of each group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

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


class MedianShare(ResultModel):
    """The median over trials; few trials have no limit of it."""

    share: Share
    low: Share | None
    high: Share | None

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
    chance_off: NonNegative | None = Field(
        None,
        description="How far chance takes what all people score from what a right prior says of "
        "them, with the same confidence: what they score is exact; null: it was sampled.",
    )
    later = frozenset({"chance_off"})

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        require_order(self.off_low, self.off, self.off_high)
        return self


class HeldOutGuess(ResultModel):
    """What somebody else guesses from the known columns, of rows whose secrets were not seen."""

    by: str = Field(description="Who guesses, in words.")
    people: Positive = Field(description="Rows of the table that were guessed.")
    share: Share
    prior_share: Share = Field(description="What the prior's best guess gets of the same rows.")
    at_most: Share = Field(description="What the prior, if it is right, allows anybody.")
    confidence: Level = Field(description="With which it does.")

    @property
    def refutes(self) -> bool:
        """Whether more is guessed than the prior allows."""
        return self.share > self.at_most


class GuessResult(LimitedMean):
    """What the best guess without the release gets right."""

    later = frozenset({"is_best_found", "at_most", "each_column", "held_out"})

    by_the_prior: PriorTest | None = Field(description="Null where the prior is known exactly.")
    is_best_found: bool = Field(
        False, description="Whether it is the best that was found, and a better one may exist."
    )
    at_most: Share | None = Field(
        None,
        description="What no guess gets of the people played, by the prior; null: the guess is the "
        "best.",
    )
    each_column: Mapping[str, Share] | None = Field(
        None, description="What the best guess of each unknown column alone gets, by the prior."
    )
    held_out: tuple[HeldOutGuess, ...] | None = Field(
        None, description="What others than the prior guess of rows of the table; null: not tried."
    )


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


class SearchResult(ResultModel):
    """How far an attack found values that agree with exact counts."""

    stuck: Count = Field(description="Releases in which no values that agree were found.")
    residual: NonNegative = Field(
        description="By how many people all counts together are off there, on average; else 0."
    )


class BelowGuess(ResultModel):
    """An attack that recovered less than is guessed without the release, and how it can."""

    guess: Share = Field(description="What the best guess scores in the same trials.")
    why: str


class AttackResult(LimitedMean):
    """What one attack recovered at one setting, beside its own baseline."""

    later = frozenset({"is_estimated", "search", "below", "gain_low_apart"})

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
    gain_low_apart: Signed | None = Field(
        None,
        description="Another one, where that does not tell: of what is recovered alone, less what "
        "is guessed; each fails with half of the error. Null: not needed, or there is none.",
    )
    advantage: Signed
    advantage_low: Signed
    advantage_high: Signed
    median: MedianShare | None
    trials: Positive
    method: str
    distribution: HitCounts | None = Field(
        description="Null where nobody is recovered or not: each column counts by itself."
    )
    columns: Mapping[str, ColumnResult]
    title: str
    uses: str
    is_estimated: bool = Field(
        False,
        description="Of a ceiling: whether it is what sampling decides, so that no attacker is "
        "shown to stay below it.",
    )

    search: SearchResult | None = Field(
        None, description="Of exact counts of many unknown columns; null: nothing was searched."
    )
    below: BelowGuess | None = Field(
        None, description="Null: it recovered as much as the guess, or does not say how less."
    )

    @property
    def sure_gain(self) -> float:
        """What the release surely adds to what the attack gets without it."""
        limits = (self.gain_low_joint, self.gain_low_apart)
        return max((low for low in limits if low is not None), default=-1.0)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        require_order(self.baseline_low, self.baseline, self.baseline_high)
        require_order(self.gain_low, self.gain, self.gain_high)
        require_order(self.advantage_low, self.advantage, self.advantage_high)
        if self.distribution is not None and sum(self.distribution.trials) != self.trials:
            raise ValueError(f"the trials of `distribution` are not its {self.trials}")
        return self


class GroupByChance(ResultModel):
    """What an attack gets of a group without its release, and what that adds for the group."""

    share: Share
    gain: Signed
    gain_low: Signed

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        require_order(self.gain_low, self.gain, None)
        return self


class GroupAttack(LimitedMean):
    """What one attack recovered of a group."""

    later = frozenset({"by_chance"})

    baseline: Share
    over_guess: Signed = Field(description="Above the best guess on the same people.")
    over_guess_low: Signed
    people: Positive
    by_chance: GroupByChance | None = Field(
        None, description="On fresh people of a group that is told by the secrets, or the decoy."
    )

    @model_validator(mode="after")
    def _over(self) -> Self:
        require_order(self.over_guess_low, self.over_guess, None)
        return self

    @property
    def sure_gain(self) -> float:
        """What the release surely adds: to the best guess, and to the attack by itself."""
        low = self.over_guess_low
        return low if self.by_chance is None else min(low, self.by_chance.gain_low)


class GroupResult(ResultModel):
    """How a group of people fares."""

    by: str
    group: str
    by_secret: bool | None = Field(description="Whether membership is hidden; null: not recorded.")
    share_of_people: Share
    guess: LimitedMean
    attacks: Mapping[str, GroupAttack]
    ceiling: GroupAttack | None


Worth = Annotated[int | float, Field(ge=0)]
"""How many people; where each column counts by itself, what they add up to."""


class CountedAttack(ResultModel):
    """What one attack recovered of the people of a release that was made."""

    recovered: Worth
    from_decoy: Worth = Field(description="By the same attack from a release of other secrets.")


class OwnRelease(ResultModel):
    """What is recovered from a release that was made, about real people: counted, not sampled."""

    path: str
    digest: str = Field(description="Keyed digest of the file (`narcissus.study.keyed`).")
    people: Positive
    guessed: Worth = Field(description="By the best guess without the release.")
    by_the_prior: NonNegative = Field(description="What that should get, if the prior is right.")
    attacks: Mapping[str, CountedAttack]

    @model_validator(mode="after")
    def _within(self) -> Self:
        counts = [n for a in self.attacks.values() for n in (a.recovered, a.from_decoy)]
        if max([self.guessed, *counts]) > self.people:
            raise ValueError(f"more are recovered than the {self.people} people")
        return self
