"""From numbers to a verdict in words, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from narcissus.results import Estimate, NotAssessed

NEEDED = 2 / 3  # Cohen et al. 2024, Definition D.8
Verdict = Literal["extraction", "no extraction", "inconclusive"]


@dataclass(frozen=True)
class Found:
    """What the verdict rests on; the fields are those of `Evidence`."""

    success: Estimate
    without: Estimate
    program_bytes: int
    best: int
    method: str
    quality_needed: float
    on_shadow: Estimate | NotAssessed
    rank: float | None

    @property
    def quality(self) -> float:
        """The quality of Definition D.8 with the estimate in place of the complexity."""
        return 1 - self.program_bytes / self.best


def judge(found: Found) -> tuple[Verdict, list[str]]:
    """Give the verdict and its reasons; "extraction" only where every half is shown."""
    success, without, quality = found.success, found.without, found.quality
    assert success.low is not None
    assert success.high is not None
    rate = f"{100 * success.value:.0f}% of {success.trials} runs"
    if success.high < NEEDED:
        return "no extraction", [
            f"the program succeeds in {rate} with the release, and needs two in three"
        ]
    if quality <= 0:
        return "no extraction", [
            f"a program that needs no release is no longer than this one ({found.method})",
            f"it succeeds in {rate} with the release, {100 * without.value:.0f}% without",
        ]
    if quality <= found.quality_needed:
        return "no extraction", [
            f"its quality is at most {quality:.3g}, and {found.quality_needed:g} was asked for"
        ]
    if isinstance(found.on_shadow, Estimate) and found.on_shadow.value >= NEEDED:
        return "no extraction", [
            "the same outputs count as well against data that the release has never seen"
        ]
    reasons = [
        f"the program succeeds in {rate} with the release, {100 * without.value:.0f}% without",
        f"the shortest program found that needs no release is {1 / (1 - quality):.3g} times as "
        f"long ({found.method}), a quality of at most {quality:.3g}",
    ]
    if success.low < NEEDED:
        return "inconclusive", [
            *reasons,
            f"the lower limit of its success, {success.low:.2f}, does not reach two in three",
        ]
    if without.high is not None and without.high >= NEEDED:
        return "inconclusive", [*reasons, "without the release it may do as well"]
    if found.rank is not None and found.rank <= 0.05:
        reasons.append(
            "a release independent of the data would put them this far ahead of their shadows "
            f"with a chance of at most {found.rank:.3g}"
        )
    return "extraction", reasons


def would_change(found: Found) -> tuple[str, ...]:
    """Say what evidence would turn the verdict round."""
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
    if found.success.low is not None and found.success.low < NEEDED <= found.success.value:
        changes.append(
            f"more than {found.success.trials} runs, which would narrow the limits of its success"
        )
    if found.rank is None or found.rank > 0.05:
        changes.append("more shadow data sets: 19 or more can bear witness at the 5% level")
    changes.append("shadow data sets on which the same outputs count as well")
    return tuple(changes)
