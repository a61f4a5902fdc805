"""Generators that stretch seeds to long strings: three that are believed in, two that are broken.

Each takes seeds, shape (count, seed bits), and gives strings of bits, shape (count, length).

Source: Cohen et al. 2024, Definition D.10; RFC 8439 (ChaCha20); Knuth, The Art of Computer
Programming 2, section 3.2.1.1 (the multiplier of MMIX).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint8]
Stretch = Callable[[Bits, int], Bits]
GeneratorName = Literal["shake-256", "sha-256", "chacha20", "congruential", "shift-register"]

_MULTIPLIER, _INCREMENT = 6364136223846793005, 1442695040888963407


def shake_256(seeds: Bits, length: int) -> Bits:
    """Hash each seed by SHAKE-256."""
    size = (length + 7) // 8
    packed = np.packbits(seeds, axis=1)
    return _unpacked(b"".join(hashlib.shake_256(row.tobytes()).digest(size) for row in packed),
                     len(seeds), length)  # fmt: skip


def sha_256(seeds: Bits, length: int) -> Bits:
    """Hash each seed by SHA-256 with a counter of four bytes behind it, again and again."""
    blocks = [count.to_bytes(4, "big") for count in range(-(-length // 256))]
    packed = [row.tobytes() for row in np.packbits(seeds, axis=1)]
    text = b"".join(hashlib.sha256(row + block).digest() for row in packed for block in blocks)
    return _unpacked(text, len(seeds), length)


def chacha20(seeds: Bits, length: int) -> Bits:
    """Return key stream of ChaCha20: seeds are keys, filled up with zeros; nonce and count 0."""
    keys = np.zeros((len(seeds), 256), dtype=np.uint8)
    keys[:, : seeds.shape[1]] = seeds
    words = np.packbits(keys, axis=1).view("<u4").astype(np.uint32)
    blocks = [_chacha_block(words, count) for count in range(-(-length // 512))]
    text = np.concatenate(blocks, axis=1).astype("<u4").tobytes()
    return _unpacked(text, len(seeds), length)


def _chacha_block(keys: NDArray[np.uint32], count: int) -> NDArray[np.uint32]:
    """Return one block of sixteen words for each key, shape (count, 8)."""
    state = np.zeros((16, len(keys)), dtype=np.uint32)
    state[:4] = np.frombuffer(b"expand 32-byte k", "<u4")[:, None]
    state[4:12] = keys.T
    state[12] = count
    mixed = state.copy()
    columns, diagonals = [(i, i + 4, i + 8, i + 12) for i in range(4)], [
        (i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)
    ]  # fmt: skip
    for _ in range(10):
        for a, b, c, d in (*columns, *diagonals):
            for to, other, turned, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                mixed[to] += mixed[other]
                word = mixed[turned] ^ mixed[to]
                mixed[turned] = (word << np.uint32(by)) | (word >> np.uint32(32 - by))
    return (mixed + state).T


def congruential(seeds: Bits, length: int) -> Bits:
    """Step a linear congruential generator modulo ``2^(seed bits)``, and print its whole state.

    Broken: the lowest bit of the state alternates, the next has period four, and so on.
    """
    bits = seeds.shape[1]
    places = np.arange(bits, dtype=np.uint64)[::-1]
    state = (seeds.astype(np.uint64) << places).sum(axis=1, dtype=np.uint64)
    mask = np.uint64((1 << bits) - 1)
    words: list[Bits] = []
    for _ in range(-(-length // bits)):
        state = (state * np.uint64(_MULTIPLIER) + np.uint64(_INCREMENT)) & mask
        words.append(((state[:, None] >> places) & np.uint64(1)).astype(np.uint8))
    return np.concatenate(words, axis=1)[:, :length]


def shift_register(seeds: Bits, length: int) -> Bits:
    """Shift a register with linear feedback, of the longest period; the seed is printed first.

    Broken: every bit is a sum of some of the last ones (``primitive``), so that the linear
    complexity of a string is the length of the seed.
    """
    bits = seeds.shape[1]
    taps = [i for i in range(bits) if primitive(bits) >> i & 1]
    made = np.empty((len(seeds), max(bits, length)), dtype=np.uint8)
    made[:, :bits] = seeds
    for at in range(bits, length):
        made[:, at] = np.bitwise_xor.reduce(made[:, [at - bits + i for i in taps]], axis=1)
    return made[:, :length]


@cache
def primitive(degree: int) -> int:
    """Return the smallest primitive polynomial of a degree over two elements; bit i stands for x^i.

    Parameters
    ----------
    degree
        At least 1; beyond some 40 the factors of ``2^degree - 1`` take long to find.

    Examples
    --------
    >>> bin(primitive(4)), bin(primitive(8))
    ('0b10011', '0b100011101')
    """
    order = 2**degree - 1
    parts = [order // prime for prime in _primes(order)]
    polynomial = 2**degree + 1
    while _power(order, polynomial) != 1 or any(_power(p, polynomial) == 1 for p in parts):
        polynomial += 2
    return polynomial


def _primes(number: int) -> list[int]:
    found: list[int] = []
    prime = 2
    while prime * prime <= number:
        if number % prime == 0:
            found.append(prime)
            while number % prime == 0:
                number //= prime
        prime += 1
    return [*found, number] if number > 1 else found


def _power(exponent: int, polynomial: int) -> int:
    """Raise x to a power, modulo a polynomial over two elements."""
    degree = polynomial.bit_length() - 1
    result = 1
    for bit in bin(exponent)[2:]:
        square = 0
        for at in range(degree):
            if result >> at & 1:
                square ^= 1 << (2 * at)
        result = square << 1 if bit == "1" else square
        while (excess := result.bit_length() - 1 - degree) >= 0:
            result ^= polynomial << excess
    return result


def _unpacked(text: bytes, count: int, length: int) -> Bits:
    table = np.frombuffer(text, dtype=np.uint8).reshape(count, -1)
    return np.unpackbits(table, axis=1)[:, :length]


@dataclass(frozen=True)
class StretchingRule:
    """A generator, and the shortest and longest seed that it takes, in bits."""

    stretch: Stretch
    shortest: int
    longest: int


GENERATORS: Mapping[GeneratorName, StretchingRule] = MappingProxyType(
    {
        "shake-256": StretchingRule(shake_256, 1, 256),
        "sha-256": StretchingRule(sha_256, 1, 256),
        "chacha20": StretchingRule(chacha20, 1, 256),
        "congruential": StretchingRule(congruential, 1, 64),
        "shift-register": StretchingRule(shift_register, 2, 32),
    }
)
"""Generators by the name that a study gives them."""
