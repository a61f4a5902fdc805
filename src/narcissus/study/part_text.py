"""Parts as texts, ``NAME:KEY=VALUE,KEY=VALUE``, for the command line."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from narcissus._validation import real
from narcissus.errors import InputError
from narcissus.study.part_section import UNKNOWN, checked
from narcissus.study.parts import Part

EXACT = 2**53
"""Whole numbers below it are floats exactly."""


def from_text(text: str) -> dict[str, Any]:
    """Return the section for a part as on the command line, ``NAME:KEY=VALUE,KEY=VALUE``.
    Raises InputError: it has another form, a value is no number, or a key is given twice.

    >>> from_text("randomized-response:values=10,epsilon=0.5")
    {'name': 'randomized-response', 'values': 10, 'epsilon': 0.5}
    """
    name, _, rest = text.partition(":")
    section: dict[str, Any] = {"name": name.strip()}
    for option in rest.split(",") if rest.strip() else []:
        key, equals, value = option.partition("=")
        key = key.strip()
        if not equals:
            raise InputError(f"{option!r} is not KEY=VALUE; the form is NAME:KEY=VALUE,KEY=VALUE")
        if key in section:
            raise InputError(f"`{key}` is given twice in {text!r}")
        try:
            number = real(key, float(value))
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"`{key}` must be a number, got {value!r}") from error
        whole = number.is_integer() and abs(number) < EXACT
        section[key] = int(number) if whole else number
    return section


def part_from_text(room: str, text: str) -> Part:
    """Return the part that a text names (`from_text`), checked.
    Raises InputError: there is no such part, or it does not take an option.
    """
    try:
        return checked(room, from_text(text))
    except ValidationError as error:
        said = "; ".join(_said(one) for one in error.errors(include_url=False))
        raise InputError(f"{text}: {said}") from error


def _said(fault: Any) -> str:
    key = ".".join(map(str, fault["loc"]))
    if fault["type"] == "missing":
        return f"`{key}` is missing"
    text = fault["msg"].removeprefix("Value error, ")
    return f"unknown option `{key}`: {text}" if fault["type"] == UNKNOWN else text
