"""Worlds with an element that everybody guesses."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.success.relations import (
    Member,
)
from narcissus.worlds import (
    MonaLisa,
)


@pytest.mark.states("Cohen et al. 2024", "section 1.1")
def test_mona_lisa_baseline_is_exact(within):
    world = MonaLisa(4, 3, 0.3)
    rng = np.random.default_rng(12)
    data = world.draw(40_000, rng).data
    for guess in ([0, 0, 0], [1, 0, 1]):
        attempt = np.tile(np.array(guess), (len(data), 1))
        rate = Member().baseline(world, attempt[:1])[0]
        assert within(int(Member().holds(data, attempt, rng).sum()), len(data), rate)
    assert Member().best(world) == pytest.approx(1 - (0.7 * 7 / 8) ** 4)
