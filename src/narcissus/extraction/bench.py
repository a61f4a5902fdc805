"""Runs of a program on a release, again and again, and how often its output counts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction._verdict import MARGIN
from narcissus.extraction.files import DataSet
from narcissus.extraction.relations import OutputRelation
from narcissus.extraction.sandbox import (
    Isolation,
    Limits,
    ProgramRun,
    Stop,
    run_program,
    run_programs,
)
from narcissus.observer import SILENT, Observer
from narcissus.results import Estimate


@dataclass(frozen=True)
class Tried:
    """Runs of a program on one release, and which of them count.

    Attributes
    ----------
    runs
        In the order in which they were started.
    good
        Whether each ended by itself with an output that counts.
    """

    runs: list[ProgramRun]
    good: list[bool]

    @property
    def good_outputs(self) -> list[bytes]:
        """The outputs that count."""
        return [run.output for run, good in zip(self.runs, self.good, strict=True) if good]

    def refuse_silence(self) -> None:
        """Refuse a program that never came up with anything, and say what it did instead."""
        runs = self.runs
        if any(self.good) or any(
            r.output.strip() and r.ending == "finished" and _is_text(r.output) for r in runs
        ):
            return
        last = runs[-1]
        error = last.error.strip().splitlines()[-1] if last.error.strip() else ""
        if last.ending != "finished":
            what = {
                "crashed": f"it crashed ({error or 'no message'})",
                "timeout": f"it was stopped at its time limit after {last.seconds:.1f} s",
                "output limit": f"it was stopped at its output limit of {len(last.output)} bytes",
            }[last.ending]
        elif last.output.strip():
            what = "it printed bytes that are not UTF-8 text"
        else:
            what = "it printed nothing"
        raise InputError(f"the program gave no usable output in any of {len(runs)} runs: {what}")


def _is_text(output: bytes) -> bool:
    try:
        output.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True)
class Bench:
    """Where programs are run: equally often, within the same limits, behind the same walls.

    Attributes
    ----------
    data, relation, program
        The data behind the release, when an output counts, and the program in question.
    runs
        How often each program is run.
    confidence, quality_needed, margin
        Level of limits; quality above which a claim counts; bytes by which the program must be
        shorter than its rivals.
    limits, isolation
        As `run_program` takes them.
    reference
        A public text that programs find as the file ``reference``.
    workers, served, observer
        Runs at the same time; whether those of a worker are forked from one process
        (`run_programs`); hears of every run.
    """

    data: DataSet
    relation: OutputRelation
    program: bytes
    runs: int
    confidence: float
    quality_needed: float
    limits: Limits
    isolation: Isolation
    reference: bytes | None = None
    workers: int = 1
    served: bool = False
    observer: Observer = SILENT
    stop: Stop = field(default_factory=Stop)
    margin: int = MARGIN

    def run(self, program: bytes, release: Path | bytes) -> Tried:
        """Run a program on a release, and hold its outputs against the data."""
        beside = {} if self.reference is None else {"reference": self.reference}

        def some(runs: int) -> list[ProgramRun]:
            if self.served:
                done = run_programs(
                    program, release, self.limits, runs, beside=beside, stop=self.stop
                )
            else:
                done = [
                    run_program(
                        program,
                        release,
                        self.limits,
                        beside=beside,
                        isolation=self.isolation,
                        stop=self.stop,
                    )
                    for _ in range(runs)
                ]
            self.observer.advance(runs)
            return done

        with ThreadPoolExecutor(self.workers) as pool:
            try:
                done = [run for found in pool.map(some, self._shares()) for run in found]
            except BaseException:
                self.stop.end()  # or the pool would wait until all that run have ended
                raise
        return self.against(self.data, done)

    def once(self, program: bytes, release: Path | bytes) -> ProgramRun:
        """Run a program a single time, to see what it does."""
        return replace(self, runs=1, workers=1, observer=SILENT).run(program, release).runs[0]

    def _shares(self) -> list[int]:
        """Divide the runs: one by one, or as evenly as may be among servers."""
        if not self.served:
            return [1] * self.runs
        each, more = divmod(self.runs, self.workers)
        return [n for i in range(self.workers) if (n := each + (i < more))]

    def against(self, data: DataSet, runs: list[ProgramRun]) -> Tried:
        """Hold outputs against data, each different one once."""
        finished = {r.output for r in runs if r.ending == "finished"}
        counts = {output: self.relation.counts(data, output) for output in finished}
        return Tried(runs, [r.ending == "finished" and counts[r.output] for r in runs])

    def share(self, tried: Tried, quantity: str) -> Estimate:
        """Limit how often a program succeeds."""
        hits, runs = sum(tried.good), len(tried.runs)
        return clopper_pearson(hits, runs, confidence=self.confidence, quantity=quantity)
