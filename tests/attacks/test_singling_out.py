"""The weights of buckets are upper limits."""

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
