"""What the sections of every kind of study file have in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from narcissus._options import LARGEST_SEED, MOST_COUNT
from narcissus._validation import MOST_SECONDS


class FileSection(BaseModel):
    """A section of a study file; keys that it does not know are errors."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True
    )


class SeededRun(FileSection):
    """How to run, whatever is run."""

    seed: int | None = Field(
        default=None, ge=0, le=LARGEST_SEED, description="Everything random follows from it."
    )


class PlayedRun(SeededRun):
    """How to run what others may play; no number depends on who does, and no record says it."""

    engine: Literal["serial", "processes", "dask"] | None = Field(
        default=None,
        exclude=True,
        description="Who plays: this process alone, processes of this machine, or a Dask cluster.",
    )
    scheduler: str | None = Field(
        default=None,
        exclude=True,
        description="Address of the cluster's scheduler; only with --allow-code, for it gets the "
        "data. Without one, the engine dask is a cluster of processes on this machine.",
    )


Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS)]
Mebibytes = Annotated[int, Field(le=2**40)]


def seconds(text: str) -> float:
    """Parse a time such as "30s", "10m" or "2h"."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smh])", text.strip())
    if match is None:
        raise ValueError(f"a time is written such as 30s, 10m or 2h, got {text!r}")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


class TimedRun(PlayedRun):
    """How to run what may play until its verdict is decided."""

    trials: Any
    budget: Seconds | None = Field(
        default=None,
        exclude=True,
        description='Time for a run with `trials = "auto"`: seconds, or a text such as "10m" (s, '
        "m, h). It ends where the next look at its limits would be beyond it.",
    )

    @field_validator("budget", mode="before")
    @classmethod
    def _in_seconds(cls, budget: Any) -> Any:
        return seconds(budget) if isinstance(budget, str) else budget

    @model_validator(mode="after")
    def _ends_at_a_look(self) -> Self:
        if self.budget is not None and self.trials != "auto":
            raise ValueError(
                '`budget` ends a run that plays until its verdict is decided: set `trials = "auto"`'
            )
        return self


LeastGroup: Any = Field(
    default=10,
    ge=1,
    le=MOST_COUNT,
    description="Fewest real people of whom a number is shown: smaller groups are merged, and as "
    "many others as it takes that none follows by subtraction. 1 shows single people.",
)


def without_defaults(
    **defaults: Any,
) -> Callable[[Any, SerializerFunctionWrapHandler], dict[str, Any]]:
    """Make a serializer that leaves out what is not asked for: earlier studies do not say it."""

    def written(self: Any, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        entries: dict[str, Any] = write(self)
        return {k: v for k, v in entries.items() if k not in defaults or v != defaults[k]}

    return written


without_default_least_group = without_defaults(least_group=10)


PRESET = "a preset of narcissus, which nobody decided on"
"""Who set the threshold of a study that is proposed and played immediately."""


class Approval(FileSection):
    """What the person who approves the release accepts: who said so, and why."""

    reason: str = Field("", description="Why this limit.")
    origin: str = Field("", description="Who set it, and where.")


class GroupsByCopies(FileSection):
    """Which groups of documents or images are shown, by their number of copies."""

    least_group: int = Field(
        default=10,
        ge=1,
        le=MOST_COUNT,
        description="Fewest documents or images of which a number is shown: smaller groups are "
        "merged, with others where one would follow by subtraction. 1 keeps all apart.",
    )

    _as_before = model_serializer(mode="wrap")(without_default_least_group)


def named_by_key(attacks: Any) -> Any:
    """Name each attack by its key, where it has no separate name."""
    if not isinstance(attacks, dict):
        return attacks
    sections = cast("dict[str, Any]", attacks)
    return {k: {"name": k, **v} if isinstance(v, dict) else v for k, v in sections.items()}
