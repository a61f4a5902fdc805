"""Play every world of the registry and write `docs/reference/error-rates.md`.

    python tests/nulls/run.py [--repeats 2000] [--seed 1] [--workers 2] [--only TEXT]
                              [--out docs/reference/error-rates.md]

With ``--only``, verdicts whose name has a text are played, and the page keeps its other lines.

A world fails if more false claims were made than the declared rate allows, at a chance of 1e-3.
Exit code 1 if one fails; the page is written all the same.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from narcissus.evidence import clopper_pearson

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "reference" / "error-rates.md"
CHANCE = 1e-3
"""Chance at which a verdict that keeps its rate fails here."""
LEAST = 20
MOST = 2000
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


def line_of(one: Measured) -> str:
    """Return the line of a world on the page."""
    ends = clopper_pearson(one.wrong, one.repeats)
    note = " (beyond what is assumed)" * one.is_outside + " **too often**" * one.fails
    return (
        f"| {one.verdict} | {one.world}{note} | {one.repeats:,} | {ends.value:.4f} "
        f"({ends.low:.4f} to {ends.high:.4f}) | {one.declared:g} |"
    )


def lines_on(text: str) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """Return the lines of worlds on a page, and what each verdict finds."""
    worlds, effects = {}, {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[2].replace(",", "").isdigit():
            world = (
                cells[1].removesuffix(" **too often**").removesuffix(" (beyond what is assumed)")
            )
            worlds[cells[0], world] = line
        elif len(cells) == 3:
            effects[cells[0]] = cells[2]
    return worlds, effects


def page(worlds: dict[tuple[str, str], str], effects: dict[str, str], repeats: int) -> str:
    """Write the page from the lines of worlds and the smallest effects that are found."""
    rates = [
        "| Verdict | World | Repeats | Measured (limits) | Declared |",
        "|---|---|---|---|---|",
    ]
    found = ["| Verdict | Effect | Found in nine of ten |", "|---|---|---|"]
    for null in registry().NULLS:
        names = (*null.worlds, *null.outside)
        rates += [worlds[null.verdict, name] for name in names if (null.verdict, name) in worlds]
        said = effects.get(null.verdict, "not played")
        found.append(f"| {null.verdict} | {null.power.effect} | {said} |")
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
            "\n".join(found),
            "## What each limit assumes",
            assumptions(),
        ]
    )


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--repeats", type=int, default=MOST)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--out", type=Path, default=PAGE)
    asked.add_argument("--only", default="", metavar="TEXT")
    of = asked.parse_args()
    nulls = registry().NULLS
    chosen = [(k, null) for k, null in enumerate(nulls) if of.only in null.verdict]
    jobs = [(k, w, of.repeats, of.seed) for k, n in chosen for w in (*n.worlds, *n.outside)]
    powers = [(k, None, of.repeats, of.seed) for k, _ in chosen]
    worlds, effects = lines_on(PAGE.read_text(encoding="utf-8")) if of.only else ({}, {})
    found: list[Measured] = []
    with ProcessPoolExecutor(of.workers) as pool:
        for one in pool.map(_job, jobs):
            print(f"{one.seconds:7.1f} s  {one.wrong:5} of {one.repeats:5} ({one.declared:g})  "
                  f"{one.verdict}: {one.world}{'  TOO OFTEN' * one.fails}", flush=True)  # fmt: skip
            found.append(one)
            worlds[one.verdict, one.world] = line_of(one)
        for place, effect in pool.map(_job, powers):
            print(
                f"{nulls[place].verdict}: finds {nulls[place].power.effect}: {effect}", flush=True
            )
            most = nulls[place].power.sizes[-1]
            said = f"more than {most:g}" if effect is None else f"{effect:g}"
            effects[nulls[place].verdict] = said
    most = MOST if of.only else of.repeats  # of the other lines
    of.out.write_text(page(worlds, effects, most) + "\n", encoding="utf-8")
    return int(any(one.fails for one in found))


if __name__ == "__main__":
    sys.exit(main())
