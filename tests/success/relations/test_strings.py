"""Pinned entries."""

from __future__ import annotations

import numpy as np

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
