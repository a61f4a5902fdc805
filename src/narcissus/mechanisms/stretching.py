"""Functions of strings of bits: hashes, and generators that stretch short seeds to long strings.

Each generator takes seeds, shape (count, seed bits), and gives strings of bits, shape (count,
length): three that are believed in, two that are broken.

Source: Cohen et al. 2024, Definition D.10 and Algorithm D.12; RFC 8439 (ChaCha20); Knuth, The Art
of Computer Programming 2, section 3.2.1.1 (the multiplier of MMIX).
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
from scipy import sparse

from narcissus._validation import integer, one_of
from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms.base import ReleaseChannel, WithoutCoins
from narcissus.worlds.base import Array, all_tuples

Bits = NDArray[np.uint8]
Stretch = Callable[[Bits, int], Bits]
GeneratorName = Literal["shake-256", "sha-256", "chacha20", "congruential", "shift-register"]

LARGEST = 1 << 20
"""Most seeds, and most strings, that are written out."""

MULTIPLIER = 0x9E3779B97F4A7C15  # odd, so that multiplying by it can be undone

_MULTIPLIER, _INCREMENT = 6364136223846793005, 1442695040888963407


@dataclass(frozen=True)
class Sha256(WithoutCoins):
    """The first ``bits`` bits of SHA-256 of a string of bits.

    bits: Bits kept, 1 to 256. With few of them, trying inputs finds a preimage; with many it does
        not.
    """

    bits: int = 256

    def __post_init__(self) -> None:
        integer("bits", self.bits, low=1, high=256)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the hashes as bits, shape (trials, bits)."""
        packed = np.packbits(data.reshape(len(data), -1).astype(np.uint8), axis=-1)
        size = (self.bits + 7) // 8
        hashes = b"".join(hashlib.sha256(row.tobytes()).digest()[:size] for row in packed)
        return _unpacked(hashes, len(data), self.bits)


@dataclass(frozen=True)
class MultiplyHash(WithoutCoins):
    """A broken one-way function on strings of 64 bits: multiply by an odd constant.

    Every output has one preimage, so the function is as well spread as can be, its outputs look
    random, and undoing it takes one multiplication.
    """

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the products modulo ``2 ** 64`` as bits, shape (trials, 64)."""
        return _times(data, MULTIPLIER)

    def invert(self, release: Array) -> Array:
        """Undo the function."""
        return _times(release, pow(MULTIPLIER, -1, 2**64))


def _times(bits: Array, factor: int) -> Array:
    """Multiply 64-bit strings by a constant modulo ``2 ** 64``."""
    if bits.shape[-1] != 64:
        raise InputError(f"the function takes strings of 64 bits, got {bits.shape[-1]}")
    words = np.ascontiguousarray(np.packbits(bits, axis=-1)).view(">u8").astype(np.uint64)
    product = words * np.uint64(factor)  # wraps modulo 2 ** 64
    return np.unpackbits(product.astype(">u8").view(np.uint8), axis=-1)


def shake_256(seeds: Bits, length: int) -> Bits:
    """Hash each seed by SHAKE-256."""
    size = (length + 7) // 8
    packed = np.packbits(seeds, axis=1)
    text = b"".join(hashlib.shake_256(row.tobytes()).digest(size) for row in packed)
    return _unpacked(text, len(seeds), length)


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
    columns = [(i, i + 4, i + 8, i + 12) for i in range(4)]
    diagonals = [(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)]
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

    degree: At least 1; beyond some 40 the factors of ``2^degree - 1`` take long to find.

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
    primes: list[int] = []
    prime = 2
    while prime * prime <= number:
        if number % prime == 0:
            primes.append(prime)
            while number % prime == 0:
                number //= prime
        prime += 1
    return [*primes, number] if number > 1 else primes


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


@dataclass(frozen=True)
class Stretched:
    """Release a random string for the bit 0, and one stretched from a short seed for the bit 1.

    The data set is one bit. Whether an attacker says the bit is whether a verifier tells evidence
    that is short to describe from evidence that is not: success less baseline is
    ``Pr[V(G(seed)) = 1] - Pr[V(random) = 1]``, the advantage of Definition D.10. What else the
    verifier of Lemma D.11 sees, release and program, is part of the string. With a seed of a few
    bits, trying seeds tells the two apart, and with many it does not.

    seed_bits: Length of the seed, 1 to 256: the security parameter. At most 64 of a "congruential"
        generator; 2 to 32 of a "shift-register".
    length: Bits of the string, more than the seed has.
    generator: "shake-256" as in `prg_example`, "sha-256" (of seed and counter) and "chacha20" (the
        seed is the key) are believed to be pseudo-random; "congruential" (linear, the whole state
        printed) and "shift-register" (linear feedback, of the longest period) are broken.
    """

    seed_bits: int = 128
    length: int = 512
    generator: GeneratorName = "shake-256"

    def __post_init__(self) -> None:
        one_of("generator", self.generator, tuple(GENERATORS))
        rule = GENERATORS[self.generator]
        integer("seed_bits", self.seed_bits, low=rule.shortest, high=rule.longest)
        integer("length", self.length, low=1, high=2**16)
        if self.length <= self.seed_bits:
            raise InputError(
                f"`length` must be more than `seed_bits` ({self.seed_bits}), got {self.length}: a "
                "generator stretches its seed"
            )

    def stretch(self, seeds: Array) -> Bits:
        """Stretch seeds, shape (count, seed_bits), to strings, shape (count, length)."""
        rule = GENERATORS[self.generator]
        return rule.stretch(np.asarray(seeds, dtype=np.uint8), self.length)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the strings, shape (trials, length)."""
        bits = _bit_of_each(data)
        strings = rng.integers(0, 2, (len(data), self.length), dtype=np.uint8)
        seeds = rng.integers(0, 2, (len(data), self.seed_bits), dtype=np.uint8)
        made = np.flatnonzero(bits)
        if len(made):
            strings[made] = self.stretch(seeds[made])
        return strings

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out: all strings, by all seeds, unless there are too many."""
        if 2**self.length > LARGEST:
            raise TooLargeError(
                f"strings of {self.length} bits make 2^{self.length} releases, at most "
                f"{LARGEST:,} are written out"
            )
        strings = all_tuples(2, self.length).astype(np.uint8)
        places = 1 << np.arange(self.length)[::-1]
        made = self.stretch(all_tuples(2, self.seed_bits)).astype(np.int64) @ places
        count = 2**self.length
        chances = np.stack([np.full(count, 1 / count), np.bincount(made, minlength=count)])
        chances[1] /= 2**self.seed_bits
        return ReleaseChannel(strings, sparse.csr_array(chances[_bit_of_each(data)]))


def _bit_of_each(data: Array) -> NDArray[np.int64]:
    bits = np.asarray(data).reshape(len(data), -1)[:, 0].astype(np.int64)
    if ((bits != 0) & (bits != 1)).any():
        raise InputError("the mechanism `stretched` takes data sets of one bit, 0 or 1")
    return bits
