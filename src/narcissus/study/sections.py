"""What the sections of every kind of study file have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer


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


LeastGroup: Any = Field(
    default=10,
    ge=1,
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


class Approval(FileSection):
    """What the person who approves the release accepts: who said so, and why."""

    reason: str = Field("", description="Why this limit.")
    origin: str = Field("", description="Who set it, and where.")


class GroupsByCopies(FileSection):
    """Which groups of documents or images are shown, by their number of copies."""

    least_group: int = Field(
        default=10,
        ge=1,
        description="Fewest documents or images of which a number is shown: smaller groups are "
        "merged, with others where one would follow by subtraction. 1 keeps all apart.",
    )

    _as_before = model_serializer(mode="wrap")(without_default_least_group)
