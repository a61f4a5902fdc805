"""Evidence about one program, one release and one data set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from narcissus._outwards import lower, upper
from narcissus.evidence import clopper_pearson
from narcissus.extraction.sandbox import Isolation
from narcissus.results import Estimate, Grade, NotAssessed, Result

NEEDED = 2 / 3  # Cohen et al. 2024, Definition D.8
MOST_RUNS = 100_000
MARGIN = 128
"""Bytes by which the program must be shorter than every rival, where nothing else is declared.

What is the same program in other words differs by some tens of bytes: reading another file, a slice
of a text (62), the frame of a program that unpacks itself (45 to 110).
"""
Verdict = Literal["extraction", "no extraction", "inconclusive"]
NO_SHADOW = NotAssessed(
    "success on shadow data",
    "no shadow data set was given",
    "name some under `shadows`: data of the same kind that the release has not seen",
)
NO_OTHER_RELEASE = NotAssessed(
    "success with a release made without the data",
    "none was given",
    "name one under `other_releases` (a model: `reference`), made alike without this content",
)
CAVEAT = (
    "Complexity can only be estimated from above, by compressing. The true one may be smaller, and "
    "with it the quality, down to nothing. No method can verify the opposite (Cohen et al. 2024, "
    "D.4). The evidence is as good as the effort to compress."
)


@dataclass(frozen=True)
class Rival:
    """A program that was run without the release."""

    name: str
    success: Estimate  # share of runs that succeeded
    program_bytes: int  # its length, a complexity estimate if it succeeds in two of three runs

    @property
    def shown(self) -> bool:
        """Whether it succeeds in two of three runs, at the level of its limits."""
        return self.success.low is not None and self.success.low >= NEEDED

    @property
    def possible(self) -> bool:
        """Whether its limits leave this open."""
        return not self.shown and (self.success.high is None or self.success.high >= NEEDED)

    @property
    def not_shown(self) -> NotAssessed:
        which = "may or may not" if self.possible else "does not"
        reason = f"it {which} succeed two times in three, so its length says nothing"
        return NotAssessed(self.name, reason, "more `runs`" if self.possible else "")


@dataclass(frozen=True)
class Found:
    """Basis of the verdict, with the fields of `ExtractionEvidence`.

    ``rivals`` are the programs run without the release, including this one. ``best`` and ``method``
    come from compressors and shown rivals. ``opaque``: why it is unknown what the program takes.
    """

    success: Estimate
    without: Estimate
    program_bytes: int
    best: int
    method: str
    quality_needed: float
    on_shadow: Estimate | NotAssessed = NO_SHADOW
    rank: float | None = None
    rivals: tuple[Rival, ...] = ()
    margin: int = MARGIN
    opaque: str = ""

    def suffices(self, program_bytes: int) -> bool:
        """Check whether the claim survives a rival of this length."""
        quality = 1 - self.program_bytes / program_bytes
        return quality > self.quality_needed and self.program_bytes + self.margin <= program_bytes

    @property
    def quality(self) -> float:
        """Quality of Definition D.8, with the estimate in place of the complexity."""
        return 1 - self.program_bytes / self.best


@dataclass(frozen=True)
class Ruling:
    """A verdict, its reasons and its grade."""

    verdict: Verdict
    reasons: tuple[str, ...]
    grade: Grade  # the weakest grade of the evidence that the verdict rests on
    # what would settle an inconclusive verdict, such as "10 runs"; "" if nothing would
    more: str = ""


def rule_on(found: Found) -> Ruling:
    """Return the verdict; a half of it that confidence limits leave open decides nothing."""
    success, quality = found.success, found.quality
    rate = f"the program succeeds in {_rate(success)} with the release"
    both = f"{rate}, {100 * found.without.value:.0f}% without"
    decided = _against(found, rate, both) or _left_open(found, rate, both)
    if decided is not None:
        return decided
    reasons = [
        both,
        f"the shortest program found that needs no release is {1 / (1 - quality):.3g} times as "
        f"long ({found.method}): a quality of at most {upper(quality, 3)}",
        f"it is {found.best - found.program_bytes} bytes longer, and the margin declared is "
        f"{found.margin}",
    ]
    if found.rank is not None and found.rank <= 0.05:
        reasons.append(
            "a release independent of the data would put them this far ahead of their shadows "
            f"with a chance of at most {upper(found.rank, 3)}"
        )
    return Ruling("extraction", tuple(reasons), "approximate")


def _against(found: Found, rate: str, both: str) -> Ruling | None:
    """Return the evidence that this is no extraction, if any."""
    success, quality, shadow = found.success, found.quality, found.on_shadow
    if success.ends[1] < NEEDED:
        return Ruling("no extraction", (f"{rate}, and needs two in three",), "sampled")
    # A compressor's program prints the output every time: that is no matter of chance.
    counted: Grade = "sampled" if any(r.name == found.method for r in found.rivals) else "proved"
    if quality <= 0:
        shorter = (
            f"a program that needs no release is as short as this one, or shorter ({found.method})"
        )
        return Ruling("no extraction", (shorter, both), counted)
    if quality <= found.quality_needed:
        low = f"its quality is at most {upper(quality, 3)}, {found.quality_needed:g} was asked for"
        return Ruling("no extraction", (low,), counted)
    if isinstance(shadow, Estimate) and (shadow.low or 0.0) >= NEEDED:
        same = "the same outputs count as well against data that the release has never seen"
        return Ruling("no extraction", (same,), "sampled")
    return None


def _left_open(found: Found, rate: str, both: str) -> Ruling | None:
    """Return what more runs or shadows may change; None if the evidence supports extraction."""
    success, shadow = found.success, found.on_shadow
    low, high = success.ends
    if low < NEEDED:
        few = (
            f"{rate}, with limits {lower(low, places=2)} to {upper(high, places=2)}: two in three "
            "is still open"
        )
        return Ruling("inconclusive", (few,), "sampled", _runs(success))
    if not found.suffices(found.best):
        short = (
            f"it is {found.best - found.program_bytes} bytes shorter than the shortest program "
            f"found that needs no release ({found.method}): less than the margin of {found.margin}"
        )
        return Ruling("inconclusive", (both, short), "approximate")
    if found.opaque:
        return Ruling("inconclusive", (both, found.opaque), "sampled")
    for rival in found.rivals:
        if rival.possible and not found.suffices(rival.program_bytes):
            reason = f"{rival.name} succeeds in {_rate(rival.success)}, which may be two in three"
            return Ruling("inconclusive", (both, reason), "sampled", _runs(rival.success))
    if isinstance(shadow, Estimate) and shadow.value >= NEEDED:
        few = (
            "the same outputs count as well against data that the release has never seen, but "
            f"{shadow.trials} shadow data sets are too few to tell"
        )
        return Ruling("inconclusive", (both, few), "sampled", _runs(shadow, "shadow data sets"))
    return None


def _rate(success: Estimate) -> str:
    return f"{100 * success.value:.0f}% of {success.trials} runs"


def _runs(success: Estimate, what: str = "runs") -> str:
    count = trials_to_settle(success)
    return "" if count is None else f"{count} {what}"


def trials_to_settle(success: Estimate) -> int | None:
    """Return how many trials at the same success rate would separate it from 2/3.

    None above 100,000.

    >>> from narcissus.evidence import clopper_pearson
    >>> trials_to_settle(clopper_pearson(0, 3)), trials_to_settle(clopper_pearson(5, 5))
    (4, 10)
    """

    def settled(count: int) -> bool:
        hits = success.value * count  # rounded towards two in three
        whole = math.ceil(hits - 1e-9) if success.value < NEEDED else math.floor(hits + 1e-9)
        limits = clopper_pearson(whole, count, confidence=success.confidence)
        return (limits.high or 0.0) < NEEDED or (limits.low or 0.0) >= NEEDED

    if not settled(MOST_RUNS):
        return None
    few, many = success.trials, MOST_RUNS
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if settled(middle) else (middle, many)
    return many


def would_change(found: Found, judgement: Ruling) -> tuple[str, ...]:
    """List the evidence that would reverse the verdict."""
    changes: list[str] = []
    if found.quality > 0:
        changes.append(
            f"a program of at most {found.program_bytes} bytes that needs no release and prints an "
            f"output that counts: {found.best - found.program_bytes} bytes, or "
            f"{100 * found.quality:.0f}%, less than the best found ({found.method}, "
            f"{found.best} bytes)"
        )
        changes.append("a better compressor, or somebody who sees a pattern in the data")
    elif found.best < found.program_bytes:
        changes.append(
            f"a program that does the same with the release in fewer than {found.best} bytes "
            f"(this one has {found.program_bytes})"
        )
    if judgement.more:
        changes.append(f"{judgement.more} instead of those made, if they go on like this")
    if found.rank is None or found.rank > 0.05:
        changes.append("more shadow data sets: 19 or more can bear witness at the 5% level")
    changes.append("shadow data sets on which the same outputs count as well")
    return tuple(changes)


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
