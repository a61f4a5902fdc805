"""Repeated runs of a program on a release, and their success rate."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.extraction.evidence import MARGIN
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
    """Runs of a program on one release, in the order of their start."""

    runs: list[ProgramRun]
    good: list[bool]  # whether each ended by itself with an output that counts

    @property
    def good_outputs(self) -> list[bytes]:
        return [run.output for run, good in zip(self.runs, self.good, strict=True) if good]

    def refuse_silence(self) -> None:
        """Refuse a program that never printed readable output, and report how it ended."""
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
    """Settings under which every program runs: the same number of runs, limits and walls."""

    data: DataSet
    relation: OutputRelation
    program: bytes
    runs: int  # of each program
    confidence: float
    quality_needed: float
    limits: Limits
    isolation: Isolation
    reference: bytes | None = None  # public text that programs find as the file ``reference``
    workers: int = 1  # parallel runs
    served: bool = False  # whether a worker forks its runs from one process (`run_programs`)
    observer: Observer = SILENT
    stop: Stop = field(default_factory=Stop)
    margin: int = MARGIN  # bytes by which the program must be shorter than its rivals

    def run(self, program: bytes, release: Path | bytes) -> Tried:
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
        """Divide the runs: one by one, or evenly among servers."""
        if not self.served:
            return [1] * self.runs
        each, more = divmod(self.runs, self.workers)
        return [n for i in range(self.workers) if (n := each + (i < more))]

    def against(self, data: DataSet, runs: list[ProgramRun]) -> Tried:
        """Compare outputs with data, each distinct output once."""
        finished = {r.output for r in runs if r.ending == "finished"}
        counts = {output: self.relation.counts(data, output) for output in finished}
        return Tried(runs, [r.ending == "finished" and counts[r.output] for r in runs])

    def share(self, tried: Tried, quantity: str) -> Estimate:
        """Estimate a program's success rate."""
        hits, runs = sum(tried.good), len(tried.runs)
        return clopper_pearson(hits, runs, confidence=self.confidence, quantity=quantity)
