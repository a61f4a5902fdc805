"""Batches of anything: distinct entries, keys to tell entries apart, a selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from narcissus.worlds.base import Array, Batch


def distinct(batch: Batch) -> tuple[Batch, Array]:
    """Return the distinct entries of a batch, and for each entry the number of its own."""
    if isinstance(batch, np.ndarray) and batch.dtype != object:
        flat = np.ascontiguousarray(batch.reshape(len(batch), -1))
        if flat.dtype.kind == "f":
            flat = flat + 0.0  # so that -0.0 and 0.0 are one release
        width = flat.dtype.itemsize * flat.shape[1]
        keys = flat.view(f"V{width}").ravel() if width else np.zeros(len(flat), dtype="V1")
        if width in {1, 2, 4, 8}:  # numbers sort faster than bytes
            keys = flat.view(f"u{width}").ravel()
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return batch[first], inverse.ravel()
    entries = list(batch)
    numbers: dict[Any, int] = {}
    inverse = np.empty(len(entries), dtype=np.int64)
    kept: list[Any] = []
    for place, entry in enumerate(entries):
        key = key_of(entry)
        if key not in numbers:
            numbers[key] = len(kept)
            kept.append(entry)
        inverse[place] = numbers[key]
    return kept, inverse


def key_of(entry: Any) -> Any:
    """Return something hashable that tells a release from others."""
    if isinstance(entry, np.ndarray | np.generic):
        array = np.asarray(entry)
        # Bytes of one integer and one float type, so that 1 from two sources is one key.
        if array.dtype.kind in "biu":
            array = array.astype(np.int64)
        elif array.dtype.kind == "f":
            array = array.astype(np.float64) + 0.0
        return array.shape, array.dtype.kind, array.tobytes()
    if isinstance(entry, list | tuple):
        return tuple(key_of(part) for part in entry)
    try:
        hash(entry)
    except TypeError:
        return repr(entry)
    return entry


def stacked(entries: list[Any]) -> Batch:
    """Return arrays of one shape, or numbers, as one array; anything else as a list."""
    if entries and all(isinstance(e, np.ndarray | np.generic | int | float) for e in entries):
        shapes = {np.shape(entry) for entry in entries}
        if len(shapes) == 1:
            return np.asarray(entries)
    return entries


def gather(batch: Batch, index: Array) -> Batch:
    """Take entries of a batch."""
    return batch[index] if isinstance(batch, np.ndarray) else [batch[i] for i in index]
