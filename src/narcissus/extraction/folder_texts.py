"""Texts of a model's folder, which whoever gets it can read: settings, notes, tables, metadata.

Texts in the usual codes are unpacked (`narcissus.extraction.packed_texts`); files that hold what
cannot be read are named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from narcissus._files import BadContentError, read_bytes
from narcissus._json import read_json
from narcissus.extraction.files import metadata_of
from narcissus.extraction.model_contents import LARGEST_TEXT, TABLES, is_text
from narcissus.extraction.model_folders import ModelFiles
from narcissus.extraction.packed_texts import MOST_UNPACKED, Unpacker


@dataclass(frozen=True)
class FolderTexts:
    """The texts of a model's folder.

    texts: White space joined; each in all codes that it was read in.
    unread: Names of files that hold what cannot be read, or too much.
    """

    texts: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def texts_of_folder(folder: Path, files: ModelFiles, *, shortest: int) -> FolderTexts:
    """Read the texts of a folder.

    files: what is read of the folder, and what is harmless next to it.
    shortest: characters of a token of a tokenizer that counts as a text.
    """
    weights = set(files.weights)
    paths = [path for path in files.read_from(folder) if path not in weights]
    paths += [folder / name for name in files.others]
    arrays = [path for path in files.weights if path.suffix == ".safetensors"]
    texts: dict[str, None] = {}
    unread: list[str] = []
    left = MOST_UNPACKED
    for path in [*paths, *arrays]:
        unpacker = Unpacker(shortest, left)
        if path in weights:
            for text in _strings(metadata_of(path)):
                unpacker.read_text(" ".join(text.split()))
        else:
            _read(path, unpacker)
        left = unpacker.left
        texts |= dict.fromkeys(" ".join(text.split()) for text in unpacker.texts)
        if unpacker.unread:
            unread.append(path.relative_to(folder).as_posix())
    return FolderTexts(tuple(texts), tuple(unread))


def _read(path: Path, unpacker: Unpacker) -> None:
    content = read_bytes(path, largest=LARGEST_TEXT)
    is_table = path.name in TABLES
    if not is_text(content):
        unpacker.read_file(content)
        return
    text = content.decode("utf-8", errors="replace")
    if path.suffix == ".json":
        try:
            parts = [*_strings(read_json(text))]
        except (BadContentError, ValueError):
            parts = [text]
    else:
        parts = text.split("\n")
    # words of a vocabulary, one after another, are no text
    parts = [part for part in parts if not is_table or len(part) >= unpacker.shortest]
    unpacker.read_text(" ".join(" ".join(parts).split()))


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
