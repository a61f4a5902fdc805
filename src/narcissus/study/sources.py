"""Digests of source, by which a kept result is known to be of other code."""

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

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the package."""
SHOWS = ("cli", "report")
"""Rooms whose source does not make numbers."""


@cache
def package_source() -> str:
    """Return a digest of the source of all rooms that compute numbers."""
    paths = (p for p in ROOT.rglob("*.py") if p.relative_to(ROOT).parts[0] not in SHOWS)
    return _digest({p.relative_to(ROOT).as_posix(): p for p in paths})


def functions_source(
    make: Callable[..., Any], pieces: Mapping[str, Callable[..., Any]], room: str, root: Path
) -> str:
    """Return a digest of the modules of functions, and of the arguments of each.

    Of a package ``room`` in the folder ``root`` all modules that these import count; of others
    only their own.
    """
    functions = [make, *pieces.values()]
    names = {_plain(function).__module__ for function in functions}
    files: dict[str, Path] = {}
    for name in names:
        if name.startswith(f"{room}."):
            files |= _imported(name, room, root)
    for function in map(_plain, functions):  # of a module of somebody else's, that one alone
        if not function.__module__.startswith(f"{room}."):
            with suppress(TypeError, OSError):  # built in, or typed into a notebook
                files[function.__module__] = Path(inspect.getfile(function))
    lines = [f"{name} {_told(piece)}" for name, piece in pieces.items()]
    return _digest(files, "\n".join([*lines, _told(make)]))


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _told(function: Callable[..., Any]) -> str:
    """Name a function, with the arguments of a `partial`."""
    if isinstance(function, functools.partial):
        return f"{_told(function.func)} {function.args!r} {sorted(function.keywords.items())!r}"
    return function.__qualname__


def _imported(first: str, room: str, root: Path) -> dict[str, Path]:
    """Return a module of a room and all that it imports there, by their names."""
    modules: dict[str, Path] = {}
    left = [first]
    while left:
        name = left.pop()
        path = None if name in modules else _file(name, room, root)
        if path is not None:
            modules[name] = path
            left += _imports(path)
    return modules


def _imports(path: Path) -> Iterator[str]:
    """Return possible imports of a module from its room; some names may not be modules."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file(name: str, room: str, root: Path) -> Path | None:
    """Return the file of a module of a room, but not of a package in it."""
    if not name.startswith(f"{room}."):
        return None
    path = root.joinpath(*name.split(".")[1:]).with_suffix(".py")
    return path if path.is_file() else None


def _digest(files: Mapping[str, Path], told: str = "") -> str:
    digest = hashlib.sha256(told.encode())
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
