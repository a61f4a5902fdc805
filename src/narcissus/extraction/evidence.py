"""What was found out about one program, one release and one data set."""

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
    """What was found out about one program, one release and one data set.

    Attributes
    ----------
    verdict
        "extraction", "no extraction" or "inconclusive".
    reasons
        What the verdict rests on, in words.
    verdict_grade
        The weakest grade of what the verdict rests on: an extraction is 'approximate', since the
        quality is an upper estimate; that there is none may be 'sampled' or, where a compressor
        found a program that is no longer, 'proved'.
    more
        What would settle an inconclusive verdict: ``"10 runs"``; empty where nothing is known to.
    success
        Share of runs with the release whose output counts.
    success_without_release
        The same without it: the stand-in release with which the program did best.
    stand_ins
        Every stand-in for the release, by name.
    success_on_shadow
        Share of the shadow data sets against which two in three of the same outputs count,
        complexity recomputed for each (the relation of Definition 3.1); a `NotAssessed` where
        there is none.
    shadow_rank
        Chance that a release independent of the data would put the data at least as far ahead of
        its shadows as here: a p-value, ``(1 + shadows that do as well) / (1 + shadows)``.
    program_bytes, program_bytes_compressed
        Length of the source as it stands, which is what counts, and after zlib.
    complexity
        Upper estimates, in bytes of a program that needs no release, by method.
    complexity_estimate, complexity_method
        The smallest of them, and which it is.
    quality
        ``1 - program_bytes / complexity_estimate``: an upper estimate.
    extractable_bits
        ``8 (complexity_estimate - program_bytes)``, Claim D.9: an upper estimate, 0 at least.
    margin_bytes
        A program without the release that is shorter than the best by this many bytes would leave
        nothing of the claim.
    deterministic
        Whether all runs with the release printed the same.
    endings
        How the runs with the release ended.
    isolation
        The walls around the program.
    served
        Whether runs were forked from one process, and share the start of the interpreter.
    margin
        Bytes by which the program must be shorter than every rival, declared beforehand.
    fingerprint
        Whether the program failed on every release with one byte flipped, and printed nothing of
        the content: it may know this release by a fingerprint. None where that was not tried.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    success: Estimate
    success_without_release: Estimate
    stand_ins: dict[str, Estimate]
    success_on_shadow: Estimate | NotAssessed
    shadow_rank: float | None
    program_bytes: int
    program_bytes_compressed: int
    complexity: dict[str, int]
    complexity_estimate: int
    complexity_method: str
    quality: float
    extractable_bits: int
    margin_bytes: int
    deterministic: bool
    endings: dict[str, int]
    isolation: Isolation
    verdict_grade: Grade
    more: str = ""
    would_change: tuple[str, ...] = ()
    not_assessed: tuple[NotAssessed, ...] = ()
    caveat: str = CAVEAT
    served: bool = False
    margin: int = MARGIN
    fingerprint: bool | None = None

    @property
    def grade(self) -> Grade:
        """That of the verdict."""
        return self.verdict_grade

    def __str__(self) -> str:
        lines = [f"{self.verdict.upper()}: {self.reasons[0]}", *self.reasons[1:], self.caveat]
        return "\n".join(lines)
