"""Many uses of channels: time, how near the limits lie, and dp-accounting beside it.

    OMP_NUM_THREADS=1 python benchmarks/composition.py

CPU seconds of one thread, all in one run. dp-accounting composes privacy losses for a delta at an
epsilon; the overlap is one minus the delta at 0, of which it gives an upper (pessimistic) and a
lower (optimistic) estimate.
"""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

from narcissus import channels as ch
from narcissus.channels.uses import FiniteLogRatio, LaplaceLogRatio, overlap_after


def clock(work):
    """Give a result and its CPU seconds."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def ours() -> None:
    """Time what the documentation names."""
    rng = np.random.default_rng(0)
    response = ch.KaryRandomizedResponse(10, 1).channel()
    for times in (20, 200, 10_000):
        found, seconds = clock(lambda k=times: ch.repeated_security(response, k, most=1))
        print(f"randomised response (10, 1) x {times}: {found.beta_star:.7g}, "
              f"gap {found.gap:.1g}, {seconds:.3f} s")  # fmt: skip
    many = rng.dirichlet(np.ones(30), 40)
    for times in (2, 20):
        found, seconds = clock(lambda k=times: ch.repeated_security(many, k, most=1))
        print(f"all pairs of 40 x 30, x {times}: {found.beta_star:.7g}, "
              f"gap {found.gap:.1g}, {seconds:.2f} s")  # fmt: skip
    for times in (1, 50):
        found, seconds = clock(lambda k=times: overlap_after([(LaplaceLogRatio(1.0), k)]))
        print(f"Laplace, epsilon 1, x {times}: {found.low:.7g}, gap {found.gap:.1g}, "
              f"{seconds:.2f} s")  # fmt: skip


def beside() -> None:
    """Compose the same pair by dp-accounting."""
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        print("dp-accounting is not installed: the extra `accounting` brings it")
        return
    for parameter, times in ((1.0, 50), (1.0, 1000)):
        own, seconds = clock(lambda k=times: overlap_after([(LaplaceLogRatio(1.0), k)]))
        for interval in (1e-3, 1e-4):
            limits = []
            start = time.process_time()
            for pessimistic in (True, False):
                one = pld.from_laplace_mechanism(
                    parameter, value_discretization_interval=interval,
                    pessimistic_estimate=pessimistic,
                )  # fmt: skip
                limits.append(1 - one.self_compose(times).get_delta_for_epsilon(0.0))
            theirs = time.process_time() - start
            print(
                f"Laplace x {times}: ours {own.low:.9g} to {own.high:.9g} ({seconds:.2f} s); "
                f"dp-accounting at {interval:g}: {limits[0]:.9g} to {limits[1]:.9g} "
                f"({theirs:.2f} s)"
            )
    rows = np.random.default_rng(1).dirichlet(np.ones(8), 2)
    own, seconds = clock(lambda: overlap_after([(FiniteLogRatio(*rows), 20)]))
    print(f"two random rows of 8 outputs x 20: {own.low:.9g} to {own.high:.9g} ({seconds:.2f} s)")


if __name__ == "__main__":
    threadpool_limits(1)
    ours()
    beside()
