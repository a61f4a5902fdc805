"""One-way functions against the standard library."""

from __future__ import annotations

import hashlib

import numpy as np

from narcissus.mechanisms import (
    MultiplyHash,
    Sha256,
)


def test_hashes_against_the_standard_library():
    bits = np.random.default_rng(2).integers(0, 2, (5, 20)).astype(np.uint8)
    for row, image in zip(bits, Sha256(12).release(bits, np.random.default_rng(0)), strict=True):
        digest = hashlib.sha256(np.packbits(row).tobytes()).digest()
        assert image.tolist() == np.unpackbits(np.frombuffer(digest, np.uint8))[:12].tolist()
    words = np.random.default_rng(3).integers(0, 2, (50, 64)).astype(np.uint8)
    mechanism = MultiplyHash()
    images = mechanism.release(words, np.random.default_rng(0))
    assert (mechanism.invert(images) == words).all()
    number = int("".join(map(str, words[0])), 2) * 0x9E3779B97F4A7C15 % 2**64
    assert int("".join(map(str, images[0])), 2) == number
