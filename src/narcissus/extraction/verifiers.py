"""Verifiers of fixed evidence: is a string random, or short to describe after all?

Each sees the string of a game with the mechanism `stretched` and says which it was. They are some
verifiers of polynomially many: one that is fooled shows nothing about the others.

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
    """Refuse names that there are not, that come twice, or none at all."""
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
    """Say "short to describe" of strings that some compressor shortens, "random" of the others.

    Random strings are called short with chance ``level`` at most, by counting.

    Parameters
    ----------
    methods
        Some of zlib, bz2, lzma, zstd, brotli, ppm; the last three need the extra ``compress``.
    level
        Chance, at most, to be wrong about a random string.
    """

    methods: Sequence[str] = ("zlib", "bz2", "lzma")
    level: float = 0.01

    def __post_init__(self) -> None:
        _named("methods", self.methods, COMPRESS)
        fraction("level", self.level)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> Array:
        """Guess the bit of each string, shape (trials,)."""
        strings = strings_of_bits(release)
        bits = strings.shape[1]
        packed = np.packbits(strings, axis=1)
        return np.array([
            int(compression_p_value(row.tobytes(), bits, self.methods) <= self.level)
            for row in packed
        ])  # fmt: skip


@dataclass(frozen=True)
class StatisticalVerifier:
    """Say "short to describe" of strings that fail a test of randomness, "random" of the others.

    Every p-value is exact, and their number is paid for (Bonferroni): random strings are called
    short with chance ``level`` at most.

    Parameters
    ----------
    tests
        Some of frequency, runs, serial, autocorrelation, block-frequency, longest-run, birthdays,
        linear-complexity.
    level
        Chance, at most, to be wrong about a random string.
    """

    tests: Sequence[str] = tuple(TESTS)
    level: float = 0.01

    def __post_init__(self) -> None:
        _named("tests", self.tests, TESTS)
        fraction("level", self.level)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> NDArray[np.int64]:
        """Guess the bit of each string, shape (trials,)."""
        strings = strings_of_bits(release)
        least = np.min([TESTS[name](strings) for name in self.tests], axis=0)
        return (least * len(self.tests) <= self.level).astype(np.int64)
