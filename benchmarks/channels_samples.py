"""Estimates from samples: time and width, against plain scikit-learn neighbours in one run.

Run: python benchmarks/channels_samples.py [widths]
"""

from __future__ import annotations

import sys
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


def widths() -> None:
    """Print how near the limits are, and which leaks the estimators find."""
    rng = np.random.default_rng(0)
    print(f"{'randomised response':34} {'truth':>7} {'limits':>20} {'if symmetric':>20}")
    for values, truth, size in (
        (50, 0.7237, 20_000),
        (200, 0.9129, 100_000),
        (400, 0.9387, 400_000),
    ):
        secret = np.repeat(np.arange(values), size // values)
        kept = rng.random(size) < 1 - (values - 1) * truth / values
        output = np.where(kept, secret, (secret + rng.integers(1, values, size)) % values)
        found = [ch.estimate(secret, output, rng=0, symmetric=known) for known in (False, True)]
        shown = [f"{one.beta_star.low:.4f} to {one.beta_star.high:.4f}" for one in found]
        print(f"{values:4} values, {size:7} samples {truth:15.4f} {shown[0]:>20} {shown[1]:>20}")
    print(f"\n{'leak, 4,000 samples':34} {'beta* at most':>14} {'seconds':>8}  estimator")
    secret = rng.integers(2, size=4_000)
    one = secret[:, None] == 1
    mask = rng.integers(2, size=4_000)
    angle, noise = rng.uniform(0, 2 * np.pi, 4_000), rng.normal(size=(4_000, 20))
    shares = np.c_[noise[:, 0] + 2 * mask, noise[:, 1] + 2 * (mask ^ secret), noise[:, 2:]]
    radius = 1 + secret + 0.2 * noise[:, 0]
    peaks = rng.choice([-0.9, 0.9], size=(4_000, 4)) + 0.436 * noise[:, :4]
    for name, output in {
        "mean": noise[:, :10] + 0.3 * one,
        "variance": noise * np.where(one, 1.0, 2.2),
        "masked bit": shares,
        "ring": np.c_[radius * np.cos(angle), radius * np.sin(angle)],
        "two peaks, same two moments": np.where(one, peaks, noise[:, :4]),
        "heavy tails (t2)": rng.standard_t(2, size=(4_000, 5)) + 0.8 * one,
    }.items():
        start = time.process_time()
        found = ch.estimate(secret, output, rng=0)
        took = time.process_time() - start
        print(f"{name:34} {found.beta_star.high:14.4f} {took:8.1f}  {found.chosen}")


if __name__ == "__main__":
    widths() if "widths" in sys.argv else main()
