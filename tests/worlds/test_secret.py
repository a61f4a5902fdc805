"""A secret from a prior."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.worlds import Enumerable, Secret, World

PRIOR = [0.5, 0.3, 0.2, 0.0]


def test_draws_follow_the_prior():
    world, rng, trials = Secret(PRIOR), np.random.default_rng(1), 20_000
    draw = world.draw(trials, rng)
    for drawn in (draw.data, world.fresh(draw, rng)):
        counts = np.bincount(drawn, minlength=4)
        assert counts[3] == 0
        # a false alarm once in a million
        expected = np.array(PRIOR[:3]) * trials
        assert stats.chisquare(counts[:3], expected).pvalue > 1e-6
    assert not np.array_equal(draw.data, world.fresh(draw, rng))


def test_it_is_a_world_that_can_be_written_out():
    world = Secret(PRIOR)
    assert isinstance(world, World)
    assert isinstance(world, Enumerable)
    written = world.enumerate()
    assert written.data.tolist() == [0, 1, 2, 3]
    assert written.sample.tolist() == [PRIOR]
    assert world.count() == 4
    with pytest.raises(InputError, match="prior"):
        Secret([0.5, 0.6])
