"""Studies of extraction: a release, the data behind it, a program that claims to extract them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter, model_validator

from narcissus._files import file_digest, read_bytes, write_atomically
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.evidence import MARGIN, ExtractionEvidence
from narcissus.extraction.files import DataSet, check_release
from narcissus.extraction.relations import OutputRelation
from narcissus.extraction.sandbox import Limits, check_source, readable_paths
from narcissus.observer import Observer
from narcissus.results import NotAssessed, Status
from narcissus.study import earlier
from narcissus.study.extraction_work import check
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.results.base import SampledShare
from narcissus.study.results.extraction import BreakoutAttempt, ExtractionResults, Walls
from narcissus.study.sections import FileSection, SeededRun

STAND_INS = 2  # an empty release, and the release with its bytes shuffled


class LimitSettings(FileSection):
    """What each run of the program may use."""

    seconds: float = Field(60.0, gt=0, description="Wall clock of a run.")
    memory: int = Field(2048, ge=64, description="Address space in MiB.")
    output: int = Field(16, ge=1, description="What it may print, in MiB.")
    disk: int = Field(256, ge=1, description="What it may keep in its temporary folder, in MiB.")
    release: int = Field(2048, ge=1, description="Largest release that is accepted, in MiB.")


class ExtractionThreshold(FileSection):
    """What whoever approves the release accepts."""

    quality: float = Field(ge=0, lt=1, description="Largest quality of an extraction.")


class ExtractionRun(SeededRun):
    """How it is run."""

    workers: int = Field(1, ge=1, description="Runs of the program at the same time.")
    server: bool = Field(
        False,
        exclude=True,  # what came of it is in the results, as `served`
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


class ExtractionKind:
    """The kind "extraction"."""

    model: type[BaseModel] = ExtractionStudy
    results: TypeAdapter[Any] = TypeAdapter(ExtractionResults)

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse missing files, programs that do not parse, pickles, releases without weights."""
        settings: ExtractionStudy = study
        check_release(folder / settings.release, largest=settings.limits.release * 2**20)
        for path in settings.other_releases:
            check_release(folder / path, largest=settings.limits.release * 2**20)
        for path in [settings.program, *settings.rivals]:
            check_source(_read(folder / path, "program"), str(path))
        for path in [settings.data, *settings.shadows]:
            DataSet.read(folder / path)
            place = (folder / path).resolve()
            if any(place.is_relative_to(p) for p in readable_paths()):
                raise InputError(
                    f"{path} lies where every program may read ({place}); move it elsewhere"
                )
        if settings.reference is not None:
            _read(folder / settings.reference, "reference")

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome:
        """Run the program and weigh the evidence."""
        settings: ExtractionStudy = study
        release = folder / settings.release
        program = _read(folder / settings.program, "program")
        limits = Limits(
            settings.limits.seconds,
            settings.limits.memory * 2**20,
            settings.limits.output * 2**20,
            disk=settings.limits.disk * 2**20,
        )
        workers = options.workers or settings.run.workers
        programs = STAND_INS + len(settings.other_releases) + len(settings.rivals) + 1
        runs = settings.runs * programs
        check(program, release, limits, runs, workers=workers, options=options)
        evidence = assess_extraction(
            DataSet.read(folder / settings.data),
            release,
            program,
            settings.relation.build(),
            runs=settings.runs,
            shadows=[DataSet.read(folder / p) for p in settings.shadows],
            other_releases={str(p): folder / p for p in settings.other_releases},
            rivals={str(p): _read(folder / p, "program") for p in settings.rivals},
            reference=None
            if settings.reference is None
            else _read(folder / settings.reference, "reference"),
            confidence=settings.confidence,
            margin=settings.margin,
            limits=limits,
            workers=workers,
            served=settings.run.server,
            rng=child(options.entropy, 0),
            observer=options.observer,
        )
        if options.internal is not None:
            write_atomically(
                options.internal, json.dumps(evidence.to_dict(), indent=1) + "\n", private=True
            )
        files = {
            "data": folder / settings.data,
            "program": folder / settings.program,
            **({"release": release} if release.is_file() else {}),
        }
        return Outcome(
            title=settings.title,
            status=_status(evidence, settings.threshold),
            verdict=_words(evidence),
            grade=evidence.grade,
            assumptions=program_assumptions(evidence),
            results=extraction_results(evidence, settings.relation.build()),
            assessed=[
                "success of the program with and without the release",
                "complexity of an output that counts, from above",
                *(["success on shadow data"] if settings.shadows else []),
            ],
            not_assessed=program_not_assessed(evidence),
            not_covered=[
                "Other programs: that this one fails says nothing about the next.",
                "The true complexity, which nobody can compute; only estimates from above.",
                "How the program was found: one that was written with the data in view shows that "
                "they are in the release, not that a stranger would find them.",
            ],
            digests={name: file_digest(path) for name, path in files.items()},
        )


def _read(path: Path, what: str) -> bytes:
    try:
        return read_bytes(path, largest=2**28)
    except InputError as error:
        raise type(error)(f"the {what}: {error}") from error


def _status(evidence: ExtractionEvidence, threshold: ExtractionThreshold | None) -> Status:
    if evidence.verdict == "inconclusive":
        return "too few trials" if evidence.more else "inconclusive"
    if threshold is None:
        return "no threshold"
    is_over = evidence.verdict == "extraction" and evidence.quality > threshold.quality
    return "exceeded" if is_over else "met"


def _words(evidence: ExtractionEvidence) -> str:
    head = {
        "extraction": "Evidence of extraction",
        "no extraction": "No extraction by this program",
        "inconclusive": "Inconclusive",
    }[evidence.verdict]
    text = f"{head}: {'; '.join(evidence.reasons)}."
    if evidence.more:
        text += f" {evidence.more} instead of these would settle it, if they go on like this."
    if not evidence.deterministic:
        text += " Its output differs from run to run."
    if not evidence.isolation.safe:
        text += " The program ran WITHOUT isolation."
    if evidence.isolation.reduced:
        text += (
            " Reduced isolation (Landlock alone): the program could not read or write other "
            f"files, but could see {'; '.join(evidence.isolation.not_hidden)}."
        )
    if evidence.verdict == "extraction":
        text += " Complexity is estimated from above, so the quality is an upper estimate."
    return text


def program_assumptions(evidence: ExtractionEvidence) -> tuple[str, ...]:
    """Describe what the verdict takes as given; no run of a program can be traced to another."""
    if evidence.grade == "proved":
        return ()
    shared = ", and draw nothing from the start of the interpreter that they share"
    own = shared if evidence.served else ""
    runs = (f"runs of a program are independent of one another{own}",)
    if evidence.verdict != "extraction":
        return runs
    return (
        f"no program of at most {evidence.program_bytes} bytes prints an output that counts "
        "without the release",
        *runs,
    )


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


def extraction_results(evidence: ExtractionEvidence, relation: OutputRelation) -> ExtractionResults:
    shadow, walls = evidence.success_on_shadow, evidence.isolation
    return ExtractionResults(
        verdict=evidence.verdict,
        verdict_grade=evidence.verdict_grade,
        reasons=evidence.reasons,
        success=SampledShare.of(evidence.success),
        success_without_release=SampledShare.of(evidence.success_without_release),
        stand_ins={name: SampledShare.of(e) for name, e in evidence.stand_ins.items()},
        success_on_shadow=None if isinstance(shadow, NotAssessed) else SampledShare.of(shadow),
        shadow_rank=evidence.shadow_rank,
        program_bytes=evidence.program_bytes,
        program_bytes_compressed=evidence.program_bytes_compressed,
        complexity=evidence.complexity,
        complexity_estimate=evidence.complexity_estimate,
        complexity_method=evidence.complexity_method,
        quality=evidence.quality,
        extractable_bits=evidence.extractable_bits,
        margin_bytes=evidence.margin_bytes,
        deterministic=evidence.deterministic,
        endings=evidence.endings,
        isolation=Walls.model_validate(
            {
                **asdict(walls),
                "reduced": walls.reduced,
                "checks": tuple(
                    BreakoutAttempt(attempt=attempt, outcome=outcome)
                    for attempt, outcome in walls.checks
                ),
            }
        ),
        more=evidence.more,
        would_change=evidence.would_change,
        caveat=evidence.caveat,
        relation=relation.describe(),
        needed=2 / 3,
        served=evidence.served,
        margin=evidence.margin,
        fingerprint=evidence.fingerprint,
    )


KIND = ExtractionKind()
