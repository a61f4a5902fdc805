"""Pinned entries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus.success.relations import (
    Pinned,
)
from narcissus.worlds import (
    Bits,
)


def test_pinned_refuses_the_same_place_twice():
    twice = np.array([[[1, 1], [0, 0]]])
    data = np.zeros((1, 4), dtype=int)
    assert not Pinned(2).holds(data, twice, np.random.default_rng(0))[0]
    assert Pinned(2).baseline(Bits(4), twice)[0] == 0


@pytest.mark.states("Cohen et al. 2024", "Example 1.8")
@pytest.mark.parametrize("k", [1, 2, 4])
def test_without_a_release_no_k_of_n_bits_are_pinned_more_often_than_2_to_the_minus_k(k):
    """Every attempt against every data set: by enumeration, with the ones of all orders of k."""
    n = 4
    data = np.array(list(itertools.product((0, 1), repeat=n)))
    relation, rng = Pinned(k), np.random.default_rng(0)
    for places in itertools.permutations(range(n), k):
        for entries in itertools.product((0, 1), repeat=k):
            attempt = np.array([places, entries])
            hits = relation.holds(data, np.repeat(attempt[None], len(data), axis=0), rng)
            assert hits.mean() == 2**-k
            assert relation.baseline(Bits(n), attempt[None])[0] == 2**-k
    assert len(relation.guesses(data)) == len(list(itertools.combinations(range(n), k))) * 2**k
