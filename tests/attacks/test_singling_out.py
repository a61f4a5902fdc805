"""Buckets of a hash: the predicate takes the lightest range that was published."""

import numpy as np

from narcissus.attacks import BucketHashing


def test_the_lightest_group_makes_the_predicate():
    wide, narrow, flat = [[0, 9], [0, 9]], [[2, 3], [4, 4]], [[0, 9], [5, 5]]
    release = np.array([[wide, narrow, flat], [narrow, flat, wide], [flat, wide, wide]])
    found = BucketHashing(buckets=3, levels=10).attempt(release, None, np.random.default_rng(1))
    assert found.low.tolist() == [[2, 4], [2, 4], [0, 5]]
    assert found.high.tolist() == [[3, 4], [3, 4], [9, 5]]
    assert np.allclose(found.weight(None), [0.2 * 0.1, 0.2 * 0.1, 1 * 0.1])
    outside = np.array([[[1, 4], [2, 5]]] * 2 + [[[0, 4], [9, 6]]])
    assert not found(outside).any()
