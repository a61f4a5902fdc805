"""A string that is random, or stretched from a short seed: nobody should tell which.

Source: Cohen et al. 2024, Algorithm D.12.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._validation import integer, one_of
from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms.base import ReleaseChannel
from narcissus.mechanisms.stretching import GENERATORS, GeneratorName
from narcissus.worlds.base import Array, all_tuples

LARGEST = 1 << 20
"""Most seeds, and most strings, that are written out."""


@dataclass(frozen=True)
class Stretched:
    """Release a random string for the bit 0, and one stretched from a short seed for the bit 1.

    The data set is one bit. Whether an attacker says the bit is whether a verifier tells evidence
    that is short to describe from evidence that is not: success less baseline is
    ``Pr[V(G(seed)) = 1] - Pr[V(random) = 1]``, the advantage of Definition D.10. What else the
    verifier of Lemma D.11 sees, release and program, is part of the string. With a seed of a few
    bits, trying seeds tells the two apart, and with many it does not.

    Parameters
    ----------
    seed_bits
        Length of the seed, 1 to 256: the security parameter. At most 64 of a "congruential"
        generator; 2 to 32 of a "shift-register".
    length
        Bits of the string, more than the seed has.
    generator
        "shake-256" as in `prg_example`, "sha-256" (of seed and counter) and "chacha20" (the seed is
        the key) are believed to be pseudo-random; "congruential" (linear, the whole state printed)
        and "shift-register" (linear feedback, of the longest period) are broken.
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

    def stretch(self, seeds: Array) -> NDArray[np.uint8]:
        """Stretch seeds, shape (count, seed_bits), to strings, shape (count, length)."""
        rule = GENERATORS[self.generator]
        return rule.stretch(np.asarray(seeds, dtype=np.uint8), self.length)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the strings, shape (trials, length)."""
        bits = _bits(data)
        strings = rng.integers(0, 2, (len(data), self.length), dtype=np.uint8)
        seeds = rng.integers(0, 2, (len(data), self.seed_bits), dtype=np.uint8)
        made = np.flatnonzero(bits)
        if len(made):
            strings[made] = self.stretch(seeds[made])
        return strings

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out: all strings, by all seeds.

        Raises
        ------
        TooLargeError
            There are too many strings.
        """
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
        return ReleaseChannel(strings, sparse.csr_array(chances[_bits(data)]))


def _bits(data: Array) -> NDArray[np.int64]:
    """Return the bit of each data set; only bits are data sets here."""
    bits = np.asarray(data).reshape(len(data), -1)[:, 0].astype(np.int64)
    if ((bits != 0) & (bits != 1)).any():
        raise InputError("the mechanism `stretched` takes data sets of one bit, 0 or 1")
    return bits
