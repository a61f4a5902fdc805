"""Pairs and neighbours."""

from __future__ import annotations

import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.worlds import (
    Neighbours,
    RandomNeighbours,
)


def test_neighbours_list_every_pair_once():
    world = Neighbours(2, 3)
    assert (RandomNeighbours(2, 3).pairs.sets == world.pairs.sets).all()
    assert len(world.members) == len(world.pairs.sets)
    assert len(world.pairs.sets) == 9 * 2 * 2 // 2
    for a, b in world.pairs.sets:
        assert (a != b).sum() == 1
    with pytest.raises(InputError, match="4096"):
        Neighbours(20, 2)
    with pytest.raises(TooLargeError, match="2,304 pairs"):
        RandomNeighbours(9).enumerate()
