"""What a study of a classifier finds: images reconstructed, beside fresh ones and shadows."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from narcissus.results import Grade
from narcissus.study.results.base import (
    SLACK,
    Count,
    Level,
    NonNegative,
    Positive,
    ResultModel,
    SampledShare,
    Share,
    Signed,
)
from narcissus.study.results.recovered import (
    GainOverFresh,
    RecoveredStatus,
    require_gain,
    shown_gain,
    status_of,
)

Png = Annotated[
    str,
    Field(pattern=r"^iVBORw0KGgo[A-Za-z0-9+/]+={0,2}$", description="A PNG file in base64."),
]


class ShownReconstruction(ResultModel):
    """A reconstruction beside the training image and the fresh image that it is most like."""

    reconstruction: Png
    training: Png
    fresh: Png
    correlation: Signed = Field(description="Of the reconstruction with the training image.")
    fresh_correlation: Signed = Field(description="Of the reconstruction with the fresh image.")


class ImageAttack(ResultModel):
    """One attack that reconstructs training images.

    ``recovered`` is a count for this network and what the attack made, no sample.
    """

    name: Literal["reconstruction", "informed"]
    rule: str = Field(description="When an image counts as reconstructed.")
    points: Count = Field(description="Reconstructions that were made.")
    images: Positive = Field(description="Training images that could have been reconstructed.")
    recovered: Count
    share: Share
    fresh: SampledShare = Field(
        description="Share of images that the network never saw that the same rule counts."
    )
    gain: GainOverFresh
    chance: Share = Field(
        description="That as many or more would be reconstructed, or named, if the network were "
        "independent of them, at most."
    )
    chance_by: str = Field(description="Why.")
    named: Count | None = Field(
        description="Left-out images that are more like their reconstruction than every fresh "
        "image; null: not asked."
    )
    shadows: tuple[Count, ...] = Field(
        description="How many of these images the attack gets from each network trained without "
        "them."
    )
    shadow_chance: Share | None = Field(
        description="That a network trained without these images leads its shadows as far; null: "
        "there are none."
    )
    shown: tuple[ShownReconstruction, ...]

    @property
    def shown_gain(self) -> float:
        """The gain that is shown; 0 or below: none."""
        return shown_gain(self.share, self.images, self.fresh)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if abs(self.share - self.recovered / self.images) > SLACK:
            raise ValueError("`share` is not `recovered` of `images`")
        require_gain(self.share, self.fresh, self.gain, "images")
        if (self.shadow_chance is None) != (not self.shadows):
            raise ValueError("a chance among shadows is said without them, or none with them")
        if self.shadow_chance is not None:
            rank = 1 + sum(count >= self.recovered for count in self.shadows)
            if abs(self.shadow_chance - rank / (1 + len(self.shadows))) > SLACK:
                raise ValueError("`shadow_chance` is not the rank among the shadows")
        if max(self.recovered, self.named or 0) > self.images:
            raise ValueError("there are more images reconstructed than there are")
        return self


class ClassifierResults(ResultModel):
    """Everything found about a classifier."""

    network: str = Field(description="Its layers: numbers in, neurons, outputs.")
    parameters: Positive
    fitted: Share | None = Field(
        description="Share of training images that the network gets right; null: not known."
    )
    trained: Positive = Field(description="Images that it was trained on.")
    fresh: Positive
    image: str = Field(description="Size and colour of an image, in words.")
    shadows: Count = Field(description="Networks trained without these images.")
    by_chance: bool = Field(description="Whether chance decided on which images it was trained.")
    correlation: Share = Field(description="From which an image counts as reconstructed.")
    box: NonNegative = Field(description="Largest absolute value of a pixel that is looked for.")
    confidence: Level
    claims: Positive = Field(description="Limits that hold at once, each at `claim_confidence`.")
    claim_confidence: Level
    attacks: tuple[ImageAttack, ...] = Field(min_length=1)
    most_gain: Share | None = Field(description="That is accepted; null: not asked.")
    status: RecoveredStatus
    grade: Grade

    @property
    def best(self) -> ImageAttack:
        """The attack that gains most over fresh images; the first of equals."""
        return max(self.attacks, key=lambda one: one.gain.value)

    @property
    def status_by_numbers(self) -> RecoveredStatus:
        """The status that the numbers have: attacks that fail prove nothing."""
        return status_of(self.most_gain, ((one.gain.value, one.shown_gain) for one in self.attacks))

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if (self.status, self.grade) != (self.status_by_numbers, "sampled"):
            raise ValueError(f"the status is {self.status_by_numbers!r} by the numbers, sampled")
        if self.claims != len(self.attacks):
            raise ValueError(f"there are {len(self.attacks)} claims")
        if any(len(one.shadows) not in (0, self.shadows) for one in self.attacks):
            raise ValueError(f"there are {self.shadows} shadow networks")
        return self
