"""The study file of a model of images.

The descriptions here are the documentation of the file (`narcissus schema study image-model`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from narcissus.errors import InputError
from narcissus.extraction.image_models import CloseUnlike, HasImageModels
from narcissus.extraction.images import (
    CaptionedImages,
    DividedImages,
    divide_images,
    duplicated,
    read_images,
)
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import Approval, FileSection, GroupsByCopies, SeededRun


class CaptionedFiles(FileSection):
    """The images; paths are relative to the study file."""

    images: Path = Field(
        description="Array file (.npy, .npz, .safetensors) of shape (n, height, width) or (n, "
        "height, width, channels), whole numbers from 0 to 255 or numbers from 0 to 1. For a model "
        "that is trained here: all images, which chance divides into those trained on, fresh ones "
        "and those of shadow models. For a model in a folder: images that it was trained on."
    )
    captions: Path | None = Field(
        None, description="Text file (UTF-8), a caption a line; left out: there are none."
    )
    fresh: Path | None = Field(
        None, description="For a model in a folder: images of the same source it has not seen."
    )
    fresh_captions: Path | None = Field(None, description="Captions of those.")
    shadows: int = Field(
        1,
        ge=0,
        le=100,
        description="Models that are trained without the images, on a third of their own; 0: none, "
        "and that third is divided among the others.",
    )


class CopiesSection(FileSection):
    """Images that are repeated in the training data; for a model that is trained here."""

    each: int = Field(10, ge=1, le=100_000, description="Images for each number of copies.")
    copies: list[Annotated[int, Field(ge=2, le=10_000)]] = Field(
        [2, 5, 10, 20], min_length=1, description="The numbers; all other images come once."
    )


class CloseSection(FileSection):
    """When an image counts as reproduced. Distances are root mean square differences of a pixel."""

    close: float = Field(
        0.1, gt=0, lt=1, description="Distance of the image to what the model gave, below this."
    )
    unique: float = Field(
        0.2,
        gt=0,
        lt=1,
        description="Distance of the image to every other one of the training data, above this: "
        "which images are outliers.",
    )

    def build(self) -> CloseUnlike:
        return CloseUnlike(self.close, self.unique)


class AttemptsSection(FileSection):
    """The attack: ask for each caption many times, keep what comes again and again."""

    samples: int = Field(100, ge=1, le=10**6, description="Images drawn for a caption.")
    keep: int = Field(4, ge=1, le=10_000, description="Attempts that are kept of them.")


class ImageThreshold(Approval):
    """What the person who approves the release accepts."""

    gain: float = Field(
        ge=0,
        lt=1,
        description="Share of outliers trained on that are reproduced, beyond that of fresh ones, "
        "at most; of all of them, and of those of any number of copies.",
    )


class ImageRun(SeededRun):
    """How it is run."""

    confidence: float = Field(0.95, gt=0, lt=1, description="Of all limits of the study together.")


class ImageStudy(FileSection):
    """A model of images as a release: which images it gives back, and which it would anyway."""

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    data: CaptionedFiles
    model: Annotated[Part, PartSection("image-model")]
    duplicates: CopiesSection | None = Field(
        None, description="Left out: images come as often as they are in the file."
    )
    relation: CloseSection = CloseSection()  # pyright: ignore[reportCallIssue] (has defaults)
    attempts: AttemptsSection = AttemptsSection()  # pyright: ignore[reportCallIssue]
    pictures: int = Field(
        12,
        ge=0,
        le=200,
        description="Attempts that the record and the report show beside the nearest image trained "
        "on and the nearest fresh one. These are the images themselves; 0 shows none.",
    )
    groups: GroupsByCopies = GroupsByCopies()  # pyright: ignore[reportCallIssue] (has defaults)
    threshold: ImageThreshold | None = None
    run: ImageRun = ImageRun()  # pyright: ignore[reportCallIssue]

    def division(
        self, folder: Path, part: HasImageModels, rng: np.random.Generator
    ) -> DividedImages:
        """Read the images, and divide them by chance where the model is trained here.
        Raises InputError: a file is missing or empty, or the files do not fit the way the model
            comes about.
        """
        files = self.data
        images = _read(folder, files.images, files.captions)
        if part.trains:
            if files.fresh is not None:
                raise InputError(
                    "`data.fresh` is for a model in a folder: of a model that is trained here, "
                    "chance takes fresh images out of `data.images`"
                )
            return self._repeated(divide_images(images, rng, shadows=files.shadows > 0), rng)
        if files.fresh is None:
            raise InputError(
                "a model in a folder needs `data.fresh`: images of the same source that it was not "
                "trained on: they show what it would give anyway"
            )
        if self.duplicates is not None:
            raise InputError(
                "[duplicates] are planted in a model that is trained here: leave it out; images "
                "that are several times in `data.images` count as copies"
            )
        return DividedImages(images, _read(folder, files.fresh, files.fresh_captions))

    def _repeated(self, division: DividedImages, rng: np.random.Generator) -> DividedImages:
        """Plant copies, among the images of the model and of its shadows alike."""
        section = self.duplicates
        if section is None:
            return division

        def planted(images: CaptionedImages) -> CaptionedImages:
            return duplicated(images, each=section.each, copies=section.copies, rng=rng)

        return DividedImages(
            planted(division.trained),
            division.fresh.repeated(np.ones(len(division.fresh))),
            None if division.shadow is None else planted(division.shadow),
            division.by_chance,
        )


def _read(folder: Path, images: Path, captions: Path | None) -> CaptionedImages:
    return read_images(folder / images, None if captions is None else folder / captions)
