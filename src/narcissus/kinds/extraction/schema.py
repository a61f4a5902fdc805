"""The study file of an extraction.

The descriptions here are the documentation of the study file (`narcissus schema study extraction`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from narcissus.extraction.evidence import MARGIN
from narcissus.extraction.sandbox import Limits
from narcissus.study import earlier
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import FileSection, SeededRun

_MIB = 2**20


class LimitSettings(FileSection):
    """What each run of the program may use."""

    seconds: float = Field(60.0, gt=0, description="Wall clock of a run.")
    memory: int = Field(2048, ge=64, description="Address space in MiB.")
    output: int = Field(16, ge=1, description="What it may print, in MiB.")
    disk: int = Field(256, ge=1, description="What it may keep in its temporary folder, in MiB.")
    release: int = Field(2048, ge=1, description="Largest release that is accepted, in MiB.")

    def of_a_run(self) -> Limits:
        return Limits(self.seconds, self.memory * _MIB, self.output * _MIB, disk=self.disk * _MIB)


class ExtractionThreshold(FileSection):
    """What the person who approves the release accepts."""

    quality: float = Field(ge=0, lt=1, description="Largest quality of an extraction.")


class ExtractionRun(SeededRun):
    """How it is run."""

    workers: int = Field(1, ge=1, description="Runs of the program at the same time.")
    server: bool = Field(
        False,
        exclude=True,  # the outcome is in the results, as `served`
        description="Fork the runs from one jailed process that has imported what the program "
        "needs (numpy, torch, transformers and the like): a start of seconds is paid once.",
    )


class ExtractionStudy(FileSection):
    """The file of an extraction study; paths are relative to it."""

    title: str = "Extraction"
    data: Path = Field(description="The data behind the release: text, .npy, .npz, .safetensors.")
    release: Path = Field(description="The release: a file, or a folder with weights.")
    program: Path = Field(description="Python source; finds the release on standard input.")
    relation: Annotated[Part, PartSection("extraction-relation")] = Field(
        {}, validate_default=True, description="When an output counts."
    )
    runs: int = Field(20, ge=1, le=100_000, description="Runs with each release.")
    confidence: float = Field(0.95, gt=0, lt=1)
    margin: int = Field(
        MARGIN,
        ge=0,
        description="Bytes by which the program must be shorter than every program that needs no "
        "release, to be evidence: the same program in other words differs by tens of bytes.",
    )
    shadows: list[Path] = Field([], description="Data of the same kind that was not released.")
    other_releases: list[Path] = Field([], description="Releases made without the data.")
    rivals: list[Path] = Field([], description="Programs said to need no release.")
    reference: Path | None = Field(None, description="Public text that programs may read.")
    limits: LimitSettings = LimitSettings()  # pyright: ignore[reportCallIssue] (has defaults)
    threshold: ExtractionThreshold | None = None
    run: ExtractionRun = ExtractionRun()  # pyright: ignore[reportCallIssue] (has defaults)

    _earlier = model_validator(mode="before")(earlier.translated(earlier.extraction))
