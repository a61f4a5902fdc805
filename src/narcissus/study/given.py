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
import pandas as pd

from narcissus.errors import StudyError
from narcissus.study.plugins import GIVEN, UNKNOWN
from narcissus.study.toml import DEEPEST
from narcissus.tables import Bins, Table

FRAME = f"{GIVEN}frame"
"""The name that stands for the table of people."""
THE_STUDY = "the study"
"""What messages call a study that was given as a dictionary."""

_LISTS = (list, tuple, range, np.ndarray, pd.Series, pd.Index)


def split(study: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the plain part of a study, and the objects in it by the names that stand for them.

    Parameters
    ----------
    study
        Nested as the TOML. A key whose value is None counts as left out; NumPy's and pandas'
        numbers and lists, tuples, paths and `Bins` are taken for what a file would say.
        An object in the place of a section stands for ``{"name": object}``.

    Raises
    ------
    StudyError
        A key is no text, or the study is nested too deeply.
    """
    objects: dict[str, Any] = {}

    def plain(value: Any, path: tuple[str, ...]) -> Any:
        if len(path) > DEEPEST:
            raise StudyError(f"{THE_STUDY}: tables and lists are nested more than {DEEPEST} deep")
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Path):
            return str(value)
        if isinstance(value, Bins):
            return plain(asdict(value), path)
        if isinstance(value, Mapping):
            return table(value, path)
        if isinstance(value, _LISTS):
            entries = value if isinstance(value, list | tuple | range) else value.tolist()
            return [plain(entry, (*path, str(n))) for n, entry in enumerate(entries, start=1)]
        if isinstance(value, pd.DataFrame | Table):
            return {"table": named(FRAME, value)}
        if path[-1] in ("kind", "name"):
            return named(GIVEN + ".".join(path[:-1]), value)
        return {"name": named(GIVEN + ".".join(path), value)}

    def table(value: Mapping[Any, Any], path: tuple[str, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, entry in value.items():
            if not isinstance(name, str):
                where = f"in `{'.'.join(path)}` " if path else ""
                raise StudyError(f"{THE_STUDY}: keys {where}must be text, got {name!r}")
            if name == "frame" and path == ("data",) and isinstance(entry, pd.DataFrame | Table):
                found["table"] = named(FRAME, entry)
            elif entry is not None:
                found[name] = plain(entry, (*path, name))
        return found

    def named(name: str, value: Any) -> str:
        # a copy, so that the study stays what it is when the frame is changed afterwards
        objects[name] = value.copy() if isinstance(value, pd.DataFrame) else value
        return name

    return table(study, ()), objects


def digest_of_object(value: Any) -> str:
    """Give the SHA-256 of an object: of the module that it comes from, and of what it holds.

    Objects with the same digest play the same. What was defined in a notebook or within a function
    cannot be told apart so (what it calls may have changed): each has a digest of its own, which
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
