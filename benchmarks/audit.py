"""Speed and memory of table audits: one trial of each attack, growth with the targets, start-up.

    python benchmarks/audit.py [--quick]

The table has the shape of the ACS table of Swanberg et al. 2025, section 6 (16 columns), drawn at
random, so that the figures need no file. Ratios within one run are what to quote: the posterior
by mean field against Gibbs sampling and RAP, the pairwise likelihood against the one by cells,
and the same attack at twice the targets.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from narcissus.attacks.table import (
    Ceiling,
    GibbsSampling,
    MeanField,
    RelaxedProjection,
)
from narcissus.attacks.table.posterior import CellLikelihood, PairwiseLikelihood
from narcissus.knowledge.columns import Insider, Targets
from narcissus.mechanisms import GaussianNoise, MarginalQueries, NoisyMarginals
from narcissus.success import exact_match

SIZES = (5, 4, 9, 3, 2, 2, 2, 2, 2, 2, 9, 18, 5, 4, 24, 8)


def world(people: int, unknown: tuple[int, ...], epsilon: float, seed: int = 1):
    """Draw people with skewed columns, and a release of their 3-way tables."""
    rng = np.random.default_rng(seed)
    marginals = [rng.dirichlet(np.full(size, 0.5)) for size in SIZES]
    codes = np.stack([rng.choice(len(m), people, p=m) for m in marginals], axis=1)
    codes = codes.astype(np.int32)
    queries = MarginalQueries(SIZES, unknown, 3)
    prior = np.ones((people, 1))
    for column in unknown:
        own = rng.dirichlet(5 * marginals[column] + 0.5, size=people)
        prior = (prior[:, :, None] * own[:, None, :]).reshape(people, -1)
    drawn = (prior.cumsum(axis=1) < rng.random((people, 1))).sum(axis=1)
    secrets = np.minimum(drawn, queries.values - 1)
    codes[:, list(unknown)] = queries.split(secrets)
    noise = GaussianNoise.for_epsilon(epsilon, 1e-5, queries.tables)
    [release] = NoisyMarginals(queries, noise).release(codes[None], rng)
    known = codes.copy()
    known[:, list(unknown)] = 0
    targets = Targets(queries, known, prior, exact_match(queries.unknown_shape))
    return targets, release, secrets


def timed(attack, people: int, unknown: tuple[int, ...], epsilon: float, repeats: int) -> float:
    """Give the median seconds of one trial."""
    seconds = []
    for seed in range(repeats):
        targets, release, secrets = world(people, unknown, epsilon, seed)
        known = Insider(targets, secrets) if attack.informed else targets
        start = time.perf_counter()
        attack.attempt([release], [known], np.random.default_rng(seed))
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def one_trial(repeats: int) -> None:
    """100 targets, 16 columns, k = 3, one unknown: each attack against the mean field."""
    print("one trial, 100 targets, 16 columns, k = 3, one unknown column (median ms; ratio)")
    attacks = {
        "mean field": MeanField(),
        "Gibbs, 200 sweeps": GibbsSampling(),
        "RAP, 1,000 steps": RelaxedProjection(),
        "ceiling": Ceiling(),
    }
    for column, label in ((9, "2 values"), (14, "24 values")):
        for epsilon in (1.0, 10.0):
            base = None
            for name, attack in attacks.items():
                ms = 1e3 * timed(attack, 100, (column,), epsilon, repeats)
                base = base or ms
                print(
                    f"  {label:>9}, epsilon {epsilon:>4g}  {name:<18} {ms:8.1f}  {ms / base:6.1f}x"
                )


def forms(repeats: int) -> None:
    """Compare the two forms of the likelihood in one sweep over 500 people."""
    print("all fields and moves of 500 people, one unknown column: pairs against cells")
    seconds = {}
    for form in (PairwiseLikelihood, CellLikelihood):
        runs = []
        for seed in range(repeats):
            targets, release, _ = world(500, (9,), 10.0, seed)
            beliefs = targets.prior[:, None, :]
            model = form(targets, release.noise, release.cells)
            model.start(beliefs)
            start = time.perf_counter()
            for i in range(500):
                block = slice(i, i + 1)
                model.move(block, 0 * model.fields(block, beliefs[block]))
            runs.append(time.perf_counter() - start)
        seconds[form.__name__] = median(runs)
    ratio = seconds["CellLikelihood"] / seconds["PairwiseLikelihood"]
    print(
        f"  {1e3 * seconds['PairwiseLikelihood']:.1f} ms, {1e3 * seconds['CellLikelihood']:.1f} ms"
        f" (ratio {ratio:.1f})"
    )


def growth(sizes: list[int]) -> None:
    """Three unknown columns: seconds and memory as the targets grow, a process each."""
    print("three unknown columns, k = 3, epsilon 10: one posterior trial (mean field)")
    for unknown in ((0, 9, 15), (11, 14, 15)):
        last = None
        for people in sizes:
            code = f"import audit; audit.alone({people}, {unknown})"
            done = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=True,
                cwd=os.path.dirname(__file__),
            )
            seconds, megabytes, values = map(float, done.stdout.split())
            note = f", {seconds / last:.1f}x the time of half as many" if last else ""
            print(
                f"  {people:>6} targets, {values:.0f} joint values: "
                f"{seconds:6.1f} s, {megabytes:.0f} MB{note}",
                flush=True,
            )
            last = seconds


def alone(people: int, unknown: tuple[int, ...]) -> None:
    """Play one trial in this process and print seconds, peak megabytes, joint values."""
    threadpool_limits(1)
    targets, release, _ = world(people, unknown, 10.0)
    start = time.perf_counter()
    MeanField().attempt([release], [targets], np.random.default_rng(0))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(seconds, peak, targets.queries.values)


def start_up() -> None:
    """Time `narcissus --help` against an empty Python."""

    def run(*args: str) -> float:
        seconds = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, *args], capture_output=True, check=True)
            seconds.append(time.perf_counter() - start)
        return median(seconds)

    empty, help_page = run("-c", ""), run("-m", "narcissus", "--help")
    print(f"narcissus --help: {help_page:.3f} s, an empty Python {empty:.3f} s")


if __name__ == "__main__":
    threadpool_limits(1)
    quick = "--quick" in sys.argv
    start_up()
    one_trial(3 if quick else 15)
    forms(1 if quick else 5)
    growth([1250, 2500] if quick else [2500, 5000, 10_000])
