"""Reuse of models that an earlier run of the same study trained.

A model's folder is released, so the record of its training stands next to the folder, for the owner
alone: with the digest and the entropy, a holder of the folder could test guesses of the data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from narcissus._files import read_bytes, write_atomically
from narcissus.errors import InputError


def trained_already(folder: Path, said: Mapping[str, object]) -> bool:
    """Check whether the model in a folder was trained as ``said``, which is JSON-able."""
    try:
        return folder.is_dir() and json.loads(read_bytes(_beside(folder))) == said
    except (OSError, ValueError, InputError):
        return False


def keep(folder: Path, said: Mapping[str, object]) -> None:
    """Record a model's training next to its folder (mode 0600)."""
    write_atomically(_beside(folder), json.dumps(said), private=True)


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.trained_on.json")
