"""Buckets of a hash: their weights are upper limits, and the lightest range is taken."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus.attacks import (
    BucketHashing,
)
from narcissus.game import Game
from narcissus.mechanisms import (
    KAnonymity,
)
from narcissus.success.relations import (
    Isolates,
)
from narcissus.worlds import (
    Uniform,
)


def test_bucket_weights_are_upper_limits():
    world = Uniform(30, 3, 10)
    game = Game(world, KAnonymity(5), Isolates())
    rng = np.random.default_rng(7)
    attack = BucketHashing().prepare(game)
    release = game.mechanism.release(world.draw(20, rng).data, rng)
    predicates = attack.attempt(release, None, rng)
    weights = predicates.weight(world)
    everyone = np.asarray(list(itertools.product(range(10), repeat=3)))
    true = predicates(np.tile(everyone, (20, 1, 1))).mean(axis=1)
    assert (true <= weights + 1e-12).all()
    assert true.mean() == pytest.approx((weights / 5).mean(), rel=0.5)


def test_the_lightest_group_makes_the_predicate():
    wide, narrow, flat = [[0, 9], [0, 9]], [[2, 3], [4, 4]], [[0, 9], [5, 5]]
    release = np.array([[wide, narrow, flat], [narrow, flat, wide], [flat, wide, wide]])
    found = BucketHashing(buckets=3, levels=10).attempt(release, None, np.random.default_rng(1))
    assert found.low.tolist() == [[2, 4], [2, 4], [0, 5]]
    assert found.high.tolist() == [[3, 4], [3, 4], [9, 5]]
    assert np.allclose(found.weight(None), [0.2 * 0.1, 0.2 * 0.1, 1 * 0.1])
    outside = np.array([[[1, 4], [2, 5]]] * 2 + [[[0, 4], [9, 6]]])
    assert not found(outside).any()
