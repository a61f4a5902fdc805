"""Strict JSON for files that others may have made."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from narcissus._files import BadContentError

DEEPEST = 100
"""Most lists and objects within each other: who walks through them calls itself for each."""
MOST_VALUES = 2**22
"""Values of a text, at most: each may take a hundred times its three characters in memory."""
_SHOWN = 200  # characters of a key in a message


def read_json(
    text: str | bytes,
    *,
    parse_constant: Callable[[str], Any] | None = None,
    most: int = MOST_VALUES,
) -> Any:
    """Parse JSON, in which no object may have a key twice: two readers would see two values.

    most: values that it may hold; counted before anything is parsed, by the marks between them.
    Raises ValueError: the text is no JSON. BadContentError: an object has a key twice, there are
        too many values, or they are nested more than `DEEPEST` deep.
    """
    marks = ",[{" if isinstance(text, str) else (b",", b"[", b"{")
    if sum(map(text.count, marks)) > most:  # pyright: ignore[reportArgumentType]
        raise BadContentError(f"it holds more than {most:,} values")
    parsed = json.loads(text, object_pairs_hook=_unique, parse_constant=parse_constant)
    if sum(map(text.count, marks[1:])) > DEEPEST:  # pyright: ignore[reportArgumentType]
        _refuse_depth(parsed)
    return parsed


def _refuse_depth(parsed: Any) -> None:
    level = [parsed]
    for _ in range(DEEPEST + 1):
        inner = [node.values() if isinstance(node, dict) else node for node in level]
        level = [value for node in inner for value in node if isinstance(value, dict | list)]
        if not level:
            return
    raise BadContentError("it is nested too deeply")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadContentError(f"an object has the key {key[:_SHOWN]!r} twice")
            seen.add(key)
    return entries
