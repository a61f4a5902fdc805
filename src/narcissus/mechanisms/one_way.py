"""Functions of a string: a real hash, cut to a few bits, and one that only looks like a hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from narcissus._validation import integer
from narcissus.errors import InputError
from narcissus.mechanisms.base import ReleaseChannel, deterministic
from narcissus.worlds.base import Array

MULTIPLIER = 0x9E3779B97F4A7C15  # odd, so that multiplying by it can be undone


def as_bytes(bits: Array) -> Array:
    """Pack strings of bits, shape (..., n), into bytes."""
    return np.packbits(bits.astype(np.uint8), axis=-1)


@dataclass(frozen=True)
class Sha256:
    """The first ``bits`` bits of SHA-256 of a string of bits.

    Parameters
    ----------
    bits
        Bits kept, 1 to 256. With few of them, trying inputs finds a preimage; with many it does
        not.
    """

    bits: int = 256

    def __post_init__(self) -> None:
        integer("bits", self.bits, low=1, high=256)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the hashes as bits, shape (trials, bits)."""
        packed = as_bytes(data.reshape(len(data), -1))
        size = (self.bits + 7) // 8
        hashes = b"".join(hashlib.sha256(row.tobytes()).digest()[:size] for row in packed)
        table = np.frombuffer(hashes, dtype=np.uint8).reshape(len(data), size)
        return np.unpackbits(table, axis=1)[:, : self.bits]

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the function out."""
        return deterministic(self.release(data, np.random.default_rng(0)))


@dataclass(frozen=True)
class MultiplyHash:
    """A broken one-way function on strings of 64 bits: multiply by an odd constant.

    Every output has one preimage, so the function is as well spread as can be, its outputs look
    random, and undoing it takes one multiplication.
    """

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the products modulo ``2 ** 64`` as bits, shape (trials, 64)."""
        return self.times(data, MULTIPLIER)

    def invert(self, release: Array) -> Array:
        """Undo the function."""
        return self.times(release, pow(MULTIPLIER, -1, 2**64))

    @staticmethod
    def times(bits: Array, factor: int) -> Array:
        """Multiply 64-bit strings by a constant modulo ``2 ** 64``."""
        if bits.shape[-1] != 64:
            raise InputError(f"the function takes strings of 64 bits, got {bits.shape[-1]}")
        words = np.ascontiguousarray(np.packbits(bits, axis=-1)).view(">u8").astype(np.uint64)
        product = words * np.uint64(factor)  # wraps modulo 2 ** 64
        return np.unpackbits(product.astype(">u8").view(np.uint8), axis=-1)

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the function out."""
        return deterministic(self.release(data, np.random.default_rng(0)))
