"""What a study of a model of images finds: images reproduced, beside those never seen."""

from __future__ import annotations

import base64
import binascii
from typing import Self

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
from narcissus.study.results.recovered import (
    AndCopies,
    GainOverFresh,
    RecoveredStatus,
    require_gain,
    require_groups,
    shown_gain,
    status_of,
)


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
    and_copies: AndCopies = None
    later = frozenset({"and_copies"})

    @property
    def shown_gain(self) -> float:
        """The gain that is shown; 0 or below: none."""
        return shown_gain(self.share, self.images, self.fresh)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.reproduced > self.images:
            raise ValueError("there are more images reproduced than trained on")
        if abs(self.share - self.reproduced / self.images) > SLACK:
            raise ValueError("`share` is not `reproduced` of `images`")
        require_gain(self.share, self.fresh, self.gain, "images")
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
    status: RecoveredStatus
    grade: Grade
    merged: MergedGroups | None = Field(
        None, description="Null without groups, and in older records."
    )
    later = frozenset({"merged"})

    @property
    def whole(self) -> ImageGroup:
        """All outliers."""
        return self.groups[0]

    @property
    def worst(self) -> ImageGroup:
        """The group with the largest gain for certain; all outliers where others are equal."""
        return max(self.groups, key=lambda one: one.shown_gain)

    @property
    def status_by_numbers(self) -> RecoveredStatus:
        """The status that the numbers have; a share without fresh images to compare may be gain."""
        return status_of(
            self.most_gain,
            (
                (group.share if group.gain is None else group.gain.value, group.shown_gain)
                for group in self.groups
            ),
        )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if (self.status, self.grade) != (self.status_by_numbers, "sampled"):
            raise ValueError(f"the status is {self.status_by_numbers!r} by the numbers, sampled")
        require_groups([(g.copies, g.reproduced, g.images) for g in self.groups], "outliers")
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
