"""A study as a dictionary: what a file could hold stays, objects become names that stand for them.

A dictionary is nested as the TOML is, and may hold what no file can: a data frame or a `Table`
under ``data``, and own attacks, priors, worlds and so on wherever a file would name a
``module:attribute``. In the settings, and so in the record, such an object is named ``python:``
and its place, ``python:attacks.mine``.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from narcissus._pandas import is_frame, pd
from narcissus.errors import StudyError
from narcissus.study.plugins import GIVEN, UNKNOWN
from narcissus.study.toml import DEEPEST, LARGEST_NUMBER
from narcissus.tables import Bins, Table
from narcissus.tables.formats import as_frame
from narcissus.tables.metadata import metadata_of_frame, with_metadata

FRAME = f"{GIVEN}frame"  # the name that stands for the table of people
# Keys of the section [data] that may each hold a table, of an audit of a given file.
FILES = ("real", "synthetic", "control")
PUBLISHED = "synthetic"  # of these, what is published with all that it holds
THE_STUDY = "the study"  # what messages call a study that was given as a dictionary


def split(study: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the plain part of a study, and the objects in it by the names that stand for them.

    A key whose value is None counts as left out; NumPy's and pandas' numbers and lists, tuples,
    paths and `Bins` are taken for what a file would say. An object in the place of a section is
    for ``{"name": object}``. A key that is no text, or too deep a study, raises StudyError.
    """
    objects = _Objects()
    return objects.table(study, ()), objects.named


class _Objects:
    def __init__(self) -> None:
        self.named: dict[str, Any] = {}

    def table(self, value: Mapping[Any, Any], path: tuple[str, ...]) -> dict[str, Any]:
        section: dict[str, Any] = {}
        for name, content in value.items():
            entry = content
            if path == ("data",) and name in ("frame", *FILES):
                entry = as_frame(content)
                if name == PUBLISHED and is_frame(entry) and not is_frame(content):
                    entry = with_metadata(entry, metadata_of_frame(content))
            if not isinstance(name, str):
                where = f"in `{'.'.join(path)}` " if path else ""
                raise StudyError(f"{THE_STUDY}: keys {where}must be text, got {name!r}")
            if name == "frame" and path == ("data",) and is_table(entry):
                section["table"] = self._name(FRAME, entry)
            elif name in FILES and path == ("data",) and is_table(entry):
                section[name] = self._name(f"{GIVEN}data.{name}", entry)
            elif entry is not None:
                section[name] = self._plain(entry, (*path, name))
        return section

    def _plain(self, value: Any, path: tuple[str, ...]) -> Any:
        if len(path) > DEEPEST:
            raise StudyError(f"{THE_STUDY}: tables and lists are nested more than {DEEPEST} deep")
        if isinstance(value, Bins):
            value = asdict(value)
        if isinstance(value, Mapping):
            return self.table(value, path)
        if isinstance(value, list | tuple | range | np.ndarray | pd.Series | pd.Index):
            entries = value if isinstance(value, list | tuple | range) else value.tolist()
            return [self._plain(entry, (*path, str(n))) for n, entry in enumerate(entries, start=1)]
        return self._one(value, path)

    def _one(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, int) and abs(value) >= LARGEST_NUMBER:
            raise StudyError(f"{THE_STUDY}: a whole number has more than 128 bits")
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Path):
            return str(value)
        if is_table(value):
            return {"table": self._name(FRAME, value)}
        if path[-1] in ("kind", "name"):
            return self._name(GIVEN + ".".join(path[:-1]), value)
        return {"name": self._name(GIVEN + ".".join(path), value)}

    def _name(self, name: str, value: Any) -> str:
        # a copy, so that the study stays what it is when the frame is changed afterwards
        self.named[name] = value.copy() if is_frame(value) else value
        return name


def is_table(value: object) -> bool:
    """Return whether an object is a table of people, whose digest is that of its cells."""
    return is_frame(value) or isinstance(value, Table)


def digest_of_object(value: Any) -> str:
    """Return the SHA-256 of an object: of the module that it comes from, and of what it holds.

    Objects with the same digest play the same. What was defined in a notebook or within a function
    cannot be told apart so (what it calls may have changed): each has a separate digest, which
    begins with `UNKNOWN`, so that no run continues the trials of another.
    """
    kind = value if isinstance(value, type) or inspect.isfunction(value) else type(value)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is not None and kind.__module__ != "__main__" and "<locals>" not in kind.__qualname__:
        try:
            state = None if kind is value else cloudpickle.dumps(value.__reduce_ex__(4)[1:])
            parts = (kind.__qualname__, Path(file).read_bytes(), state)
            return hashlib.sha256(repr(parts).encode()).hexdigest()
        except Exception:  # whatever an object of the user's may raise
            pass
    return f"{UNKNOWN}: {uuid.uuid4().hex}"
