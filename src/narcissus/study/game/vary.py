"""The game of a study at other values of one parameter."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path

from pydantic import ValidationError

from narcissus._validation import did_you_mean
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.study.game.schema import GameStudy
from narcissus.study.part_section import checked
from narcissus.study.parts import Part

MOST, LARGEST = 100_000, 10**15
SECTIONS = ("mechanism", "world", "success", "looser")


def spread(text: str, name: str = "--values") -> list[float]:
    """Read values to try: ``FROM:TO:STEP``, both ends included, or a list with commas.

    Whole numbers stay whole, and steps are decimal: ``0:0.3:0.1`` holds 0.3. ``name`` is what
    messages call it.

    Raises
    ------
    InputError
        The text has another form, the step does not lead from one end to the other, or there are
        too many values.
    """
    wrong = InputError(
        f"`{name}` must be FROM:TO:STEP (such as 0:0.5:0.01) or a list (1,2,4), got {text!r}"
    )
    ranged = ":" in text
    try:
        numbers = [Decimal(word.strip()) for word in text.split(":" if ranged else ",")]
    except InvalidOperation as error:
        raise wrong from error
    if not all(number.is_finite() and abs(number) < LARGEST for number in numbers) or (
        ranged and len(numbers) != 3
    ):
        raise wrong
    if ranged:
        start, end, step = numbers
        if step == 0 or (end - start) / step < 0:
            raise InputError(f"`{name}` never gets from {start} to {end} in steps of {step}")
        if (end - start) / step > MOST:
            raise InputError(f"`{name}` holds more than {MOST:,} values: make the step larger")
        numbers = [start + k * step for k in range(int((end - start) / step) + 1)]
    return [int(number) if number == int(number) else float(number) for number in numbers]


def varied(study: GameStudy, folder: Path, parameter: str, value: float) -> Game:
    """Give the game of a study with another value of ``parameter``.

    Parameters
    ----------
    parameter
        A key of [mechanism], or of another section with its name before a dot: ``world.rate``.

    Raises
    ------
    InputError
        There is no such section or parameter, or it does not take the value.
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
