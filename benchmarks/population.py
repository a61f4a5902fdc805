"""The posterior and the ceiling of whole populations: time, memory, and how good the beliefs are.

    OMP_NUM_THREADS=1 python benchmarks/population.py [--quick]

People are drawn from a Bayesian network fitted to the ACS table of the examples (16 columns); every
3-way table with an unknown column is released. Seconds are CPU seconds of one thread, so that other
work on the machine counts little. The way before is the plain coordinate ascent, from which Gibbs
sampling still starts; ratios are of one run, on the same releases.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from narcissus.attacks.table import GibbsSampling, MeanField
from narcissus.attacks.table.base import View, view_of
from narcissus.attacks.table.ceiling import insider_beliefs
from narcissus.attacks.table.posterior import likelihood, mean_field
from narcissus.attacks.table.shards import CellIncidence
from narcissus.knowledge.columns import Insider, Targets
from narcissus.mechanisms import GaussianNoise, LaplaceNoise, MarginalQueries, NoisyMarginals
from narcissus.priors import fit_bayesian_network
from narcissus.success import exact_match
from narcissus.tables import Bins, read_table

ACS = Path(__file__).parents[1] / "examples/data/acs_employment_ny2018_20k.csv.gz"
ONE, MANY, THREE = ("SEX",), ("SCHL",), ("SEX", "MAR", "AGEP")


class Worlds:
    """People like those of the table, and releases about them."""

    def __init__(self) -> None:
        self.table = read_table(str(ACS), drop=["ESR"], bins={"AGEP": Bins(width=10)})
        self.prior = fit_bayesian_network(self.table, parents=2)

    def draw(self, people, unknown, epsilon, seed=0, noise="gaussian"):
        """Give targets, a release of their tables, and their secrets."""
        rng = np.random.default_rng([seed, people])
        columns = tuple(self.table.names.index(name) for name in unknown)
        queries = MarginalQueries(tuple(self.table.sizes), columns, 3)
        parts = [min(200_000, people - a) for a in range(0, people, 200_000)]
        codes = np.concatenate([self.prior.sample(part, rng=rng) for part in parts])
        known = codes.copy()
        known[:, list(columns)] = 0
        chances = np.concatenate(
            [
                np.asarray(self.prior.conditional(known[a : a + 200_000], columns), dtype=float)
                for a in range(0, people, 200_000)
            ]
        )
        targets = Targets(queries, known, chances, exact_match(queries.unknown_shape))
        added = (
            GaussianNoise.for_epsilon(epsilon, 1e-5, queries.tables)
            if noise == "gaussian"
            else LaplaceNoise.for_epsilon(epsilon, queries.tables)
        )
        [release] = NoisyMarginals(queries, added).release(codes[None], rng)
        return targets, release, queries.joint(codes)


def clock(work):
    """Give a result and its CPU seconds."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def peak(work) -> float:
    """Give the most megabytes that some work holds at a time, besides what was there before."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def before(view: View):
    """Give beliefs by the plain coordinate ascent."""
    noise = view.noise
    if noise.kind != "gaussian":
        noise = GaussianNoise(float(np.sqrt(2)) * noise.scale)
    return mean_field(view.targets, likelihood(view.targets, noise, view.release), 40, 1e-2)


def now(view: View):
    """Give beliefs by the attack."""
    return MeanField().beliefs(view, rng=np.random.default_rng(0))


def quality(beliefs, secrets) -> tuple[float, float]:
    """Give the log loss and the share that is right."""
    chance = beliefs[np.arange(len(secrets)), secrets]
    loss = -np.log(np.maximum(chance, 1e-12)).mean()
    return float(loss), float((beliefs.argmax(axis=1) == secrets).mean())


def sizes(worlds: Worlds, quick: bool) -> None:
    """Time the posterior and the ceiling as the people grow."""
    print("people    unknown        values   types  eps  posterior      ceiling       targets")
    print("                                              s      MB    s      MB         MB")
    rows = [(48_842, unknown, eps) for unknown in (ONE, MANY, THREE) for eps in (1, 10)]
    rows += [] if quick else [(1_000_000, ONE, 10), (1_000_000, MANY, 10)]
    for people, unknown, epsilon in rows:
        targets, release, secrets = worlds.draw(people, unknown, epsilon)
        view, insider = view_of(targets, release), Insider(targets, secrets)
        held = (targets.codes.nbytes + targets.prior.nbytes) / 1e6
        _, seconds = clock(lambda view=view: now(view))
        _, ceiling = clock(lambda r=release, i=insider: insider_beliefs(r, i))
        memory = peak(lambda view=view: now(view))
        above = peak(lambda r=release, i=insider: insider_beliefs(r, i))
        print(
            f"{people:>9,} {'+'.join(unknown):<14} {targets.queries.values:>6} "
            f"{targets.types.number:>7,} {epsilon:>4} {seconds:6.2f} {memory:6.0f} "
            f"{ceiling:6.2f} {above:6.0f} {held:8.0f}",
            flush=True,
        )


def limit(worlds: Worlds) -> None:
    """Print what a value costs that is read from the cells, or added to them."""
    for unknown in (ONE, MANY):
        targets, release, _ = worlds.draw(48_842, unknown, 10)
        gathers = CellIncidence(targets)
        raised = gathers.raised(release.cells[gathers.cells])
        sums = gathers.nothing()

        def both(gathers=gathers, raised=raised, sums=sums):
            for _ in range(10):
                for block in range(len(gathers.blocks)):
                    gathers.scatter(block, sums, gathers.gathered(block, raised))

        _, seconds = clock(both)
        print(
            f"limit, {'+'.join(unknown)}: {gathers.reads / gathers.types.number:.0f} values a type "
            f"and pass, {1e9 * seconds / 20 / gathers.reads:.2f} ns a value",
            flush=True,
        )


def against(worlds: Worlds, quick: bool) -> None:
    """Compare with the way before and with Gibbs sampling, on the same releases."""
    print("\nlog loss and share (CPU seconds); points of share won, with a standard error of the")
    print("differences; seconds before over seconds now")
    cases = [(100, 10, 400), (1_000, 2, 200)] if quick else [(100, 40, 400), (1_000, 10, 200)]
    cases += [] if quick else [(5_000, 3, 100)]
    for noise, epsilon in (("gaussian", 1), ("gaussian", 10), ("laplace", 30)):
        for unknown in (ONE, MANY):
            for people, seeds, sweeps in cases:
                rows: dict[str, list[tuple[float, float, float]]] = {}
                for seed in range(seeds):
                    targets, release, secrets = worlds.draw(people, unknown, epsilon, seed, noise)
                    view = view_of(targets, release)
                    ways = {"prior": lambda t=targets: t.prior, "before": before, "now": now}
                    if seed < 2 and (people <= 1_000 or (unknown == ONE and epsilon == 10)):
                        gibbs = GibbsSampling(sweeps=sweeps)
                        ways["Gibbs"] = lambda v, g=gibbs: g.beliefs(v, rng=np.random.default_rng())
                    for name, way in ways.items():
                        work = way if name == "prior" else lambda way=way, view=view: way(view)
                        beliefs, seconds = clock(work)
                        rows.setdefault(name, []).append((*quality(beliefs, secrets), seconds))
                mean = {name: np.mean(row, axis=0) for name, row in rows.items()}
                said = "  ".join(
                    f"{name} {loss:.4f} {share:.3f} ({seconds:.3f})"
                    for name, (loss, share, seconds) in mean.items()
                )
                won = 100 * np.subtract(*([row[1] for row in rows[n]] for n in ("now", "before")))
                error = won.std(ddof=1) / np.sqrt(seeds)
                print(
                    f"{people:>6,} {unknown[0]:<5} {noise} eps {epsilon}: {said}  "
                    f"{won.mean():+.2f} +- {error:.2f}  x{mean['before'][2] / mean['now'][2]:.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    threadpool_limits(1)
    drawn = Worlds()
    sizes(drawn, "--quick" in sys.argv)
    limit(drawn)
    against(drawn, "--quick" in sys.argv)
