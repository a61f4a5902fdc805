"""The origin of an item: its own source, that of the package, versions and data.

An item of another origin is made anew. Rooms that only show numbers do not count. Of this one only
the modules of the item's functions count, and what they import here.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import narcissus
from narcissus.study.engines.task import installed
from narcissus_papers.base import Item

ROOM = "narcissus_papers"
SHOWS = ("cli", "report")
"""Rooms whose source does not make numbers."""


def origin(item: Item, data: Mapping[str, str | None]) -> dict[str, Any]:
    """Return what an item is made from, as JSON can hold it.

    ``data`` is the SHA-256 of each file of the user's, by its name; None if it is missing.
    """
    return {
        "versions": installed(),
        "package": package_source(),
        "item": _source(item),
        "data": {one.name: data.get(one.name) for one in item.needs},
    }


@cache
def package_source() -> str:
    """Return a digest of the source of all rooms that compute numbers."""
    root = Path(narcissus.__file__).parent
    paths = (p for p in root.rglob("*.py") if p.relative_to(root).parts[0] not in SHOWS)
    return _digest({p.relative_to(root).as_posix(): p for p in paths})


def _source(item: Item) -> str:
    """Return a digest of an item's modules, and of the arguments of its pieces."""
    functions = [item.make, *item.pieces.values()]
    names = {_plain(one).__module__ for one in functions}
    files: dict[str, Path] = {}
    for name in names:
        if name.startswith(f"{ROOM}."):
            files |= _imported(name)
    for one in map(_plain, functions):  # of a module of somebody else's, that one alone
        if not one.__module__.startswith(f"{ROOM}."):
            with suppress(TypeError, OSError):  # built in, or typed into a notebook
                files[one.__module__] = Path(inspect.getfile(one))
    told = [f"{name} {_told(piece)}" for name, piece in item.pieces.items()]
    return _digest(files, "\n".join([*told, _told(item.make)]))


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _told(function: Callable[..., Any]) -> str:
    """Name a function, with the arguments of a `partial`."""
    if isinstance(function, functools.partial):
        return f"{_told(function.func)} {function.args!r} {sorted(function.keywords.items())!r}"
    return function.__qualname__


def _imported(first: str) -> dict[str, Path]:
    """Return a module of this room and all that it imports here, by their names."""
    found: dict[str, Path] = {}
    left = [first]
    while left:
        name = left.pop()
        path = None if name in found else _file(name)
        if path is not None:
            found[name] = path
            left += _imports(path)
    return found


def _imports(path: Path) -> Iterator[str]:
    """Return possible imports of a module from this room; some names may not be modules."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _file(name: str) -> Path | None:
    """Return the file of a module of this room, but not of a list of items."""
    if not name.startswith(f"{ROOM}."):
        return None
    path = Path(__file__).parent.joinpath(*name.split(".")[1:]).with_suffix(".py")
    return path if path.is_file() else None


def _digest(files: Mapping[str, Path], told: str = "") -> str:
    digest = hashlib.sha256(told.encode())
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
