"""Chances at every rate, and between two: against the worlds written out at many rates."""

import numpy as np
import pytest

from narcissus.worlds import Bits, MonaLisa, Uniform
from narcissus.worlds.rates import HasRate

WORLDS = [Bits(1), Bits(4), MonaLisa(1, 1), MonaLisa(2, 2), MonaLisa(3, 1)]
INTERVALS = [(0.0, 1.0), (0.0, 0.01), (0.2, 0.21), (0.3, 0.9), (0.999, 1.0), (0.5, 0.5)]


def at(world, rate):
    """The chances as the world itself writes them out."""
    kind = type(world)
    one = kind(world.n, rate) if kind is Bits else kind(world.n, world.d, rate)
    return one.enumerate().sample[0]


def types_of(world):
    assert isinstance(world, HasRate)
    return world.types(world.enumerate().data)


@pytest.mark.parametrize("world", WORLDS)
def test_chances_are_those_of_the_world_at_that_rate(world):
    types = types_of(world)
    for rate in (0.0, 1e-9, 0.1, 0.5, 0.77, 1.0):
        assert types.chances(rate) == pytest.approx(at(world, rate), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("low", "high"), INTERVALS)
def test_no_rate_between_has_less_or_more_and_some_rate_has_as_much(world, low, high):
    least, most = types_of(world).between(low, high)
    random = np.random.default_rng(1).uniform(low, high, 200)
    rates = np.unique([low, high, *random, *np.linspace(low, high, 401)])
    found = np.array([at(world, rate) for rate in rates])
    assert (least <= found.min(axis=0)).all()
    assert (most >= found.max(axis=0)).all()
    assert least == pytest.approx(found.min(axis=0), rel=1e-9, abs=1e-12)
    assert most == pytest.approx(found.max(axis=0), rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("places", [1, 2, 5])
def test_data_sets_up_to_their_order_have_the_chances_of_all_of_theirs(places):
    for rate in (0.0, 0.03, 0.6, 1.0):
        lumped = Bits(5, rate).lumped(places)
        assert lumped is not None
        types = Bits(5).types(lumped.data, places)
        assert types is not None
        assert types.chances(rate) == pytest.approx(lumped.sample[0], rel=1e-12, abs=1e-300)


def test_a_thousand_bits_keep_their_digits():
    lumped = Bits(1000, 0.3).lumped(1)
    assert lumped is not None
    types = Bits(1000).types(lumped.data, 1)
    assert types is not None
    least, most = types.between(0.3, 0.3)
    kept = lumped.sample[0] > 1e-300  # smaller ones lose their digits
    assert (least[kept] <= lumped.sample[0][kept]).all()
    assert (most[kept] >= lumped.sample[0][kept]).all()
    assert most == pytest.approx(least, rel=1e-9, abs=1e-300)
    assert most.sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("world", WORLDS)
def test_distance_is_half_the_sum_of_all_differences(world):
    types = types_of(world)
    for low, high in INTERVALS:
        whole = np.abs(at(world, low) - at(world, high)).sum() / 2
        found = types.distance(low, high)
        assert whole <= found <= whole * (1 + 1e-8) + 1e-12
        assert found <= types.distance(max(0.0, low - 0.05), min(1.0, high + 0.05)) + 1e-12


def test_distance_of_some_records_is_that_of_a_smaller_data_set():
    seven, two = types_of(Bits(7)), types_of(Bits(2))
    assert seven.distance(0.1, 0.3, 2) == two.distance(0.1, 0.3)
    assert seven.distance(0.1, 0.3) > two.distance(0.1, 0.3)


def test_worlds_without_one_rate_say_so():
    assert not isinstance(Uniform(2, 2), HasRate)
    bits = Bits(2, [0.1, 0.2])
    assert bits.types(bits.enumerate().data) is None
