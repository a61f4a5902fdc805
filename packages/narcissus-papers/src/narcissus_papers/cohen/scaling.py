"""Examples of Cohen et al. 2024 against their security parameter, with their formulas.

Appendix A of the later version, Cohen et al. 2025: resilient, and not private.

Examples D.5 and D.6 of Cohen et al. 2024: programs that agree on three quarters of the bits.
"""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from narcissus.attacks import TryInputs
from narcissus.extraction.relations import HammingBall
from narcissus.game import Game
from narcissus.mechanisms import CountingQuery, Sha256, published_cut
from narcissus.profiles import Cover, cover, worst_event, write_out
from narcissus.report.panels import Line, Panel
from narcissus.study.shipped import shipped_study
from narcissus.success.relations import Pinned, SameImage
from narcissus.worlds import Bits, Records
from narcissus_papers.base import Given, Reproduced, Statements, Told, played
from narcissus_papers.cohen.cases import ROOM, checked, profile_of, proved
from narcissus_papers.cohen.complexity import entropy, near, sizes
from narcissus_papers.scale import Known, Parameter, Scaled, SizeCurve, Sweep, exponents, scale
from narcissus_papers.scale.fit import EVERYBODY, Quantity, sentence, told

CONFIDENCE = 1 - 1e-6
"""Of all limits of one sweep together: a false alarm once in a million."""

Formula = Callable[[float], float]
Values = Mapping[str, tuple[float, ...]]


def swept(study: str | Mapping[str, Any], values: Values, trials: int | None = None) -> Scaled:
    """Play a study, or a shipped one by its name, over the first of some parameters."""
    over, *others = (Parameter(name, tuple(given)) for name, given in values.items())
    given: Path | Mapping[str, Any] = shipped_study(study).path if isinstance(study, str) else study
    return scale(given, Sweep(over, tuple(others), trials, CONFIDENCE), rng=1)


def silent(name: str) -> dict[str, Any]:
    """Return a shipped study without attacks: nothing is played, all attackers are covered."""
    study = tomllib.loads(shipped_study(name).path.read_text(encoding="utf-8"))
    return {key: value for key, value in study.items() if key not in {"attack", "run"}}


def curve_of(scaled: Scaled, whose: str, quantity: Quantity = "gain") -> SizeCurve:
    return next(c for c in scaled.curves if (c.whose, c.quantity) == (whose, quantity))


def is_exactly(curve: SizeCurve, formula: Formula, room: float = ROOM) -> bool:
    """Whether all values are exact, and equal to a formula's."""
    return all(p.exact and abs(p.value - formula(p.size)) <= room for p in curve.points)


def holds(curve: SizeCurve, formula: Formula) -> bool:
    """Whether the limits of all values contain a formula's."""
    return all(p.low <= formula(p.size) <= p.high for p in curve.points)


def drawn(curve: SizeCurve, label: str, formula: Formula | None = None) -> list[Line]:
    x = [p.size for p in curve.points]
    lines = [Line(label, x, [p.value for p in curve.points], "points")]
    if formula is not None:
        lines.append(Line(f"{label}: formula", x, [formula(v) for v in x], "dashed"))
    return lines


def said(scaled: Scaled, curve: SizeCurve) -> str:
    return sentence(told(curve), scaled.name)[:-1]


def found_of(budget: int) -> Formula:
    """Compute the chance that one of ``2^k`` is among some different ones."""
    return lambda k: min(1.0, budget * 2.0**-k)


def missed(bits: float) -> float:
    """Compute one minus the sum of squared chances of the images of ten bits under SHA-256, cut."""
    strings = (np.arange(1024)[:, None] >> np.arange(10)[::-1]) & 1
    images = Sha256(int(bits)).release(strings.astype(np.uint8), np.random.default_rng(0))
    chance = np.unique(images, axis=0, return_counts=True)[1] / 1024
    return 1 - float(chance @ chance)


def tabled(budget: int) -> Formula:
    """Compute the share of all images of ``k`` bits that are among those of the inputs tried."""
    table = TryInputs(budget).prepare(Game(Bits(64), Sha256(1), SameImage(Sha256(1)))).inputs

    def share(k: float) -> float:
        images = Sha256(int(k)).release(table, np.random.default_rng(0))
        return len(np.unique(images, axis=0)) / 2**k

    return share


SCALING = Statements("003", 1.0, prefix="narcissus-papers scale ", kind="figure")


@SCALING(
    "one-wayness",
    "Inverting SHA-256, by the bits that are kept.",
    "one-way-sha256 --over mechanism.bits=6:14:2 --with success.function.bits=6:14:2 "
    "--with attack.budget=64",
    seconds=2.0,
)
def one_wayness(_given: Given) -> Reproduced:
    bits, cut, budget = range(1, 8), range(6, 15, 2), 64
    everybody = swept(
        silent("one-way-exact"), {"mechanism.bits": (*bits,), "success.function.bits": (*bits,)}
    )
    limited = swept(
        "one-way-sha256",
        {"mechanism.bits": (*cut,), "success.function.bits": (*cut,), "attack.budget": (budget,)},
        20_000,
    )
    gain, base = curve_of(everybody, EVERYBODY), curve_of(everybody, EVERYBODY, "baseline")
    tries = curve_of(limited, "try-inputs", "success")
    return Reproduced(
        panels=(
            Panel(
                "Unlimited effort, ten bits", "bits of the image", "chance",
                [*drawn(gain, "gain", missed), *drawn(base, "baseline")], log_y=True,
            ),
            Panel(
                f"{budget} inputs tried", "bits of the image", "chance",
                drawn(tries, "success", tabled(budget)), log_y=True,
            ),
        ),
        held=(
            checked(
                "with unlimited effort one less the sum of the squared chances of the images is "
                f"gained, which does not fall: {said(everybody, gain)}",
                is_exactly(gain, missed) and gain.direction == "rises",
            ),
            played(
                f"who tries {budget} inputs succeeds with the share of all images that they have, "
                f"at most {budget} 2^-k, in the limits of every value: {said(limited, tries)}",
                holds(tries, tabled(budget)) and tries.direction == "falls",
            ),
        ),
    )  # fmt: skip


@SCALING(
    "encryption",
    "Telling messages apart, by the bits of key and coins.",
    "eav-broken --over mechanism.key_bits=7:11:1 --with attack.budget=64",
    seconds=6.0,
)
def encryption(_given: Given) -> Reproduced:
    budget, keys, coins = 64, (7, 8, 9, 10, 11), (0, 1, 2, 3)
    eav = swept("eav-broken", {"mechanism.key_bits": keys, "attack.budget": (budget,)}, 4000)
    cpa = swept("cpa-few-coins", {"mechanism.coin_bits": coins}, 2000)
    search, again = curve_of(eav, "key-search"), curve_of(cpa, "re-encryption")
    agree = found_of(1)
    return Reproduced(
        panels=(
            Panel(f"EAV: {budget} keys tried", "bits of the key", "gain",
                  drawn(search, "gain", found_of(budget)), log_y=True),
            Panel("CPA: each message encrypted once", "coins of a ciphertext", "gain",
                  drawn(again, "gain", agree), log_y=True),
        ),
        held=(
            played(
                f"who tries {budget} keys of k bits gains {budget} 2^-k, in the limits "
                f"of every value: {said(eav, search)}",
                holds(search, found_of(budget)) and search.direction == "falls",
            ),
            played(
                "who encrypts each message once gains 2^-c against c coins, in the limits of "
                f"every value: {said(cpa, again)}",
                holds(again, agree) and again.direction == "falls",
            ),
        ),
    )  # fmt: skip


@SCALING(
    "composition",
    "Two halves of an exclusive or, by their bits.",
    "xor-halves-together --over world.n=2:10:2 --with success.length=1:5:1",
    seconds=1.0,
)
def composition(_given: Given) -> Reproduced:
    half = range(1, 6)
    values: Values = {"world.n": tuple(2 * k for k in half), "success.length": (*half,)}
    both = swept(silent("xor-halves-together"), values)
    alone = swept(silent("xor-half-alone"), values)
    together, single = curve_of(both, EVERYBODY), curve_of(alone, EVERYBODY)

    def all_but_luck(n: float) -> float:
        return 1 - 2 ** (-n / 2)

    return Reproduced(
        panels=(
            Panel("delta at epsilon 0", "bits of x and y", "gain",
                  [*drawn(together, "together", all_but_luck), *drawn(single, "one of them")]),
        ),
        held=(
            checked(
                "together the halves give away all but what is guessed anyway, 1 - 2^-(n/2): "
                + said(both, together),
                is_exactly(together, all_but_luck),
            ),
            checked(f"one of them gives away nothing: {said(alone, single)}",
                    single.direction == "is zero"),
        ),
    )  # fmt: skip


@SCALING(
    "pinned-bits",
    "Pinning bits, by how many.",
    "pinned-bits --over success.k=1:6:1 --with attack.k=1:6:1 --with statement.epsilon=0",
    seconds=1.0,
)
def pinned_bits(_given: Given) -> Reproduced:
    places = tuple(range(1, 7))
    made = swept(silent("pinned-bits"), {"success.k": places, "statement.epsilon": (0.0,)})
    right = 1 / (1 + math.exp(-0.5))  # of one bit, by randomized response at epsilon 1/2
    success, base, gain = (curve_of(made, EVERYBODY, q) for q in ("success", "baseline", "gain"))
    rate = [one for one in base.exponents if one.fits]
    return Reproduced(
        panels=(
            Panel("Randomized response, epsilon 1/2", "bits pinned", "chance",
                  [*drawn(success, "success", lambda k: right**k),
                   *drawn(base, "baseline", lambda k: 2.0**-k), *drawn(gain, "gain")],
                  log_y=True),
        ),
        held=(
            checked(
                "naming k bits as they were released succeeds with (1 + e^-1/2)^-k, and fits fresh "
                f"data with 2^-k: {said(made, base)}",
                is_exactly(success, lambda k: right**k) and is_exactly(base, lambda k: 2.0**-k),
            ),
            checked(
                "the fitted exponent of the baseline is 1, and no power of k fits",
                [one.law for one in rate] == ["2^(-a x)"] and abs(rate[0].value - 1) < 1e-9,
            ),
        ),
    )  # fmt: skip


@SCALING(
    "generator",
    "Telling stretched from random strings, by the seed.",
    "generator-short-seed --over mechanism.seed_bits=6:10:1 --with attack.budget=32",
    seconds=3.0,
)
def generator(_given: Given) -> Reproduced:
    budget, seeds, few = 32, (6, 7, 8, 9, 10), (2, 3, 4, 5)
    made = swept(
        "generator-short-seed", {"mechanism.seed_bits": seeds, "attack.budget": (budget,)}, 20_000
    )
    search = curve_of(made, "seed-search")
    everybody = swept(
        silent("generator-short-seed"), {"mechanism.seed_bits": few, "mechanism.length": (10,)}
    )
    best = curve_of(everybody, EVERYBODY)
    return Reproduced(
        panels=(
            Panel(f"{budget} seeds tried", "bits of the seed", "gain",
                  drawn(search, "gain", found_of(budget)), log_y=True),
            Panel("Unlimited effort, strings of ten bits", "bits of the seed", "gain",
                  drawn(best, "gain", lambda k: 1 - 2 ** (k - 10))),
        ),
        held=(
            played(
                f"who tries {budget} seeds of k bits tells stretched from random strings with the "
                f"gain {budget} 2^-k, in the limits of every value: "
                f"{said(made, search)}",
                holds(search, found_of(budget)) and search.direction == "falls",
            ),
            checked(
                "with unlimited effort all but the share of strings that some seed gives is "
                f"gained, at least 1 - 2^(k - 10) for strings of ten bits: {said(everybody, best)}",
                all(p.exact and p.value >= 1 - 2 ** (p.size - 10) - ROOM for p in best.points),
            ),
        ),
    )  # fmt: skip


EPSILON, DELTA, RECORDS = 1.0, 0.01, 2100

SETTINGS = [(e, d) for e in (0.5, 1.0, 2.0) for d in (0.1, 0.01)]
"""Pairs of epsilon and delta; ``n`` is the least that the claim allows."""


def uncut(n: int, rate: float, epsilon: float) -> float:
    """Compute the exact least delta of the count without a cut, for one rate.

    Given ``k`` ones of ``n``, every record is 1 with chance ``k / n``: the gain is the mean of
    ``max(0, k/n - e^eps p, 1 - k/n - e^eps (1 - p))``.
    """
    share, factor = np.arange(n + 1) / n, math.exp(epsilon)
    gains = np.maximum.reduce(
        [np.zeros(n + 1), share - factor * rate, 1 - share - factor * (1 - rate)]
    )
    return float(stats.binom.pmf(np.arange(n + 1), n, rate) @ gains)


def at_most(n: int, epsilon: float, steps: int) -> float:
    """Bound the least delta without a cut for all rates together.

    By the largest value on a grid of ``steps`` steps and ``(1 + e^eps) / (2 steps)``: the gain of
    a count moves by at most ``1 / n`` if the count moves by one, and by at most ``e^eps`` times
    what the rate moves, so its mean has a slope of at most ``1 + e^eps``. Rates ``p`` and ``1 - p``
    are alike.
    """
    grid = np.arange(steps // 2 + 1) / steps
    return max(uncut(n, p, epsilon) for p in grid) + (1 + math.exp(epsilon)) / (2 * steps)


def exact(n: int, rate: float, tau: float) -> float:
    """Compute the exact least delta at epsilon 1 from the game itself."""
    game = Game(Bits(n, rate), CountingQuery(tau), Pinned(1))
    return write_out(game).delta(EPSILON)


def every_rate(tau: float, *, tolerance: float, target: float | None = None) -> Cover:
    """Compute the delta of the count of a hundred records for every rate, by the general limits.

    Rates ``p`` and ``1 - p`` are alike.
    """
    exact = write_out(Game(Bits(100), CountingQuery(tau), Pinned(1)))
    return cover(exact, 0.0, 0.5, EPSILON, tolerance=tolerance, budget=4000, target=target)


class _QueryCount:
    """A count of records of three values, the query holding for two of them."""

    exchangeable = False

    def channel(self, data: Any) -> Any:
        return CountingQuery().channel((data > 0).astype(np.uint8))


class _QueryNamed:
    """The attempt names a record and the value of the query on it."""

    def holds(self, data: Any, attempt: Any, rng: np.random.Generator) -> Any:
        return Pinned(1).holds((data > 0).astype(np.uint8), attempt, rng)

    def guesses(self, data: Any) -> Any:
        return Pinned(1).guesses((data > 0).astype(np.uint8))


def beyond_two_values(cases: int) -> float:
    """Compute the largest difference between records of three values and the bits of the query."""
    apart: list[float] = []
    for chances in np.random.default_rng(1).dirichlet(np.ones(3), cases):
        three = Game(Records(4, chances.tolist()), _QueryCount(), _QueryNamed())
        two = Game(Bits(4, float(chances[1:].sum())), CountingQuery(), Pinned(1))
        apart += [abs(write_out(three).delta(e) - write_out(two).delta(e)) for e in (0.0, 0.5, 1.0)]
    return max(apart)


def for_every_rate() -> Told:
    """Judge a hundred records at every rate, with and without a cut, and of three values."""
    free = every_rate(0.0, tolerance=1e-4)
    short, enough = (every_rate(tau, tolerance=0.0, target=1e-6) for tau in (0.17, 0.18))
    yield proved(
        f"of 100 records without a cut no rate from 0 to 1 needs more than {free.at_most:.5f} "
        f"at epsilon 1; the worst one found, {free.rate:.5f}, needs {free.least:.6f}",
        free.complete,
        section="2.2",
    )
    yield proved(
        "the smallest cut, in hundredths, with which every rate has delta(1) at most 1e-6 is "
        f".18: with .17 rate {short.rate:.4f} needs {short.least:.2e}, and a smaller cut tells "
        "more",
        short.least > 1e-6 >= enough.at_most,
        section="2.2",
    )
    yield checked(
        "records of more than two values are bits with the rate of the query: three values, "
        "8 distributions, three epsilons",
        beyond_two_values(8) <= 1e-12,
    )


COUNTING = Statements("003", 0.5)


@COUNTING(
    "Appendix A",
    "A count with a cut is resilient and not private.",
    profile_of("counting-query"),
    paper="000",
    seconds=4.0,
)
def appendix_a(_given: Given) -> Told:
    gamma, tau = published_cut(EPSILON, DELTA, RECORDS)
    rates = [1e-4, 0.15, 0.23, 0.247389, 0.27, 0.5]
    with_cut = [exact(RECORDS, p, tau) for p in rates]
    limit = at_most(RECORDS, EPSILON, 500)
    rare = np.geomspace(1e-6, 1e-2, 121)
    worst = max((uncut(RECORDS, p, EPSILON), p) for p in rare)
    hundred = max((uncut(100, p, EPSILON), p) for p in np.geomspace(1e-4, 1e-1, 121))
    apart = [abs(uncut(100, p, 1.0) - exact(100, p, 0.0)) for p in (0.002, 0.05, 0.4)]
    least = {s: math.ceil(4 * _room(*s) * math.log(4 / s[1])) for s in SETTINGS}
    limits = {s: at_most(n, s[0], math.ceil(2 * (1 + math.exp(s[0])) / s[1]))
              for s, n in least.items()}  # fmt: skip
    few = 4 * _room(EPSILON, DELTA) * math.log(1 / DELTA)
    neighbours = (np.arange(RECORDS) < np.array([[600], [601]])).astype(np.uint8)
    known = worst_event(CountingQuery(tau).channel(neighbours).matrix, 5.0)
    once = 1 / RECORDS**2
    gained = uncut(RECORDS, once, EPSILON)
    yield from for_every_rate()
    yield proved(
        f"at eps 1, delta .01, n = {RECORDS} it is resilient for every rate: even without the "
        f"cut no rate needs more than {limit:.5f}, and cutting tells less (gamma "
        f"{gamma:.5f}, tau {tau:.6f})",
        limit <= DELTA and max(apart) <= 1e-9,
    )
    yield proved(
        "it is not private: neighbours with 600 and 601 ones are told apart for certain, so "
        f"delta is {known.delta:g} for every epsilon",
        known.delta == 1.0,
    )
    yield checked(
        f"with the cut, the exact delta is below 1e-90 at rates {', '.join(map(str, rates))}",
        max(with_cut) < 1e-90,
    )
    yield checked(
        "the claim holds at the least n for which it speaks, for all rates, without a cut: "
        + ", ".join(f"eps {e:g} delta {d:g} n {least[e, d]}" for e, d in limits),
        all(limit <= d for (_, d), limit in limits.items()),
    )
    yield checked(
        "cutting the edges is necessary (no numbers in print): at eps 1, delta .01, n = 2,100",
        limit > DELTA,
        f"without a cut the worst rate, {worst[1]:.3g}, needs delta {worst[0]:.3g}; for a "
        "delta below that a cut is needed, as its footnote shows for one of about 1/n^2",
        words="We remark that cutting the edges is necessary",
        place="Appendix A",
    )
    yield checked(
        f"at rate 1/n^2 (its footnote) an attacker gains about 1/n^2: {gained:.2e} at n = "
        f"{RECORDS}",
        0.9 * once <= gained <= once,
    )
    yield checked(
        f"n >= 4 (gamma^2 + 2 gamma) ln(1/delta) is tau <= 1/4, as printed: {few:.0f} and "
        f"{least[EPSILON, DELTA]} records",
        math.ceil(few) == least[EPSILON, DELTA],
        "tau has ln(4/delta), so the condition needs it as well",
        words=r"n\geq 4(\gamma^{2}+2\gamma)\ln(1/\delta)",
        place="Appendix A, its claim",
    )
    yield checked(
        f"without a cut and n = 100 the worst rate is {hundred[1]:.4g}, with delta "
        f"{hundred[0]:.4g}",
        bool(abs(hundred[0] - 1.01828e-3) < 2e-6 and abs(hundred[1] - 0.00215) < 1e-4),
    )


def _room(epsilon: float, delta: float) -> float:
    factor = (1 - delta) * math.exp(epsilon)
    gamma = (6 * factor - 2) / (factor - 1)
    return gamma**2 + 2 * gamma


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


COVERING = Statements("003", 3.0, prefix="narcissus-papers scale ", kind="figure")


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
