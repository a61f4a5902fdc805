"""Worlds against their enumerations, and the bits that they are made of."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from narcissus.worlds import (
    Bits,
    Finite,
    MonaLisa,
    Pairs,
    RandomNeighbours,
    Records,
    Uniform,
)
from narcissus.worlds.base import Independent, bernoulli, is_derived


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
