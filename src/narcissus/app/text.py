"""The text of a study file, changed a key at a time: all else in it stays as it was written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from narcissus._toml import read_toml
from narcissus._visible import visible
from narcissus.errors import InputError

Keys = tuple[str, ...]
_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(#.*)?")
_EXAMPLE = "# What do you accept? Without a threshold"  # how the draft shows one, commented out


def digest(text: str) -> str:
    """Return what tells a form that the file is another one by now."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def get(data: Mapping[str, Any], *keys: str) -> Any:
    """Return what is at a path of keys, None where there is nothing."""
    node: Any = data
    for key in keys:
        node = cast("dict[str, Any]", node).get(key) if isinstance(node, dict) else None
    return node


def changed(text: str, values: Mapping[Keys, Any]) -> str:
    """Return a study file with other values at some keys; None takes a key out.

    Comments that explained a value which is another one now are taken out. InputError: the file is
    written in a way in which its values cannot be changed one by one.
    """
    data = read_toml(text)
    values = {keys: value for keys, value in values.items() if get(data, *keys) != value}
    for keys in values:
        text = _uncommented(text, keys)
    try:
        document = tomlkit.parse(text)
        for keys, value in values.items():
            _put(cast(Any, document), keys, value)
            _put(data, keys, value)
        written = tomlkit.dumps(document)
        agrees = read_toml(written) == data
    except (TOMLKitError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(_BY_HAND) from error
    if not agrees:
        raise InputError(_BY_HAND)
    return written


_BY_HAND = (
    "the study file is written in a way that this form cannot change: change the text itself, "
    "below the form"
)


def _put(place: Any, keys: Keys, value: Any) -> None:
    for number, key in enumerate(keys[:-1], start=1):
        if key not in place:
            if value is None:
                return
            place[key] = _section(place, inline=number > 1 and key != "bins")
        place = place[key]
    if value is None:
        place.pop(keys[-1], None)
    elif keys[-1] in place or not isinstance(place, Table):
        place[keys[-1]] = _item(place, value)
    else:  # a new key goes before comments that lead to the next section
        body, rest = place.value.body, list[Any]()
        while body and body[-1][0] is None:
            rest.insert(0, body.pop())
        place.add(keys[-1], _item(place, value))
        body.extend(rest)


def _section(place: Any, *, inline: bool) -> Any:
    if type(place) is dict:
        return {}
    if inline:
        return tomlkit.inline_table()
    if isinstance(place, tomlkit.TOMLDocument) and place.as_string().strip():
        place.add(tomlkit.nl())
    return tomlkit.table()


def _item(place: Any, value: Any) -> Any:
    """Return a value as it is written: a table of a few keys on one line."""
    if type(place) is dict or not isinstance(value, dict):
        return value
    table = tomlkit.inline_table()
    table.update(cast("dict[str, Any]", value))
    return table


def _uncommented(text: str, keys: Keys) -> str:
    """Take out the comments about a value: those above its key, or of its whole section.

    What the draft says of a section, it says by several values of it.
    """
    lines = text.split("\n")
    section, sections = "", [""] * len(lines)
    for number, line in enumerate(lines):
        if match := _HEADER.fullmatch(line):
            section = match[1]
        sections[number] = section

    def block_at(start: str, step: int = 0) -> set[int]:
        match = (n + step for n, line in enumerate(lines) if line.strip().startswith(start))
        return _block(lines, next(match, -1))

    gone = set[int]()
    if keys[0] == "threshold":
        gone = block_at(_EXAMPLE)
    elif keys[0] == "data":
        key = re.compile(rf'\s*(["\']?){re.escape(keys[-1])}\1\s*=')
        about = (n for n, line in enumerate(lines) if key.match(line) and "data" in sections[n])
        gone = gone.union(*(_block(lines, n - 1) for n in about))
    elif keys[0] in ("threat", "mechanism", "release"):
        gone = {n for n, x in enumerate(lines) if sections[n] == keys[0] and x.startswith("#")}
        # above the mechanism stands how many cells show an unknown column
        gone = (gone - block_at(_EXAMPLE) | block_at("[mechanism]", -1)) - block_at("[prior]", -1)
    left = "\n".join(line for number, line in enumerate(lines) if number not in gone)
    left = re.sub(r"\n{3,}", "\n\n", left) if gone else left
    try:  # no comment, if it stood in a text of several lines
        return left if read_toml(left) == read_toml(text) else text
    except ValueError:
        return text


def _block(lines: list[str], number: int) -> set[int]:
    """Return the lines of comment around one, which is its first or its last."""
    numbers: set[int] = set()
    for step in (1, -1):
        at = number
        while 0 <= at < len(lines) and lines[at].startswith("#"):
            numbers.add(at)
            at += step
    return numbers


def written(values: Mapping[str, Any], remarks: list[str]) -> str:
    """Write a study file of nested values; what is None or empty is left out."""
    lines = [f"# {visible(' '.join(line.split()))}\n" for line in remarks]
    return "".join(lines) + tomlkit.dumps(_full(values))


def _full(value: Mapping[str, Any]) -> dict[str, Any]:
    fields = {k: _full(v) if isinstance(v, Mapping) else v for k, v in value.items()}
    return {k: v for k, v in fields.items() if v not in (None, {}, [], ())}
