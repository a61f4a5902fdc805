"""Lemma D.11 and Algorithm D.12 of Cohen et al. 2024 as a game: verifiers against generators."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence import clopper_pearson
from narcissus.extraction import CompressionVerifier, StatisticalVerifier, prg_example
from narcissus.game import Game
from narcissus.mechanisms import Stretched
from narcissus.profiles import write_out
from narcissus.scale import SizeCurve
from narcissus.success.relations import FirstBit
from narcissus.worlds import Pairs
from narcissus_papers.base import (
    Given,
    Held,
    Line,
    Panel,
    Reproduced,
    Statements,
    claims,
    played,
)
from narcissus_papers.cohen.cases import ROOM, audit_of, checked
from narcissus_papers.cohen.scaling import curve_of, holds, swept

JUDGES = ("compressors", "statistical-tests", "learned-verifier")
BITS, TRIPLES = 2048, 150
STRONG, REGISTER, LINEAR = (32, 64, 128), (5, 8, 12, 20), (8, 16, 24, 48)
SEARCHED = (6, 7, 8, 9)
EXHAUSTED = "seed-search"


def _against(study: str, seeds: tuple[int, ...], trials: int) -> dict[str, SizeCurve]:
    """Play a study over the length of the seed; return the gain of each verifier."""
    made = swept(study, {"mechanism.seed_bits": seeds, "mechanism.length": (1024,)}, trials)
    return {name: curve_of(made, name) for name in (*JUDGES, EXHAUSTED)}


def _lines(curves: dict[str, SizeCurve], names: Iterable[str] = JUDGES) -> list[Line]:
    return [
        Line(name, [p.size for p in curves[name].points], [p.value for p in curves[name].points])
        for name in names
    ]


def _nothing(_bits: float) -> float:
    return 0.0


VERIFIERS_DRAWN = Statements("003", 12.0, prefix="narcissus scale ", kind="figure")
VERIFIERS = Statements("003", 0.5)


@VERIFIERS_DRAWN(
    "verifiers",
    "Verifiers against strong and weak generators, by the seed.",
    "verifiers-linear-feedback --over mechanism.seed_bits=4:20:4 --trials 400",
)
def verifiers(_given: Given) -> Reproduced:
    strong = _against("verifiers-fooled", STRONG, 1000)
    register = _against("verifiers-linear-feedback", REGISTER, 400)
    linear = _against("verifiers-congruential", LINEAR, 400)
    all_seeds = swept(
        "generator-short-seed",
        {"mechanism.seed_bits": SEARCHED, "attack.budget": tuple(2**k for k in SEARCHED)},
        400,
    )
    search = curve_of(all_seeds, EXHAUSTED)
    most = max(p.high for name in JUDGES for p in strong[name].points)
    tests, learned = "statistical-tests", "learned-verifier"
    caught = {name: {p.size: p.low for p in linear[name].points} for name in JUDGES}
    return Reproduced(
        panels=(
            Panel("ChaCha20", "bits of the seed", "gain", _lines(strong)),
            Panel("Shift register with linear feedback", "bits of the seed", "gain",
                  _lines(register)),
            Panel("Linear congruential generator", "bits of the seed", "gain", _lines(linear)),
            Panel("All 2^k seeds tried", "bits of the seed", "seeds", [
                Line("work", SEARCHED, [2.0**k for k in SEARCHED])], log_y=True),
        ),
        held=(
            played(
                f"ChaCha20, seeds of {STRONG} bits: none of these three verifiers certainly gains "
                f"anything, nor more than {most:.2f}; nothing is said of other verifiers",
                all(holds(strong[name], _nothing) for name in JUDGES) and most < 0.3,
            ),
            played(
                f"a shift register is caught by a test at every length, {REGISTER} bits: the "
                f"gain is at least {min(p.low for p in register[tests].points):.2f}",
                min(p.low for p in register[tests].points) > 0.85,
            ),
            played(
                "compressors catch it at 5 bits, where it repeats, and gain nothing that is "
                "certain at 8 or more; a verifier that learns gains at 8, and nothing certain at "
                "20",
                register["compressors"].points[0].low > 0.5
                and all(p.low <= 0 <= p.high for p in register["compressors"].points[1:])
                and register[learned].points[1].low > 0.2
                and register[learned].points[-1].low <= 0,
            ),
            played(
                "a congruential generator is caught by tests at 8 and 16 bits, and at 24 by the "
                "verifier that learns alone; tests gain nothing that is certain at 24 and 48",
                min(caught[tests][8], caught[tests][16], caught[learned][24]) > 0.5
                and max(caught[tests][24], caught[tests][48]) <= 0,
            ),
            played(
                f"who tries all 2^k seeds is never fooled, k = {SEARCHED}: the gain is at least "
                f"{min(p.low for p in search.points):.2f}, for 2^k evaluations",
                all(p.value == 1 for p in search.points),
            ),
        ),
    )  # fmt: skip


def _strings(pseudo_random: bool) -> tuple[NDArray[np.uint8], bool]:
    """Make triples; return their data as bits, and whether release and program hold them."""
    rows: list[NDArray[np.uint8]] = []
    whole = True
    for seed in range(TRIPLES):
        one = prg_example(pseudo_random=pseudo_random, length=BITS // 8, rng=seed)
        rows.append(np.unpackbits(np.frombuffer(bytes.fromhex(one.data.decode()), np.uint8)))
        tail = one.program.split(b"+'")[1].split(b"'")[0]
        whole &= one.release + tail == one.data
    return np.array(rows), whole


@VERIFIERS(
    "Algorithm D.12",
    "Evidence from a seed or from chance, and verifiers that judge it.",
    audit_of("verifiers-fooled"),
)
def algorithm_d12(_given: Given) -> Reproduced:
    (fake, one), (real, other) = _strings(True), _strings(False)
    rng = np.random.default_rng(0)
    best = write_out(Game(Pairs([[[0], [1]]]), Stretched(2, 16), FirstBit())).delta(0.0)
    held: list[Held] = []
    for name, judge in (("compressors", CompressionVerifier()), ("tests", StatisticalVerifier())):
        right = int(judge.attempt(fake, None, rng).sum()) + TRIPLES
        right -= int(judge.attempt(real, None, rng).sum())
        limits = clopper_pearson(right, 2 * TRIPLES, confidence=1 - 1e-6)
        low, high = limits.low or 0.0, limits.high or 1.0
        held.append(played(
            f"{name} say which it was with chance {low:.2f} to {high:.2f} ({2 * TRIPLES} triples; "
            "nothing is said of other verifiers)", low <= 0.5 <= high,
        ))  # fmt: skip
    return claims(
        checked("release and hard-coded end make the string, so a verifier of the string sees the "
                f"whole triple ({2 * TRIPLES} triples)", one and other),
        checked(
            "a verifier without limit is wrong about four random strings in 2^16 only (d = 2, "
            f"strings of d^4 bits, the exact game: a gain of {best:.6f})",
            abs(best - (1 - 2**-14)) < ROOM,
        ),
        *held,
    )  # fmt: skip
