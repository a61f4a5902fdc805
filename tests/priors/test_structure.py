"""Scores of a structure against their definitions, and a planted one is found."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus.priors import bayesian_network, fit_bayesian_network
from narcissus.priors.bayesian_network import _bdeu, _bic
from narcissus.tables import CountedTable

from .conftest import as_table, planted


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


def counted(table):
    """Give the distinct records of a table with their counts."""
    records, counts = np.unique(table.codes, axis=0, return_counts=True)
    return CountedTable(table.names, table.labels, table.ordered, records, counts)


@pytest.mark.parametrize("score", ["bic", "bdeu"])
@pytest.mark.parametrize("n", [70, 5000])
def test_a_counted_table_gives_the_same_network_to_the_last_digit(score, n):
    table = as_table(planted(), n, seed=4)
    whole, again = (fit_bayesian_network(t, 2, 0.3, score) for t in (table, counted(table)))
    assert whole.parents == again.parents
    for one, other in zip(whole.tables, again.tables, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("step", [7, 10**6])
@pytest.mark.parametrize("room", [0, 20, 10**6])
def test_families_are_counted_as_numpy_counts_them(step, room, monkeypatch):
    """Whichever column is the child, with or without room to keep what was counted."""
    monkeypatch.setattr(bayesian_network, "_STEP", step)
    table = as_table(planted(), 50, seed=5)
    few = counted(table)
    for families in (
        bayesian_network._Families(table.codes, table.sizes, "bic"),
        bayesian_network._Families(few.records, few.sizes, "bic", few.counts),
    ):
        families._room = room
        assert families.rows == 50
        for columns in [(3,), (2, 0), (0, 2), (1, 4, 2), (4, 2, 1), (2, 1, 4), (2, 0)]:
            *parents, child = columns
            expected = np.zeros([table.sizes[c] for c in columns])
            np.add.at(expected, tuple(table.codes[:, c] for c in columns), 1)
            found = families.counts(child, tuple(parents))
            np.testing.assert_array_equal(found, expected)
            assert found.flags.c_contiguous


def test_the_search_is_the_same_whichever_way_a_table_was_read(monkeypatch):
    """Whether all graphs are looked at is decided by a length that both ways have."""
    for n in (70, 5000):
        table = as_table(planted(), n, seed=6)
        few = counted(table)
        lengths = {
            bayesian_network._Families(table.codes, table.sizes, "bic").length,
            bayesian_network._Families(few.records, few.sizes, "bic", few.counts).length,
        }
        assert len(lengths) == 1
