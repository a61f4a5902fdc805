"""Two candidates: fresh data given the pair, and surprisal."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from narcissus.knowledge import Candidates
from narcissus.worlds import Tardos
from narcissus.worlds.base import bernoulli


def test_candidates_condition_on_the_pair(within):
    world = Tardos(10, 300, 3)
    rng = np.random.default_rng(8)
    draw = world.draw(4000, rng)
    side = Candidates()
    pair = side.reveal(world, draw, rng)
    among = (draw.data[:, :, None] == pair[:, None]).all(axis=3).any(axis=1)
    assert among.any(axis=1).all()
    same = (pair[:, 0] == pair[:, 1]).all(axis=1)
    assert within(int(same.sum()), 4000, 1 / 10)
    fresh = side.fresh(world, draw, pair, rng)
    inside = (fresh[:, :, None] == pair[:, None]).all(axis=3).any(axis=1)
    assert inside.any(axis=1).all()
    # S and T have the same law given the pair, so both rows are in equally often.
    assert within(int(inside[~same].all(axis=1).sum()), int((~same).sum()), 2 / 9)
    assert within(int(among[~same].all(axis=1).sum()), int((~same).sum()), 2 / 9)


def test_surprisal_of_candidates_by_enumeration_of_who_is_who():
    """Rows as labels: P(v = a | K, the others), counted over all samples and pairs.

    With 400 bits people have rows of their own, so that bits are as good as labels.
    """
    total, n = 7, 3
    weights: dict = {}
    for sample in itertools.combinations(range(total), n):
        for inside, other in itertools.product(sample, range(total)):
            for pair in ((inside, other), (other, inside)):
                for v in sample:
                    others = tuple(x for x in sample if x != v)
                    key = (pair, others)
                    weights.setdefault(key, {})
                    weights[key][v] = weights[key].get(v, 0) + 1
    alone = weights[(0, 1), (2, 3)]
    assert alone[0] / sum(alone.values()) == pytest.approx(0.5)
    company = weights[(0, 1), (1, 3)]
    assert company[0] / sum(company.values()) == pytest.approx(2 / (total - n + 2))
    twins = weights[(0, 0), (1, 2)]
    assert twins[0] / sum(twins.values()) == 1
    outside = weights[(0, 1), (0, 1)]  # K among the others: any of the rest
    assert outside[2] / sum(outside.values()) == pytest.approx(1 / (total - n + 1))
    world = Tardos(total, 400, n)
    rng = np.random.default_rng(9)
    draw = world.draw(200, rng)
    side, first, last = Candidates(), np.zeros(200, dtype=int), np.full(200, 2)
    stranger = bernoulli(rng, draw.nature.rates, (200, 400))
    pair = np.stack([draw.data[:, 0], stranger], axis=1)
    assert side.surprisal(world, draw, pair, first) == pytest.approx(1.0)
    both = np.stack([draw.data[:, 0], draw.data[:, 1]], axis=1)
    told = side.surprisal(world, draw, both, first)
    assert told == pytest.approx(math.log2((total - n + 2) / 2))
    same = np.stack([draw.data[:, 0], draw.data[:, 0]], axis=1)
    assert side.surprisal(world, draw, same, first) == pytest.approx(0.0)
    # A row outside K is a stranger to K: as surprising as it was, and as it is nobody's double
    # a little more, by the chance that the last row is none of the candidates.
    plain = world.surprisal(draw, last)
    assert side.surprisal(world, draw, same, last) == pytest.approx(plain)
    assert side.surprisal(world, draw, both, last) == pytest.approx(plain)
    # With one candidate among the others the other one may be the last row, or else has told
    # something about the rates.
    bits = side.surprisal(world, draw, pair, last)
    ones = draw.data[:, :2].sum(axis=1) + stranger
    chance = np.where(draw.data[:, 2] == 1, ones + 1, n + 1 - ones) / (n + 2)
    expected = math.log2((total - n + 2) / (total - n)) - np.log2(chance).sum(axis=1)
    assert bits == pytest.approx(expected)


def test_candidates_stay_in_the_population(within):
    """The second candidate is found in fresh samples although nobody sampled it before."""
    world, rng = Tardos(6, 80, 2), np.random.default_rng(4)
    draw = world.draw(4000, rng)
    side = Candidates()
    pair = side.reveal(world, draw, rng)
    twins = (pair[:, 0] == pair[:, 1]).all(axis=1)
    assert within(int(twins.sum()), 4000, 1 / 6)
    fresh = side.fresh(world, draw, pair, rng)
    there = (fresh[:, :, None] == pair[:, None]).all(axis=3).any(axis=1)
    assert there.any(axis=1).all()
    both = there[~twins].all(axis=1)
    assert within(int(both.sum()), len(both), 1 / 5)  # (n - 1) / (N - 1)
