"""What the trials of a game depend on, by which an interrupted run finds its own again."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from narcissus.study.game.parts import OwnPart
from narcissus.study.game.schema import GameStudyBase
from narcissus.study.plugins import source_digests


def identity_of(study: GameStudyBase, folder: Path, entropy: int) -> dict[str, object]:
    """Say what trials depend on: two studies with the same identity may share trials.

    The number of trials, the confidence, the stopping and the statement are not part of it (but
    for the share of surprisal, by which a trial is scored), so that a run can be extended.
    """
    settings = study.model_dump(mode="json")
    parts = ("world", "mechanism", "attack", "success", "looser", "side_information")
    own = [name for part in parts for name in _own(getattr(study, part))]
    return {
        **{part: settings[part] for part in parts},
        "fresh": study.run.fresh,
        "surprisal": getattr(study.statement, "share", None),
        "seed": str(entropy),
        "own code": source_digests(own, folder),
        "version": metadata.version("narcissus"),
    }


def _own(value: Any) -> Iterator[str]:
    """Give the names of the user's own parts, at any depth."""
    if isinstance(value, OwnPart):
        yield value.name
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _own(getattr(value, name))
    elif isinstance(value, list):
        for entry in value:  # pyright: ignore[reportUnknownVariableType]  (any list)
            yield from _own(entry)
