"""Speed of play: trials of a counting query and of fingerprinting under the Tardos prior.

Run with ``python benchmarks/game_play.py``. Prints seconds, peak memory, and the ratio to the
same game written as a plain loop over trials.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from narcissus import Game, play
from narcissus.attacks import Fingerprint, Posterior
from narcissus.mechanisms import CountingQuery, ExactAverage
from narcissus.success import Resilience
from narcissus.success.relations import Pinned, RandomRow
from narcissus.worlds import Bits, Tardos


def plain_counting(trials: int, n: int, rate: float) -> float:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(trials):
        data = rng.random(n) < rate
        guess = data.mean() > rate
        hits += data[0] == guess
    return hits / trials


def plain_tardos(trials: int, total: int, n: int, d: int) -> float:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(trials):
        rates = rng.random(d)
        nature = rng.random((total, d)) < rates
        data = nature[rng.choice(total, n, replace=False)]
        fresh = nature[rng.choice(total, n, replace=False)]
        weights = data.mean(axis=0) - 0.5
        hits += (data[rng.integers(n)] - 0.5) @ weights > (fresh[rng.integers(n)] - 0.5) @ weights
    return hits / trials


def timed(label: str, limit: float, plain_trials: int, trials: int, run, plain) -> None:
    start = time.perf_counter()
    result = run(trials)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    plain(plain_trials)
    slow = (time.perf_counter() - start) * trials / plain_trials
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    one = result.attackers[0]
    print(
        f"{label}: {trials:,} trials in {seconds:.2f} s (asked: {limit:g} s), "
        f"{slow / seconds:.1f} times faster than a plain loop, peak memory {memory:,.0f} MB; "
        f"success {one.success.value:.4f}, baseline {one.baseline.value:.4f}"
    )


def main() -> None:
    counting = Game(Bits(1000, 0.3), CountingQuery(), Pinned(1))
    timed(
        "counting query, n = 1,000",
        10,
        5_000,
        1_000_000,
        lambda t: play(counting, Posterior(), Resilience(), trials=t, stop=False, rng=1),
        lambda t: plain_counting(t, 1000, 0.3),
    )
    tardos = Game(Tardos(1000, 1000, 100), ExactAverage(), RandomRow())
    timed(
        "fingerprinting, N = 1,000, n = 100, d = 1,000",
        60,
        20,
        10_000,
        lambda t: play(tardos, Fingerprint(), Resilience(), trials=t, stop=False, rng=1),
        lambda t: plain_tardos(t, 1000, 100, 1000),
    )


if __name__ == "__main__":
    main()
