"""The digest of a model's folder: of every file by which the model acts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from narcissus._files import file_digest, files_below
from narcissus.extraction.model_contents import Unpublished

READ = frozenset({".safetensors", ".json", ".txt", ".model"})
"""How weights, configurations and the tables of tokenizers end."""


def model_digest(folder: Path, unpublished: Sequence[str] = ()) -> str:
    """Return one SHA-256 of a model's weights, configurations and tokenizers, with their names.

    Weights alone do not decide what a model says: next to the same ones, a configuration may make
    noise of them. Hidden files, and others such as a description, are not read, and neither is what
    is declared as not published.
    """
    declared = Unpublished(tuple(unpublished))
    digest = hashlib.sha256()
    for path in files_below(folder):
        name = path.relative_to(folder).as_posix()
        if declared.holds(name):
            continue
        if path.suffix in READ and "/." not in f"/{name}" and path.is_file():
            digest.update(f"{name}\0{file_digest(path)}\0".encode(errors="surrogateescape"))
    return f"sha256:{digest.hexdigest()}"
