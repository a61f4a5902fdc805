"""Examples D.5 and D.6 of Cohen et al. 2024: programs that agree on three quarters of the bits."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys

import numpy as np
from numpy.typing import NDArray

from narcissus.extraction.relations import HammingBall
from narcissus.scale import Known, exponents
from narcissus.scale.fit import EVERYBODY
from narcissus_papers.base import Given, Line, Panel, Reproduced, Statements, played
from narcissus_papers.cohen.cases import checked
from narcissus_papers.cohen.guessing import entropy, near, sizes
from narcissus_papers.cohen.scaling import curve_of, is_exactly, swept

SHARE = 0.25
CODES = (4, 8, 12)
"""Lengths at which a greedy covering code is written out."""
LISTED = (16, 24, 32, 40, 48, 56, 64)
"""Lengths at which numbered words are looked through."""
STRINGS = 100
"""Random strings of each length whose word is looked for."""
LONG = tuple(100 * 2**i for i in range(6))
WRITTEN = (10_000, 20_000, 40_000, 80_000)

_LISTED = (
    "import hashlib\nprint(f\"{{int.from_bytes(hashlib.shake_256(b'{n}').digest({size})):0{d}b}}\")"
)


def greedy_code(d: int) -> list[int]:
    """Return the words that the program of `HammingBall` finds, in order."""
    every = np.arange(1 << d, dtype=np.uint32)
    within = np.bitwise_count(every[:, None] ^ every[None]) <= math.floor(SHARE * d)
    left = np.ones(1 << d, dtype=bool)
    words: list[int] = []
    while left.any():
        word = int((within @ left.astype(np.float32)).argmax())
        words.append(word)
        left &= ~within[word]
    return words


def listed_word(d: int, number: int) -> int:
    """Return the word of a number: SHAKE-256 of its digits, whole bytes."""
    return int.from_bytes(hashlib.shake_256(str(number).encode()).digest(d // 8), "big")


def first_near(d: int, strings: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the number of the first listed word near each string."""
    radius, at, many = math.floor(SHARE * d), 0, 4096
    found = np.full(len(strings), -1)
    while (open_ := np.flatnonzero(found < 0)).size:
        words = np.array([listed_word(d, n) for n in range(at, at + many)], dtype=np.uint64)
        close = np.bitwise_count(strings[open_, None] ^ words) <= radius
        hit = close.any(axis=1)
        found[open_[hit]] = at + close[hit].argmax(axis=1)
        at += many
    return found


def listed_program(d: int, number: int) -> str:
    return _LISTED.format(n=number, size=d // 8, d=d)


def expected_bits(chance: float) -> float:
    """Compute the mean of the logarithm, base 2, of the first success, 1, 2, .., of a chance."""
    trials = np.arange(1, math.ceil(40 / chance))
    return float(chance * ((1 - chance) ** (trials - 1.0)) @ np.log2(trials))


def slope_of(d: NDArray[np.float64], bits: NDArray[np.float64]) -> tuple[float, float]:
    """Fit ``c + a d + log2(d) / 2``; return a and c."""
    a, c = np.polyfit(d, bits - np.log2(d) / 2, 1)
    return float(a), float(c)


def _ball_chances() -> tuple[bool, list[float]]:
    """Compare the game's baseline with a ball's share; return that of long strings."""
    game = {
        "kind": "game",
        "world": {"name": "uniform", "n": 1, "d": 4},
        "mechanism": {"name": "identity"},
        "success": {"name": "hamming", "gamma": SHARE},
        "statement": {"name": "bayesian", "epsilon": 0.0, "delta": 0.0},
        "exact": {"when": "required"},
    }
    base = curve_of(swept(game, {"world.d": (4, 8)}), EVERYBODY, "baseline")
    return is_exactly(base, lambda d: near(int(d), SHARE)), [near(d, SHARE) for d in LONG]


def _searched() -> tuple[list[float], list[float], bool]:
    """Search for words near random strings: mean bits of a number, expected bits, programs run."""
    rng = np.random.default_rng(5)
    found: list[float] = []
    programs: list[str] = []
    firsts: list[int] = []
    for d in LISTED:
        strings = rng.integers(0, 2**d - 1, STRINGS, dtype=np.uint64, endpoint=True)
        numbers = first_near(d, strings)
        found.append(float(np.log2(numbers + 1).mean()))
        programs.append(listed_program(d, int(numbers[0])))
        firsts.append(int(strings[0]))
    done = subprocess.run([sys.executable, "-I", "-c", "\n".join(programs)], capture_output=True,
                          text=True, check=True)  # fmt: skip
    all_print = all(
        len(word) == d and (int(word, 2) ^ first).bit_count() <= SHARE * d
        for d, word, first in zip(LISTED, done.stdout.split(), firsts, strict=True)
    )
    return found, [expected_bits(near(d, SHARE)) for d in LISTED], all_print


COVERING = Statements("003", 3.0, prefix="narcissus scale ", kind="figure")


@COVERING(
    "covering",
    "Agreeing on three quarters of the bits, by their number.",
    "parity-is-safe --over world.d=40:320:x2",
)
def covering(_given: Given) -> Reproduced:
    is_ball, chances = _ball_chances()
    falling, power = exponents(
        [Known(d, p, p, p, exact=True) for d, p in zip(LONG, chances, strict=True)]
    )
    rate = 1 - entropy(SHARE)
    codes = {d: len(greedy_code(d)) for d in CODES}
    least = {d: math.ceil(1 / near(d, SHARE)) for d in CODES}
    found, expected, all_print = _searched()
    # of independent numbers: the logarithm of a geometric one deviates by pi / sqrt 6 / ln 2
    room = 5 * math.pi / math.sqrt(6) / math.log(2) / math.sqrt(STRINGS)
    listed, constant = slope_of(np.array(LISTED, float), np.array(expected))
    written = [8 * HammingBall(SHARE).covering_program_size(d) for d in WRITTEN]
    slopes = np.diff(written) / np.diff(WRITTEN)
    formula = (sizes(LONG[-1])[1] - sizes(LONG[0])[1]) / (LONG[-1] - LONG[0])
    measured = written[0] - rate * WRITTEN[0]
    return Reproduced(
        panels=(
            Panel("Agreeing by chance", "bits d", "chance", [Line("a ball", LONG, chances)],
                  log_y=True),
            Panel("Programs that were run: their number", "bits d", "bits of the number", [
                Line("greedy code, all strings", CODES, [math.log2(codes[d]) for d in CODES],
                     "points"),
                Line("listed words, mean of 100 strings", LISTED, found, "points"),
                Line("listed words, expected", LISTED, expected),
                Line("(1 - H(1/4)) d + log2(d)/2, and the constant", LISTED,
                     [rate * d + math.log2(d) / 2 + constant for d in LISTED], "dashed")]),
            Panel("A program that agrees, written out", "bits d", "bits of the program", [
                Line("a covering code", WRITTEN, written, "points"),
                Line("(1 - H(1/4)) d, and the constant", WRITTEN,
                     [rate * d + measured for d in WRITTEN], "dashed"),
                Line("d / 2, as printed", WRITTEN, [d / 2 for d in WRITTEN], "dotted")]),
        ),
        held=(
            checked("the chance to agree with a fresh string is that of a ball, at d = (4, 8), by "
                    "the exact game", is_ball),
            checked(
                f"from d = {LONG[0]} to {LONG[-1]:,} it falls like 2^(-a d), a = "
                f"{falling.low:.4f} to {falling.high:.4f} between neighbours, towards "
                f"1 - H(1/4) = {rate:.4f} from above",
                rate < falling.low <= falling.high < 1.2 * rate and not power.fits,
            ),
            checked(
                f"a covering code's word grows by {formula:.4f} bits for each bit, and not by 1/2",
                abs(formula - rate) < 0.005,
            ),
            checked(
                "greedy codes, every string enumerated: "
                + ", ".join(f"{codes[d]} words at d = {d} ({least[d]} at least)" for d in CODES),
                all(least[d] <= codes[d] <= least[d] * (1 + math.log(2**d * near(d, SHARE)))
                    for d in CODES),
            ),
            played(
                f"the number of the first listed word near a string has as many bits as expected, "
                f"{found[0]:.1f} at d = {LISTED[0]} to {found[-1]:.1f} at {LISTED[-1]}, mean of "
                f"{STRINGS} strings; its program, run, prints a word within a quarter",
                all_print and all(abs(x - y) < room for x, y in zip(found, expected, strict=True)),
            ),
            checked(
                f"less half of log2(d) and a constant of {constant:.2f} bits, measured out, these "
                f"grow by {listed:.4f} bits for each bit",
                abs(listed - rate) < 0.005,
            ),
            checked(
                f"a covering program, written out, is {measured:,.0f} bits longer than "
                f"(1 - H(1/4)) d at d = {WRITTEN[0]:,}, and grows by {slopes[-1]:.4f} bits for "
                "each bit: at most 7 bytes in 256 are escapes",
                bool(np.all((slopes > rate) & (slopes < rate * (1 + 7 / 256) + 0.001))),
            ),
        ),
    )  # fmt: skip
