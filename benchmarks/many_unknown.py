"""Attack and ceiling on tables with many unknown columns: seconds, memory, shares.

Run ``python benchmarks/many_unknown.py TABLE.csv [--drop ESR] [--bin AGEP=10] [--people 100]
[--k 3] [--epsilon 10] [--unknown 3 5 8 13] [--releases 2]``; epsilon inf is exact counts.
Unknown are the first so many columns. Each line is one release: CPU seconds of each attack, the
mean share of columns right of the guess of the prior, of the attack and of the ceiling, the share
of people whose columns are all right, and the peak of memory that was traced. Where joint values
are few, the same release is attacked by Gibbs sampling of joint values with as many draws, and the
ratio of the times is printed: more than 1 is faster than that.

With the American Community Survey (New York 2018, 20,000 people, 16 columns), 100 people, k = 3,
epsilon 10, CPU seconds of one thread, means of two releases:

=======  ============  =========  ==========  ======  ===========================================
unknown  joint values  attack, s  ceiling, s  memory  share of columns: prior, attack, ceiling
=======  ============  =========  ==========  ======  ===========================================
3                 180        1.0         0.8    6 MB  .927 .940 .938
5               1,080        1.7         1.4    8 MB  .928 .935 .931
8               8,640        2.6         2.3   11 MB  .931 .939 .938
13         27,993,600        5.3         4.4   21 MB  .796 .805 .817
=======  ============  =========  ==========  ======  ===========================================

Gibbs sampling of joint values with as many draws takes 3.8 times as long with 3 unknown columns.
The largest joint (SEX, DEYE and NATIVITY known, 2,687,385,600 values) takes as long as 13 columns.
Exact counts (epsilon inf) of 13 unknown columns at k = 3: values that agree with all counts in .5 s
each, columns .94, all right .78, where the prior has .80 and .07; at k = 2 the search sticks, at a
residual of 74 to 110 people.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np

from narcissus.attacks.base import Answers
from narcissus.attacks.table import GibbsSampling, Targets
from narcissus.attacks.table.factored import FactoredCeiling, FactoredGibbs, FactoredGuess
from narcissus.knowledge import FactoredColumns
from narcissus.mechanisms import GaussianNoise, MarginalQueries, NoisyMarginals
from narcissus.mechanisms.noise import NoNoise
from narcissus.priors import fit_bayesian_network
from narcissus.success import CodesRight, ColumnsRight
from narcissus.tables import Bins, read_table
from narcissus.worlds import People

LISTED = 500
"""Joint values up to which the sampler of joint values is waited for."""


def timed(attack, release, known, rng):
    """Give the guesses about one release, and the CPU seconds that they took."""
    begin = time.process_time()
    found = attack.attempt([release], [known], rng)
    seconds = time.process_time() - begin
    return (found.values if isinstance(found, Answers) else found)[0], seconds


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table")
    parser.add_argument("--drop", nargs="*", default=["ESR"])
    parser.add_argument("--bin", nargs="*", default=["AGEP=10"])
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=10.0)
    parser.add_argument("--unknown", type=int, nargs="*", default=[3, 5, 8, 13])
    parser.add_argument("--releases", type=int, default=2)
    given = parser.parse_args()
    bins = {c: Bins(width=float(w)) for c, w in (one.split("=") for one in given.bin)}
    table = read_table(given.table, drop=given.drop, bins=bins)
    prior = fit_bayesian_network(table)
    for many in given.unknown:
        queries = MarginalQueries(table.sizes, tuple(range(many)), given.k)
        tables = queries.tables
        exact = np.isinf(given.epsilon)
        noise = NoNoise() if exact else GaussianNoise.for_epsilon(given.epsilon, 1e-5, tables)
        right = CodesRight(ColumnsRight(queries.unknown_shape))
        side, world = FactoredColumns(prior, queries, right), People(prior, given.people)
        for number in range(given.releases):
            rng = np.random.default_rng(number)
            draw = world.draw(1, rng)
            [targets] = side.reveal(world, draw, rng)
            [release] = NoisyMarginals(queries, noise).release(draw.data, rng)
            truth = targets.secrets(draw.data[0])
            told = {
                "prior": (FactoredGuess(), targets),
                "attack": (FactoredGibbs(), targets),
                "ceiling": (FactoredCeiling(), targets.insider(draw.data[0])),
            }
            line = f"{many:>3} unknown, {queries.values:,} joint values:"
            seconds = {}
            for name, (attack, known) in told.items():
                guess, seconds[name] = timed(attack, release, known, rng)
                columns, whole = right.columns_right(truth, guess), right.score(truth, guess)
                line += (
                    f" {name} {seconds[name]:.2f} s, columns {columns.mean():.3f}, "
                    f"all {whole.mean():.3f};"
                )
            tracemalloc.start()
            FactoredGibbs(sweeps=2).attempt([release], [targets], rng)
            line += f" memory {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB"
            tracemalloc.stop()
            if queries.values <= LISTED and not exact:
                beliefs = prior.conditional(targets.codes, queries.unknown)
                listed = Targets(queries, targets.codes, beliefs, right.columns)
                _, joint = timed(GibbsSampling(sweeps=640, chains=16), release, listed, rng)
                line += f"; joint values {joint:.2f} s, ratio {joint / seconds['attack']:.1f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
