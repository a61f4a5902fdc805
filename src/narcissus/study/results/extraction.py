"""What a study of extraction finds: how a program fares with a release and without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from narcissus.results import Grade
from narcissus.study.results.base import (
    SLACK,
    Count,
    Positive,
    ResultModel,
    SampledShare,
    Share,
)


class BreakoutAttempt(ResultModel):
    """An attempt to break out of the sandbox, made before the program was run."""

    attempt: str
    outcome: str


class Walls(ResultModel):
    """What stood around the program."""

    method: Literal["bubblewrap", "namespaces", "Landlock", "none"]
    layers: tuple[str, ...]
    missing: tuple[str, ...] = Field(description="Layers that the machine lacks.")
    reduced: bool = Field(description="Landlock alone: what is on the machine is not hidden.")
    not_hidden: tuple[str, ...] = Field(description="What the program could still find out.")
    checks: tuple[BreakoutAttempt, ...]


class ExtractionResults(ResultModel):
    """Evidence that one program extracts the data from one release, or does not."""

    verdict: Literal["extraction", "no extraction", "inconclusive"]
    verdict_grade: Grade = Field(description="The weakest grade of what the verdict rests on.")
    reasons: tuple[str, ...]
    success: SampledShare = Field(description="Share of runs with the release that count.")
    success_without_release: SampledShare = Field(
        description="The same with the stand-in for the release that does best."
    )
    stand_ins: Mapping[str, SampledShare]
    success_on_shadow: SampledShare | None = Field(
        description="Share of the data sets that were not released against which two in three of "
        "the same outputs count (Cohen et al. 2024, Lemma 3.2)."
    )
    shadow_rank: Share | None = Field(description="p-value of the data's lead over its shadows.")
    program_bytes: Count = Field(description="Length of the source as it stands.")
    program_bytes_compressed: Count = Field(description="The same after zlib.")
    complexity: Mapping[str, Positive] = Field(
        description="Upper estimates by method, in bytes of a Python program that prints an "
        "output that counts."
    )
    complexity_estimate: Positive = Field(description="The smallest of them.")
    complexity_method: str
    quality: Annotated[float, Field(le=1)] = Field(
        description="1 - program_bytes / complexity_estimate, an upper estimate."
    )
    extractable_bits: Count = Field(
        description="8 (complexity_estimate - program_bytes), an upper estimate."
    )
    margin_bytes: Count = Field(description="The lead over the shortest without the release.")
    deterministic: bool
    endings: Mapping[str, Positive] = Field(description="How the runs with the release ended.")
    isolation: Walls
    more: str = Field(description="What would settle an inconclusive verdict, or nothing.")
    would_change: tuple[str, ...]
    caveat: str
    relation: str = Field(description="When an output counts.")
    needed: Share = Field(description="Share of runs that an extractor must succeed in.")
    served: bool = Field(
        False, description="Whether runs were forked from one process; left out if not."
    )
    margin: Count | None = Field(
        None, description="Bytes, declared beforehand, by which it had to be shorter than each."
    )
    fingerprint: bool | None = Field(
        None, description="Whether it failed on every release with a byte flipped; left out if not."
    )
    later = frozenset({"served", "margin", "fingerprint"})

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.complexity.get(self.complexity_method) != self.complexity_estimate:
            raise ValueError("`complexity_estimate` is not that of `complexity_method`")
        quality = 1 - self.program_bytes / self.complexity_estimate
        if abs(self.quality - quality) > SLACK:
            raise ValueError(f"`quality` does not follow from the lengths ({quality:g})")
        if self.verdict == "extraction" and self.margin_bytes < (self.margin or 0):
            raise ValueError("it is called an extraction within the margin")
        margin = max(0, self.complexity_estimate - self.program_bytes)
        if self.margin_bytes != margin or self.extractable_bits != 8 * margin:
            raise ValueError("`margin_bytes`, `extractable_bits` do not follow from the lengths")
        return self
