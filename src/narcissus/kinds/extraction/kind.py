"""Run a program with a release and without, and weigh the evidence that it extracts the data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic_core import PydanticCustomError

from narcissus._files import file_digest, read_bytes, write_atomically
from narcissus._options import MOST_COUNT, MOST_WORKERS
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.extraction.assess import assess_extraction
from narcissus.extraction.evidence import MARGIN
from narcissus.extraction.files import DataSet, check_release
from narcissus.extraction.sandbox import Limits, check_source, readable_paths
from narcissus.kinds.engine import Done, Files, Kind, PreparedWork
from narcissus.kinds.extraction.program import (
    QUALITY,
    ProgramResult,
    program_not_assessed,
    require_room,
)
from narcissus.observer import Observer
from narcissus.results import Status
from narcissus.rows import Findings, StudyCriterion
from narcissus.study.kinds import RunOptions
from narcissus.study.part_section import PartSection
from narcissus.study.parts import Part
from narcissus.study.sections import FileSection, Mebibytes, Seconds, SeededRun

_MIB = 2**20


class LimitSettings(FileSection):
    """What each run of the program may use."""

    seconds: Seconds = Field(60.0, description="Wall clock of a run.")
    memory: Mebibytes = Field(2048, ge=64, description="Address space in MiB.")
    output: Mebibytes = Field(16, ge=1, description="What it may print, in MiB.")
    disk: Mebibytes = Field(256, ge=1, description="What it may keep in `TMPDIR`, in MiB.")
    release: Mebibytes = Field(2048, ge=1, description="Largest release that is accepted, in MiB.")

    @field_validator("memory", "output", "disk", "release", mode="wrap")
    @classmethod
    def _tells_its_unit(cls, size: Any, check: ValidatorFunctionWrapHandler) -> Any:
        try:
            return check(size)
        except ValidationError as error:
            [said] = error.errors()
            if said["type"] not in ("greater_than_equal", "less_than_equal"):
                raise
            raise PydanticCustomError(
                "size", "{msg} MiB, such as 2048 for 2 GiB", {"msg": said["msg"]}
            ) from error

    def of_a_run(self) -> Limits:
        return Limits(self.seconds, self.memory * _MIB, self.output * _MIB, disk=self.disk * _MIB)


class ExtractionThreshold(FileSection):
    """What the person who approves the release accepts."""

    quality: float = Field(ge=0, lt=1, description="Largest quality of an extraction.")


class ExtractionRun(SeededRun):
    """How it is run."""

    workers: int = Field(
        1, ge=1, le=MOST_WORKERS, description="Runs of the program at the same time."
    )
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
        le=MOST_COUNT,
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

    @field_validator("relation", mode="before")
    @classmethod
    def _by_name(cls, relation: Any) -> Any:
        """Take the name alone of a relation without options."""
        return {"name": relation} if isinstance(relation, str) else relation


STAND_INS = 2  # an empty release, and the release with its bytes shuffled


@dataclass(frozen=True, eq=False)
class ExtractionWork(PreparedWork[ExtractionStudy]):
    """A program that was read."""

    program: bytes = b""


class ExtractionKind(Kind[ExtractionStudy, ExtractionWork]):
    """The kind "extraction"."""

    model = ExtractionStudy
    result = ProgramResult
    layout = "narcissus.kinds.extraction.layout:LAYOUT"
    no_records = ""

    def check(self, study: ExtractionStudy, folder: Path, observer: Observer) -> None:
        """Refuse missing files, programs that do not parse, pickles, releases without weights."""
        for path in [study.release, *study.other_releases]:
            check_release(folder / path, largest=study.limits.release * 2**20)
        for path in [study.program, *study.rivals]:
            check_source(_read(folder / path, "program"), str(path))
        for path in [study.data, *study.shadows]:
            DataSet.read(folder / path)
            place = (folder / path).resolve()
            if any(place.is_relative_to(p) for p in readable_paths()):
                raise InputError(
                    f"{path} lies where every program may read ({place}); move it elsewhere"
                )
        if study.reference is not None:
            _read(folder / study.reference, "reference")

    def prepare(self, study: ExtractionStudy, folder: Path, options: RunOptions) -> ExtractionWork:
        program = _read(folder / study.program, "program")
        digests = dict[str, str]()
        if (folder / study.release).is_file():
            digests["release"] = file_digest(folder / study.release)
        assessed = ["success on shadow data"] if study.shadows else []
        return ExtractionWork(study, folder, options.entropy, digests, assessed, program=program)

    def files(self, study: ExtractionStudy) -> Files:
        return {"data": study.data, "program": study.program}

    def measure(self, work: ExtractionWork, done: Done, options: RunOptions) -> Findings:
        study, folder = work.study, work.folder
        release, limits = folder / study.release, study.limits.of_a_run()
        workers = options.workers or study.run.workers
        programs = STAND_INS + len(study.other_releases) + len(study.rivals) + 1
        runs = study.runs * programs
        require_room(work.program, release, limits, runs, workers=workers, options=options)
        for path in [study.release, *study.other_releases]:  # each run reads them again
            check_release(folder / path, largest=study.limits.release * 2**20)
        reference = study.reference
        evidence = assess_extraction(
            DataSet.read(folder / study.data),
            release,
            work.program,
            study.relation.build(),
            runs=study.runs,
            shadows=[DataSet.read(folder / p) for p in study.shadows],
            other_releases={str(p): folder / p for p in study.other_releases},
            rivals={str(p): _read(folder / p, "program") for p in study.rivals},
            reference=None if reference is None else _read(folder / reference, "reference"),
            confidence=study.confidence,
            margin=study.margin,
            limits=limits,
            workers=workers,
            served=study.run.server,
            rng=child(options.entropy, 0),
            observer=options.observer,
        )
        if options.internal is not None:
            text = json.dumps(evidence.to_dict(), indent=1) + "\n"
            write_atomically(options.internal, text, private=True)
        work.not_assessed.extend(program_not_assessed(evidence))
        result = ProgramResult.of(evidence, study.relation.build())
        limit = None if study.threshold is None else study.threshold.quality
        return self.found([StudyCriterion(of=QUALITY, at_most=limit)], result)

    def premises(self, result: ProgramResult) -> tuple[str, ...]:
        return result.assumptions

    def undecided(self, result: ProgramResult) -> Status | None:
        if result.verdict != "inconclusive":
            return None
        return "too few trials" if result.more else "inconclusive"

    def is_of_people(self, study: Mapping[str, object]) -> bool:
        return True


KIND = ExtractionKind()


def _read(path: Path, what: str) -> bytes:
    try:
        return read_bytes(path, largest=2**28)
    except InputError as error:
        raise type(error)(f"the {what}: {error}") from error
