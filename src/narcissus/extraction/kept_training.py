"""Recognize models that an earlier run of the same study trained, without a word in their folder.

A model's folder is what is released. What it was trained on is said beside it, for its owner
alone: with the digest and the entropy whoever has the folder could try guesses of the data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from narcissus._files import read_bytes, write_atomically
from narcissus.errors import InputError


def trained_already(folder: Path, said: Mapping[str, object]) -> bool:
    """Check whether the model in a folder was trained as `said`, JSON-able."""
    try:
        return folder.is_dir() and json.loads(read_bytes(_beside(folder))) == said
    except (OSError, ValueError, InputError):
        return False


def keep(folder: Path, said: Mapping[str, object]) -> None:
    """Write how the model in a folder was trained, beside the folder (mode 0600)."""
    write_atomically(_beside(folder), json.dumps(said), private=True)


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.trained_on.json")
