"""Speed of the bounds: our targets, and ratios in one run against SciPy and our own plain loop.

Run with ``python benchmarks/bounds_speed.py``. The package fast-poibin joins the comparison where
it is installed. Times are medians of a few runs, single-threaded where the library allows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from statistics import median
from typing import Any

import numpy as np
from scipy import stats

from narcissus.bounds import (
    PoissonBinomial,
    domination,
    interpolation,
    optimum,
    optimum_program,
    reached_number,
    swap_program,
    swap_tail,
    threat,
)
from narcissus.evidence import refute, refute_scores
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    risk_of,
)


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return median(taken)


def show(what: str, taken: float, target: float | None = None, note: str = "") -> None:
    goal = "" if target is None else f"target {target:g} s, {taken / target:.2f} of it"
    print(f"{what:<58}{taken:>12.6f} s   {goal}{note}", flush=True)


def plain_loop(p: np.ndarray, v: int) -> float:
    mass = np.zeros(p.size + 1)
    mass[0] = 1.0
    for i, x in enumerate(p):
        mass[1 : i + 2] = mass[1 : i + 2] * (1 - x) + mass[: i + 1] * x
        mass[0] *= 1 - x
    return float(mass[v:].sum())


def tails() -> None:
    print("Poisson-binomial tails, heterogeneous probabilities")
    rng = np.random.default_rng(0)
    for n, target in [(10**4, 0.01), (10**5, 0.1), (10**6, 1.0)]:
        p = rng.random(n)
        v = int(n / 2 + 8 * np.sqrt(n / 6))
        one = seconds(lambda p=p, v=v: PoissonBinomial(p).tail(v), 3)
        show(f"  one tail, n = {n:,}", one, target)
        table = seconds(lambda p=p: PoissonBinomial(p).tails(), 1)
        show(f"  whole table, n = {n:,}", table, 20 * target, f", {table / one:.1f} tails")
    p = rng.random(5000)
    v = 2500 + 10 * 29
    ours = seconds(lambda: PoissonBinomial(p).tail(v))
    loop = seconds(lambda: plain_loop(p, v), 1)
    show("  our plain loop, n = 5,000", loop, note=f"{loop / ours:.0f} times ours")
    theirs = seconds(lambda: stats.poisson_binom.sf(v - 1, p), 1)
    value = float(stats.poisson_binom.sf(v - 1, p))
    show("  SciPy poisson_binom.sf, n = 5,000", theirs, note=f"{theirs / ours:.0f} times ours")
    print(f"    ours {PoissonBinomial(p).tail(v):.6e}, SciPy {value:.6e}")
    try:
        from fast_poibin import PoiBin
    except ImportError:
        print("  fast-poibin is not installed")
        return
    for n in (10**4, 10**5):
        p = rng.random(n)
        v = int(n / 2 + 10 * np.sqrt(n / 6))
        ours = seconds(lambda p=p, v=v: PoissonBinomial(p).tail(v), 3)
        theirs = seconds(lambda p=p: PoiBin(p), 3)
        found = 1.0 - float(PoiBin(p).cdf[v - 1])
        show(f"  fast-poibin, n = {n:,}", theirs, note=f"{theirs / ours:.1f} times ours")
        print(f"    ours {PoissonBinomial(p).tail(v):.6e}, fast-poibin {found:.6e}")


def bounds() -> None:
    print("Bounds")
    rng = np.random.default_rng(1)
    guarantee = GaussianDP(1.0)
    points = guarantee.tangents(40)
    scalar = seconds(lambda: swap_tail(100, 0.3, 1.0, 1e-5, 70), 500)
    show("  closed form, one", scalar, 5e-5)
    p, e = rng.random((300, 1)), rng.uniform(0, 5, (1, 300))
    grid = seconds(lambda: swap_tail(100, p, e, 1e-5, 70))
    show("  closed form, 90,000 at once", grid, note=f"{grid / 90_000 / scalar:.3f} of one, each")
    twenty = rng.dirichlet(np.ones(20))
    taken = seconds(lambda: optimum_program(twenty, guarantee, epsilons=points), 3)
    show("  one-target program, 20 values, 40 tangents", taken, 5.0)
    five = rng.dirichlet(np.ones(5), 1000)
    taken = seconds(lambda: optimum_program(five, guarantee, epsilons=points), 1)
    show("  one-target program, 1,000 priors of 5 values", taken, 20.0)
    many = rng.dirichlet(np.full(24, 0.5), 15_000)
    taken = seconds(lambda: optimum(many, guarantee), 1)
    show("  one-target closed form, 15,000 priors of 24 values", taken)
    tails, coins = count(700), threat(prior=0.5, targets=1000, inseparable=0.5)
    taken = seconds(
        # another tail each time: solved programs are kept
        lambda: swap_program(coins, guarantee, next(tails), epsilons=points),
        3,
    )
    show("  swap program, n = 1,000, 40 tangents", taken, 2.0)


KINDS = {
    "fair": [[0.5, 0.5]],
    ".58/.42": [[0.58, 0.42]],
    ".75/.25": [[0.75, 0.25]],
    ".742 and four others": [[0.742, 0.1, 0.08, 0.05, 0.028]],
    "mix, a fifth each": [
        [0.58, 0.42],
        [0.75, 0.25],
        [0.95, 0.05],
        [0.742, 0.1, 0.08, 0.05, 0.028],
        [0.3, 0.25, 0.2, 0.15, 0.1],
    ],
}


def least_count(tail: Callable[[int], float], n: int) -> int:
    """Give the least v with a chance of more than v of at most .05."""
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle + 1) <= 0.05 else (middle, high)
    return high


def processor(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def counted(rows: np.ndarray, many: list[int], guarantee: GaussianDP) -> str:
    """The three numbers for some kinds of people, so many of each, and the processor time."""

    def of(theorem: Callable[..., Any], v: int) -> float:
        return theorem(rows, guarantee, v, repeats=many).value

    floor = reached_number(rows, guarantee, 0.95, repeats=many)
    new = least_count(lambda v: of(interpolation, v), sum(many))
    old = least_count(lambda v: of(domination, v), sum(many))
    ours = processor(lambda: of(interpolation, new))
    theirs = processor(lambda: of(domination, new))
    return f"{f'{floor} / {new} / {old}':<18}{ours:8.3f} s {ours / theirs:6.1f} times"


def count_table() -> None:
    print("How many fall, at most, with 95% confidence: reached / interpolation / 4.4")
    print("GDP calibrated at delta 1e-5; processor time of one tail, and how often that of 4.4")
    for n in (100, 1000):
        for name, priors in KINDS.items():
            width = max(map(len, priors))
            rows = np.array([row + [0.0] * (width - len(row)) for row in priors])
            rows /= rows.sum(axis=1, keepdims=True)
            for epsilon in (1, 3, 10):
                guarantee = GaussianDP.from_epsilon_delta(epsilon, 1e-5)
                found = counted(rows, [n // len(rows)] * len(rows), guarantee)
                print(f"  n = {n:<5} {name:<22} eps {epsilon:<3} {found}", flush=True)


def refutation() -> None:
    print("Refutation")
    m = 10**6
    show("  counts, m = 10^6", seconds(lambda: refute(m, m, 600_000, delta=1e-6), 3), 1.0)
    rng = np.random.default_rng(2)
    for m in (10**4, 10**5, 10**6):
        member = rng.integers(0, 2, m)
        score = rng.normal(size=m) + member
        taken = seconds(lambda s=score, x=member: refute_scores(s, x, delta=1e-5, coins=True), 1)
        epsilon = refute_scores(score, member, delta=1e-5, coins=True).epsilon
        show(f"  scores, m = {m:,}", taken, 1.0, f", epsilon {epsilon:.3f} of 4.38")


def personal_risk() -> None:
    """Time what a slider asks at each move: a new guarantee, nothing kept from the one before."""
    print("The risk to one person, with each guarantee made anew")
    risk_of(1.0, prior=0.01)
    made: dict[str, Callable[[], Any]] = {
        "pure DP": lambda: PureDP(1.0),
        "approximate DP": lambda: ApproximateDP(1.0, 1e-6),
        "Gaussian DP": lambda: GaussianDP(1.0),
        "Renyi DP, order 2": lambda: RenyiDP(2.0, 0.5),
        "zero-concentrated DP, rho .001": lambda: ZeroConcentratedDP(0.001),
        "zero-concentrated DP, rho .5": lambda: ZeroConcentratedDP(0.5),
        "Bayes security": lambda: BayesSecurity(0.9),
    }
    for name, make in made.items():
        show(f"  {name}", seconds(lambda make=make: risk_of(make(), prior=0.01)), 0.1)


if __name__ == "__main__":
    personal_risk()
    tails()
    bounds()
    count_table()
    refutation()
