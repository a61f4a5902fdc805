"""One distribution of a family as a separate study."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, cast

import numpy as np

from narcissus.errors import InputError
from narcissus.study.game.schema import GameStudy
from narcissus.study.registry import WORLD, loaded


def text_of(study: GameStudy, world: Any, member: str) -> str:
    """Return the text of a study file with one world and without its family.

    ``member`` names the world in the title and in messages; a user's own object raises InputError.
    """
    said = study.model_dump(mode="json", by_alias=True, exclude_unset=True)
    left = {k: v for k, v in said.items() if k not in ("family", "world", "expected", "title")}
    title = f"{study.title}: {member}"
    return to_toml({"kind": "game", "title": title, **left, "world": section_of(world, member)})


def section_of(world: Any, member: str) -> dict[str, Any]:
    """Return the section [world] of an object of this package; a user's own raises InputError."""
    for name, target in WORLD.items():
        if loaded(target) is type(world):
            options = {one.name: _plain(getattr(world, one.name)) for one in fields(world)}
            return {"name": name, **{k: v for k, v in options.items() if v is not None}}
    raise InputError(
        f"{member} is a {type(world).__name__} of your own, which a study file cannot hold; name "
        "your own world in [world], with the parameters of this one"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("list[Any]", value)]
    return value


def to_toml(document: Mapping[str, Any]) -> str:
    """Write a document as TOML: keys, then tables and lists of tables, leaving out None."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    given = {key: value for key, value in document.items() if value is not None}
    tables = {k: v for k, v in given.items() if isinstance(v, Mapping) or _tables(v)}
    yield from (f"{k} = {_value(v)}" for k, v in given.items() if k not in tables)
    for key, value in tables.items():
        several = not isinstance(value, Mapping)
        for table in cast("list[Any]", value if several else [value]):
            yield ""
            yield f"[[{key}]]" if several else f"[{key}]"
            yield from (f"{k} = {_value(v)}" for k, v in table.items() if v is not None)


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float):
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if key.replace("-", "_").isidentifier() else json.dumps(key)
