"""Which files of a folder are a model's weights, and that the folder holds no others.

Programs differ in what they read of a folder: one takes ``model.safetensors`` where another takes
the shards that an index names, a pickle or a file for another runtime. A verdict is about one set
of weights, so a folder with two sets is refused, whichever of them anybody would read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from narcissus._files import file_size, parsing, read_bytes
from narcissus._json import read_json
from narcissus.errors import InputError
from narcissus.extraction.files import Header
from narcissus.extraction.model_contents import LARGEST_TEXT, NONE_DECLARED, Unpublished

SINGLE = ("model.safetensors", "diffusion_pytorch_model.safetensors")
"""What weights in one file are called; in several, an index next to them names them."""


def settings_of(path: Path) -> dict[str, Any]:
    """Read a configuration, an object in JSON."""
    with parsing(path, "a configuration"):
        settings: Any = read_json(read_bytes(path, largest=LARGEST_TEXT))
    if not isinstance(settings, dict):
        raise InputError(f"{path} is no configuration: it must be an object in JSON")
    return cast("dict[str, Any]", settings)


def weights_of(folder: Path, unpublished: Unpublished = NONE_DECLARED) -> list[Path]:
    """Return the files of a folder's weights: those that its index names, or the single one.

    unpublished: what is declared of the folder; other weights may be among it.
    Raises InputError: the index names anything but safetensors in this folder, or the folder holds
        both an index and a single file, two indices, or two single files.
    """
    names = [*SINGLE, *(f"{single}.index.json" for single in SINGLE)]
    names = [name for name in names if not unpublished.holds(name)]
    paths = [folder / name for name in names if (folder / name).exists()]
    if len(paths) > 1:
        raise _second_set(paths[1], paths[:1])
    if paths and paths[0].name not in SINGLE:
        return _shards(paths[0])
    for path in paths:
        file_size(path, largest=2**63)
    return paths


def index_of(folder: Path, unpublished: Unpublished = NONE_DECLARED) -> Path | None:
    """Return the index that names a folder's weights, unless it is declared as not published."""
    names = [f"{single}.index.json" for single in SINGLE]
    indices = [folder / name for name in names if not unpublished.holds(name)]
    return next((index for index in indices if index.exists()), None)


def _shards(index: Path) -> list[Path]:
    files: dict[str, Path] = {}
    for name in map_of(index).values():
        if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+\.safetensors", name):
            raise InputError(
                f"{index} names {str(name)[:80]!r} as weights: only safetensors next to it are read"
            )
        files.setdefault(name, index.parent / name)
    for path in files.values():
        file_size(path, largest=2**63)
    return list(files.values())


def map_of(index: Path) -> dict[str, Any]:
    """Return which file holds each array, as an index says."""
    places = settings_of(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise InputError(f"{index}: `weight_map` must say which file holds each array")
    return cast("dict[str, Any]", places)


def require_one_place(headers: Mapping[Path, list[Header]], index: Path | None) -> None:
    """Refuse an array that is in two files, and a map that does not agree with its files.

    headers: of the arrays in each file of weights.
    """
    places: dict[str, str] = {}
    for path, arrays in headers.items():
        for array in arrays:
            if array.name in places:
                raise InputError(
                    f"the array {array.name!r} is in {places[array.name]} and in {path.name} of "
                    f"{path.parent}: which one a program reads is open; save the model again"
                )
            places[array.name] = path.name
    if index is None:
        return
    names = map_of(index)
    for name in sorted(names.keys() | places.keys()):
        if name not in names:
            raise InputError(
                f"{index} does not name the array {name!r}, which {places[name]} holds: save the "
                "model again"
            )
        if names[name] != places.get(name):
            holder = places.get(name, "no file of the folder")
            raise InputError(
                f"{index} says that {names[name]} holds the array {name!r}, and {holder} does: "
                "save the model again"
            )


def _second_set(path: Path, read: list[Path]) -> InputError:
    main = f" next to {read[0].name}" if read else ""
    return InputError(
        f"the folder holds a second set of weights, {path}{main}: another program may read that "
        "set, and a verdict is about one; take the set that users do not get out of the folder, or "
        "declare it in [model] as `unpublished`"
    )
