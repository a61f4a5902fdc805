"""Statistical tests of the randomness of bits, each with an exact p-value.

The law of each test statistic for fair and independent bits is written out, so nothing is
approximated: the chance to reject random bits at a level is at most that level, at every length.
Not rejecting shows nothing: the output of a good generator passes all tests.

Source: Cohen et al. 2024, section D.4.2; the choice follows NIST SP 800-22 and Knuth, The Art of
Computer Programming 2, section 3.3.2. That sums modulo two of neighbouring bits are fair and
independent, which makes serial tests exact: Narcissus theory 7.

Linear complexity: the length of the shortest linear feedback shift register per string.

Source: Massey 1969; the law for random strings: Rueppel 1986, Analysis and Design of Stream
Ciphers, proposition 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, special

from narcissus._arrays import Floats
from narcissus.errors import InputError
from narcissus.results import Grade, Result


def linear_complexity(bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the length of each string's shortest linear feedback shift register.

    The algorithm of Berlekamp and Massey for all strings at the same time, 64 coefficients per
    word.

    >>> linear_complexity(np.array([[0, 0, 0, 1], [1, 0, 1, 0]], dtype=np.uint8)).tolist()
    [4, 2]
    """
    count, n = bits.shape
    words = n // 64 + 1
    lengths = np.zeros(count, dtype=np.int64)
    now, before, last = (np.zeros((count, words), dtype=np.uint64) for _ in range(3))
    now[:, 0] = before[:, 0] = 1
    for at in range(n):
        last = _shifted(last)
        last[:, 0] |= bits[:, at]
        before = _shifted(before)
        sums = np.bitwise_count(np.bitwise_xor.reduce(now & last, axis=1)) & 1
        wrong = sums == 1
        longer = wrong & (2 * lengths <= at)
        registers = now[longer]
        now[wrong] ^= before[wrong]
        before[longer] = registers
        lengths[longer] = at + 1 - lengths[longer]
    return lengths


def _shifted(table: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Multiply each polynomial by x."""
    moved = table << np.uint64(1)
    moved[:, 1:] |= table[:, :-1] >> np.uint64(63)
    return moved


def law_of_linear_complexity(n: int) -> NDArray[np.float64]:
    """Return the chance that the linear complexity of ``n`` random bits is 0, 1, .., n."""
    length: NDArray[Any] = np.arange(1, n + 1)
    chance = 2.0 ** (np.minimum(2 * n - 2 * length, 2 * length - 1) - n)
    return np.concatenate([[2.0**-n], chance])


Bits = NDArray[np.uint8]

SHORTEST = 128
"""Fewest bits that are tested."""
WINDOW = 8
"""Bits of a window of the serial test."""
LAGS = 256
"""How far apart bits are compared."""
BLOCK = 64
"""Bits of a block whose ones are counted."""
REGISTER = 1024
"""The first bits, whose linear complexity is found."""
_ROUNDING = 1e-12
_SMALLEST = 1e-300
"""No p-value is 0; smaller ones than this cannot be told from it."""


def fair_sum(ones: ArrayLike, bits: int) -> Floats:
    """Return the two-sided p-value of the number of ones among fair and independent bits."""
    low = np.minimum(ones, bits - np.asarray(ones))
    return np.minimum(1.0, 2 * special.bdtr(low.astype(np.float64), bits, 0.5))


def _two_sided(values: NDArray[Any], law: Floats) -> Floats:
    below, above = np.cumsum(law), np.cumsum(law[::-1])[::-1]
    return np.minimum(1.0, 2 * np.minimum(below, above)[values])


def _smallest(each: Floats) -> Floats:
    """Combine the p-values of several tests, last axis (Bonferroni)."""
    return np.minimum(1.0, each.min(axis=-1) * each.shape[-1])


def frequency(bits: Bits) -> Floats:
    """Count the ones."""
    return fair_sum(bits.sum(axis=1, dtype=np.int64), bits.shape[1])


def runs(bits: Bits) -> Floats:
    """Count the places where a bit differs from the one before."""
    return fair_sum((bits[:, 1:] ^ bits[:, :-1]).sum(axis=1, dtype=np.int64), bits.shape[1] - 1)


def window_sums(bits: Bits, width: int = WINDOW) -> tuple[NDArray[np.int64], int]:
    """Count odd sums per mask 1, 3, 5, .. of a window, (count, 2^(width - 1)); and the windows."""
    windows = bits.shape[1] - width + 1
    codes = np.zeros((len(bits), windows), dtype=np.int64)
    for at in range(width):
        codes |= bits[:, at : at + windows].astype(np.int64) << at
    size = 1 << width
    shifted = codes + size * np.arange(len(bits))[:, None]
    seen = np.bincount(shifted.ravel(), minlength=size * len(bits)).reshape(-1, size)
    masks = np.arange(1, size, 2)
    odd = np.bitwise_count(np.arange(size)[:, None] & masks) & 1
    return seen @ odd.astype(np.int64), windows


def serial(bits: Bits) -> Floats:
    """Test windows of eight bits: the sums of every choice of bits that includes the first."""
    odd, windows = window_sums(bits)
    return _smallest(fair_sum(odd[:, 1:], windows))  # the first is the frequency


def disagreements(bits: Bits, lags: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the places where a bit differs from the one ``lag`` before, (count, lags)."""
    n = bits.shape[1]
    counts = np.empty((len(bits), len(lags)), dtype=np.int64)
    for at in range(0, len(bits), 256):
        signs = 1.0 - 2.0 * bits[at : at + 256]
        power = np.abs(np.fft.rfft(signs, 2 * n, axis=1)) ** 2
        agree = np.rint(np.fft.irfft(power, 2 * n, axis=1)[:, lags]).astype(np.int64)
        counts[at : at + 256] = (n - lags - agree) // 2
    return counts


def autocorrelation(bits: Bits) -> Floats:
    """Compare bits at least eight places apart, up to 256 or half of the length."""
    n = bits.shape[1]
    lags = np.arange(WINDOW, min(LAGS, n // 2) + 1)
    odd = disagreements(bits, lags)
    low = np.minimum(odd, n - lags - odd)
    return _smallest(np.minimum(1.0, 2 * special.bdtr(low.astype(np.float64), n - lags, 0.5)))


@cache
def _law_of_blocks(blocks: int) -> Floats:
    """Compute the law of the summed squared excess of ones per block, by a Fourier transform."""
    ones = np.arange(BLOCK + 1)
    block_law = np.bincount((ones - BLOCK // 2) ** 2, special.comb(BLOCK, ones) / 2.0**BLOCK)
    size = blocks * (len(block_law) - 1) + 1
    room = int(fft.next_fast_len(size, real=True))
    law = fft.irfft(fft.rfft(block_law, room) ** blocks, room)[:size]
    return np.maximum(law, 0.0)


def block_frequency(bits: Bits) -> Floats:
    """Count the ones in blocks of 64 bits: distributed too unevenly, or too evenly."""
    blocks = bits.shape[1] // BLOCK
    ones = bits[:, : blocks * BLOCK].reshape(len(bits), blocks, BLOCK).sum(axis=2, dtype=np.int64)
    value = ((ones - BLOCK // 2) ** 2).sum(axis=1)
    rounding = _ROUNDING * max(1.0, blocks / 16)
    return np.minimum(1.0, _two_sided(value, _law_of_blocks(blocks)) + rounding)


@cache
def _longer(n: int, limit: int) -> float:
    """Return the chance that some run of equal bits among ``n`` is longer than ``limit``.

    Such a run is one of at least ``limit`` zeros among the ``n - 1`` changes.
    """
    if limit < 1:
        return 1.0
    first = 2.0**-limit
    chance = [0.0] * limit + [first]
    for m in range(limit + 1, n):
        chance.append(chance[-1] + first / 2 * (1 - chance[m - limit - 1]))
    return chance[n - 1]


def longest_run(bits: Bits) -> Floats:
    n = bits.shape[1]
    change = np.ones((len(bits), n + 1), dtype=bool)
    change[:, 1:-1] = bits[:, 1:] != bits[:, :-1]
    row, place = np.nonzero(change)
    gaps = np.where(np.diff(row) == 0, np.diff(place), 0)
    longest = np.zeros(len(bits), dtype=np.int64)
    np.maximum.at(longest, row[:-1], gaps)
    law = {
        int(run): 2 * min(_longer(n, run - 1), 1 - _longer(n, run) + _ROUNDING)
        for run in np.unique(longest)
    }
    return np.array([min(1.0, law[int(run)]) for run in longest])


def word_length(n: int) -> int:
    """Return the longest word length with at least four expected coincident pairs in ``n`` bits."""
    size = 2
    while (n // (size + 1)) * (n // (size + 1) - 1) / 2 / 2 ** (size + 1) >= 4:
        size += 1
    return size


@cache
def _law_of_different(words: int, kinds: int) -> Floats:
    """Return the law of the number of distinct values among random words."""
    law = np.zeros(words + 1)
    law[0] = 1.0
    share = np.arange(words + 1) / kinds
    for _ in range(words):
        law = law * share + np.concatenate([[0.0], (law * (1 - share))[:-1]])
    return np.maximum(law, 0.0)


def birthdays(bits: Bits) -> Floats:
    """Cut the string into words and count the distinct ones: birthday coincidences."""
    size = word_length(bits.shape[1])
    words = bits.shape[1] // size
    table = bits[:, : words * size].reshape(len(bits), words, size).astype(np.int64)
    codes = np.sort(table @ (1 << np.arange(size)), axis=1)
    different = 1 + (np.diff(codes, axis=1) != 0).sum(axis=1)
    return _two_sided(different, _law_of_different(words, 1 << size))


def linear(bits: Bits) -> Floats:
    """Compute the linear complexity of the first 1,024 bits."""
    first = np.ascontiguousarray(bits[:, :REGISTER])
    return _two_sided(linear_complexity(first), law_of_linear_complexity(first.shape[1]))


TESTS: Mapping[str, Callable[[Bits], Floats]] = MappingProxyType(
    {
        "frequency": frequency,
        "runs": runs,
        "serial": serial,
        "autocorrelation": autocorrelation,
        "block-frequency": block_frequency,
        "longest-run": longest_run,
        "birthdays": birthdays,
        "linear-complexity": linear,
    }
)
"""The tests by name: strings, shape (count, n), to p-values, shape (count,)."""


@dataclass(frozen=True)
class RandomnessTests(Result):
    """Results of statistical tests on a string of bits."""

    bits: int  # number of bits
    # by test: upper bound on the chance that random bits look as unusual
    p_values: dict[str, float]
    # the same for all tests together (Holm): for random bits any is below .05 at most once in
    # twenty
    adjusted: dict[str, float]
    p_value: float  # the smallest adjusted one

    @property
    def grade(self) -> Grade:
        """Always 'proved': the laws for random bits are exact; nothing else is claimed."""
        return "proved"

    def __str__(self) -> str:
        lines = [
            f"PROVED: {self.bits:,} random bits look as odd to any of {len(self.p_values)} tests "
            f"with chance {self.p_value:.3g} at most"
        ]
        return "\n".join([*lines, *(f"  {k}: {v:.3g}" for k, v in self.adjusted.items())])


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values for their number, whatever their dependence (Holm 1979).

    >>> holm({"a": 0.25, "b": 0.01})
    {'a': 0.25, 'b': 0.02}
    """
    adjusted: dict[str, float] = {}
    floor = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = floor
    return {name: adjusted[name] for name in p_values}


def randomness_tests(bits: ArrayLike) -> RandomnessTests:
    """Test whether at least 128 zeros and ones are random; for a file: ``np.unpackbits``.

    >>> randomness_tests([0, 1] * 100).p_values["runs"] < 1e-50
    True
    """
    table = strings_of_bits(np.asarray(bits)[None])
    p_values = {name: max(_SMALLEST, float(test(table)[0])) for name, test in TESTS.items()}
    adjusted = holm(p_values)
    return RandomnessTests(table.shape[1], p_values, adjusted, min(adjusted.values()))


def strings_of_bits(given: Any) -> Bits:
    """Convert to strings of bits, shape (count, n); refuse short strings and non-bits."""
    table = np.asarray(given)
    if table.ndim != 2 or table.shape[1] < SHORTEST:
        raise InputError(
            f"tests of randomness need strings of {SHORTEST} bits at least, got an array of shape "
            f"{table.shape}"
        )
    if not np.isin(table, (0, 1)).all():
        raise InputError("tests of randomness take zeros and ones only")
    return table.astype(np.uint8)
