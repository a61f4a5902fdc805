"""A stranger's model is laid out in the sandbox first.

What a library does with a configuration happens there once, under limits on memory and time and
with no file of others, before it happens in this process. A tokenizer's files are read there alone:
what comes out is JSON, which is checked and written anew. Weights are arrays whose headers were
checked, so they stay out.

Where a machine has no sandbox, the model is refused, unless the user says that its maker is trusted
(`narcissus.extraction.without_isolation`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from narcissus._files import files_digest, parsing
from narcissus._forked import Forks, can_fork
from narcissus._json import read_json
from narcissus.errors import InputError, TooLargeError
from narcissus.extraction._runs import ProgramRun, run_once
from narcissus.extraction.model_folders import (
    ModelFiles,
    checked_values,
    reason_of_crash,
    staged,
)
from narcissus.extraction.model_weights import LARGEST_TEXT
from narcissus.extraction.sandbox import Limits, check_isolation, may_fork
from narcissus.extraction.tokenizer_files import checked_tokenizer

TOKENIZER, SETTINGS = "tokenizer.json", "tokenizer_config.json"


class LaidOut(BaseModel):
    """What the program in the sandbox prints."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    parameters: int
    buffers: int
    tokenizers: dict[str, dict[str, dict[str, Any]]]
    """By the folder in the model and the name of the file."""


LIMITS = Limits(seconds=1800.0, processor=120.0, memory=4 * 2**30, output=2 * LARGEST_TEXT)
"""Of laying out one model, the import of the libraries included; machines are busy."""
LEAST_BUFFERS = 2**30
"""Bytes that a model may always compute for itself, such as masks."""
_PROGRAM = Path(__file__).with_name("_model_trial.py")
REFUSED = "refused: "
"""How the program in the sandbox begins its own reason."""
_FIELD = re.compile(
    r"Field '(\w{1,80})' (?:with value (.*?) doesn't match|expected .*?\(value: (.*)\))"
)
"""How transformers says that a value of a configuration is of another type."""
_TRIED: dict[str, LaidOut] = {}
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
_LANGUAGE = (
    "torch",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.auto.modeling_auto",
    "transformers.generation.utils",
    "narcissus.extraction._messages",
    "narcissus.extraction.model_engine",
)
_IMAGES = (*_LANGUAGE, "diffusers.pipelines.pipeline_utils", "narcissus.extraction.image_engine")
_FORKS = {False: Forks(_LANGUAGE, OFFLINE), True: Forks(_IMAGES, OFFLINE)}


def model_forks(*, images: bool) -> Forks | None:
    """Return what processes of models are forked from, with the libraries there; None: nothing.

    The libraries are imported once for all models of this process, before any walls and away from
    every file of a stranger. They begin to be imported while the walls are tried.
    """
    forks = _FORKS[images]
    if can_fork():
        forks.begin()
    return forks if may_fork(check_isolation().method) else None


def laid_out(parts: Mapping[str, ModelFiles], path: Path) -> dict[str, ModelFiles]:
    """Return what a library may read of a model outside of the sandbox.

    Its tokenizers are the JSON that came out of the sandbox, in place of their files. Refuses a
    model that cannot be laid out, or that needs more than its weights hold.

    parts: the checked files of each folder of the model; "" is the folder itself.
    path: the folder that was named, for messages.
    Raises InputError: a library cannot read its configuration or tokenizer within the limits; it
        has more parameters than there are weights, or buffers of more bytes than its weights and
        `LEAST_BUFFERS`; its tokenizer has parts that are not known. IsolationError: there is no
        sandbox, and nobody said that the maker of the model is trusted.
    """
    layout = _tried(parts, path)
    values = sum(files.values for files in parts.values())
    if layout.parameters > values:
        raise InputError(
            f"the configuration in {path} asks for {layout.parameters:,} parameters, and its "
            f"weights hold {values:,}: save the model whole, with `save_pretrained`"
        )
    weights = sum(files.size for files in parts.values())
    if layout.buffers > max(LEAST_BUFFERS, weights):
        raise TooLargeError(
            f"the configuration in {path} asks for {layout.buffers:,} bytes besides its weights, "
            f"which have {weights:,}"
        )
    tokenizers = {name: _tokenizer(tokens, path) for name, tokens in layout.tokenizers.items()}
    return {
        name: replace(files, tables=(), settings={**files.settings, **tokenizers.get(name, {})})
        for name, files in parts.items()
    }


def _tokenizer(files: Mapping[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """Check a tokenizer that came out of the sandbox."""
    if TOKENIZER not in files:
        raise InputError(
            f"the tokenizer in {path} cannot be written as {TOKENIZER}, the only form that is read "
            "of others' models: save a fast one next to the model, with "
            "`tokenizer.save_pretrained(folder)`"
        )
    settings = checked_values(path / SETTINGS, files.get(SETTINGS, {}))
    return {TOKENIZER: checked_tokenizer(files[TOKENIZER], str(path)), SETTINGS: settings}


def _tried(parts: Mapping[str, ModelFiles], path: Path) -> LaidOut:
    key = _digest(parts)
    if key not in _TRIED:
        bare = {name: replace(files, weights=()) for name, files in parts.items()}
        with staged(bare) as place:
            run = _run_apart(place, images=len(parts) > 1)
        if run.ending != "finished":
            reason = reason_of_crash(run.error, run.ending)
            if run.signal:
                reason = f"it was ended by signal {run.signal}; perhaps memory"
            lines = run.error.strip().splitlines() or [""]
            raise _refused(path, run.ending, lines[-1], reason)
        _TRIED[key] = _outcome(run.output, path)
    return _TRIED[key]


def _refused(path: Path, ending: str, line: str, reason: str) -> InputError:
    """Explain the last line that the program in the sandbox wrote, or why it ended."""
    if line.startswith(REFUSED):
        return InputError(f"the model in {path} {line.removeprefix(REFUSED)[:500]}")
    if (field := _FIELD.search(line)) is not None:
        return InputError(
            f"{path / 'config.json'}: `{field[1]}` is {(field[2] or field[3])[:80]}, which is not "
            "of the type that the architecture needs"
        )
    return InputError(f"cannot read the model in {path} ({ending}): {reason}")


def _run_apart(place: Path, *, images: bool) -> ProgramRun:
    forks = model_forks(images=images)
    return run_once(_PROGRAM, place, LIMITS, check_isolation().method, forks=forks)


def _outcome(output: bytes, path: Path) -> LaidOut:
    """Read what came out of the sandbox, where a stranger may have taken over the program."""
    with parsing(path, "a model that can be laid out", IndexError):
        layout: Any = read_json(output.strip().splitlines()[-1])
        return LaidOut.model_validate(layout)


def _digest(parts: Mapping[str, ModelFiles]) -> str:
    content: list[Any] = [
        [name, files.settings, [path.name for path in files.tables], files_digest(files.tables)]
        for name, files in sorted(parts.items())
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
