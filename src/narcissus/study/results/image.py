"""What a study of a model of images finds: images reproduced, beside those never seen."""

from __future__ import annotations

import base64
import binascii
from typing import Literal, Self

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
)
from narcissus.study.results.language import GainOverFresh

ImageStatus = Literal["exceeded", "too few trials", "inconclusive", "no threshold"]


class ImageGroup(ResultModel):
    """Outliers with so many copies, or all of them: how many were reproduced, and how many anyway.

    ``reproduced`` is a count for this model and these attempts, no sample.
    """

    copies: Count = Field(description="Of each in the training data; 0: all outliers.")
    images: Positive = Field(description="Trained on, and unlike all others trained on.")
    reproduced: Count
    share: Share
    fresh: SampledShare | None = Field(
        description="Share of outliers never seen that the same rule counts; null: there are none."
    )
    shadows: SampledShare | None = Field(
        description="Share of these images that a shadow model gives, which was not trained on "
        "them; null: there is none, or none of them is unlike the images of shadow models."
    )
    gain: GainOverFresh | None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.reproduced > self.images:
            raise ValueError("there are more images reproduced than trained on")
        if abs(self.share - self.reproduced / self.images) > SLACK:
            raise ValueError("`share` is not `reproduced` of `images`")
        if (self.gain is None) != (self.fresh is None):
            raise ValueError("a gain is said without fresh images, or none with them")
        if self.gain is not None and self.fresh is not None:
            assert self.fresh.low is not None
            assert self.fresh.high is not None
            wanted = (self.fresh.value, self.fresh.high, self.fresh.low)
            said = (self.gain.value, self.gain.low, self.gain.high)
            if any(abs(self.share - a - b) > SLACK for a, b in zip(wanted, said, strict=True)):
                raise ValueError("`gain` is not the share beyond that of fresh images")
        return self


class ShownAttempt(ResultModel):
    """One attempt beside the nearest image trained on and the nearest fresh one.

    Images are bytes from 0 to 255 in the order of height, width and channels, in base64.
    """

    caption: str
    copies: Positive = Field(description="Of the image that the attempt was chosen for.")
    reproduced: bool = Field(description="Whether that image counts.")
    generated: str
    trained: str
    fresh: str
    to_trained: NonNegative = Field(description="Distance to the nearest image trained on.")
    to_fresh: NonNegative = Field(description="Distance to the nearest fresh image.")


class ImageResults(ResultModel):
    """Everything found about a model of images."""

    model: str = Field(description="What it is, in words.")
    parameters: Positive
    shape: tuple[Positive, Positive, Positive] = Field(
        description="Height, width and channels of an image.", strict=False
    )
    close: Share = Field(description="Distance to an attempt below which an image counts.")
    unique: Share = Field(description="Distance to all others above which an image is an outlier.")
    captions: Positive = Field(description="Different ones that the model was asked for.")
    samples: Positive = Field(description="Images drawn for each.")
    keep: Positive = Field(description="Attempts kept for each, at most.")
    trained: Positive = Field(description="Different images that it was trained on.")
    trained_copies: Positive = Field(description="The same with their copies.")
    fresh: Positive
    fresh_outliers: Count
    shadow_models: Count
    by_chance: bool = Field(description="Whether chance decided on which images it was trained.")
    confidence: Level
    claims: Count = Field(description="Limits that hold at once, each at `claim_confidence`.")
    claim_confidence: Level
    groups: tuple[ImageGroup, ...] = Field(min_length=1)
    shown_shape: tuple[Positive, Positive, Positive] = Field(
        description="Height, width and channels of the pictures, which large images are shrunk to.",
        strict=False,
    )
    pictures: tuple[ShownAttempt, ...]
    most_gain: Share | None = Field(description="That is accepted; null: not asked.")
    status: ImageStatus
    grade: Grade

    @property
    def whole(self) -> ImageGroup:
        """All outliers."""
        return self.groups[0]

    @property
    def worst(self) -> ImageGroup:
        """The group with the largest gain for certain; all outliers where others are equal."""
        return max(self.groups, key=lambda one: -1.0 if one.gain is None else one.gain.low)

    @property
    def status_by_numbers(self) -> ImageStatus:
        """The status that the numbers have: attempts that fail prove nothing."""
        most, gains = self.most_gain, [one.gain for one in self.groups]
        if most is None:
            return "no threshold"
        if any(one is not None and one.low > most for one in gains):
            return "exceeded"
        beyond = [group.share if group.gain is None else group.gain.value for group in self.groups]
        return "too few trials" if max(beyond) > most else "inconclusive"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if (self.status, self.grade) != (self.status_by_numbers, "sampled"):
            raise ValueError(f"the status is {self.status_by_numbers!r} by the numbers, sampled")
        parts = self.groups[1:]
        if self.whole.copies != 0 or any(one.copies == 0 for one in parts):
            raise ValueError("all outliers must come first, and once")
        if parts and (
            sum(p.reproduced for p in parts) != self.whole.reproduced
            or sum(p.images for p in parts) != self.whole.images
        ):
            raise ValueError("the groups do not add up to all outliers")
        claims = sum((g.fresh is not None) + (g.shadows is not None) for g in self.groups)
        if self.claims != claims:
            raise ValueError(f"there are {claims} claims")
        size = self.shown_shape[0] * self.shown_shape[1] * self.shown_shape[2]
        for one in self.pictures:
            for text in (one.generated, one.trained, one.fresh):
                if _bytes_in(text) != size:
                    raise ValueError("a picture has not the pixels that `shown_shape` says")
        return self


def _bytes_in(text: str) -> int:
    try:
        return len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return -1
