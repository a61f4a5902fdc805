"""What a study of secrets in trained models finds: what was named, guessed, proved and refuted."""

from __future__ import annotations

from typing import Literal, Self

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
    SampledShare,
    Share,
)

SecretStatus = Literal[
    "met", "exceeded", "contradicted", "too few trials", "inconclusive", "no threshold"
]
WORST: tuple[SecretStatus, ...] = (
    "exceeded",
    "contradicted",
    "too few trials",
    "inconclusive",
    "met",
    "no threshold",
)
"""A study has the status of the setting that is worst, in this order."""


class RecoveredSecrets(ResultModel):
    """How often one attack named the secret, and what that refutes."""

    name: str
    success: SampledShare = Field(description="Limits hold for all of the study at once.")
    baseline: Share = Field(description="Of the same guesses, for fresh secrets; exact for them.")
    failed: Count = Field(description="Models at which the attack raised an error.")
    refuted_epsilon: NonNegative = Field(
        description="Every smaller epsilon is refuted, at the setting's delta, about another "
        "canary; 0: none is."
    )
    refuted_mu: NonNegative = Field(description="Every smaller mu of Gaussian DP is refuted.")


class SecretBound(ByTheorem):
    """What no attacker exceeds in naming the secret."""

    value: Share
    assumptions: tuple[str, ...]


class TrainingResult(ResultModel):
    """How models were trained, and what that guarantees."""

    epsilon: NonNegative | None = Field(description="What noise was made for; null: no noise.")
    delta: Share
    neighbours: str = Field(description="What `epsilon` is about.")
    accounted_mu: NonNegative | None = Field(description="Of Gaussian DP, about `neighbours`.")
    mu: NonNegative | None = Field(description="What holds about another canary, Gaussian DP.")
    kept_epsilon: NonNegative | None = Field(description="The same as an epsilon, at `delta`.")
    noise: NonNegative = Field(description="Standard deviation of a step's, in clipping norms.")
    clip: NonNegative
    steps: Positive
    learning_rate: NonNegative
    start: str

    @model_validator(mode="after")
    def _noise_or_none(self) -> Self:
        without = {self.epsilon is None, self.mu is None, self.kept_epsilon is None}
        if without != {self.noise == 0}:
            raise ValueError("there is a guarantee without noise, or noise without one")
        return self


class SecretNumbers(ResultModel):
    """One prior at one epsilon, before it is judged."""

    label: str
    prior: str
    values: Positive
    likeliest: str = Field(description="The value that is guessed without a model; or its number.")
    guess: Share = Field(description="Success of that guess, exact.")
    training: TrainingResult
    attacks: tuple[RecoveredSecrets, ...] = Field(min_length=1)
    bound: SecretBound | None = Field(description="Null without noise.")
    at_most: Share | None = Field(description="The success that is accepted; null: not asked.")
    decides: bool = Field(description="Whether the study's status depends on it.")
    contradictions: tuple[str, ...]

    @property
    def best(self) -> RecoveredSecrets:
        """The attack that named most secrets; the first of equals."""
        return max(self.attacks, key=lambda one: one.success.value)

    @property
    def most_refuting(self) -> RecoveredSecrets:
        """The attack that refutes the largest epsilon."""
        return max(self.attacks, key=lambda one: one.refuted_epsilon)

    @property
    def lowest(self) -> float:
        """What the best attacker reaches at least, by the lower limits of all attacks."""
        return max(one.success.low or 0.0 for one in self.attacks)

    @property
    def status_by_numbers(self) -> SecretStatus:
        """The status that the numbers have.

        What counts is always the worse end: a threshold is exceeded when the lower limit of an
        attack is above it, and met when what no attacker exceeds keeps it. An attack that fails
        proves nothing.
        """
        if self.at_most is None:
            return "contradicted" if self.contradictions else "no threshold"
        if self.lowest > self.at_most:
            return "exceeded"
        if self.contradictions:
            return "contradicted"
        if self.bound is not None and self.bound.value <= self.at_most + SLACK:
            return "met"
        return "too few trials" if self.best.success.value > self.at_most else "inconclusive"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.bound is not None and self.bound.value < self.guess - SLACK:
            raise ValueError("the bound is below what is guessed without a model")
        clash = self.bound is not None and self.lowest > self.bound.value + SLACK
        if clash != bool(self.contradictions):
            raise ValueError("an attack exceeds the bound, and that is called no contradiction")
        return self


class SecretResult(SecretNumbers):
    """One prior at one epsilon, and what is concluded."""

    status: SecretStatus
    grade: Grade
    verdict: str

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.status != self.status_by_numbers:
            raise ValueError(f"the status is {self.status!r}, and the numbers say other")
        if self.grade != ("proved" if self.status == "met" else "sampled"):
            raise ValueError("the grade is not that of what the status rests on")
        return self


class SecretsResults(ResultModel):
    """Everything found, each prior at each epsilon."""

    models: Positive = Field(description="Trained for each setting.")
    confidence: Level
    claims: Positive = Field(description="Limits that hold at once, each at `claim_confidence`.")
    claim_confidence: Level
    settings: tuple[SecretResult, ...] = Field(min_length=1)

    @property
    def deciding(self) -> tuple[SecretResult, ...]:
        """The settings that the study's status depends on."""
        return tuple(one for one in self.settings if one.decides)

    @property
    def headline(self) -> SecretResult:
        """The worst of these; of equals the one where the best attack gains most."""
        return min(
            self.deciding,
            key=lambda one: (WORST.index(one.status), one.guess - one.best.success.value),
        )

    @model_validator(mode="after")
    def _some_decide(self) -> Self:
        if not self.deciding:
            raise ValueError("no setting decides")
        if self.claims != sum(len(one.attacks) for one in self.settings):
            raise ValueError("there is not one claim for each attack on each setting")
        return self
