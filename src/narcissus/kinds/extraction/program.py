"""The result of a program that claims to extract data; what its runs may take.

A study of a language model may run such a program, too.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from narcissus._files import files_below
from narcissus.errors import TooLargeError
from narcissus.extraction.evidence import ExtractionEvidence
from narcissus.extraction.relations import OutputRelation
from narcissus.extraction.sandbox import Limits, run_program
from narcissus.results import Estimate, Grade, NotAssessed
from narcissus.rows import Count, Fact, Positive, Quantity, Share, StudyResult, StudyRow
from narcissus.study.kinds import RunOptions
from narcissus.study.work import PATIENCE, agree, machine_memory

WITH, ON_SHADOW = "with the release", "on shadow data"
PROGRAM, QUALITY = "extraction program", "quality"


class IsolationLayers(Fact):
    """What was around the program."""

    method: Literal["bubblewrap", "namespaces", "Landlock", "none"]
    layers: tuple[str, ...]
    missing: tuple[str, ...] = Field(description="Layers that the machine lacks.")
    not_hidden: tuple[str, ...] = Field((), description="What the program could still find out.")
    checks: tuple[tuple[str, str], ...] = Field(
        description="Attempts to break out, made before the program was run, and their outcome."
    )

    @property
    def reduced(self) -> bool:
        """Whether there is Landlock alone: what is on the machine is not hidden."""
        return self.method == "Landlock"


class ProgramResult(StudyResult):
    """A program, how often its output counts, and the verdict."""

    verdict: Literal["extraction", "no extraction", "inconclusive"]
    verdict_grade: Grade = Field(description="The weakest grade of what the verdict rests on.")
    reasons: tuple[str, ...]
    success: Quantity = Field(description="Share of runs with the release whose output counts.")
    stand_ins: Mapping[str, Quantity] = Field(
        min_length=1, description="The same with each stand-in for the release."
    )
    on_shadow: Quantity | None = Field(
        description="Share of shadow data that the outputs fit as well; null: none was given."
    )
    shadow_rank: Share | None = Field(description="p-value of the data's lead over its shadows.")
    program_bytes: Count = Field(description="Length of the source as it stands.")
    program_bytes_compressed: Count = Field(description="The same after zlib.")
    complexity: Mapping[str, Positive] = Field(
        min_length=1,
        description="Upper estimates by method, in bytes of a Python program that prints an "
        "output that counts.",
    )
    deterministic: bool
    endings: Mapping[str, Positive] = Field(description="How the runs with the release ended.")
    isolation: IsolationLayers
    more: str = Field("", description="What would settle an inconclusive verdict, or nothing.")
    would_change: tuple[str, ...]
    caveat: str
    relation: str = Field(description="When an output counts.")
    served: bool = Field(False, description="Whether runs were forked from one process.")
    margin: Count | None = Field(
        None, description="Bytes, declared beforehand, by which it had to be shorter than each."
    )
    fingerprint: bool | None = Field(
        None, description="Whether it failed on every release with a byte flipped."
    )

    @property
    def without(self) -> Quantity:
        """The stand-in for the release that does best; the first of equals."""
        return max(self.stand_ins.values(), key=lambda share: share.value or 0.0)

    @property
    def method(self) -> str:
        """How the shortest program was found that needs no release."""
        return min(self.complexity, key=lambda name: self.complexity[name])

    @property
    def shortest(self) -> int:
        return self.complexity[self.method]

    @property
    def quality(self) -> float:
        """1 - program_bytes / complexity (Cohen et al. 2024, Definition D.8): an upper estimate."""
        return 1 - self.program_bytes / self.shortest

    @property
    def extractable_bits(self) -> int:
        return 8 * max(0, self.shortest - self.program_bytes)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the verdict assumes; no run of a program can be traced to another."""
        if self.verdict_grade == "proved":
            return ()
        shared = ", and draw nothing from the start of the interpreter that they share"
        runs = f"runs of a program are independent of one another{shared if self.served else ''}"
        if self.verdict != "extraction":
            return (runs,)
        return (
            f"no program of at most {self.program_bytes} bytes prints an output that counts "
            "without the release",
            runs,
        )

    @model_validator(mode="after")
    def _beyond_its_margin(self) -> Self:
        lead = self.shortest - self.program_bytes
        if self.verdict == "extraction" and lead < (self.margin or 0):
            raise ValueError("it is called an extraction within the margin")
        return self

    @classmethod
    def of(cls, evidence: ExtractionEvidence, relation: OutputRelation) -> Self:
        shadow = evidence.success_on_shadow
        return cls.taken(
            evidence,
            success=Quantity.of(evidence.success),
            stand_ins={name: Quantity.of(share) for name, share in evidence.stand_ins.items()},
            on_shadow=Quantity.of(shadow) if isinstance(shadow, Estimate) else None,
            isolation=IsolationLayers.taken(evidence.isolation),
            relation=relation.describe(),
        )

    def rows(self) -> Iterator[StudyRow]:
        """Yield the shares of runs, the lengths, and the quality that follows from these.

        The quality is that of an extraction, 0 of none, and not known of what is inconclusive.
        """
        yield StudyRow(
            role="attack",
            of="success",
            name=WITH,
            quantity=self.success,
            baseline=self.without.value or 0.0,
        )
        shadow = {} if self.on_shadow is None else {ON_SHADOW: self.on_shadow}
        for name, share in {**self.stand_ins, **shadow}.items():
            yield StudyRow(role="fresh", of="success", name=name, quantity=share)
        sizes: list[tuple[str, int, Grade]] = [
            *((name, size, "approximate") for name, size in self.complexity.items()),
            (PROGRAM, self.program_bytes, "counted"),
        ]
        for name, size, grade in sizes:
            quantity = Quantity(value=size, grade=grade)
            yield StudyRow(role="measure", of="program bytes", name=name, quantity=quantity)
        quality = {"extraction": self.quality, "no extraction": 0.0}.get(self.verdict)
        estimate = Quantity(value=quality, low=quality, high=quality, grade=self.verdict_grade)
        yield StudyRow(role="measure", of=QUALITY, name=PROGRAM, quantity=estimate)


def program_not_assessed(evidence: ExtractionEvidence) -> list[NotAssessed]:
    """Return what the runs of a program left open, and what would answer it."""
    missing = list(evidence.not_assessed)
    if isinstance(evidence.success_on_shadow, NotAssessed):
        missing.append(evidence.success_on_shadow)
    if not evidence.isolation.safe:
        missing.append(
            NotAssessed(
                "what the program did besides",
                "it ran without isolation, so it may have read the data from anywhere",
                "run it on a machine with user namespaces, Landlock and seccomp",
            )
        )
    if evidence.isolation.reduced:
        missing.append(
            NotAssessed(
                "what the program saw besides",
                "reduced isolation (Landlock alone) does not hide "
                + "; ".join(evidence.isolation.not_hidden),
                "run it on a machine with user namespaces or bubblewrap",
            )
        )
    return missing


def require_room(
    program: bytes, release: Path, limits: Limits, runs: int, *, workers: int, options: RunOptions
) -> None:
    """Refuse what does not fit into this machine, or takes longer than was agreed to.

    A program may use all that it is given, so that counts; of its time, what its first run takes,
    where all that it is given would be too long.

    runs: runs with all releases together; ``workers`` of them at the same time.
    """
    once = min(workers, runs)
    _fits(
        "memory",
        once * (limits.memory + limits.disk) + runs * limits.output,
        machine_memory(),
        "fewer workers or runs, or a smaller `limits.memory`, `limits.disk` or `limits.output`",
    )
    files = files_below(release) if release.is_dir() else [release]
    size = sum(file.stat().st_size for file in files if file.is_file())
    _fits(
        "space in the temporary folder",
        once * (limits.disk + size),
        shutil.disk_usage(tempfile.gettempdir()).free,
        "fewer workers, a smaller `limits.disk`, or another folder in TMPDIR",
    )
    if options.hours is None or runs * limits.seconds <= 3600 * options.hours * once:
        return
    first = run_program(program, release, replace(limits, seconds=min(limits.seconds, PATIENCE)))
    seconds = limits.seconds if first.ending == "timeout" else first.seconds
    agree(
        runs * seconds / once,
        f"{runs:,} runs of {seconds:.3g} s each, {once} at a time",
        hours=options.hours,
        observer=options.observer,
    )


def _fits(what: str, needed: int, there: int, remedy: str) -> None:
    if needed > there:
        raise TooLargeError(
            f"the programs may use {needed / 1e9:.1f} GB of {what}, and there are "
            f"{there / 1e9:.1f} GB: take {remedy}"
        )
