"""A stranger's model is laid out in the sandbox first, where there is one.

What a library does with a configuration and a tokenizer happens there once, under limits on memory
and time and with no file of others, before it happens in this process. Weights are arrays whose
headers were checked, so they stay out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from narcissus._files import files_digest
from narcissus._json import read_json
from narcissus.errors import InputError, TooLargeError
from narcissus.extraction.model_folders import ModelFiles, staged
from narcissus.extraction.sandbox import (
    IsolationError,
    Limits,
    check_isolation,
    run_program,
    without_isolation,
)

LIMITS = Limits(seconds=1800.0, processor=120.0, memory=4 * 2**30, output=2**12)
"""Of laying out one model, the import of the libraries included; machines are busy."""
LEAST_BUFFERS = 2**30
"""Bytes that a model may always compute for itself, such as masks."""
_PROGRAM = Path(__file__).with_name("_model_trial.py")
_TRIED: dict[str, dict[str, int]] = {}


def require_laid_out(parts: Mapping[str, ModelFiles], path: Path) -> None:
    """Refuse a model that cannot be laid out, or that needs more than its weights hold.

    parts: the checked files of each folder of the model; "" is the folder itself.
    path: the folder that was named, for messages.
    Raises InputError: a library cannot read its configuration or tokenizer within the limits; it
        has more parameters than there are weights, or buffers of more bytes than its weights and
        `LEAST_BUFFERS`.
    """
    sizes = _tried(parts, path)
    values = sum(files.values for files in parts.values())
    if sizes["parameters"] > values:
        raise InputError(
            f"the configuration in {path} asks for {sizes['parameters']:,} parameters, and its "
            f"weights hold {values:,}: save the model whole, with `save_pretrained`"
        )
    weights = sum(files.size for files in parts.values())
    if sizes["buffers"] > max(LEAST_BUFFERS, weights):
        raise TooLargeError(
            f"the configuration in {path} asks for {sizes['buffers']:,} bytes beside its weights, "
            f"which have {weights:,}"
        )


def _tried(parts: Mapping[str, ModelFiles], path: Path) -> dict[str, int]:
    key = _digest(parts)
    if key not in _TRIED:
        bare = {name: replace(files, weights=()) for name, files in parts.items()}
        with staged(bare) as place:
            try:
                check_isolation()
                run = run_program(_PROGRAM, place, LIMITS)
            except IsolationError:  # no sandbox here: the limits on time and output remain
                with without_isolation():
                    run = run_program(_PROGRAM, place, LIMITS)
        if run.ending != "finished":
            lines = run.error.strip().splitlines() or [run.ending]
            raise InputError(f"cannot read the model in {path} ({run.ending}): {lines[-1][:300]}")
        _TRIED[key] = read_json(run.output.strip().splitlines()[-1])
    return _TRIED[key]


def _digest(parts: Mapping[str, ModelFiles]) -> str:
    content: list[Any] = [
        [name, files.settings, [path.name for path in files.tables], files_digest(files.tables)]
        for name, files in sorted(parts.items())
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
