"""Batches of an attack on a model, kept as each ends: a run that was stopped goes on there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus._unchanged import require_unchanged
from narcissus.errors import StoreError
from narcissus.observer import SILENT, Observer

Kept = Mapping[str, NDArray[Any]]
"""What a batch came to, by name."""
SHOWN = 20_000
"""Steps, such as tokens, from which on progress is shown."""


class Keeps(Protocol):
    """A store of finished batches by key, such as `narcissus.study.store.TrialStore`."""

    def keys(self) -> Collection[str]: ...
    def get(self, key: str) -> Kept: ...
    def put(self, key: str, payload: Any) -> None: ...


def key_of(*said: Any) -> str:
    """Return a key of plain values, which JSON can write; the same values have the same key."""
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def in_batches(
    store: Keeps | None,
    batches: Sequence[tuple[str, int]],
    make: Callable[[int], Kept],
    fits: Callable[[int, Kept], bool],
    *,
    what: str,
    observer: Observer = SILENT,
    shown: int = SHOWN,
) -> Iterator[Kept]:
    """Yield what each batch came to, in order: kept by an earlier run, or made now and kept.

    store: where batches are kept; None: nowhere.
    batches: key and number of steps of each. The key says all that its numbers depend on.
    make: gives the batch of a number.
    fits: whether what was kept can be that of a number; what does not fit is made again.
    what, observer: the stage, and who is told of it, where there are ``shown`` steps or more.
    """
    stored_keys = set() if store is None else {*store.keys()} & {key for key, _ in batches}
    total = sum(size for _, size in batches)
    progress = observer if total >= shown else SILENT
    progress.start(what, total, done=sum(size for key, size in batches if key in stored_keys))
    for number, (key, size) in enumerate(batches):
        if store is not None and key in stored_keys:
            with suppress(StoreError, KeyError, ValueError):  # written by somebody else
                if fits(number, record := store.get(key)):
                    yield record
                    continue
        made = make(number)
        require_unchanged()  # what was read of a model that is another one now is kept nowhere
        if store is not None:
            store.put(key, made)
        if key not in stored_keys:
            progress.advance(size)
        yield made
    progress.finish()


def tokens_fit(tokens: NDArray[Any], rows: int, vocabulary: int) -> bool:
    """Return whether an array can be tokens of so many texts."""
    if tokens.ndim != 2 or len(tokens) != rows or not np.issubdtype(tokens.dtype, np.integer):
        return False
    return bool(np.all((tokens >= 0) & (tokens < vocabulary)))
