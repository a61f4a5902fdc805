"""The example that fools every verifier: data made by a pseudo-random generator.

The program reads most of the data from the release and has memorised the rest. Random data make it
a fine extraction. Data stretched from a short seed make it none at all: a shorter program prints
them without the release. Without the seed nobody can distinguish the cases, which is a theorem and
no defect of the estimate.

Source: Cohen et al. 2024, Lemma D.11, Algorithm D.12 and footnote 8.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from narcissus._random import RandomSource, generator
from narcissus._validation import between, integer

_SEED_BYTES = 16


@dataclass(frozen=True)
class PrgExample:
    """One outcome of Algorithm D.12, in hexadecimal digits or in bits."""

    # data, release, program: the triple that the verifier sees; the program prints the data
    # from the release
    data: bytes
    release: bytes
    program: bytes
    # A program that prints the data without the release; None if the data are random
    short_program: bytes | None


def prg_example(
    *, pseudo_random: bool, length: int = 4096, by_heart: int = 128, rng: RandomSource = None
) -> PrgExample:
    """Make the triple of Algorithm D.12; SHAKE-256 stands in for the generator.

    pseudo_random: true for ``b = 0`` (stretched from a seed of 16 bytes), False for ``b = 1``
        (random).
    length: Bytes of data, printed as twice as many hexadecimal digits.
    by_heart: bytes at the end memorised by the program, at least 48: longer than the short program.

    >>> made = prg_example(pseudo_random=True, rng=1)
    >>> len(made.short_program) < len(made.program) < len(made.data)
    True
    """
    length = integer("length", length, low=64)
    by_heart = integer("by_heart", by_heart, low=48, high=length)
    random = generator(rng)
    if pseudo_random:
        seed = random.bytes(_SEED_BYTES).hex()
        data = hashlib.shake_256(bytes.fromhex(seed)).hexdigest(length)
        short = (
            f"import hashlib as h;print(h.shake_256(bytes.fromhex('{seed}')).hexdigest({length}))"
        )
    else:
        data, short = random.bytes(length).hex(), None
    split = 2 * (length - by_heart)
    program = f"print(open(0).read()+'{data[split:]}')"
    return PrgExample(
        data.encode(),
        data[:split].encode(),
        program.encode(),
        None if short is None else short.encode(),
    )


def approximate_prg_example(
    *,
    pseudo_random: bool,
    advantage: float = 0.1,
    bits: int = 8192,
    by_heart: int = 1024,
    rng: RandomSource = None,
) -> PrgExample:
    """Make the approximate example of footnote 8, for `HammingBall` with share ``1/2 - advantage``.

    The release holds the first ``2 advantage bits - by_heart / 2`` bits; the program has memorised
    the next ``by_heart`` and guesses the rest, half of which come out right. Departing from the
    footnote, the release holds twice as much: with its ``advantage * bits`` known bits the guess
    agrees in a share of ``1/2 + advantage / 2`` only **[new]**.

    pseudo_random: as in `prg_example`.
    advantage: excess of the agreement over a half, in (0, 1/2).
    bits: length of the data.
    by_heart: bits memorised by the program; it needs some ten times the square root of ``bits``.
    """
    advantage = between("advantage", advantage, 0, 0.5, open_low=True, open_high=True)
    bits = 8 * (integer("bits", bits, low=512) // 8)
    by_heart = integer("by_heart", by_heart, low=1, high=int(2 * advantage * bits))
    random = generator(rng)
    short = None
    if pseudo_random:
        seed = random.bytes(_SEED_BYTES).hex()
        raw = hashlib.shake_256(bytes.fromhex(seed)).digest(bits // 8)
        short = (
            "import hashlib as h;print(bin(int('1'+h.shake_256(bytes.fromhex("
            f"'{seed}')).hexdigest({bits // 8}),16))[3:])"
        ).encode()
    else:
        raw = random.bytes(bits // 8)
    data = "".join(map(str, np.unpackbits(np.frombuffer(raw, np.uint8))))
    known = int(2 * advantage * bits) - by_heart // 2
    rest = bits - known - by_heart
    digits = f"0x{int('1' + data[known : known + by_heart], 2):x}"
    program = (
        "import random\n"
        f"print(open(0).read()+bin({digits})[3:]+f'{{random.getrandbits({rest}):0{rest}b}}')"
    )
    return PrgExample(data.encode(), data[:known].encode(), program.encode(), short)
