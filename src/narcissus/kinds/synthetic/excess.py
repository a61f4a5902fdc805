"""How much more often people of the data are hit than others, as a number of the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from narcissus.evidence.intervals import TwoSamples
from narcissus.results import Estimate
from narcissus.rows import Fact, Place, Quantity, Share, StudyRow


class ExcessShare(Fact):
    """How much more often people of the data are hit than others."""

    share: Quantity
    p_value: Share | None = Field(
        default=None, description="Of Fisher's exact test of the claim; null: of no claim by it."
    )
    detectable: Share | None = Field(
        default=None,
        description="The least that would have been shown to be above what is accepted, with the "
        "control as it is; null: none would.",
    )

    @classmethod
    def of(cls, counts: TwoSamples, share: Quantity, at_most: float, error: float) -> ExcessShare:
        """Return the excess of a claim, tested with ``error`` against what is accepted."""
        detectable = counts.detectable(at_most, error=error)
        return cls(share=share, p_value=min(1.0, counts.fisher), detectable=detectable)

    def row(self, name: str, at: Mapping[str, Place], about: Any) -> StudyRow:
        return StudyRow(
            role="excess", of="excess", name=name, at=at, quantity=self.share, about=about
        )


def estimated(found: Estimate, confidence: float) -> Quantity:
    """Return an estimate that is limited at a level."""
    return Quantity(
        value=found.value, low=found.low, high=found.high, grade="sampled", confidence=confidence
    )
