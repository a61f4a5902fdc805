"""The game of a study at other values of one parameter."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.study.game.schema import GameStudy
from narcissus.study.part_section import checked
from narcissus.study.parts import Part

SECTIONS = ("mechanism", "world", "success", "looser")


def varied(study: GameStudy, folder: Path, parameter: str, value: float) -> Game:
    """Return the game of a study with another value of ``parameter``.

    ``parameter`` is a key of [mechanism], or of another section named before a dot: ``world.rate``.
    An unknown section or parameter, or an invalid value, raises InputError.
    """
    before, dot, key = parameter.rpartition(".")
    section = before if dot else "mechanism"
    part: Part | None = getattr(study, section, None) if section in SECTIONS else None
    if part is None:
        raise InputError(
            f"`--smallest {parameter}`: the study has no section [{section}] of "
            f"{', '.join(SECTIONS)}"
        )
    if key not in part.options:
        raise InputError(
            f"`--smallest {parameter}`: the {section} {part.name} has no parameter {key!r}; it has "
            f"{', '.join(part.options) or 'none'}{did_you_mean(key, part.options)}"
        )
    try:
        made = checked(part.room, {**part.to_dict(), key: value}, folder)
    except ValidationError as error:
        said = error.errors(include_url=False)[0]["msg"]
        raise InputError(f"`--smallest {parameter}`: {value:g} is refused: {said}") from error
    return study.model_copy(update={section: made}).build().game
