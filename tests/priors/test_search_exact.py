"""The best structure is the best of all graphs, found by trying them all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narcissus.priors.bayesian_network import best_structure, climb_structure


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 4), most=st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_exact_search_is_the_best_of_all_graphs(seed, d, most):
    scores = {}
    rng = np.random.default_rng(seed)
    for j in range(d):
        others = [p for p in range(d) if p != j]
        for size in range(d):
            for own in itertools.combinations(others, size):
                scores[j, own] = rng.normal()

    def acyclic(graph):
        return any(
            all(set(graph[j]) <= set(order[:k]) for k, j in enumerate(order))
            for order in itertools.permutations(range(d))
        )

    def total(graph):
        return sum(scores[j, own] for j, own in enumerate(graph))

    choices = [[own for (k, own) in scores if k == j and len(own) <= most] for j in range(d)]
    best = max(total(graph) for graph in itertools.product(*choices) if acyclic(graph))
    for search in (best_structure, climb_structure):
        found = search(d, min(most, d - 1), lambda j, own: scores[j, own])
        assert acyclic(found)
        assert all(len(own) <= most for own in found)
        if search is best_structure:
            assert total(found) == pytest.approx(best, abs=1e-9)
        else:
            assert total(found) <= best + 1e-9
            assert total(found) >= total(((),) * d)
