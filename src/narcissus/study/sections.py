"""What the sections of every kind of study file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FileSection(BaseModel):
    """A section of a study file; keys that it does not know are errors."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True
    )


class SeededRun(FileSection):
    """How to run, whatever is run."""

    seed: int | None = Field(default=None, ge=0, description="Everything random follows from it.")


class Approval(FileSection):
    """What whoever approves the release accepts: who said so, and why."""

    reason: str = Field("", description="Why this limit.")
    origin: str = Field("", description="Who set it, and where.")
