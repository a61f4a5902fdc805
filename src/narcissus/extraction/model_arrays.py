"""Every array of a folder's weights is used by the model that was read, or named and refused.

A library drops in silence what a model of the configuration has no place for: arrays of an adapter,
layers beyond the number of layers, scales of packed weights. Whoever has the folder has them, too.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from narcissus._optional import optional
from narcissus._validation import some_of
from narcissus.errors import InputError
from narcissus.extraction.files import headers_of

_MASK = re.compile(r"(?:^|\.)(?:attn|attention)\.bias$")
_MASKED = re.compile(r"(?:^|\.)(?:attn|attention)\.masked_bias$")
_FREQUENCIES = re.compile(r"(?:^|\.)inv_freq$")
_POSITIONS = re.compile(r"(?:^|\.)position_ids$")
_SHOWN = 12
_CLOSE = 1e-2
"""Relative rounding of frequencies that were stored in half precision."""


def require_all_used(
    files: Collection[Path], model: Any, path: str, unexpected: Iterable[str]
) -> None:
    """Refuse weights with an array that the model does not use.

    files: the weights, in safetensors.
    model: as a library read it.
    path: the folder that was named, for messages.
    unexpected: names for which the library found no place.
    """
    sizes = {array.name: math.prod(array.shape) for file in files for array in headers_of(file)}
    state: Mapping[str, Any] = model.state_dict(keep_vars=True)
    prefix = str(getattr(model, "base_model_prefix", ""))
    places = {name: _place(name, state, prefix) for name in sizes}
    dropped = re.compile("|".join(f"(?:{text})" for text in _dropped(model)) or r"(?!)")
    without = {name for name, place in places.items() if place is None and dropped.search(name)}
    unused = sorted({*unexpected, *without} & sizes.keys())
    harmless = {name for name in unused if _is_harmless(name, files, model)}
    if leftover := [name for name in unused if name not in harmless]:
        raise InputError(
            f"the weights in {path} hold {len(leftover):,} arrays that the model of the "
            f"configuration does not use: {some_of(map(repr, leftover), _SHOWN)}; another program "
            "may use them: save the model again, with `save_pretrained`"
        )
    _require_one_each(places, path)
    _require_tied(files, model, state, places, path)
    total = sum(size for name, size in sizes.items() if name not in harmless)
    if total > (used := _used(state, places)):
        raise InputError(
            f"the weights in {path} hold {total:,} values, and the model of the configuration uses "
            f"{used:,}: save the model again, with `save_pretrained`"
        )


def _place(name: str, state: Mapping[str, Any], prefix: str) -> str | None:
    """Return the array of the model that an array in a file is read into, by its name."""
    names = (name, f"{prefix}.{name}", name.removeprefix(f"{prefix}."))
    return next((other for other in names if other in state), None)


def _dropped(model: Any) -> Iterable[str]:
    """Yield patterns of names that the library does not report."""
    yield from getattr(model, "_keys_to_ignore_on_load_unexpected", None) or ()
    yield from (_FREQUENCIES.pattern, _POSITIONS.pattern)


def _require_one_each(places: Mapping[str, str | None], path: str) -> None:
    sources: dict[str, str] = {}
    for name, place in places.items():
        if place is not None and (other := sources.setdefault(place, name)) != name:
            raise InputError(
                f"the weights in {path} hold {other!r} and {name!r}, which are one array of the "
                "model: which one a program reads is open; save the model again"
            )


def _require_tied(
    files: Collection[Path],
    model: Any,
    state: Mapping[str, Any],
    places: Mapping[str, str | None],
    path: str,
) -> None:
    """Refuse weights that hold, with other values, what the configuration says is one array.

    Some libraries then keep the configuration's word and others the file's: two models.
    """
    expand = getattr(model, "get_expanded_tied_weights_keys", None)
    pairs: dict[str, str] = {} if expand is None else expand(all_submodels=True)
    apart = [pair for pair in pairs.items() if state.get(pair[0]) is not state.get(pair[1])]
    names: dict[int, list[str]] = defaultdict(list)
    for name, place in places.items():
        if place is not None:
            names[id(state[place])].append(name)
    for first, *others in names.values():
        apart += [(first, name) for name in others if not _is_same(first, name, files)]
    if apart:
        first, second = apart[0]
        raise InputError(
            f"the weights in {path} hold {first!r} and {second!r} with other values, and its "
            "configuration says that they are one array (`tie_word_embeddings`): some programs run "
            "one model, some the other; take out the array that the model was trained without, or "
            "set `tie_word_embeddings` to false if it was trained with both"
        )


def _is_same(first: str, second: str, files: Collection[Path]) -> bool:
    torch: Any = optional("torch", extra="language", purpose="A model in a folder")
    arrays = _array(first, files), _array(second, files)
    return arrays[0].shape == arrays[1].shape and bool(torch.equal(*arrays))


def _used(state: Mapping[str, Any], places: Mapping[str, str | None]) -> int:
    """Return how many values the model has, those that it shares as often as the files do."""
    times: dict[int, int] = defaultdict(int)
    counts: dict[int, int] = {}
    in_files = set(places.values())
    for name, array in state.items():
        counts[id(array)] = int(array.numel())
        times[id(array)] += name in in_files
    return sum(count * max(1, times[key]) for key, count in counts.items())


def _is_harmless(name: str, files: Collection[Path], model: Any) -> bool:
    """Say whether an array is one that a model computes for itself: by its name and its values."""
    patterns = (_MASK, _MASKED, _FREQUENCIES, _POSITIONS)
    if not any(pattern.search(name) for pattern in patterns):
        return False
    torch: Any = optional("torch", extra="language", purpose="A model in a folder")
    array = _array(name, files).double()
    if _MASKED.search(name):
        return array.numel() == 1 and float(array.max()) <= -1000
    if _POSITIONS.search(name):
        return bool((array.reshape(-1) == torch.arange(array.numel())).all())
    if _MASK.search(name):
        size = array.shape[-1] if array.ndim else 0
        ones = torch.ones(size, size, dtype=torch.bool).tril()
        windows = [torch.zeros_like(ones)]
        if isinstance(window := getattr(model.config, "window_size", None), int):
            windows.append(ones.tril(-window))
        return tuple(array.shape) == (1, 1, size, size) and any(
            bool((array[0, 0] == (ones ^ far)).all()) for far in windows
        )
    computed = [
        buffer.double().cpu()
        for place, buffer in model.named_buffers()
        if _FREQUENCIES.search(place) and buffer.shape == array.shape
    ]
    return any(bool(torch.allclose(array, other, rtol=_CLOSE, atol=0.0)) for other in computed)


def _array(name: str, files: Collection[Path]) -> Any:
    safetensors = optional("safetensors", extra="language", purpose="A model in a folder")
    for file in files:
        with safetensors.safe_open(str(file), "pt") as arrays:
            if name in arrays.keys():  # noqa: SIM118
                return arrays.get_tensor(name)
    raise InputError(f"no file holds the array {name!r}")
