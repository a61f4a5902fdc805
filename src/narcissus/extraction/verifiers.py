"""Verifiers of fixed evidence: is a string random, or short to describe?

Each sees the string of a game with the mechanism `stretched` and names its kind. They are only some
of the polynomially many verifiers: fooling one shows nothing about the others.

Source: Cohen et al. 2024, Definition D.10, Lemma D.11, section D.4.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import did_you_mean, fraction
from narcissus.errors import InputError
from narcissus.evidence.randomness import TESTS, strings_of_bits
from narcissus.extraction.compressors import COMPRESS, compression_p_value
from narcissus.worlds.base import Array, Batch


def _named(option: str, names: Sequence[str], known: Mapping[str, object]) -> None:
    """Refuse unknown and repeated names, and an empty list."""
    if isinstance(names, str) or not names or len(set(names)) < len(names):
        raise InputError(f"`{option}` must be a list of different names, got {names!r}")
    for name in names:
        if name not in known:
            raise InputError(
                f"`{option}` must name some of {', '.join(known)}, got {name!r}"
                + did_you_mean(name, known)
            )


@dataclass(frozen=True)
class CompressionVerifier:
    """Classify strings as "short to describe" if a compressor shortens them, otherwise as "random".

    Random strings are called short with probability at most ``level``, by counting.

    Parameters
    ----------
    methods
        Some of zlib, bz2, lzma, zstd, brotli, ppm; the last three need the extra ``compress``.
    level
        Largest probability of an error about a random string.
    """

    methods: Sequence[str] = ("zlib", "bz2", "lzma")
    level: float = 0.01

    def __post_init__(self) -> None:
        _named("methods", self.methods, COMPRESS)
        fraction("level", self.level)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        strings = strings_of_bits(release)
        bits = strings.shape[1]
        packed = np.packbits(strings, axis=1)
        return np.array([
            int(compression_p_value(row.tobytes(), bits, self.methods) <= self.level)
            for row in packed
        ])  # fmt: skip


@dataclass(frozen=True)
class StatisticalVerifier:
    """Classify strings as "short to describe" if they fail a randomness test, otherwise as
    "random".

    Every p-value is exact and their number corrected for (Bonferroni): random strings are called
    short with probability at most ``level``.

    Parameters
    ----------
    tests
        Some of frequency, runs, serial, autocorrelation, block-frequency, longest-run, birthdays,
        linear-complexity.
    level
        Largest probability of an error about a random string.
    """

    tests: Sequence[str] = tuple(TESTS)
    level: float = 0.01

    def __post_init__(self) -> None:
        _named("tests", self.tests, TESTS)
        fraction("level", self.level)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> NDArray[np.int64]:
        strings = strings_of_bits(release)
        least = np.min([TESTS[name](strings) for name in self.tests], axis=0)
        return (least * len(self.tests) <= self.level).astype(np.int64)
