"""Releases made of exclusive ors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from narcissus._validation import one_of
from narcissus.errors import InputError
from narcissus.mechanisms.base import ReleaseChannel, deterministic
from narcissus.worlds.base import Array


@dataclass(frozen=True)
class Parity:
    """Release the exclusive or of each pair of neighbouring bits of each row.

    Kaplan et al. 2025, Example 1.3: half of all bits is released, membership is plain to see, and
    still each single bit of the data stays a fair coin.
    """

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the parities, shape (trials, n, d / 2) for data of shape (trials, n, d)."""
        if data.ndim != 3 or data.shape[2] % 2:
            raise InputError(
                "the parity release needs rows of an even number of bits, got shape "
                f"{data.shape[1:]}"
            )
        return data[:, :, 0::2] ^ data[:, :, 1::2]

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out."""
        return deterministic(self.release(data, np.random.default_rng(0)))


@dataclass(frozen=True)
class XorHalf:
    """Of a data set ``(x, y)`` of two halves, release ``y`` or ``x xor y``.

    Cohen et al. 2024, Example C.1: neither says anything about ``x``, both together say all.

    Parameters
    ----------
    part
        ``"second"`` for ``y``, ``"xor"`` for ``x xor y``.
    """

    part: Literal["second", "xor"]

    def __post_init__(self) -> None:
        one_of("part", self.part, ("second", "xor"))

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return one half, shape (trials, n / 2) for data of shape (trials, n)."""
        if data.ndim != 2 or data.shape[1] % 2:
            raise InputError(f"xor halves need an even number of bits, got shape {data.shape[1:]}")
        half = data.shape[1] // 2
        second = data[:, half:]
        return second if self.part == "second" else data[:, :half] ^ second

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out."""
        return deterministic(self.release(data, np.random.default_rng(0)))
