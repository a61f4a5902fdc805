"""Finished pieces and items, kept in the output folder with their origins.

One file each, written whole or not at all. A damaged file, or one of another origin, counts as
missing. The origin of an item is its own source, that of the package, versions and data, some of
them in the user's folder of data. Rooms that only show numbers do not count. Of this one only the
modules of the item's functions count, and what they import here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from narcissus._files import file_size, put_result, read_bytes
from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus.study.engines.task import installed
from narcissus.study.sources import functions_source, package_source
from narcissus_papers.base import Item, Needed
from narcissus_papers.job import read

LARGEST = 2**40


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
        "item": functions_source(item.make, item.pieces, "narcissus_papers", Path(__file__).parent),
        "data": {one.name: data.get(one.name) for one in item.needs},
    }


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
            put_result(path, json.dumps(kept))

    def _origin(self, key: str) -> Mapping[str, Any]:
        return self._origins[key.partition(":")[0]]

    def _path(self, key: str) -> Path | None:
        if self.folder is None:
            return None
        name, _, piece = key.partition(":")
        file = f"piece-{quote(piece, safe=' ')}" if piece else "item"
        return self.folder / name / FOLDER / f"{file}.json"
