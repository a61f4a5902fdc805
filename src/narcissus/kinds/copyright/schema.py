"""The study file of a copyright case.

The descriptions here are the documentation of the study file (`narcissus schema study copyright`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from narcissus.extraction.works import Alike
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import Approval, FileSection, SeededRun


class WorkFiles(FileSection):
    """The texts (UTF-8, paragraphs separated by blank lines); paths are relative to the file."""

    work: Path = Field(description="The work that is said to be copied.")
    independent: Path = Field(
        description="Folder with works by other authors, a .txt file each, that no model has seen."
    )
    other: Path | None = Field(
        None, description="What the models were trained on besides, with access and without."
    )
    copies: int = Field(1, ge=1, le=10_000, description="Of the work, for a model trained here.")


class SimilaritySection(FileSection):
    """What the attacker knows of a passage, and when it comes back."""

    prompt: int = Field(20, ge=1, le=200, description="Words of a passage that are known.")
    window: int = Field(30, ge=1, le=200, description="Words of it that follow.")
    words: int = Field(
        Alike.words, ge=1, le=200,
        description="A passage comes back if the model says so many of these in a row.",
    )  # fmt: skip
    edits: float | None = Field(
        Alike.edits, ge=0, lt=1,
        description="Or if all of them are said with at most so many edits for each character.",
    )  # fmt: skip
    most: int = Field(
        500, ge=1, le=10**6, description="Passages of a work that are tried, evenly spread."
    )
    shown: int = Field(3, ge=0, le=100, description="Passages that the report shows.")


class CopyrightThreshold(Approval):
    """What is accepted."""

    gain: float = Field(
        ge=0, lt=1, description="Share of passages that come back by access alone, at most."
    )


class CopyrightRun(SeededRun):
    """How it is run."""

    confidence: float = Field(0.95, gt=0, lt=1, description="Of all limits of the study together.")


class CopyrightStudy(FileSection):
    """A work, a model that had access to it, and one that had not: what comes back of the work."""

    title: str = Field("", description="A name for the report.")
    about: str = Field("", description="One sentence: what this study shows.")
    data: WorkFiles
    model: Annotated[Part, PartSection("language-model")] = Field(
        description="The model with access: trained here on the work, and another one without it; "
        "or in a folder, with a model without access as `reference`, and more as `shadows`."
    )
    similarity: SimilaritySection = SimilaritySection()  # pyright: ignore[reportCallIssue]
    threshold: CopyrightThreshold | None = None
    run: CopyrightRun = CopyrightRun()  # pyright: ignore[reportCallIssue] (has defaults)
