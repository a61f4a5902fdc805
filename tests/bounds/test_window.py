"""The mass of a sum of trials on its window: three ways that must agree, and with enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from narcissus.bounds.binomial import convolve, recurrence, waves


def whole(first, mass, n):
    """Lay a window out over all counts."""
    found = np.zeros(n + 1)
    found[first : first + mass.size] = mass
    return found


def enumerated(p):
    """The mass by listing every outcome."""
    found = np.zeros(len(p) + 1)
    for outcome in product((0, 1), repeat=len(p)):
        found[sum(outcome)] += np.prod(np.where(outcome, p, 1 - p))
    return found


@pytest.mark.parametrize("weights", [(1,), (5,), (3, 1, 4), (1, 1, 1, 1), (7, 2)])
def test_every_way_is_the_sum_over_all_outcomes(weights):
    rng = np.random.default_rng(len(weights))
    chances = rng.random(len(weights))
    p = np.repeat(chances, weights)
    truth, n = enumerated(p), len(p)
    np.testing.assert_allclose(recurrence(p, 1 - p), truth, rtol=0, atol=1e-15)
    blocks = whole(*convolve(p, 1 - p), n + 64)  # filled up with trials that never succeed
    np.testing.assert_allclose(blocks[: n + 1], truth, rtol=0, atol=1e-15)
    assert not blocks[n + 1 :].any()
    together = waves(chances, 1 - chances, np.array(weights, dtype=float))
    np.testing.assert_allclose(whole(*together, n), truth, rtol=0, atol=3e-15)


@pytest.mark.parametrize("scale", [1e-4, 0.1, 1.0])
def test_many_alike_are_as_one_by_one(scale):
    """From a variance below one to hundreds; windows lie at the ends and in the middle."""
    rng = np.random.default_rng(1)
    for chances in (scale * rng.random(20), 1 - scale * rng.random(20)):
        weights = rng.integers(1, 200, 20)
        p = np.repeat(chances, weights)
        first, mass = waves(chances, 1 - chances, weights.astype(float))
        assert 0 <= first <= first + mass.size - 1 <= p.size
        truth = recurrence(p, 1 - p)
        # the recurrence itself rounds some two thousand times
        np.testing.assert_allclose(whole(first, mass, p.size), truth, rtol=0, atol=1e-13)
        tree = whole(*convolve(p, 1 - p), p.size + 64)[: p.size + 1]
        np.testing.assert_allclose(tree, truth, rtol=0, atol=1e-13)


def test_a_million_of_one_kind():
    first, mass = waves(np.array([0.3]), np.array([0.7]), np.array([1e6]))
    truth = stats.binom.pmf(first + np.arange(mass.size), 10**6, 0.3)
    np.testing.assert_allclose(mass, truth, rtol=0, atol=1e-13)
    assert mass.size < 12_000
