"""Profiles of families: the worst member at each epsilon."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import Game, memorized_information, play, profile, sampled_profile, smallest
from narcissus.errors import InputError, TooLargeError
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import CountingQuery, Identity
from narcissus.profiles import write_out, write_out_family
from narcissus.success import Resilience
from narcissus.success.relations import OneOfPair, Own, Pinned, Prefix
from narcissus.worlds import (
    Bits,
    Family,
    Neighbours,
    Pairs,
)

SPLIT = [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_profile_of_a_family_names_the_worst_rate_at_each_epsilon():
    rates = [0.002, 0.05, 0.5]
    family = Family([Bits(60, rate) for rate in rates])
    game = Game(family, CountingQuery(), Pinned(1))
    found = profile(game, [0.0, 1.0])
    alone = [profile(Game(Bits(60, r), CountingQuery(), Pinned(1)), [0.0, 1.0]) for r in rates]
    for place in (0, 1):
        deltas = [one.delta[place] for one in alone]
        assert found.delta[place] == max(deltas)
        assert f"rate={rates[int(np.argmax(deltas))]}" in found.member[place]
    assert found.member[0] != found.member[1]
    assert found.delta_at(0.3) == max(one.delta_at(0.3) for one in alone)
    assert found.epsilon_at(1e-3) == max(one.epsilon_at(1e-3) for one in alone)
    assert found.data_sets == sum(one.data_sets for one in alone)
    assert found.curve()[0]["member"] == found.member[0]
    best = smallest(
        lambda tau: Game(family, CountingQuery(tau), Pinned(1)), [0.0], epsilon=1, delta=1
    )
    assert best.delta == found.delta[1]
    run = play(game, found.attacker(0.0), Resilience(0.0), trials=300, rng=1)
    assert run.members == 3


def test_what_is_of_one_distribution_refuses_a_family():
    game = Game(Pairs(SPLIT), Identity(), Prefix())
    for wrong in (
        lambda: write_out(game),
        lambda: sampled_profile(game, 0.0),
        lambda: memorized_information(game.world, Identity()),
    ):
        with pytest.raises(InputError, match="family"):
            wrong()
    with pytest.raises(TooLargeError, match="first 2 of 3 distributions"):
        write_out_family(game, limit=3)
    with pytest.raises(InputError, match="not defined for the world Pairs"):
        Game(Family([Bits(3), Pairs(SPLIT)]), Identity(), Prefix(), side=KnownRows(1))


def test_a_relation_that_is_about_some_pairs_only_is_no_mistake():
    """`R_1` needs a data set that starts with zero; of some pairs neither does."""
    game = Game(Neighbours(2), CountingQuery(), OneOfPair(1))
    assert profile(game, 0.0).delta[0] == pytest.approx(0.5)
    never = Game(Neighbours(2), CountingQuery(), Own(lambda s, z: False, attempts=[0]))
    with pytest.raises(InputError, match="never true"):
        profile(never, 0.0)
