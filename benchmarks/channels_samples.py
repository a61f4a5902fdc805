"""Estimates from samples: time and width, against plain scikit-learn neighbours in one run.

Run: python benchmarks/channels_samples.py
"""

from __future__ import annotations

import time

import numpy as np

from narcissus import channels as ch


def main() -> None:
    rng = np.random.default_rng(0)
    ch.estimate([0, 1] * 50, [0, 1] * 50, rng=0)  # imports and compilation
    print(f"{'setting':46} {'seconds':>8} {'beta* limits':>20} {'Bayes risk limits':>20}")
    for size, distinct, secrets in (
        (10**5, 10_000, 10),
        (10**5, 10_000, 100),
        (10**6, 10_000, 10),
    ):
        secret = rng.integers(secrets, size=size)
        output = secret * distinct // (2 * secrets) + rng.integers(distinct // 2, size=size)
        report(f"{size:,} samples, {distinct:,} outputs, {secrets} secrets", secret, output)
    for size in (10**5, 10**6):
        secret = rng.integers(2, size=size)
        report(f"{size:,} samples, continuous", secret, rng.normal(size=size) + secret)
    secret = rng.integers(10, size=20_000)
    output = secret * 500 + rng.integers(5_000, size=20_000)
    start = time.perf_counter()
    ch.estimate(secret, output, rng=0)
    ours = time.perf_counter() - start
    try:
        from sklearn.neighbors import KNeighborsClassifier
    except ImportError:
        return
    start = time.perf_counter()
    half = 10_000
    model = KNeighborsClassifier(100).fit(output[:half, None], secret[:half])
    model.score(output[half:, None], secret[half:])
    theirs = time.perf_counter() - start
    print(f"scikit-learn, 100 neighbours, no limits: {theirs / ours:.1f} times our whole run")


def report(name: str, secret: np.ndarray, output: np.ndarray) -> None:
    """Time one estimate and print it."""
    start = time.perf_counter()
    found = ch.estimate(secret, output, rng=0)
    took = time.perf_counter() - start

    def limits(e: object) -> str:
        low = "none" if e.low is None else f"{e.low:.4f}"
        return f"{low} to {e.high:.4f}"

    print(f"{name:46} {took:8.2f} {limits(found.beta_star):>20} {limits(found.bayes_risk):>20}")


if __name__ == "__main__":
    main()
