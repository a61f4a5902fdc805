"""Finished pieces and items, kept in the output folder with their origins.

One file each, written whole or not at all. A damaged file, or one of another origin, counts as
missing. The origin of an item is its own source, that of the package, versions and data, some of
them in the user's folder of data. Rooms that only show numbers do not count. Of this one only the
modules of the item's functions count, and what they import here.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import narcissus
from narcissus._files import file_size, put, read_bytes
from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus.study.engines.task import installed
from narcissus_papers.base import Item, Needed
from narcissus_papers.job import read

LARGEST = 2**40
ROOT = Path(narcissus.__file__).resolve().parent
"""The folder of the package that computes the numbers."""
SHOWS = ("cli", "report")
"""Rooms whose source does not make numbers."""
_OURS = "narcissus_papers."


def digests(items: Sequence[Item], data: Path | None, observer: Observer) -> dict[str, str | None]:
    """Return the SHA-256 of each file that items need, by its name; None if it is missing.

    A missing folder, a wrong file, or a named folder with none of the files raises InputError.
    """
    needed = {one.name: (item, one) for item in items for one in item.needs}
    if data is None:
        return dict.fromkeys(needed)
    if not data.is_dir():
        raise InputError(f"`data` must be a folder, and {data} is none")
    found: dict[str, str | None] = {name: _checksum(data / name) for name in needed}
    for item in items:
        for one in item.needs:
            _require_the_one(item, one, data, found[one.name])
    missing = [
        f"{name} (for {item.name}; from {one.source})"
        for name, (item, one) in needed.items()
        if found[name] is None
    ]
    if missing and len(missing) == len(needed):
        raise InputError(f"{data} has none of the files that are needed: {', '.join(missing)}")
    for said in missing:
        observer.note(f"not in {data}: {said}")
    return found


def _checksum(path: Path) -> str | None:
    if not path.exists():
        return None
    file_size(path, largest=LARGEST)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _require_the_one(item: Item, needed: Needed, data: Path, found: str | None) -> None:
    if found is not None and needed.sha256 and found != needed.sha256.lower():
        raise InputError(
            f"{data / needed.name} is not the file that {item.name} needs: its SHA-256 is {found}, "
            f"and should be {needed.sha256.lower()}; fetch it from {needed.source}"
        )
    if found is not None and needed.check is not None:
        needed.check(data / needed.name)


def origin(item: Item, data: Mapping[str, str | None]) -> dict[str, Any]:
    """Return what an item is made from, as JSON can hold it.

    ``data`` is the SHA-256 of each file of the user's, by its name; None if it is missing.
    """
    return {
        "versions": installed(),
        "package": package_source(),
        "item": functions_source(item.make, item.pieces),
        "data": {one.name: data.get(one.name) for one in item.needs},
    }


@cache
def package_source() -> str:
    """Return a digest of the source of all rooms that compute numbers."""
    paths = (p for p in ROOT.rglob("*.py") if p.relative_to(ROOT).parts[0] not in SHOWS)
    return _digest({p.relative_to(ROOT).as_posix(): p for p in paths})


def functions_source(make: Callable[..., Any], pieces: Mapping[str, Callable[..., Any]]) -> str:
    """Return a digest of the modules of functions, and of the arguments of each.

    Of this package all modules that these import count; of others only their own.
    """
    functions = [make, *pieces.values()]
    names = {_plain(one).__module__ for one in functions}
    files: dict[str, Path] = {}
    for name in names:
        files |= _imported(name)
    for one in map(_plain, functions):  # of a module of somebody else's, that one alone
        if not one.__module__.startswith(_OURS):
            with suppress(TypeError, OSError):  # built in, or typed into a notebook
                files[one.__module__] = Path(inspect.getfile(one))
    told = [f"{name} {_told(piece)}" for name, piece in pieces.items()]
    return _digest(files, "\n".join([*told, _told(make)]))


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
    """Return a module of this package and all that it imports here, by their names."""
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
    """Return possible imports of a module; some names may not be modules."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _file(name: str) -> Path | None:
    """Return the file of a module of this package, but not of a package in it."""
    if not name.startswith(_OURS):
        return None
    path = Path(__file__).parent.joinpath(*name.split(".")[1:]).with_suffix(".py")
    return path if path.is_file() else None


def _digest(files: Mapping[str, Path], told: str = "") -> str:
    digest = hashlib.sha256(told.encode())
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


FOLDER = "kept"
"""Beside the data of an item."""


class KeptItems:
    """Kept results, by key.

    ``folder`` is that of all items; None keeps nothing. ``origins`` are the current ones of each
    item, by its name (`narcissus_papers.kept`).
    """

    def __init__(self, folder: Path | None, origins: Mapping[str, Mapping[str, Any]]) -> None:
        self.folder = folder
        self._origins = origins

    def get(self, key: str) -> str | None:
        path = self._path(key)
        if path is None or not path.exists():
            return None
        with suppress(InputError, ValueError, KeyError, TypeError):
            kept: dict[str, Any] = json.loads(read_bytes(path))
            if kept["made by"] == self._origin(key):
                text = json.dumps(kept["found"])
                if ":" not in key:
                    read(text)  # somebody may have changed it
                return text
        return None

    def put(self, key: str, text: str) -> None:
        """Keep the result of a key; a folder that cannot be written raises InputError."""
        path = self._path(key)
        if path is not None:
            kept = {"made by": self._origin(key), "found": json.loads(text)}
            put(path, json.dumps(kept), folders=True)

    def _origin(self, key: str) -> Mapping[str, Any]:
        return self._origins[key.partition(":")[0]]

    def _path(self, key: str) -> Path | None:
        if self.folder is None:
            return None
        name, _, piece = key.partition(":")
        file = f"piece-{quote(piece, safe=' ')}" if piece else "item"
        return self.folder / name / FOLDER / f"{file}.json"
