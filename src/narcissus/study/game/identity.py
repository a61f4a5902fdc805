"""The identity of a game's trials, by which an interrupted run finds its finished trials."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from narcissus._version import __version__
from narcissus.study.game.schema import GameStudy, asked_of_rows
from narcissus.study.parts import own_parts
from narcissus.study.plugins import source_digests
from narcissus.success import KeptSurprisal


def identity_of(study: GameStudy, folder: Path, entropy: int) -> dict[str, object]:
    """Return everything on which trials depend: studies with equal identity may share trials.

    The number of trials, the confidence, the stopping and the statement are left out, so that a run
    can be extended; except what the statement asks of surprisal, by which a trial is scored.
    """
    asked = asked_of_rows(study.statement)
    settings = study.model_dump(mode="json")
    parts = ("world", "mechanism", "attack", "success", "looser", "side_information")
    return {
        **{part: settings[part] for part in parts},
        **({"family": settings["family"]} if study.family else {}),
        "fresh": study.run.fresh,
        "surprisal": asdict(asked) if isinstance(asked, KeptSurprisal) else asked,
        "seed": str(entropy),
        "own code": source_digests(own_parts(study), folder),
        "version": __version__,
    }
