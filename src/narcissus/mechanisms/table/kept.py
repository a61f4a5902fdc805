"""Releases that are kept in a folder as they are made, and found again instead of made again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._arrays import pack, unpack
from narcissus._files import is_ours, read_bytes
from narcissus._folders import opened_folder
from narcissus.errors import InputError, StoreError
from narcissus.guarantees import Guarantee
from narcissus.mechanisms.noise import Counts, Noise
from narcissus.mechanisms.queries import Codes, TableQueries
from narcissus.mechanisms.table.base import Microdata, Prepared, ProtectedCounts

_FORMAT = b"narcissus release 1"
TRIES = 3

LARGEST = 2**28
"""Bytes of a file that are read."""

SENT_BACK = 2**24
"""Most bytes of a release that is sent back by who has not the folder."""

BROUGHT = 2**26
"""Most bytes of releases that are brought along, together."""


class ReleaseCache:
    """Releases by name, as bytes.

    folder: Where they are, a file each; made when it is needed.
    begin: Called before the folder is made.

    It is sent to workers together with the mechanism. One on another machine has no such folder:
    it is told so by `leave`, and gives what was made there by `handed_over`.
    """

    def __init__(self, folder: Path | str, *, begin: Callable[[], object] | None = None) -> None:
        self.folder = Path(folder)
        self._begin = begin
        self._brought: Mapping[str, bytes] | None = None
        self._made: dict[str, bytes] = {}
        self._too_large = 0

    def get(self, name: str) -> bytes | None:
        """Return a release, or None; refuse a link."""
        if self._brought is not None:
            return self._made.get(name, self._brought.get(name))
        path = self.folder / name
        if path.is_symlink():
            raise StoreError(f"{path} is a link, which nothing here follows: remove it")
        return read_bytes(path, largest=LARGEST) if path.exists() else None

    def put(self, name: str, content: bytes) -> None:
        """Keep a release; raise StoreError if the folder cannot be written."""
        if self._brought is None:
            try:
                if self._begin is not None and not self.folder.exists():
                    self._begin()
                with opened_folder(self.folder, make=True) as place:
                    place.write(name, content, private=True)
            except OSError as error:
                raise StoreError(f"cannot keep a release in {self.folder}: {error}") from error
        elif len(content) <= SENT_BACK:
            self._made[name] = content
        else:
            self._too_large = max(self._too_large, len(content))

    def to_bring(self) -> tuple[dict[str, bytes], int]:
        """Return what may be brought to where the folder is not, and how many are too much."""
        files: dict[str, bytes] = {}
        size = left = 0
        for path in sorted(self.folder.glob("*.npz")):
            if path.is_symlink() or size + path.stat().st_size > BROUGHT:
                left += 1
                continue
            files[path.name] = read_bytes(path, largest=BROUGHT)
            size += len(files[path.name])
        return files, left

    def leave(self, brought: Mapping[str, bytes]) -> None:
        """Keep in memory from here on: the folder is elsewhere; once told, again is nothing."""
        if self._brought is None:
            self._brought = brought

    def handed_over(self) -> tuple[dict[str, bytes], int]:
        """Return what was made since, and the bytes of the largest that was too large, or 0."""
        made, large = self._made, self._too_large
        self._made, self._too_large = {}, 0
        return made, large


@dataclass(frozen=True)
class KeptReleases:
    """A mechanism whose releases are kept: the same one, but nothing is paid for twice.

    A release is found again by the digest of ``identity``, the people and the state of the
    generator, and leaves the generator as its making did: whether and when a release was made
    changes no number. What a program without a seed released stays reproducible from what is kept;
    where no coin was drawn of the generator, one is, so that the next release is another.

    Whoever can write to the folder can change the numbers. A file that is damaged is made anew.
    """

    prepared: Prepared  # The mechanism; rows and counts are kept, other objects pass through
    cache: ReleaseCache
    # What else a release depends on: the part with its options, digests of own code
    identity: str

    @property
    def queries(self) -> TableQueries:
        return self.prepared.queries

    @property
    def releases(self) -> type:
        return self.prepared.releases

    @property
    def guarantee(self) -> Guarantee | None:
        return self.prepared.guarantee

    @property
    def noise(self) -> Noise | None:
        return self.prepared.noise

    @property
    def cellwise(self) -> bool:
        return self.prepared.cellwise

    @property
    def assumes(self) -> tuple[str, ...]:
        return self.prepared.assumes

    @property
    def must_vary(self) -> bool:
        return self.prepared.must_vary

    def release(self, data: NDArray[np.integer], rng: np.random.Generator) -> list[Any]:
        """Return each release from the folder, or make and keep it."""
        return [self._one(np.ascontiguousarray(codes, dtype=np.int32), rng) for codes in data]

    def _one(self, codes: Codes, rng: np.random.Generator) -> Any:
        before = _state(rng)
        name = self._name(codes, before)
        release = self._read(name, rng)
        if release is not None:
            return release
        (made,) = self.prepared.release(codes[None], rng)
        if _state(rng) == before:  # it has coins of its own: the next release is another one
            rng.bit_generator.random_raw()
        if (arrays := self._arrays(made)) is not None:
            state = np.frombuffer(_state(rng).encode(), dtype=np.uint8)
            self.cache.put(name, pack({**arrays, "state": state}))
        return made

    def _name(self, codes: Codes, state: str) -> str:
        digest = hashlib.sha256()
        texts = (self.identity, str(codes.shape), state)
        for part in (_FORMAT, *(text.encode() for text in texts), codes.tobytes()):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return f"{digest.hexdigest()}.npz"

    def _arrays(self, release: Any) -> dict[str, NDArray[Any]] | None:
        """Return what is to be kept of a release; None for one that passes through."""
        if isinstance(release, Microdata):
            return {"rows": release.rows}
        if isinstance(release, Counts) and release.noise == self.noise:
            return {"cells": release.cells}
        if isinstance(release, ProtectedCounts) and release.rule == self._rule:
            return {"cells": release.cells}
        return None

    @property
    def _rule(self) -> Any:
        return getattr(self.prepared, "rule", None)

    def _read(self, name: str, rng: np.random.Generator) -> Any | None:
        """Return a kept release and bring the generator to where its making left it."""
        content = self.cache.get(name)
        if content is None:
            return None
        before = rng.bit_generator.state
        try:
            arrays = unpack(content)
            rng.bit_generator.state = json.loads(arrays.pop("state").tobytes())
            return self._restored(arrays)
        except Exception as error:  # a damaged file may raise anything: the release is made anew
            if is_ours(error, LookupError, TypeError, ValueError):
                raise
            rng.bit_generator.state = before
            return None

    def _restored(self, arrays: dict[str, NDArray[Any]]) -> Any:
        ((name, values),) = arrays.items()
        values.setflags(write=False)
        if self.releases is Microdata:
            sizes = np.array(self.queries.sizes)
            fits = values.dtype == np.int32 and values.ndim == 2 and values.shape[1] == len(sizes)
            if name != "rows" or not fits or (values < 0).any() or (values >= sizes).any():
                raise ValueError("no rows of this table")
            return Microdata(values)
        if (name, values.dtype, values.shape) != ("cells", np.float64, (self.queries.cells,)):
            raise ValueError("no cells of these tables")
        if self.releases is Counts and self.noise is not None:
            return Counts(self.queries, self.noise, values)
        return ProtectedCounts(self.queries, self._rule, values)


def _state(rng: np.random.Generator) -> str:
    state = rng.bit_generator.state
    return json.dumps(state, default=lambda array: array.tolist(), sort_keys=True)


def require_varied(prepared: Prepared, codes: Codes, rng: np.random.Generator) -> None:
    """Refuse a generator of the user's that makes the same rows whatever the coins.

    It is asked twice about some people, shape (n, d), with different coins, and once more where the
    rows were the same: a few people's may be by chance. Mechanisms whose ``must_vary`` is false,
    such as those of this package, are not asked.

    InputError: All rows were the same: it has a fixed seed, or is meant to be deterministic.
    """
    if not prepared.must_vary:
        return
    first: list[list[int]] = []
    for number in range(TRIES):
        (release,) = prepared.release(codes[None], rng.spawn(1)[0])
        rows = sorted(release.rows.tolist())
        if number == 0:
            first = rows
        elif rows != first:
            return
    raise InputError(
        f"{TRIES} releases of the same people, with different coins, are the same: the generator "
        "has a fixed seed, or pays no heed to the one that it is given. Seed it from that one; if "
        "it is deterministic by design, say `deterministic = true`"
    )
