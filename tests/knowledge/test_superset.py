"""The data set hidden in a list of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus.knowledge import Hiding
from narcissus.worlds import (
    Superset,
    Uniform,
)


@pytest.mark.states("Kaplan et al. 2025", "Example 1.5")
def test_superset_worlds_and_lists(within):
    rng = np.random.default_rng(11)
    world = Superset(5, 40, 30, trivial=0.5)
    draw = world.draw(300, rng)
    zero = (draw.data == 0).all(axis=2)
    assert within(int(zero.sum()), zero.size, 0.5)
    listed = (draw.data[:, :, None] == draw.nature[:, None]).all(axis=3).any(axis=2)
    assert (listed | zero).all()
    uniform = Uniform(4, 40)
    draw = uniform.draw(300, rng)
    side = Hiding(50)
    known = side.reveal(uniform, draw, rng)
    assert known.shape == (300, 50, 40)
    inside = (draw.data[:, :, None] == known[:, None]).all(axis=3).any(axis=2)
    assert inside.all()
    first = (known[:, :1] == draw.data[:, :1]).all(axis=(1, 2))
    assert first.mean() < 0.2  # the order is random
    fresh = side.fresh(uniform, draw, known, rng)
    again = (fresh[:, :, None] == draw.data[:, None]).all(axis=3).any(axis=(1, 2))
    assert within(int(again.sum()), 300, 1 - math.comb(46, 4) / math.comb(50, 4))
