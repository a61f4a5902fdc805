"""Exact Bayes security against SciPy, blocked SciPy and qif, as ratios within one run.

Run: python benchmarks/channels_exact.py [--full]   (--full adds qif on 10,000 secrets: slow)
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist, pdist

from narcissus import channels as ch


def clock(what: Callable[[], object], repeats: int = 3) -> tuple[float, object]:
    """Give the best time of some repeats, in seconds, and the result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = what()
        best = min(best, time.perf_counter() - start)
    return best, result


def blocked(rows: np.ndarray) -> float:
    """SciPy a block at a time, so that memory stays bounded."""
    far = 0.0
    for low in range(0, len(rows), 256):
        far = max(far, cdist(rows[low : low + 256], rows[low:], "cityblock").max())
    return 1 - far / 2


def memory() -> float:
    """Give the peak memory so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    rng = np.random.default_rng(0)
    ch.beta_star(rng.dirichlet(np.ones(30), 600))  # compile once
    ch.beta_star(rng.dirichlet(np.ones(4), 600))

    rows = rng.dirichlet(np.ones(100), 10_000)
    c = ch.channel(rows)
    before = memory()
    ours, found = clock(lambda: ch.beta_star(c))
    print(f"10,000 x 100: {ours:.3f} s, {memory() - before:.0f} MiB beyond the matrix")
    theirs, value = clock(lambda: blocked(rows), 1)
    print(f"  blocked cdist {theirs / ours:6.1f} times slower, by {value - found.value:.1e}")
    theirs, value = clock(lambda: 1 - pdist(rows, "cityblock").max() / 2, 1)
    print(f"  pdist         {theirs / ours:6.1f} times slower, by {value - found.value:.1e}")
    try:
        from qif import measure
    except ImportError:
        measure = None
    if measure is not None:
        size = 10_000 if "--full" in sys.argv else 3_000
        part = np.ascontiguousarray(rows[:size])
        own, found = clock(lambda: ch.beta_star(part))
        theirs, value = clock(lambda: 1 / measure.bayes_risk.mult_capacity(part)[0], 1)
        print(f"  qif, {size:,} {theirs / own:6.1f} times slower, by {value - found.value:.1e}")
        for secrets, outputs in ((10, 10), (100, 100), (1_000, 100)):
            c = ch.channel(rng.dirichlet(np.ones(outputs), secrets))
            prior, rows = np.full(secrets, 1 / secrets), np.asarray(c.matrix)
            own, bits = clock(lambda c=c, p=prior: ch.shannon_leakage(c, p), 20)
            theirs, value = clock(lambda p=prior, r=rows: measure.shannon.add_leakage(p, r), 20)
            most, found = clock(lambda c=c: ch.shannon_capacity(c), 1)
            slow, high = clock(lambda r=rows: measure.shannon.add_capacity(r)[0], 1)
            print(
                f"  Shannon, {secrets} x {outputs}: qif takes {theirs / own:.2f} of our time for "
                f"the leakage (by {value - bits:.1e}), {slow / most:.2f} for the capacity "
                f"(by {high - found.low:.1e})"
            )

    many = ch.channel(rng.dirichlet(np.ones(12), 100_000))
    ours, _ = clock(lambda: ch.beta_star(many))
    print(f"100,000 x 12: {ours:.3f} s")

    mechanism = ch.KaryRandomizedResponse(10_000, 1)
    table = mechanism.channel()
    ours, found = clock(lambda: ch.beta_star(table))
    print(
        f"randomized response, 10,000 secrets: {ours:.3f} s, "
        f"relative error {found.value / mechanism.beta_star - 1:.1e}"
    )
    ours, _ = clock(lambda: ch.KaryRandomizedResponse(10**6, 10).beta_star)
    print(f"the same in closed form, 10^6 secrets: {ours * 1e6:.1f} microseconds")


if __name__ == "__main__":
    main()
