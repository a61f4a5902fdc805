"""What a study of a game finds: what is exact, what is proved, what was played."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from narcissus.results import Grade
from narcissus.study.results.base import (
    SLACK,
    ByTheorem,
    Count,
    Level,
    NonNegative,
    Positive,
    ResultModel,
    SampledNumber,
    SampledShare,
    Share,
)

GameOutcome = Literal[
    "violates, proved",
    "violates, proved if",
    "violates",
    "no violation found",
    "resilient, proved",
    "resilient, proved if",
    "contradicted",
    "not assessed",
]
ROUNDING = 1e-12
"""Rounding allowed where what is enough is compared with what is allowed."""
Rate = Annotated[float, Field(ge=0, le=1 + SLACK)]
"""A share that was computed by a sum over everything, so not quite without rounding."""


class StatementResult(ResultModel):
    """What was claimed."""

    name: str
    words: str = Field(description="As a formula.")
    definition: str = Field(description="Paper and number.")
    scope: str | None = Field(description="What it speaks of: this one world, a family.")
    epsilon: NonNegative | None = Field(description="Null where the statement has none.")
    delta: Share | None = Field(description="What is allowed; null where the statement has none.")


class Gap(SampledNumber):
    """Success less ``e^epsilon`` times the own baseline."""

    value: Annotated[float, Field(le=1)]


class FailedAttempt(ResultModel):
    """A trial at which an attacker raised an error."""

    trial: Count
    seed: str
    error: str


class ExchangeResult(ResultModel):
    """A question and its answer."""

    question: str
    answer: str


class TranscriptResult(ResultModel):
    """What was said in one trial with a mechanism that is talked with."""

    trial: Count
    greeting: str = Field(description="What the mechanism said unasked; empty: nothing.")
    exchanges: tuple[ExchangeResult, ...] = Field(description="The first of them.")
    questions: Count = Field(description="How many were answered in all.")
    attempt: str
    success: bool = Field(description="Whether the attempt holds for the data.")
    baseline: Share = Field(description="How often it holds for fresh data.")

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if len(self.exchanges) > self.questions:
            raise ValueError(f"{len(self.exchanges)} answers of {self.questions}")
        return self


class AttackerResult(ResultModel):
    """How one attacker fared."""

    name: str
    success: SampledShare
    baseline: SampledShare = Field(description="Of the same attempts, against fresh data.")
    gap: Gap | None = Field(description="Null where the statement is not about it.")
    baseline_exact_per_attempt: bool
    attempts: Count | None = Field(description="Trials with an attempt; null: not recorded.")
    failed: Count
    failures: tuple[FailedAttempt, ...] = Field(description="The first of them.")
    transcripts: tuple[TranscriptResult, ...] | None = Field(
        None, description="The first conversations; left out where nothing is talked about."
    )
    later = frozenset({"transcripts"})

    @model_validator(mode="after")
    def _within(self) -> Self:
        trials = self.success.trials
        if self.failed > trials or (self.attempts or 0) > trials:
            raise ValueError(f"more attempts or failures than its {trials} trials")
        return self


class BestAttacker(ResultModel):
    """The attacker with the largest gap at the statement's epsilon."""

    at_epsilon: NonNegative
    success: Rate
    baseline: Rate
    member: str | None = Field(description="Of a family, the distribution at which it is.")


class CoverResult(ResultModel):
    """What holds for every rate of an interval, not for those written out only."""

    low: Share
    high: Share
    epsilon: NonNegative
    rate: Share = Field(description="The worst rate that was looked at.")
    least: Rate = Field(description="The delta that it needs.")
    at_most: NonNegative = Field(description="A delta that is enough for every rate.")
    limit: NonNegative = Field(description="What is allowed.")
    looked_at: Positive = Field(description="Intervals.")
    budget: Positive = Field(description="Most of them.")
    tolerance: NonNegative
    complete: bool = Field(description="Whether `at_most` is within the tolerance of `least`.")
    holds: bool = Field(description="Whether the statement is shown for every rate.")
    words: str

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if not self.low <= self.rate <= self.high or self.least > self.at_most + SLACK:
            raise ValueError("the worst rate is not in the interval, or needs more than is enough")
        if self.holds != (self.at_most <= self.limit + ROUNDING):
            raise ValueError("`holds` does not follow from `at_most` and `limit`")
        if self.complete != (self.at_most <= self.least + self.tolerance):
            raise ValueError("`complete` does not follow from the limits and the tolerance")
        return self


class ExactGame(ResultModel):
    """What writing the game out came to: every attacker at once."""

    grade: Grade = Field(description="'not assessed' where what it assumes was not recorded.")
    epsilon: tuple[NonNegative, ...]
    delta: tuple[Rate, ...] = Field(description="The least delta at each epsilon.")
    best_attacker: BestAttacker
    best_success: Rate | None = Field(description="Of any attacker, whatever its baseline.")
    data_sets: Positive
    releases: Positive
    guesses: Count
    members: Positive
    member: str | None = Field(description="Of a family, the distribution that needs the most.")
    rounding: NonNegative | None = Field(description="Gains below this are lost to rounding.")
    least: NonNegative | None = Field(description="What is needed; null: nothing is enough.")
    limit: NonNegative = Field(description="What is allowed.")
    best_fixed_guess: Rate | None = Field(description="Null for statements without one.")
    holds: bool
    words: str
    assumptions: tuple[str, ...]
    cover: CoverResult | None = Field(
        None, description="Of a family of rates, what holds between those written out."
    )
    later = frozenset({"cover"})

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if len(self.epsilon) != len(self.delta):
            raise ValueError("there is not one delta for each epsilon")
        allowed = self.limit + (self.rounding or 0.0)
        if self.holds != (self.least is not None and self.least <= allowed):
            raise ValueError("`holds` does not follow from `least` and `limit`")
        if self.grade not in ("proved if" if self.assumptions else "proved", "not assessed"):
            raise ValueError("`grade` does not follow from the assumptions")
        return self


class ProofResult(ByTheorem):
    """A theorem that limits every attacker."""

    limits: Literal["success", "delta"]
    quantity: str = Field(description="What is limited, in words.")
    value: NonNegative
    at_most: str = Field(description="The value in words, rounded up.")
    assumptions: tuple[str, ...]
    grade: Grade
    sufficient: bool = Field(description="Whether it proves the statement.")


class CurvePoint(ResultModel):
    """How often predicates of at most this weight isolate a row."""

    w: Share
    success: Share
    baseline: Share = Field(description="The best chance without the release.")


class GameResults(ResultModel):
    """Everything found about one statement."""

    outcome: GameOutcome
    expected: str | None = Field(description="What the source of the study says comes out.")
    about: str
    source: str
    statement: StatementResult
    confidence: Level
    trials: Count
    decided: Positive | None = Field(description="Trial at which a violation was certain.")
    member: str | None = Field(description="Of a family, the distribution that was played.")
    members: Positive
    largest_epsilon_refuted: NonNegative | None
    attackers: tuple[AttackerResult, ...]
    exact: ExactGame | None = Field(description="Null where the game was not written out.")
    proofs: tuple[ProofResult, ...]
    curve: tuple[CurvePoint, ...]
    memorized_bits: NonNegative | None
    remarks: tuple[str, ...]
    decides: str | None = Field(
        None, description="The attacker whose evidence against the statement is the strongest."
    )
    later = frozenset({"decides"})

    @property
    def decisive(self) -> AttackerResult | None:
        """The attacker of every sentence about the best one; None where nobody played.

        A record that does not say who decides is of a time before: of its attackers the one that
        gains most by the statement, as far as the record holds what that is about.
        """
        if self.decides is not None:
            return next(one for one in self.attackers if one.name == self.decides)

        def gain(one: AttackerResult) -> float:
            if one.gap is not None:
                return one.gap.value
            fixed = self.statement.name == "fixed-baseline"
            return one.success.value - (0.0 if fixed else one.baseline.value)

        return max(self.attackers, key=gain, default=None)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.decides is not None and self.decides not in {one.name for one in self.attackers}:
            raise ValueError(f"`decides` names no attacker: {self.decides}")
        if self.decided is not None and self.decided > self.trials:
            raise ValueError(f"decided after {self.decided} of {self.trials} trials")
        if self.attackers and not self.trials:
            raise ValueError("there are attackers and no trials")
        cover = None if self.exact is None else self.exact.cover
        if cover is not None and not cover.holds and self.outcome.startswith("resilient"):
            raise ValueError("it is called resilient, and is not shown for every rate")
        return self
