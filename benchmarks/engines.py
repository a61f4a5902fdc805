"""Engines: time against workers, and the bytes that a cluster is sent, for a study and for a key.

Run with ``python benchmarks/engines.py`` (needs the extra dask). Every trial sleeps for a part of
its time, so that more workers than cores show what an engine itself costs. Prints seconds of each
engine and their ratio to one process, bytes of the study, and bytes of a key there and back; and
the processor seconds of five plays, such as looks at a run, with workers that stay and without;
and of one release about a million people what it takes here, and split over one and two workers.
"""

from __future__ import annotations

import hashlib
import resource
import sys
import time
from contextlib import closing
from pathlib import Path

import cloudpickle
import numpy as np
from threadpoolctl import threadpool_limits

from narcissus.attacks.table import Targets
from narcissus.attacks.table.cavity import cavity_beliefs
from narcissus.attacks.table.shards import holding, shares_of
from narcissus.game.executor import Executor, HasPlaces, Serial
from narcissus.mechanisms import GaussianNoise, MarginalQueries, NoisyMarginals
from narcissus.study.engines import Dask, Processes
from narcissus.study.engines.holder import ByWorkers
from narcissus.study.engines.task import Carried, play_key, versions
from narcissus.success import exact_match

KEYS = [str(n) for n in range(64)]
SECONDS = 0.25
TABLE = np.random.default_rng(0).integers(0, 16, (20_000, 10), dtype=np.int32)


def trial(key: str) -> dict[str, np.ndarray]:
    """Play something that takes as long everywhere; what is kept of a trial is 200 numbers."""
    until = time.perf_counter() + SECONDS
    rng = np.random.default_rng(int(key))
    counts = np.bincount(TABLE[rng.permutation(len(TABLE)), 0], minlength=16)
    time.sleep(max(0.0, until - time.perf_counter()))
    return {"share": rng.random(184), "counts": counts}


def timed(executor: Executor) -> tuple[float, float]:
    """Play all keys twice: with the start of workers, and without."""
    found = []
    with closing(executor):
        for _ in range(2):
            begin = time.perf_counter()
            for _key, _made in executor.play(trial, KEYS):
                pass
            found.append(time.perf_counter() - begin)
    return found[0], found[1]


def loopback() -> int:
    """Count the bytes that this machine has sent to itself: of a cluster on it, all of them."""
    lines = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.strip().startswith("lo:")).split()[1])


def quick(key: str) -> dict[str, np.ndarray]:
    """Give as much as a trial, at once."""
    return {"share": np.full(200, float(key))}


def bytes_of_a_key() -> float:
    """Measure what one more key sends, both ways, with everything that Dask and TLS say."""
    with closing(Dask(workers=2)) as executor:
        found = []
        for count in (1, 100, 500):  # the first starts the workers
            begin = loopback()
            for _ended in executor.play(quick, [str(n) for n in range(count)]):
                pass
            found.append(loopback() - begin)
    return (found[2] - found[1]) / 400


def five_plays(*, anew: bool) -> float:
    """Measure the processor seconds of two workers in five plays of twenty keys."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    begin, executor = spent(), Processes(2)
    for _ in range(5):
        if anew:
            executor.close()
        for _ended in executor.play(quick, [str(n) for n in range(20)]):
            pass
    executor.close()
    return spent() - begin


class Rounds:
    """An executor's workers, with the bytes that went over the loopback address in each play."""

    is_here = True

    def __init__(self, executor: HasPlaces) -> None:
        self.executor, self.workers = executor, executor.workers
        self.sent: list[int] = []
        self.play, self.close = executor.play, executor.close

    def play_at(self, jobs, observer):
        """Play, and count."""
        begin = loopback()
        found = self.executor.play_at(jobs, observer)
        self.sent.append(loopback() - begin)
        return found


def large(people: int, values: int) -> None:
    """Attack one release here and split: random people, 8 known columns of 6 values, 3-way."""
    rng = np.random.default_rng(0)
    sizes = (values, *[6] * 8)
    queries = MarginalQueries(sizes, (0,), 3)
    codes = np.stack([rng.integers(0, s, people, dtype=np.int32) for s in sizes], axis=1)
    noise = GaussianNoise(20.0)
    [release] = NoisyMarginals(queries, noise).release(codes[None], rng)
    codes[:, 0] = 0
    prior = np.full((people, values), 1 / values)
    targets = Targets(queries, codes, prior, exact_match(queries.unknown_shape))
    number = shares_of(targets.types.number, values)
    print(
        f"one release: {people:,} people of {targets.types.number:,} kinds, {values} values, "
        f"{queries.cells:,} cells, {number} shares"
    )
    first = 0.0
    for name, made in (
        ("here", Serial),
        ("1 process", lambda: Processes(1)),
        ("2 processes", lambda: Processes(2)),
        ("dask, 1 worker", lambda: Dask(workers=1)),
        ("dask, 2 workers", lambda: Dask(workers=2)),
    ):
        with closing(Rounds(made())) as executor:
            ByWorkers(executor).hold([dict, dict])  # starts them
            executor.sent.clear()
            begin = time.perf_counter()
            with holding(ByWorkers(executor)), threadpool_limits(1):
                beliefs = cavity_beliefs(targets, noise, release.cells, 40, 1e-6)
            seconds = time.perf_counter() - begin
        digest = hashlib.sha256(beliefs.tobytes()).hexdigest()[:8]
        first = first or seconds
        said = ""
        if "dask" in name:
            said = f" of {np.median(executor.sent):,.0f} bytes, {sum(executor.sent):,} in all"
        print(
            f"{name:16} {seconds:6.2f} s ({first / seconds:.2f} times), {len(executor.sent)} rounds"
            f"{said}, digest {digest}",
            flush=True,
        )


def main() -> None:
    if sys.argv[1:]:
        large(int(sys.argv[1]), int(sys.argv[2]))
        return
    engines = {
        "serial": Serial(),
        "processes, 2 workers": Processes(2),
        "dask, 2 workers": Dask(workers=2),
    }
    print(f"{len(KEYS)} trials of {SECONDS:g} s")
    one = 0.0
    for name, engine in engines.items():
        first, again = timed(engine)
        one = one or again
        print(f"{name:20} {first:6.2f} s, again {again:6.2f} s: {one / again:4.2f} times serial")
    anew, stay = five_plays(anew=True), five_plays(anew=False)
    print(f"five plays, 2 processes: {anew:.1f} s of a core if started anew, {stay:.1f} s if not")
    print(f"study: {len(cloudpickle.dumps(trial)):,} bytes, to the scheduler and to each worker")
    answer, _ = play_key(Carried(cloudpickle.dumps(trial), versions()), "0")
    print(f"key: {bytes_of_a_key():,.0f} bytes in all, {len(answer):,} of them what is kept of it")
    large(1_000_000, 2)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory here {memory:,.0f} MB")


if __name__ == "__main__":
    main()
