"""Two-sided geometric noise: its chances add up, and are those of what is drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus.mechanisms import TwoSidedGeometric

VALUES = np.arange(-400, 401)


@pytest.mark.parametrize("scale", [0.0, 0.3, 1.0, 8.0])
def test_chances_add_up_from_either_end(scale):
    noise = TwoSidedGeometric(scale)
    chances = noise.at(VALUES)
    assert math.fsum(chances) == pytest.approx(1)
    above = chances[::-1].cumsum()[::-1]
    np.testing.assert_allclose(noise.at_least(VALUES), above, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(chances, chances[::-1])


def test_neighbours_differ_by_its_rate_far_out_as_well():
    noise = TwoSidedGeometric(2.0)
    z = np.arange(0, 300)
    np.testing.assert_allclose(noise.at(z) / noise.at(z + 1), math.exp(0.5))
    np.testing.assert_allclose(noise.at_least(z + 1) / noise.at_least(z + 2), math.exp(0.5))
    assert noise.at_least(noise.reach) < 1e-17
    assert noise.at_least(noise.reach - 3) > 1e-18


def test_what_is_drawn_has_these_chances(within):
    noise, rng, trials = TwoSidedGeometric(1.5), np.random.default_rng(1), 20_000
    drawn = np.array([noise.sample(rng) for _ in range(trials)])
    for value in (-3, -1, 0, 1, 4):
        assert within(int((drawn == value).sum()), trials, float(noise.at(value)))
    assert TwoSidedGeometric(0.0).sample(rng) == 0
