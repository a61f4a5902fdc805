"""Finished pieces and items, kept in the output folder with their origins.

One file each, written whole or not at all. A damaged file, or one made by other code, versions
or data than now, counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from narcissus._files import put, read_bytes
from narcissus.errors import InputError
from narcissus_papers.texts import read

FOLDER = "kept"
"""Beside the data of an item."""


class KeptItems:
    """Kept results, by key.

    ``folder`` is that of all items; None keeps nothing. ``origins`` are the current ones of each
    item, by its name (`narcissus_papers.origin`).
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
