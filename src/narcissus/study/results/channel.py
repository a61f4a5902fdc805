"""What a study of a channel finds: exact measures, or estimates from samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from narcissus.study.results.base import (
    Level,
    NonNegative,
    Positive,
    ResultModel,
    Share,
    require_order,
)

Secrets = Annotated[int, Field(ge=2, description="How many secrets there are.")]
Pair = Annotated[tuple[str, str], Field(description="Two secrets that are easiest to tell apart.")]
# A file may say that its rows sum to one but for a tolerance below 0.01: so may what follows.
OFF = 0.02
Factor = Annotated[float, Field(ge=1 - OFF)]
InBits = Annotated[float, Field(ge=-2 * OFF)]
Ratio = Annotated[float, Field(ge=0, le=1 + OFF)]


class Measures(ResultModel):
    """All measures of a channel that is known exactly, for one prior."""

    beta_star: Share = Field(description="Bayes security, of the worst pair.")
    bayes_risk: Share = Field(description="Error of the best attacker.")
    guessing_error: Share = Field(description="The same without the output.")
    beta: Ratio = Field(description="Their ratio.")
    capacity: Factor = Field(description="Largest multiplicative leakage of any prior.")
    leakage: Factor = Field(description="Multiplicative leakage for the prior.")
    epsilon_ldp: NonNegative | None = Field(description="Of local DP; null if there is none.")
    advantage: Share
    additive_leakage: Share
    min_entropy_leakage: InBits
    shannon_leakage: InBits | None = Field(
        description="In bits; null for a mechanism too large for a matrix."
    )
    implied_bayes_risk: Share = Field(description="At least, from one measure alone.")
    implied_by: str
    delta_at_epsilon_0: Share


class Pairwise(ResultModel):
    """Bayes security of every two secrets, a matrix."""

    secrets: tuple[str, ...]
    values: tuple[tuple[Ratio, ...], ...]

    @model_validator(mode="after")
    def _square(self) -> Self:
        if {len(self.values), *map(len, self.values)} != {len(self.secrets)}:
            raise ValueError("the table of all pairs has not a row and a column for each secret")
        return self


class PrivacyProfile(ResultModel):
    """The smallest delta at each epsilon."""

    epsilon: tuple[NonNegative, ...]
    delta: tuple[Share, ...]

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len(self.epsilon) != len(self.delta):
            raise ValueError("there is not one delta for each epsilon")
        return self


class ExactChannel(ResultModel):
    """What a channel leaks that is given by its table or in closed form."""

    source: Literal["file", "mechanism"]
    name: str
    secrets: Secrets
    pair: Pair
    prior: str = Field(description="'uniform' or 'given'.")
    exact: Measures
    pairwise: Pairwise | None = Field(description="Null for many secrets.")
    profile: PrivacyProfile | None = Field(description="Null where it was too much work.")


class LimitedShare(ResultModel):
    """A share estimated from samples, with its limits; null where there is none."""

    estimate: Share
    low: Share | None
    high: Share | None
    why: str = Field(description="Why a limit is missing, if one is.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None:
            require_order(self.low, self.high, None)
        return self


class SamplesLook(ResultModel):
    """Both estimates from the first so many samples."""

    samples: Positive
    beta_star: LimitedShare
    bayes_risk: LimitedShare


class Leakage(ResultModel):
    """What was estimated from samples."""

    beta_star: LimitedShare = Field(description="Bayes security, of the worst pair.")
    bayes_risk: LimitedShare = Field(description="Error of the best attacker.")
    guessing_error: Share | None = Field(
        description="Error without the output, on the samples; approximate: it has no limits."
    )
    samples: Positive
    confidence: Level
    estimator: str = Field(description="The one that was chosen.")
    estimators: Mapping[str, Share] = Field(description="Error of each, on a part set aside.")
    continuous: bool
    history: tuple[SamplesLook, ...]


class SampledChannel(ResultModel):
    """What a channel leaks of which there are samples."""

    source: Literal["samples"]
    name: str
    secrets: Secrets
    pair: Pair
    estimated: Leakage


ChannelResults = Annotated[ExactChannel | SampledChannel, Field(discriminator="source")]
