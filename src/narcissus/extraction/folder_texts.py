"""Texts of a model's folder, which whoever gets it can read: settings, notes, tables, metadata.

They are taken as they are: a text that is packed, or written in another code, is not unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from narcissus._files import BadContentError, read_bytes
from narcissus._json import read_json
from narcissus.extraction.files import metadata_of
from narcissus.extraction.model_contents import LARGEST_TEXT, TABLES, is_text
from narcissus.extraction.model_folders import ModelFiles


def texts_of_folder(folder: Path, files: ModelFiles, *, shortest: int) -> list[str]:
    """Return the texts of a folder, white space joined.

    files: what is read of the folder, and what is harmless next to it.
    shortest: characters of a token of a tokenizer that counts as a text.
    """
    weights = set(files.weights)
    paths = [path for path in files.read_from(folder) if path not in weights]
    paths += [folder / name for name in files.others]
    texts = [_text_of(path, shortest) for path in paths]
    arrays = [path for path in files.weights if path.suffix == ".safetensors"]
    texts += [" ".join(_strings(metadata_of(path))) for path in arrays]
    joined = [" ".join(text.split()) for text in texts]
    return [text for text in joined if len(text) >= shortest]


def _text_of(path: Path, shortest: int) -> str:
    content = read_bytes(path, largest=LARGEST_TEXT)
    is_table = path.name in TABLES
    if not is_text(content):
        return ""
    text = content.decode("utf-8", errors="replace")
    if path.suffix == ".json":
        try:
            parts = [*_strings(read_json(text))]
        except (BadContentError, ValueError):
            parts = [text]
    else:
        parts = text.split("\n")
    # words of a vocabulary, one after another, are no text
    return "\n".join(part for part in parts if not is_table or len(part) >= shortest)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in cast("dict[str, Any]", value).items():
            yield key
            yield from _strings(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _strings(part)
