"""Evidence about one program, one release and one data set."""

from __future__ import annotations

from dataclasses import dataclass

from narcissus.extraction._verdict import MARGIN, Verdict
from narcissus.extraction.sandbox import Isolation
from narcissus.results import Estimate, Grade, NotAssessed, Result

CAVEAT = (
    "Complexity can only be estimated from above, by compressing: the true one may be smaller, and "
    "then the quality is smaller than stated and may be nothing at all. No method can verify the "
    "opposite (Cohen et al. 2024, D.4); the evidence is as good as the effort to compress."
)


@dataclass(frozen=True)
class ExtractionEvidence(Result):
    """Evidence about one program, one release and one data set."""

    verdict: Verdict  # "extraction", "no extraction" or "inconclusive"
    reasons: tuple[str, ...]  # reasons for the verdict, in words
    success: Estimate  # share of runs with the release whose output counts
    # the same for the stand-in release with which the program did best
    success_without_release: Estimate
    stand_ins: dict[str, Estimate]  # every stand-in for the release, by name
    # share of the shadow data sets against which two in three of the same outputs count,
    # complexity recomputed for each (the relation of Definition 3.1); a `NotAssessed` without
    # shadows
    success_on_shadow: Estimate | NotAssessed
    # chance that a release independent of the data would put the data at least as far ahead
    # of its shadows as here: a p-value, ``(1 + shadows that do as well) / (1 + shadows)``
    shadow_rank: float | None
    # program_bytes, program_bytes_compressed: length of the source, which counts, and after
    # zlib
    program_bytes: int
    program_bytes_compressed: int
    # upper estimates, in bytes of a program that needs no release, by method
    complexity: dict[str, int]
    # complexity_estimate, complexity_method: the smallest of them, and its method
    complexity_estimate: int
    complexity_method: str
    quality: float  # ``1 - program_bytes / complexity_estimate``: an upper estimate
    # ``8 (complexity_estimate - program_bytes)``, Claim D.9: an upper estimate, at least 0
    extractable_bits: int
    # A program without the release, shorter than the best by this, would refute the claim
    margin_bytes: int
    deterministic: bool  # whether all runs with the release printed the same
    endings: dict[str, int]  # endings of the runs with the release
    isolation: Isolation  # the walls around the program
    # the weakest grade of the evidence used: an extraction is 'approximate', since the
    # quality is an upper estimate; no extraction may be 'sampled' or, if a compressor found a
    # program that is no longer, 'proved'
    verdict_grade: Grade
    # what would settle an inconclusive verdict: ``"10 runs"``; empty if nothing known would
    more: str = ""
    would_change: tuple[str, ...] = ()
    not_assessed: tuple[NotAssessed, ...] = ()
    caveat: str = CAVEAT
    # whether runs were forked from one process and share the interpreter's start
    served: bool = False
    # bytes by which the program must be shorter than every rival, declared beforehand
    margin: int = MARGIN
    # Whether the program failed on every release with one byte flipped, and printed no
    # content: it may recognise this release by a fingerprint. None if not tried.
    fingerprint: bool | None = None

    @property
    def grade(self) -> Grade:
        return self.verdict_grade

    def __str__(self) -> str:
        lines = [f"{self.verdict.upper()}: {self.reasons[0]}", *self.reasons[1:], self.caveat]
        return "\n".join(lines)
