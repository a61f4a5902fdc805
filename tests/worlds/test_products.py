"""Worlds of independent records: their laws, sizes, and bits up to order."""

from itertools import product

import numpy as np
import pytest

from narcissus.worlds import Bits, Records, Uniform

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
