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


def spread(text: str, option: str = "--values") -> list[float]:
    """Read values to try: ``FROM:TO:STEP``, both ends included, or a list with commas.

    Whole numbers stay whole, and steps are decimal: ``0:0.3:0.1`` holds 0.3. A step ``xF`` is a
    factor: ``8:64:x2`` is 8, 16, 32, 64.

    Parameters
    ----------
    text
        The values.
    option
        What messages call it.

    Raises
    ------
    InputError
        The text has another form, the step does not lead from one end to the other, or there are
        too many values.
    """
    wrong = InputError(
        f"`{option}` must be FROM:TO:STEP (such as 0:0.5:0.01, or 8:64:x2 by a factor) or a list "
        f"(1,2,4), got {text!r}"
    )
    ranged = ":" in text
    words = [word.strip() for word in text.split(":" if ranged else ",")]
    by_factor = ranged and words[-1].startswith("x")
    if by_factor:
        words[-1] = words[-1][1:]
    try:
        numbers = [Decimal(word) for word in words]
    except InvalidOperation as error:
        raise wrong from error
    if not all(number.is_finite() and abs(number) < LARGEST for number in numbers) or (
        ranged and len(numbers) != 3
    ):
        raise wrong
    if ranged:
        start, end, step = numbers
        numbers = (_factors if by_factor else _steps)(start, end, step, option)
    return [int(number) if number == int(number) else float(number) for number in numbers]


def _steps(start: Decimal, end: Decimal, step: Decimal, option: str) -> list[Decimal]:
    if step == 0 or (end - start) / step < 0:
        raise InputError(f"`{option}` never gets from {start} to {end} in steps of {step}")
    if (end - start) / step > MOST:
        raise InputError(f"`{option}` holds more than {MOST:,} values: make the step larger")
    return [start + k * step for k in range(int((end - start) / step) + 1)]


def _factors(start: Decimal, end: Decimal, factor: Decimal, option: str) -> list[Decimal]:
    rises = factor > 1
    if min(start, end, factor) <= 0 or factor == 1 or (end < start if rises else end > start):
        raise InputError(f"`{option}` never gets from {start} to {end} by factors of {factor}")
    numbers = [start]
    while (numbers[-1] * factor <= end) if rises else (numbers[-1] * factor >= end):
        if len(numbers) > MOST:
            raise InputError(f"`{option}` holds more than {MOST:,} values: make the factor larger")
        numbers.append(numbers[-1] * factor)
    return numbers


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
