"""Verifiers of fixed evidence: is a string random, or short to describe?

Each sees the string of a game with the mechanism `stretched` and names its kind. They are only some
of the polynomially many verifiers: fooling one shows nothing about the others.

* *Compressors.* Fewer than ``256^(m+1) / 255`` strings of ``n`` bits compress to at most ``m``
  bytes, since each is decompressed from another: a share of ``2^(8(m+1) - n) / 255``. This p-value
  assumes nothing about the compressor, and is why random strings are complex.
* *Randomness tests*, with exact p-values.
* *A learner*: logistic regression on counts of windows and of distant pairs of bits. It knows the
  generator, as verifiers may, and trains on strings that it makes itself.

`prg_example` fools every verifier. Its program reads most of the data from the release and has
memorised the rest. Random data make it a fine extraction. Data stretched from a short seed make it
none at all: a shorter program prints them without the release. Without the seed nobody can
distinguish the cases, which is a theorem and no defect of the estimate.

Source: Cohen et al. 2024, Definition D.10, Lemma D.11, Algorithm D.12, footnote 8, section D.4.2;
Narcissus theory 7.
"""

from __future__ import annotations

import bz2
import hashlib
import lzma
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._arrays import Floats
from narcissus._optional import optional
from narcissus._options import FilledIn
from narcissus._random import RandomSource, generator
from narcissus._validation import between, did_you_mean, fraction, integer
from narcissus.errors import InputError
from narcissus.evidence.randomness import TESTS, WINDOW, disagreements, strings_of_bits, window_sums
from narcissus.worlds.base import Array, Batch

_LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 2**20}]
SEED = 2024
"""Of the strings that it trains on: independent of all trials, whatever their seed."""
LAGS = 128
CLIP = 8.0
"""Standard deviations beyond which a count says no more: no string outweighs all others."""


def _zlib(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=-15, memLevel=9)
    return packer.compress(data) + packer.flush()


def _zstd(data: bytes) -> bytes:
    zstd = optional("zstandard", extra="compress", purpose="Compressing by zstd")
    return zstd.ZstdCompressor(level=19, write_checksum=False).compress(data)


def _brotli(data: bytes) -> bytes:
    brotli = optional("brotli", extra="compress", purpose="Compressing by brotli")
    return brotli.compress(data, quality=11)


def _ppm(data: bytes) -> bytes:
    ppm = optional("pyppmd", extra="compress", purpose="Compressing by PPM")
    coder = ppm.Ppmd7Encoder(4, 2**20)
    return coder.encode(data) + coder.flush()


COMPRESS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        "zlib": _zlib,
        "bz2": lambda data: bz2.compress(data, 9),
        "lzma": lambda data: lzma.compress(data, lzma.FORMAT_RAW, filters=_LZMA),
        "zstd": _zstd,
        "brotli": _brotli,
        "ppm": _ppm,
    }
)
"""Compressors by name; the last three need the extra ``compress``."""


def share_as_short(size: int, bits: int) -> float:
    """Bound the share of all bit strings that one compressor brings to at most ``size`` bytes.

    >>> share_as_short(98, 800) < 2**-15, share_as_short(100, 800)
    (True, 1.0)
    """
    return 2.0 ** max(-1000.0, min(0.0, 8 * (size + 1) - bits - math.log2(255)))


def compression_p_value(data: bytes, bits: int, methods: Sequence[str]) -> float:
    """Bound the chance that random bits compress as well by any of several compressors
    (Bonferroni).

    ``data`` packs the ``bits`` bits eight a byte, padded with zeros; ``methods`` name `COMPRESS`.
    """
    shortest = min(len(COMPRESS[method](data)) for method in methods)
    return min(1.0, len(methods) * share_as_short(shortest, bits))


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

    methods: Some of zlib, bz2, lzma, zstd, brotli, ppm; the last three need the extra ``compress``.
    level: Largest probability of an error about a random string.
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
        return np.array(
            [
                int(compression_p_value(row.tobytes(), bits, self.methods) <= self.level)
                for row in packed
            ]
        )


@dataclass(frozen=True)
class StatisticalVerifier:
    """Classify strings as "short to describe" if they fail a randomness test, otherwise as
    "random".

    Every p-value is exact and their number corrected for (Bonferroni): random strings are called
    short with probability at most ``level``.

    tests: Some of frequency, runs, serial, autocorrelation, block-frequency, longest-run,
        birthdays, linear-complexity.
    level: Largest probability of an error about a random string.
    """

    tests: Sequence[str] = tuple(TESTS)
    level: float = 0.01

    def __post_init__(self) -> None:
        _named("tests", self.tests, TESTS)
        fraction("level", self.level)

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> NDArray[np.int64]:
        strings = strings_of_bits(release)
        p_values = np.min([TESTS[name](strings) for name in self.tests], axis=0)
        return (p_values * len(self.tests) <= self.level).astype(np.int64)


def features(strings: NDArray[np.uint8]) -> Floats:
    """Return the features of strings of shape (count, n), in standard deviations; one of them is 1.

    Sums modulo two in windows of eight bits (as good as counts of all patterns), and of bits up to
    128 apart; for random strings all have mean 0 and variance 1.
    """
    n = strings.shape[1]
    odd, windows = window_sums(strings)
    lags = np.arange(WINDOW, min(LAGS, n // 2) + 1)
    apart = disagreements(strings, lags)
    near = (2 * odd - windows) / np.sqrt(windows)
    far = (2 * apart - (n - lags)) / np.sqrt(n - lags)
    return np.hstack([np.ones((len(strings), 1)), near.clip(-CLIP, CLIP), far.clip(-CLIP, CLIP)])


def fit_logistic(table: Floats, labels: NDArray[np.float64], penalty: float) -> Floats:
    """Fit a logistic regression by Newton's method, with a squared penalty.

    ``table`` has shape (count, features), the first of them 1 and unpenalised; ``labels`` are 0 or
    1. The loss gets ``penalty / 2`` (above 0) times the sum of the squared weights.
    """
    ridge = np.full(table.shape[1], penalty)
    ridge[0] = 1e-6

    def loss(weights: Floats) -> float:
        score = table @ weights
        return float(np.logaddexp(0, score).sum() - labels @ score + ridge @ weights**2 / 2)

    weights = np.zeros(table.shape[1])
    now = loss(weights)
    for _ in range(50):
        chance = special.expit(table @ weights)
        slope = table.T @ (chance - labels) + ridge * weights
        curve = (table * (chance * (1 - chance))[:, None]).T @ table + np.diag(ridge)
        step, size = np.linalg.solve(curve, slope), 1.0
        while (then := loss(weights - size * step)) > now and size > 1e-6:
            size /= 2
        weights = weights - size * step
        if now - then <= 1e-9 * (1 + abs(now)):
            break
        now = then
    return weights


@dataclass(frozen=True)
class LearnedVerifier:
    """Distinguish the two kinds of strings by logistic regression.

    training: Strings of both kinds to train on, drawn once from the game by a separate seed.
    penalty: Of the squared weights; features have variance 1 for random strings.
    """

    training: int = 2000
    penalty: float = 20.0
    weights: Annotated[Any, FilledIn()] = None

    def __post_init__(self) -> None:
        integer("training", self.training, low=10)
        if not self.penalty > 0:
            raise InputError(f"`penalty` must be above 0, got {self.penalty!r}")

    def prepare(self, game: Any) -> LearnedVerifier:
        rng = np.random.default_rng(SEED)
        data = game.world.draw(self.training, rng).data
        strings = strings_of_bits(game.mechanism.release(data, rng))
        labels = np.asarray(data).reshape(len(data), -1)[:, 0].astype(np.float64)
        if not np.isin(labels, (0, 1)).all():
            raise InputError("the attack `learned-verifier` tells data sets of one bit apart")
        return replace(self, weights=fit_logistic(features(strings), labels, self.penalty))

    def attempt(self, release: Array, known: Batch, rng: np.random.Generator) -> NDArray[np.int64]:
        if self.weights is None:
            raise InputError("call `prepare` first: the attack learns from the game")
        return (features(strings_of_bits(release)) @ self.weights > 0).astype(np.int64)


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


def _stretched(random: np.random.Generator, size: int) -> tuple[str, bytes]:
    """Draw a seed in hexadecimal digits, and stretch it to so many bytes."""
    seed = random.bytes(16).hex()
    return seed, hashlib.shake_256(bytes.fromhex(seed)).digest(size)


def prg_example(
    *, pseudo_random: bool, length: int = 4096, by_heart: int = 128, rng: RandomSource = None
) -> PrgExample:
    """Make the triple of Algorithm D.12; SHAKE-256 replaces the generator.

    pseudo_random: True for ``b = 0`` (stretched from a seed of 16 bytes), False for ``b = 1``
        (random).
    length: bytes of data, printed as twice as many hexadecimal digits.
    by_heart: bytes at the end memorised by the program, at least 48: longer than the short program.

    >>> made = prg_example(pseudo_random=True, rng=1)
    >>> len(made.short_program) < len(made.program) < len(made.data)
    True
    """
    length = integer("length", length, low=64)
    by_heart = integer("by_heart", by_heart, low=48, high=length)
    random, short = generator(rng), None
    if pseudo_random:
        seed, raw = _stretched(random, length)
        short = (
            f"import hashlib as h;print(h.shake_256(bytes.fromhex('{seed}')).hexdigest({length}))"
        ).encode()
    else:
        raw = random.bytes(length)
    data, split = raw.hex(), 2 * (length - by_heart)
    program = f"print(open(0).read()+'{data[split:]}')"
    return PrgExample(data.encode(), data[:split].encode(), program.encode(), short)


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

    advantage: excess of the agreement over a half, in (0, 1/2).
    bits: length of the data.
    by_heart: bits memorised by the program; it needs some ten times the square root of ``bits``.
    """
    advantage = between("advantage", advantage, 0, 0.5, open_low=True, open_high=True)
    bits = 8 * (integer("bits", bits, low=512) // 8)
    by_heart = integer("by_heart", by_heart, low=1, high=int(2 * advantage * bits))
    random, short = generator(rng), None
    if pseudo_random:
        seed, raw = _stretched(random, bits // 8)
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
