"""Climbing comes near the best structure, and takes many columns."""

from __future__ import annotations

import numpy as np

from narcissus.priors import fit_bayesian_network
from narcissus.priors.bayesian_network import _Families, best_structure, climb_structure
from narcissus.tables import Bins, Table, read_table


def test_climbing_comes_near_the_best_network_of_fair():
    table = read_table("statsmodels:fair", bins={"affairs": Bins(above=0)})
    families = _Families(table.codes, table.sizes, "bic")

    def total(parents):
        return sum(families.score(j, own) for j, own in enumerate(parents))

    empty = total(((),) * table.columns)
    best = total(best_structure(table.columns, 2, families.score))
    climbed = total(climb_structure(table.columns, 2, families.score))
    assert empty < climbed <= best + 1e-6
    assert climbed - empty > 0.95 * (best - empty)


def test_many_columns_are_climbed():
    rng = np.random.default_rng(3)
    first = rng.integers(0, 2, size=3000)
    columns = [first]
    for _ in range(24):
        columns.append(np.where(rng.random(3000) < 0.85, columns[-1], 1 - columns[-1]))
    names = tuple(f"c{j}" for j in range(25))
    table = Table(names, (("0", "1"),) * 25, (True,) * 25, np.column_stack(columns))
    network = fit_bayesian_network(table)
    edges = {frozenset((p, j)) for j, own in enumerate(network.parents) for p in own}
    assert {frozenset((j, j + 1)) for j in range(24)} <= edges
