"""Scores of a structure against their definitions, and a planted one is found."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus.priors import BayesianNetwork, fit_bayesian_network
from narcissus.priors._structure import _bdeu, _bic
from narcissus.tables import Table


def skeleton_and_colliders(parents):
    """Give what all Markov equivalent networks share (Verma and Pearl)."""
    edges = {frozenset((p, j)) for j, own in enumerate(parents) for p in own}
    colliders = {
        (frozenset((a, b)), j)
        for j, own in enumerate(parents)
        for a, b in itertools.combinations(own, 2)
        if frozenset((a, b)) not in edges
    }
    return edges, colliders


def planted():
    """0 -> 2 <- 1, 2 -> 3, 3 -> 4, and 5 alone."""
    parents = ((), (), (0, 1), (2,), (3,), ())
    flip = np.array([[0.85, 0.15], [0.15, 0.85]])
    both = np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.35, 0.65], [0.05, 0.95]]])
    single = [np.array([0.6, 0.4]), np.array([0.45, 0.55])]
    tables = (*single, both, flip, flip, np.array([0.3, 0.7]))
    return BayesianNetwork(tuple("abcdef"), parents, tables)


def as_table(network, n, seed):
    labels = tuple(tuple(str(v) for v in range(s)) for s in network.sizes)
    codes = network.sample(n, rng=seed)
    return Table(network.names, labels, (True,) * len(labels), codes)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
@pytest.mark.parametrize("seed", range(3))
def test_search_recovers_a_planted_structure(score, seed):
    truth = planted()
    found = fit_bayesian_network(as_table(truth, 20_000, seed), score=score)
    assert skeleton_and_colliders(found.parents) == skeleton_and_colliders(truth.parents)


def test_scores_against_plain_formulas():
    """BIC and BDeu from their definitions, cell by cell."""
    rng = np.random.default_rng(8)
    counts = rng.integers(0, 9, size=(3, 4)).astype(float)
    counts[1] = 0
    n = int(counts.sum())
    likelihood = sum(c * math.log(c / row.sum()) for row in counts if row.sum() for c in row if c)
    assert _bic(counts, n) == pytest.approx(likelihood - 0.5 * math.log(n) * 3 * 3, rel=1e-12)
    bdeu = sum(
        math.lgamma(1 / 3)
        - math.lgamma(1 / 3 + row.sum())
        + sum(math.lgamma(1 / 12 + c) - math.lgamma(1 / 12) for c in row)
        for row in counts
    )
    assert _bdeu(counts, n) == pytest.approx(bdeu, rel=1e-10)
