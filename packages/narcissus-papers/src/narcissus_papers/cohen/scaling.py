"""Examples of Cohen et al. 2024 against their security parameter, with their formulas."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from narcissus.attacks import TryInputs
from narcissus.game import Game
from narcissus.mechanisms import Sha256
from narcissus.scale import Parameter, Scaled, SizeCurve, Sweep, scale
from narcissus.scale.fit import EVERYBODY, Quantity, sentence, told
from narcissus.study.shipped import shipped_study
from narcissus.success.relations import SameImage
from narcissus.worlds import Bits
from narcissus_papers.base import Given, Item, Line, Panel, Reproduced, played
from narcissus_papers.cohen.cases import ROOM, checked

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


def one_wayness(_given: Given) -> Reproduced:
    """Cut SHA-256 to more and more bits. Source: Cohen et al. 2024, Theorem B.5."""
    bits, cut, budget = range(1, 8), range(6, 15, 2), 64
    everybody = swept(
        silent("one-way-exact"),
        {"mechanism.bits": (*bits,), "success.function.bits": (*bits,)},
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


def encryption(_given: Given) -> Reproduced:
    """Lengthen the key, and the coins. Source: Cohen et al. 2024, Theorems B.8 and B.12."""
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


def composition(_given: Given) -> Reproduced:
    """Lengthen both halves of an exclusive or. Source: Cohen et al. 2024, Example C.1."""
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


def pinned_bits(_given: Given) -> Reproduced:
    """Pin more and more bits. Source: Cohen et al. 2024, Example 1.8."""
    places = tuple(range(1, 7))
    made = swept(
        silent("pinned-bits"),
        {"success.k": places, "statement.epsilon": (0.0,)},
    )
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


def generator(_given: Given) -> Reproduced:
    """Lengthen the seed of a generator. Source: Cohen et al. 2024, Lemma D.11, Algorithm D.12."""
    budget, seeds, few = 32, (6, 7, 8, 9, 10), (2, 3, 4, 5)
    made = swept(
        "generator-short-seed", {"mechanism.seed_bits": seeds, "attack.budget": (budget,)}, 20_000
    )
    search = curve_of(made, "seed-search")
    everybody = swept(
        silent("generator-short-seed"),
        {"mechanism.seed_bits": few, "mechanism.length": (10,)},
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


def scaling_item(
    number: str, title: str, make: Callable[[Given], Reproduced], command: str, seconds: float
) -> Item:
    return Item("003", "figure", number, title, seconds, make, command=f"narcissus scale {command}")


SCALING: tuple[Item, ...] = (
    scaling_item(
        "one-wayness", "Inverting SHA-256, by the bits that are kept.", one_wayness,
        "one-way-sha256 --over mechanism.bits=6:14:2 --with success.function.bits=6:14:2 "
        "--with attack.budget=64", 2.0,
    ),
    scaling_item(
        "encryption", "Telling messages apart, by the bits of key and coins.", encryption,
        "eav-broken --over mechanism.key_bits=7:11:1 --with attack.budget=64", 6.0,
    ),
    scaling_item(
        "composition", "Two halves of an exclusive or, by their bits.", composition,
        "xor-halves-together --over world.n=2:10:2 --with success.length=1:5:1", 1.0,
    ),
    scaling_item(
        "pinned-bits", "Pinning bits, by how many.", pinned_bits,
        "pinned-bits --over success.k=1:6:1 --with attack.k=1:6:1 --with statement.epsilon=0", 1.0,
    ),
    scaling_item(
        "generator", "Telling stretched from random strings, by the seed.", generator,
        "generator-short-seed --over mechanism.seed_bits=6:10:1 --with attack.budget=32", 3.0,
    ),
)  # fmt: skip
"""Figures that the paper does not draw: its examples at many sizes."""
