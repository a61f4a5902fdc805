"""Audits from scores beside jax_privacy on the same files: what is refuted, and how long it takes.

    pip download --no-deps jax-privacy==2.0.0                     # in a folder of its own
    python benchmarks/refutation_scores.py [--others FOLDER] [--files 12] [--largest 1000000]

FOLDER holds the unpacked wheel; one file of it is loaded, which needs dp-accounting and not JAX.
Scores are N(+-mu/2, 1), membership by fair coins. jax_privacy guesses in only, above a threshold,
and chooses it by Bonferroni over all of them or on half of the file (Split, with a seed). Its
`epsilon_one_run_fdp` answers with the epsilon of a Gaussian at delta: the mu stands here. Split is
not shown to be valid where the release decides how many guesses are made: see `splits`. Times are
those of one processor: `taskset -c 0`, and `--files 0` for these alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import product
from os import getloadavg
from pathlib import Path
from unittest.mock import patch

import numpy as np

from membership import loaded
from narcissus.evidence import refute_runs, refute_scores
from narcissus.evidence.sweep import SweepTest
from narcissus.guarantees import GaussianDP

EPSILONS = ((1_000, 1, 1e-5), (1_000, 2, 1e-5), (1_000, 4, 1e-5), (10_000, 2, 1e-6))
MUS = ((1_000, 1), (1_000, 2), (1_000, 4), (10_000, 2))
DELTA = 1e-5


def file(seed: int, m: int, mu: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    members = rng.integers(0, 2, m).astype(bool)
    return rng.normal(size=m) + mu * (members - 0.5), members


def row(label: str, files: list, answer: Callable) -> None:
    start = time.process_time()
    found = [answer(*one) for one in files]
    taken = (time.process_time() - start) / len(files)
    print(f"  {label:<34}{np.mean(found):8.3f} ({np.std(found, ddof=1):.2f}) {taken:9.3f} s")


def mu_of(epsilon: float) -> float:
    return GaussianDP.from_epsilon_delta(epsilon, DELTA).mu if epsilon > 0 else 0.0


def compare(count: int, theirs) -> None:
    ways = {} if theirs is None else {
        "jax_privacy, Bonferroni": theirs.Bonferroni(), "jax_privacy, Split": theirs.Split(seed=0)
    }  # fmt: skip
    for m, mu, delta in EPSILONS:
        print(
            f"epsilon at delta {delta:g}: {m:,} canaries, mu {mu}; mean (deviation), a file's time"
        )
        files = [file(seed, m, mu) for seed in range(count)]
        row("ours, epsilon and mu", files,
            lambda s, x, d=delta: refute_scores(s, x, delta=d, coins=True).epsilon)  # fmt: skip
        for name, way in ways.items():
            row(name, files, lambda s, x, w=way, d=delta: theirs.CanaryScoreAuditor(
                s[x], s[~x]).epsilon_one_run(0.05, d, threshold_strategy=w))  # fmt: skip
    for m, mu in MUS:
        print(f"mu: {m:,} canaries, mu {mu}")
        files = [file(seed, m, mu) for seed in range(count)]
        row("ours, mu and epsilon", files,
            lambda s, x: refute_scores(s, x, delta=DELTA, coins=True).mu)  # fmt: skip
        for name, way in ways.items():
            row(name, files, lambda s, x, w=way: mu_of(theirs.CanaryScoreAuditor(
                s[x], s[~x]).epsilon_one_run_fdp(0.05, DELTA, threshold_strategy=w)))  # fmt: skip


def epsilon_alone(scores: np.ndarray, members: np.ndarray) -> float:
    with patch.object(SweepTest, "largest_mu", lambda *_: 0.0):
        return refute_scores(scores, members, delta=DELTA, coins=True).epsilon


def speed(largest: int, theirs) -> None:
    print(
        f"processor time in ms, the best of 7 in turn, mu 2, delta {DELTA:g}; load {getloadavg()}"
    )
    ways: dict[str, Callable] = {
        "ours, epsilon and mu": lambda s, x: refute_scores(s, x, delta=DELTA, coins=True).epsilon,
        "ours, epsilon alone": epsilon_alone,
    }
    if theirs is not None:
        for name, way in (("Split", theirs.Split(seed=0)), ("Bonferroni", theirs.Bonferroni())):
            ways[f"jax_privacy, {name}"] = lambda s, x, w=way: theirs.CanaryScoreAuditor(
                s[x], s[~x]).epsilon_one_run(0.05, DELTA, threshold_strategy=w)  # fmt: skip
    for m in (10**k for k in range(3, 10) if 10**k <= largest):
        files, taken = [file(seed, m, 2) for seed in range(3)], dict[tuple[str, int], list[float]]()
        for _, (name, way), (number, one) in product(range(7), ways.items(), enumerate(files)):
            if m < 10**6 or "Bonferroni" not in name:
                start = time.process_time()
                way(*one)
                taken.setdefault((name, number), []).append(time.process_time() - start)
        for name in ways:
            best = [1e3 * min(each) for (of, _), each in taken.items() if of == name]
            if best:
                print(f"  {m:>9,} {name:<26}", *(f"{one:9.2f}" for one in best), flush=True)


def runs(count: int) -> None:
    print("many runs, one canary each, mu 1: the epsilon of the mu refuted, of 4.38 at delta 1e-5")
    for n in (1_000, 10_000):
        files = [file(seed, n, 1) for seed in range(count)]
        for at in (None, 0.0):
            row(f"{n:,}, {'nine ranks' if at is None else 'a threshold'}", files,
                lambda s, x, t=at: refute_runs(
                    s, x, threshold=t, delta=DELTA).gaussian_epsilon)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--others", type=Path)
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--largest", type=int, default=10**6)
    given = parser.parse_args()
    theirs = loaded(given.others, "jax_privacy/auditing.py")
    if given.files > 0:
        compare(given.files, theirs)
        runs(given.files)
    speed(given.largest, theirs)


if __name__ == "__main__":
    main()
