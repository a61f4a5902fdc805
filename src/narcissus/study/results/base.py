"""What all results are made of: ranges of numbers, limits in order, sampled estimates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from narcissus.results import Estimate

Share = Annotated[float, Field(ge=0, le=1)]
Signed = Annotated[float, Field(ge=-1, le=1)]
NonNegative = Annotated[float, Field(ge=0)]
Level = Annotated[float, Field(gt=0, lt=1, description="Of confidence.")]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]

LATER = frozenset(
    {
        "id",
        "merged",
        "released",
        "strength",
        "is_declared",
        "everybody",
        "own_release",
        "gain",
        "of",
        "is_estimated",
        "is_best_found",
        "at_most",
        "each_column",
        "by_chance",
        "search",
        "precision",
        "share_of_columns",
        "reached",
        "transcripts",
        "cover",
        "served",
        "shadows",
        "held_out",
        "low_apart",
        "gain_low_apart",
        "chance_off",
        "decides",
        "margin",
        "fingerprint",
        "and_copies",
        "between",
        "breaks",
        "told",
    }
)
"""Keys that came into format 2 after its first records, which are read without them."""

# Rounding allowed before numbers that should be in order are not.
SLACK = 1e-9


class ResultModel(BaseModel):
    """A part of the results: frozen, no key missing or unknown, no number that JSON lacks."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    later: ClassVar[frozenset[str]] = frozenset()
    """Its own keys among `LATER`."""

    @model_serializer(mode="wrap")
    def _as_read(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out later keys that say nothing: what was read is written as it was."""
        written: dict[str, Any] = write(self)
        return {
            key: value
            for key, value in written.items()
            if key not in self.later or not (value is None or value is False or value == "")
        }


class ByTheorem(ResultModel):
    """What no attacker exceeds, by a theorem."""

    theorem: str = Field(description="With its source.")
    id: str = Field("", description="Of the theorem, the same for ever; left out if it has none.")
    later = frozenset({"id"})


def require_order(low: float | None, value: float, high: float | None) -> None:
    """Refuse limits that do not hold their value; None is no limit."""
    if low is not None and low > value + SLACK:
        raise ValueError(f"its lower limit {low:g} is above its value {value:g}")
    if high is not None and high < value - SLACK:
        raise ValueError(f"its upper limit {high:g} is below its value {value:g}")


class SampledNumber(ResultModel):
    """A sampled number with its confidence limits (`narcissus.results.Estimate`)."""

    value: float
    low: float | None
    high: float | None
    confidence: Level
    trials: Positive
    quantity: str
    method: str
    why: str = Field(description="Why a limit is missing, if one is.")
    grade: Literal["sampled"]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_order(self.low, self.value, self.high)
        return self

    @classmethod
    def of(cls, estimate: Estimate) -> Self:
        """Take the fields of an estimate."""
        return cls(
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            confidence=estimate.confidence,
            trials=estimate.trials,
            quantity=estimate.quantity,
            method=estimate.method,
            why=estimate.why,
            grade="sampled",
        )

    def as_row(self) -> dict[str, Any]:
        """Return what a row of a frame says of it."""
        return self.model_dump(include={"value", "low", "high", "confidence", "trials", "grade"})


class SampledShare(SampledNumber):
    """A sampled share."""

    value: Share
    low: Share | None
    high: Share | None


class MergedGroups(ResultModel):
    """Which groups of real people were too small to be shown by themselves."""

    least: Positive = Field(
        description="Fewest people, documents or images of which a number is shown."
    )
    merged: Mapping[str, Positive] = Field(
        description="By what they are divided, how many groups were made one."
    )
    left_out: tuple[str, ...] = Field(
        description="Divisions that are not shown: one group would remain, or groups of another "
        "division would leave too few by subtraction."
    )
    people: Positive = Field(description="Different ones that were played.")
