"""What is fitted and whether chains have mixed, by plain loops."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from scipy import sparse

from narcissus.counts.intervals import Polytope
from narcissus.counts.posterior import fitted, mixing


def test_a_fitted_row_of_nobody_stays_empty():
    """Nothing can be scaled up to a row's number from 0; it must not become a missing number."""
    matrix = sparse.csr_array(np.array([[1, 1, 0], [0, 0, 1]]))
    limits = np.array([3, 2])
    part = Polytope(matrix, limits, limits, np.zeros(3, int), np.full(3, 9))
    assert fitted(part, np.array([0, 0, 1])).tolist() == [0, 0, 2]
    assert fitted(part, np.array([1, 5, 4])) == pytest.approx([0.5, 2.5, 2])


@pytest.mark.parametrize("draws", [6, 7])
def test_chains_are_mixed_as_their_halves_vary(draws):
    """Of each unknown by itself: the variance of the halves' means, and the mean one within."""
    kept = np.random.default_rng(2).normal(size=(draws, 3, 2)) * [1, 5] + [[[0], [1], [4]]]
    half = draws // 2
    for unknown, ratio in enumerate(mixing(kept)):
        chains = kept[:, :, unknown].T.tolist()
        parts = [chain[at : at + half] for chain in chains for at in (0, half)]
        within = statistics.mean(map(statistics.variance, parts))
        between = statistics.variance([statistics.mean(part) for part in parts])
        assert ratio == pytest.approx(((half - 1) / half + between / within) ** 0.5)
    assert mixing(np.ones((draws, 3, 1))).tolist() == [1.0]
