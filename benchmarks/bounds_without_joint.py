"""Bounds for people of whom many columns are unknown, without a list of joint values.

Run with ``python benchmarks/bounds_without_joint.py [TABLE]``; default is the survey of the
examples, ages in tens: 100 people, 13 of 16 columns unknown, up to 2.69e9 joint values. First the
same numbers from a list of all joint values where that is possible, in the same run.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from narcissus.bounds import column_shares, exact_match_optimum, optimum, optimum_by_listing
from narcissus.guarantees import GaussianDP, Guarantee, PureDP
from narcissus.priors import BayesianNetwork, fit_bayesian_network
from narcissus.priors.best_guess import best_guess
from narcissus.priors.elimination import listing, marginals, row_count
from narcissus.priors.factors import Factors
from narcissus.tables import Table, read_table
from narcissus.tables.bins import Bins

SURVEY = Path(__file__).parents[1] / "examples" / "data" / "acs_employment_ny2018_20k.csv.gz"
KNOWN = (("SEX", "DEYE", "NATIVITY"), ("MAR", "MIL", "ESP"), ("ANC", "SCHL", "AGEP"))
# The mu of Gaussian noise that is (epsilon, 1e-5)-DP
MUS = {1.0: 0.26805112, 3.0: 0.71911744, 10.0: 2.00044562}
PEOPLE, AT_LEAST = 100, 10


def guarantees() -> dict[str, Guarantee]:
    found: dict[str, Guarantee] = {}
    for epsilon, mu in MUS.items():
        found[f"pure, epsilon {epsilon:g}"] = PureDP(epsilon)
        found[f"Gaussian, of ({epsilon:g}, 1e-5)"] = GaussianDP(mu)
    return found


def people(table: Table) -> np.ndarray:
    return table.codes[np.random.default_rng(0).choice(len(table.codes), PEOPLE, replace=False)]


def against_a_list(network: BayesianNetwork, codes: np.ndarray, unknown: list[int]) -> None:
    """Compare with all joint values of a few columns."""
    start = time.perf_counter()
    joint = network.conditional(codes, unknown)
    listed = {n: optimum(joint, g) for n, g in guarantees().items()}
    taken = time.perf_counter() - start
    start = time.perf_counter()
    factors = network.factors(codes, unknown)
    worst = 0.0
    for name, guarantee in guarantees().items():
        found = optimum_by_listing(listing(factors), row_count(factors), guarantee)
        gap = found.value[factors.rows] - listed[name]
        if isinstance(guarantee, PureDP):
            exact = exact_match_optimum(joint, guarantee.epsilon)
            gap = np.abs(found.value[factors.rows] - exact)
        worst = max(worst, float(gap.max()))
    print(
        f"{joint.shape[1]:,} joint values: listed {taken:.2f} s, without "
        f"{time.perf_counter() - start:.2f} s, largest difference {worst:.1e}\n"
    )


def without(factors: Factors, values: float) -> None:
    weight = np.bincount(factors.rows) / factors.people
    print(f"{values:.3g} joint values, {row_count(factors)} different people of {factors.people}")
    start = time.perf_counter()
    each = marginals(factors)
    print(f"  marginals of all columns {time.perf_counter() - start:>38.2f} s")
    for name, guarantee in guarantees().items():
        start = time.perf_counter()
        found = optimum_by_listing(listing(factors), row_count(factors), guarantee)
        taken = time.perf_counter() - start
        columns = float(column_shares(each, guarantee) @ weight)
        print(
            f"  {name:<26} all right {found.value @ weight:.6f} {taken:>9.2f} s, "
            f"listed {found.listed.max():,} at most, open {found.left_open.max():.1e}; "
            f"columns {columns:.6f}",
            flush=True,
        )
    for rounds in (0, 100):
        start = time.perf_counter()
        found = best_guess(factors, AT_LEAST, rounds=rounds)
        print(
            f"  best guess of {AT_LEAST} right columns: {found.chance @ weight:.6f} to "
            f"{found.limit @ weight:.6f} {time.perf_counter() - start:>8.2f} s, {rounds} rounds"
        )
    print(flush=True)


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else SURVEY
    table = read_table(source, drop=["ESR"], bins={"AGEP": Bins(width=10)})
    network, codes = fit_bayesian_network(table), people(table)
    against_a_list(network, codes, [table.index(n) for n in ("RELP", "SCHL", "MAR", "AGEP")])
    for known in KNOWN:
        unknown = [i for i, name in enumerate(table.names) if name not in known]
        values = float(np.prod([float(table.sizes[u]) for u in unknown]))
        without(network.factors(codes, unknown), values)


if __name__ == "__main__":
    main()
