"""Randomness: the one place where a seed becomes a generator.

A public function takes ``rng: Generator | int | None`` by keyword and resolves it once, here.
Trials use child generators by their number, so that results do not depend on the number of workers
or their order.
"""

from __future__ import annotations

import numpy as np

from narcissus.errors import InputError

RandomSource = np.random.Generator | int | None


def _seed(rng: object) -> int:
    """Return ``rng`` as a seed, or refuse it."""
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise InputError(
            f"`rng` must be a numpy.random.Generator, a non-negative integer or None, got {rng!r}"
        )
    return int(rng)


def generator(rng: RandomSource = None) -> np.random.Generator:
    """Resolve ``rng``: a generator is used as it is, an integer seeds one, None draws entropy."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng()
    return np.random.default_rng(_seed(rng))


def entropy_of(rng: RandomSource = None) -> int:
    """Return the integer that reproduces a run: the seed itself, or 128 fresh bits."""
    if isinstance(rng, np.random.Generator):
        return int.from_bytes(rng.bytes(16), "little")
    if rng is None:
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return entropy
    return _seed(rng)


def child(entropy: int, *key: int) -> np.random.Generator:
    """Return the generator of one part of a run: ``key`` numbers a trial, a setting, an attack."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))
