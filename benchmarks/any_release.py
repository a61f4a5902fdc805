"""What each attack recovers from each kind of release: rounded, withheld, swapped, synthetic, ...

Run ``python benchmarks/any_release.py TABLE.csv [--unknown SEX] [--people 1000] [--k 3]
[--train 10] [--test 20] [--from rows|prior] [SETTING ...]``. People are rows of the table, or drawn
from the prior that is fitted to it. Attacks learn from people drawn as those who are scored are,
in other releases. Printed: the share of people guessed right and how much more that is than of
people drawn anew from the prior, with standard errors over releases, and seconds a release.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from narcissus.attacks.table import (
    Learned,
    MeanField,
    NearestRecord,
    PriorGuess,
    Simulated,
    Stack,
    Targets,
)
from narcissus.mechanisms import (
    Counts,
    GaussianNoise,
    MarginalQueries,
    Microdata,
    ProtectedCounts,
)
from narcissus.priors import fit_bayesian_network
from narcissus.success import exact_match
from narcissus.tables import Bins, read_table

ATTACKS = {
    "prior": PriorGuess(),
    "nearest": NearestRecord(),
    "posterior": MeanField(),
    "learned": Learned(),
    "stack": Stack(),
}


class Rounding:
    """Rounded to the nearest multiple of an odd base."""

    title = "rounded"

    def __init__(self, base: int) -> None:
        self.base = base

    def publish(self, counts, rng):
        return self.base * np.rint(counts / self.base)

    def log_likelihood(self, cells, counts):
        return np.where(self.publish(counts, None) == cells, 0.0, -np.inf)


class RandomRounding(Rounding):
    """Rounded to a neighbouring multiple, with the right mean."""

    def publish(self, counts, rng):
        low = self.base * np.floor(counts / self.base)
        return low + self.base * (rng.random(counts.shape) < (counts - low) / self.base)

    def log_likelihood(self, cells, counts):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(1 - np.abs(cells - counts) / self.base, 0.0))


class Suppression:
    """Withheld where from 1 to below a threshold."""

    title = "withheld"

    def __init__(self, threshold: int) -> None:
        self.threshold = threshold

    def publish(self, counts, rng):
        return np.where((counts > 0) & (counts < self.threshold), np.nan, counts)

    def log_likelihood(self, cells, counts):
        small = (counts > 0) & (counts < self.threshold)
        return np.where(np.where(np.isnan(cells), small, cells == counts), 0.0, -np.inf)


def swapped(rate: float) -> Callable:
    """Swap the unknown columns of so many people with those of others."""

    def make(data, unknown, rng):
        rows = data.copy()
        moved = rng.permutation(len(data))[: 2 * round(rate * len(data) / 2)]
        rows[np.ix_(moved, unknown)] = data[np.ix_(np.roll(moved, len(moved) // 2), unknown)]
        return rows

    return make


def copula(data, unknown, rng):
    """A Gaussian copula of the ranks, ties at their middle, each column's own values."""
    from scipy import stats

    n = len(data)
    normal = stats.norm.ppf((stats.rankdata(data, axis=0) - 0.5) / n)
    spread = np.maximum(normal.std(axis=0), 1e-9)
    together = (normal / spread - (normal / spread).mean(axis=0)).T
    drawn = rng.multivariate_normal(np.zeros(len(together)), together @ together.T / n, n)
    places = np.minimum((stats.norm.cdf(drawn) * n).astype(int), n - 1)
    return np.take_along_axis(np.sort(data, axis=0), places, axis=0)


def rows_of(make: Callable) -> Callable:
    def release(queries, data, rng):
        return Microdata(make(data, list(queries.unknown), rng).astype(np.int32))

    return release


def cells_of(rule) -> Callable:
    def release(queries, data, rng):
        return ProtectedCounts(queries, rule, rule.publish(queries.counts(data), rng))

    return release


def noisy(epsilon: float) -> Callable:
    def release(queries, data, rng):
        noise = GaussianNoise.for_epsilon(epsilon, 1e-5, queries.tables)
        return Counts(queries, noise, queries.counts(data) + noise.sample(queries.cells, rng))

    return release


SETTINGS: dict[str, Callable] = {
    "identity": rows_of(lambda data, unknown, rng: data),
    "swapping 5%": rows_of(swapped(0.05)),
    "swapping 20%": rows_of(swapped(0.2)),
    "bootstrap": rows_of(lambda data, unknown, rng: data[rng.integers(0, len(data), len(data))]),
    "copula": rows_of(copula),
    "rounding 5": cells_of(Rounding(5)),
    "random rounding 5": cells_of(RandomRounding(5)),
    "suppression 10": cells_of(Suppression(10)),
    "noisy eps 10": noisy(10.0),
}


class Source:
    """Draws people, and tells what is known of them."""

    def __init__(self, given: argparse.Namespace) -> None:
        acs = "acs" in given.table
        self.table = (
            read_table(given.table, drop=["ESR"], bins={"AGEP": Bins(width=10)})
            if acs
            else read_table(given.table)
        )
        unknown = tuple(self.table.index(name) for name in given.unknown.split(","))
        self.queries = MarginalQueries(self.table.sizes, unknown, given.k)
        self.prior = fit_bayesian_network(self.table)
        self.people, self.rows = given.people, given.source == "rows"

    def draw(self, release: Callable, rng: np.random.Generator) -> Simulated:
        if self.rows:
            data = self.table.codes[rng.choice(self.table.rows, self.people, replace=False)]
        else:
            data = self.prior.sample(self.people, rng=rng)
        data = np.asarray(data, dtype=np.int32)
        codes = data.copy()
        codes[:, list(self.queries.unknown)] = 0
        beliefs = self.prior.conditional(codes, self.queries.unknown)
        success = exact_match(self.queries.unknown_shape)
        targets = Targets(self.queries, codes, beliefs, success)
        return Simulated(targets, release(self.queries, data, rng), self.queries.joint(data))


def measure(source: Source, name: str, trainings: int, tests: int) -> None:
    rng = np.random.default_rng(1)
    release = SETTINGS[name]
    before = [source.draw(release, rng) for _ in range(trainings)]
    scored = [source.draw(release, rng) for _ in range(tests)]
    for label, attack in ATTACKS.items():
        kind = type(scored[0].release)
        if kind not in attack.reads and object not in attack.reads:
            continue
        start = time.perf_counter()
        trainable = trainings and hasattr(attack, "train")
        played = attack.train(before, np.random.default_rng(2)) if trainable else attack
        learned = time.perf_counter() - start
        start = time.perf_counter()
        shares, excess = [], []
        for one in scored:
            [guess] = played.attempt([one.release], [one.targets], rng)
            shares.append(one.targets.success.score(one.secrets, guess).mean())
            fresh = one.targets.chances[np.arange(len(guess)), guess].mean()
            excess.append(shares[-1] - fresh)
        seconds = (time.perf_counter() - start) / tests
        error, doubt = (np.std(x, ddof=1) / np.sqrt(tests) for x in (shares, excess))
        settled = {k: getattr(played, k) for k in ("overlap", "scale") if hasattr(played, k)}
        print(
            f"{name:18} {label:10} {np.mean(shares):.4f} ± {error:.4f}  "
            f"over fresh people {np.mean(excess):+.4f} ± {doubt:.4f}  "
            f"{seconds:6.2f} s a release, {learned:6.1f} s to learn  {settled or ''}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--unknown", default="SEX")
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--train", type=int, default=10)
    parser.add_argument("--test", type=int, default=20)
    parser.add_argument("--from", dest="source", choices=["rows", "prior"], default="rows")
    given = parser.parse_intermixed_args()
    source = Source(given)
    for name in given.settings or SETTINGS:
        measure(source, name, given.train, given.test)


if __name__ == "__main__":
    main()
