"""TOML for files that others may have made: bounded in depth before anything is parsed.

The parser of the standard library takes time in the square of the parts of a dotted key, and calls
itself for each bracket.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from narcissus._files import BadContentError

DEEPEST = 32
"""Most tables and lists within each other, and most parts of a key."""

_TEXTS = re.compile(
    r'"""(?s:(?:[^\\"]|\\.|"(?!""))*+)(?:"""|\Z)'
    r"|'''(?s:(?:[^']|'(?!''))*+)(?:'''|\Z)"
    r'|"(?:[^\\"\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
)
"""Texts and comments: brackets and dots in them mean nothing."""
_ENDS_KEY = re.compile(r"[=,\[\]{}\n]")


def read_toml(text: str) -> dict[str, Any]:
    """Parse TOML in linear time.

    Raises ValueError: the text is no TOML; the message has line and column. BadContentError: tables
        and lists are nested more than `DEEPEST` deep, or a key has more parts.
    """
    marks = _TEXTS.sub("s", text)
    if max(part.count(".") for part in _ENDS_KEY.split(marks)) >= DEEPEST:
        raise BadContentError(f"a key has more than {DEEPEST} parts")
    depth = 0
    for mark in re.findall(r"[\[\]{}]", marks):
        depth += 1 if mark in "[{" else -1
        if depth > DEEPEST:
            raise BadContentError(f"tables and lists are nested more than {DEEPEST} deep")
    return tomllib.loads(text)
