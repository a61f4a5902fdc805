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
        description="Folder with works by independent authors, a .txt file each, which no model "
        "has seen: what comes back of them comes back by chance."
    )
    other: Path | None = Field(
        None,
        description="Other texts that the models were trained on, with access and without; of a "
        "model that is trained here, all that the model without access sees.",
    )
    copies: int = Field(
        1, ge=1, le=10_000, description="How often a model that is trained here sees the work."
    )


class SimilaritySection(FileSection):
    """What the attacker knows of a passage, and when it comes back."""

    prompt: int = Field(20, ge=1, le=200, description="Words of a passage that are known.")
    window: int = Field(30, ge=1, le=200, description="Words of it that follow.")
    words: int = Field(
        Alike.words,
        ge=1,
        le=200,
        description="A passage comes back if the model says so many of these in a row.",
    )
    edits: float | None = Field(
        Alike.edits,
        ge=0,
        lt=1,
        description="Or if all of them are said with at most so many insertions, deletions and "
        "substitutions for each character.",
    )
    most: int = Field(
        500, ge=1, le=10**6, description="Passages of a work that are tried, evenly spread."
    )
    shown: int = Field(
        3, ge=0, le=100, description="Passages that the report shows beside what is said."
    )

    @property
    def alike(self) -> Alike:
        return Alike(self.words, self.edits)


class CopyrightThreshold(Approval):
    """What is accepted."""

    gain: float = Field(
        ge=0,
        lt=1,
        description="Share of passages that come back beyond what comes back without access, and "
        "of independent works, at most.",
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
        description="The model with access: trained here on the work, as the one without is not; "
        "or in a folder, with a model without access as `reference`, and more as `shadows`."
    )
    similarity: SimilaritySection = SimilaritySection()  # pyright: ignore[reportCallIssue]
    threshold: CopyrightThreshold | None = None
    run: CopyrightRun = CopyrightRun()  # pyright: ignore[reportCallIssue] (has defaults)
