"""Play every world of the registry and write `docs/error-rates.md`.

    python tests/nulls/run.py [--repeats 2000] [--seed 1] [--workers 2] [--out docs/error-rates.md]

A world fails if more false claims were made than the declared rate allows, at a chance of 1e-3.
Exit code 1 if one fails; the page is written all the same.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from narcissus.evidence import clopper_pearson

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "error-rates.md"
CHANCE = 1e-3
"""Chance at which a verdict that keeps its rate fails here."""
LEAST = 20
FOUND = 0.9
"""How often an effect must be found to be called found."""


def registry() -> Any:
    """Import the registry, which is in no package."""
    if "nulls_registry" not in sys.modules:
        spec = importlib.util.spec_from_file_location("nulls_registry", HERE / "registry.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[spec.name])
    return sys.modules["nulls_registry"]


@dataclass(frozen=True)
class Measured:
    """How often a false claim was made in a world."""

    verdict: str
    world: str
    repeats: int
    wrong: int
    declared: float
    fails: bool
    is_outside: bool
    seconds: float


def size_of(null: Any, repeats: int) -> int:
    return max(LEAST, round(repeats * null.repeats))


def times(play: Callable[..., bool], repeats: int, key: list[int]) -> int:
    return sum(bool(play(np.random.default_rng([*key, k]))) for k in range(repeats))


def measured(null: Any, world: str, repeats: int, seed: int) -> Measured:
    """Play a world."""
    is_outside = world in null.outside
    play = (null.outside if is_outside else null.worlds)[world]
    key = [seed, *f"{null.verdict}/{world}".encode()]
    started, count = time.perf_counter(), size_of(null, repeats)
    wrong = times(play, count, key)
    beyond = float(stats.binom.sf(wrong - 1, count, null.declared)) < CHANCE
    fails = beyond and not is_outside and not null.is_approximate
    taken = time.perf_counter() - started
    return Measured(null.verdict, world, count, wrong, null.declared, fails, is_outside, taken)


def smallest(null: Any, repeats: int, seed: int) -> float | None:
    """Return the smallest effect that is found in nine of ten plays; None: none of them."""
    count = max(LEAST, size_of(null, repeats) // 5)
    for place, effect in enumerate(null.power.sizes):
        key = [seed, 1, place, *null.verdict.encode()]
        if times(lambda g, e=effect: null.power.found(e, g), count, key) >= FOUND * count:
            return float(effect)
    return None


def _job(asked: tuple[int, str | None, int, int]) -> Measured | tuple[int, float | None]:
    place, world, repeats, seed = asked
    null = registry().NULLS[place]
    if world is None:
        return place, smallest(null, repeats, seed)
    return measured(null, world, repeats, seed)


def assumptions() -> str:
    """Return the table of what each limit assumes."""
    lines = [
        "| Verdict | Theorem | It assumes | The code sees to it | Where it fails |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {n.verdict} | {n.theorem} | {n.assumes} | {n.kept_by} | {n.else_} |"
        for n in registry().NULLS
    ]
    return "\n".join(lines)


def page(found: Iterable[Measured], powers: dict[int, float | None], repeats: int) -> str:
    """Write the page."""
    rates = [
        "| Verdict | World | Repeats | Measured (limits) | Declared |",
        "|---|---|---|---|---|",
    ]
    for one in found:
        ends = clopper_pearson(one.wrong, one.repeats)
        note = " (beyond what is assumed)" * one.is_outside + " **too often**" * one.fails
        rates.append(
            f"| {one.verdict} | {one.world}{note} | {one.repeats:,} | {ends.value:.4f} "
            f"({ends.low:.4f} to {ends.high:.4f}) | {one.declared:g} |"
        )
    effects = ["| Verdict | Effect | Found in nine of ten |", "|---|---|---|"]
    for place, null in enumerate(registry().NULLS):
        least = powers.get(place, 0.0)
        said = f"more than {null.power.sizes[-1]:g}" if least is None else f"{least:g}"
        said = said if place in powers else "not played"
        effects.append(f"| {null.verdict} | {null.power.effect} | {said} |")
    return "\n\n".join(
        [
            "# How often verdicts are wrong",
            "<!-- Written by `make nulls`; do not edit. -->",
            "Each verdict that rests on sampling was played in worlds in which its claim is false, "
            "most of them at the very boundary of it. The rate is how often the claim was made, "
            f"with limits at 95%. `make nulls` plays them again ({repeats:,} repeats at most) and "
            "fails where a rate is above the declared one at a chance of 1e-3. Worlds beyond what "
            "a verdict assumes are shown to say what the assumption is worth.",
            "\n".join(rates),
            "## What is found",
            "The smallest of the tried effects that at least nine of ten plays found. An effect "
            "below it may well be there where a report says *not shown*.",
            "\n".join(effects),
            "## What each limit assumes",
            assumptions(),
        ]
    )


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--repeats", type=int, default=2000)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--out", type=Path, default=PAGE)
    of = asked.parse_args()
    nulls = registry().NULLS
    jobs = [
        (k, w, of.repeats, of.seed) for k, n in enumerate(nulls) for w in (*n.worlds, *n.outside)
    ]
    powers = [(k, None, of.repeats, of.seed) for k in range(len(nulls))]
    found: list[Measured] = []
    with ProcessPoolExecutor(of.workers) as pool:
        for one in pool.map(_job, jobs):
            print(f"{one.seconds:7.1f} s  {one.wrong:5} of {one.repeats:5} ({one.declared:g})  "
                  f"{one.verdict}: {one.world}{'  TOO OFTEN' * one.fails}", flush=True)  # fmt: skip
            found.append(one)
        least: dict[int, float | None] = {}
        for place, effect in pool.map(_job, powers):
            print(
                f"{nulls[place].verdict}: finds {nulls[place].power.effect}: {effect}", flush=True
            )
            least[place] = effect
    of.out.write_text(page(found, least, of.repeats) + "\n", encoding="utf-8")
    return int(any(one.fails for one in found))


if __name__ == "__main__":
    sys.exit(main())
