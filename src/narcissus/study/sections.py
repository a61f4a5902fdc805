"""What the sections of every kind of study file have in common."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class FileSection(BaseModel):
    """A section of a study file; keys that it does not know are errors."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True
    )


class SeededRun(FileSection):
    """How to run, whatever is run."""

    seed: int | None = Field(default=None, ge=0, description="Everything random follows from it.")


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


class Approval(FileSection):
    """What whoever approves the release accepts: who said so, and why."""

    reason: str = Field("", description="Why this limit.")
    origin: str = Field("", description="Who set it, and where.")
