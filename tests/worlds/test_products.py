"""Worlds of independent records: their laws, sizes, chances at every rate and between two."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from narcissus.success.relations import Member
from narcissus.worlds import Bits, MonaLisa, Records, Uniform
from narcissus.worlds.products import HasRate

POINTS = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


@pytest.mark.parametrize("known", [0, 1, 3, 5])
@pytest.mark.parametrize("rate", [0.5, 0.2])
def test_bits_up_to_order_have_the_law_of_the_first_few_and_the_number_of_ones(known, rate):
    world = Bits(5, rate)

    def law(written):
        found = {}
        for data, chance in zip(written.data, written.sample[0], strict=True):
            key = (*data[:known].tolist(), int(data.sum()))
            found[key] = found.get(key, 0) + chance
        return found

    lumped = world.lumped(known)
    assert len(lumped.data) == 2**known * (5 - known + 1)
    found = law(lumped)
    assert len(found) == len(lumped.data)
    assert found == pytest.approx(law(world.enumerate()))


def test_bits_that_are_not_alike_have_no_order_to_forget():
    assert Bits(2, [0.2, 0.3]).lumped(1) is None
    assert Bits(2, [0.2, 0.2]).lumped(1) is not None
    assert Bits(2).lumped(3) is None


def test_bits_are_written_out_with_the_rate_of_each():
    written = Bits(3, [0.1, 0.6, 1.0]).enumerate()
    chances = dict(zip(map(tuple, written.data.tolist()), written.sample[0], strict=True))
    assert chances == pytest.approx(
        {
            bits: np.prod([r if b else 1 - r for b, r in zip(bits, (0.1, 0.6, 1.0), strict=True)])
            for bits in product((0, 1), repeat=3)
        }
    )


def test_the_law_of_one_record():
    assert Bits(3, 0.2).law.values.tolist() == [0, 1]
    assert Bits(3, 0.2).law.chances == pytest.approx([0.8, 0.2])
    assert Records(2, [0.5, 0.3, 0.2], POINTS).law.values.tolist() == POINTS
    assert Records(2, values=POINTS).law.chances == pytest.approx([1 / 3] * 3)
    rows = Uniform(1, 2, 3).law
    assert rows.values.tolist() == [list(row) for row in product(range(3), repeat=2)]
    assert rows.chances == pytest.approx([1 / 9] * 9)
    assert Uniform(1, 12).law is not None  # 4,096 values are listed
    assert Uniform(1, 13).law is None
    for uneven in (Bits(2, [0.1, 0.2]), Records(2, [[0.5, 0.5], [0.4, 0.6]])):
        assert uneven.law is None
    assert Records(2, [[0.5, 0.5], [0.5, 0.5]]).law is not None


def test_records_are_drawn_with_the_chance_of_each_value(within):
    trials = 20_000
    for world in (
        Records(2, [0.5, 0.3, 0.2], POINTS),
        Records(2, [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], POINTS),
    ):
        data = world.draw(trials, np.random.default_rng(1)).data
        assert data.shape == (trials, 2, 2)
        for place, chances in enumerate(world.table):
            for value, chance in zip(POINTS, chances, strict=True):
                hits = int((data[:, place] == value).all(axis=1).sum())
                assert within(hits, trials, float(chance))


@pytest.mark.parametrize("levels", [2, 3, 256, 257, 1000])
def test_uniform_entries_are_of_all_levels(levels):
    rng = np.random.default_rng(1)
    data = Uniform(40, 50, levels).draw(20, rng).data
    assert data.shape == (20, 40, 50)
    assert (data.min(), data.max()) == (0, levels - 1)
    counts = np.bincount(data.ravel(), minlength=levels)
    # 40,000 entries: six standard deviations
    assert np.abs(counts - 40_000 / levels).max() < 6 * (40_000 / levels) ** 0.5
    assert Uniform(2, 3, levels).count() == levels**6


def test_fresh_rows_keep_those_that_are_told():
    world, rng = Uniform(4, 6), np.random.default_rng(1)
    draw = world.draw(50, rng)
    fresh = world.fresh_given_rows(draw, 2, rng)
    np.testing.assert_array_equal(fresh[:, :2], draw.data[:, :2])
    assert (fresh[:, 2:] != draw.data[:, 2:]).mean() == pytest.approx(0.5, abs=0.1)


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
