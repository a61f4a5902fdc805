"""Worlds against their enumerations, the bits they are made of, and batches of anything."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus.worlds import Bits, Finite, MonaLisa, Pairs, RandomNeighbours, Records, Uniform
from narcissus.worlds.base import (
    Independent,
    bernoulli,
    distinct,
    gather,
    is_derived,
    key_of,
    stacked,
)


@pytest.mark.parametrize("rate", [0.0, 1e-3, 0.3, 0.5, 1 / 256, 0.999, 1.0])
def test_bernoulli_has_the_rate_it_is_given(within, rate):
    bits = bernoulli(np.random.default_rng(1), rate, (400, 500))
    assert within(int(bits.sum()), bits.size, rate)
    assert set(np.unique(bits)) <= {0, 1}


def test_bernoulli_takes_a_rate_for_each_column_and_shape(within):
    rates = np.array([0.0, 1 / 300, 0.7, 1.0])
    bits = bernoulli(np.random.default_rng(2), rates, (200_000, 4))
    for column, rate in zip(bits.T, rates, strict=True):
        assert within(int(column.sum()), len(column), rate)
    mixed = bernoulli(np.random.default_rng(3), rates[:, None], (4, 50_000))
    for row, rate in zip(mixed, rates, strict=True):
        assert within(int(row.sum()), row.size, rate)


@pytest.mark.parametrize(
    "world",
    [
        Bits(3, [0.2, 0.5, 0.9]),
        Records(2, [0.5, 0.3, 0.2]),
        Records(2, [[0.5, 0.5], [0.1, 0.9]]),
        Uniform(2, 1, 3),
        Finite([[0, 1], [1, 1], [0, 0]], [[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]], [0.25, 0.75]),
        Pairs([[[0, 1], [1, 1]], [[0, 0], [1, 0]]], [0.2, 0.8]),
        RandomNeighbours(2),
        MonaLisa(2, 1, 0.3),
    ],
    ids=lambda w: type(w).__name__,
)
def test_drawn_worlds_match_their_enumeration(within, world):
    """Joint law of data set and fresh data set, against the enumeration, cell by cell."""
    trials = 60_000
    rng = np.random.default_rng(5)
    draw = world.draw(trials, rng)
    fresh = world.fresh(draw, rng)
    written = world.enumerate()
    joint = (written.weight[:, None, None] * written.sample[:, :, None]) * written.fresh[:, None]
    joint = joint.sum(axis=0)
    assert joint.sum() == pytest.approx(1)
    keys = [np.asarray(s).astype(int).tobytes() for s in written.data]
    chance: dict = {}
    for (i, a), (j, b) in itertools.product(enumerate(keys), enumerate(keys)):
        chance[a, b] = chance.get((a, b), 0) + joint[i, j]
    counts: dict = {}
    for s, t in zip(np.asarray(draw.data).astype(int), np.asarray(fresh).astype(int), strict=True):
        key = s.tobytes(), t.tobytes()
        counts[key] = counts.get(key, 0) + 1
    assert set(counts) <= {k for k, v in chance.items() if v > 0}
    for key, rate in chance.items():
        assert within(counts.get(key, 0), trials, min(1.0, rate))
    assert world.count() == len(written.data)


def test_a_world_is_derived_from_a_shipped_one_or_written_from_what_helps_to():
    class Mine(Bits):
        pass

    class Alone(Independent):
        def draw(self, trials, rng):
            raise NotImplementedError

    assert is_derived(Mine(2))
    assert not is_derived(Bits(2))
    assert not is_derived(Alone())
    assert not is_derived(object())


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "batch",
    [
        RNG.integers(0, 2, (60, 3)),
        RNG.integers(0, 2, (60, 1), dtype=np.uint8),
        RNG.integers(0, 2, (60, 2, 2), dtype=np.uint8),
        RNG.integers(0, 3, 60),
        RNG.random((60, 2)).round(1),
        RNG.random((60, 2)) < 0.5,
        np.zeros((5, 0)),
    ],
    ids=lambda b: f"{b.dtype}{b.shape}",
)
def test_distinct_entries_of_an_array(batch):
    kept, inverse = distinct(batch)
    assert kept.dtype == batch.dtype
    np.testing.assert_array_equal(kept[inverse], batch)
    assert len(kept) == len({entry.tobytes() for entry in batch})


def test_minus_zero_is_zero():
    kept, inverse = distinct(np.array([[0.0], [-0.0], [1.0]]))
    assert len(kept) == 2
    assert inverse[0] == inverse[1] != inverse[2]
    assert key_of(np.float64(-0.0)) == key_of(np.float32(0.0))


def test_distinct_entries_of_a_list_stand_in_the_order_in_which_they_came():
    entries = ["b", np.array([1, 2]), [1, "x"], "a", np.array([1, 2], dtype=np.int8), [1, "x"], "b"]
    kept, inverse = distinct(entries)
    assert [type(one) for one in kept] == [str, np.ndarray, list, str]
    assert inverse.tolist() == [0, 1, 2, 3, 1, 2, 0]
    objects = np.array([(1, 2), None, (1, 2)], dtype=object)
    assert distinct(objects)[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.int8(1), np.uint64(1), True),
        (np.array(True), np.int8(1), True),
        (np.float32(0.5), np.float64(0.5), True),
        (np.array([1, 2]), np.array([[1, 2]]), False),
        (np.array([1, 2]), np.array([2, 1]), False),
        ((1, np.array([2])), [1, np.array([2])], True),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ("a", "b", False),
    ],
)
def test_keys_tell_entries_apart_by_what_they_hold(one, other, same):
    assert (key_of(one) == key_of(other)) == same
    hash(key_of(one))


def test_numbers_and_arrays_of_one_shape_are_one_array():
    assert stacked([1, 2.5, np.float64(3)]).tolist() == [1, 2.5, 3]
    assert stacked([np.zeros(2), np.ones(2)]).shape == (2, 2)
    for entries in ([], [np.zeros(2), np.zeros(3)], ["a", "b"], [np.zeros(2), None], [1, [2]]):
        assert stacked(entries) is entries


def test_a_selection_is_of_the_kind_of_the_batch():
    index = np.array([2, 0])
    assert gather(np.array([5, 6, 7]), index).tolist() == [7, 5]
    assert gather(["a", "b", "c"], index) == ["c", "a"]
