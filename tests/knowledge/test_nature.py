"""Nature and its rates, as they are told."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import Game
from narcissus.errors import InputError
from narcissus.knowledge import Hidden, Rates
from narcissus.mechanisms import Identity
from narcissus.success.relations import Member
from narcissus.worlds import Pairs, Superset, Tardos


def test_nature_of_tardos_is_the_population_in_random_order(within):
    world, rng = Tardos(12, 60, 3), np.random.default_rng(2)
    draw = world.draw(3000, rng)
    side = Hidden()
    known = side.reveal(world, draw, rng)
    assert known.shape == (3000, 12, 60)
    inside = (draw.data[:, :, None] == known[:, None]).all(axis=3)
    assert inside.any(axis=2).all()
    first = inside[:, 0].argmax(axis=1)
    for place in range(12):
        assert within(int((first == place).sum()), 3000, 1 / 12)
    fresh = side.fresh(world, draw, known, rng)
    assert (fresh[:, :, None] == known[:, None]).all(axis=3).any(axis=2).all()
    assert (side.reveal(world, draw, rng) == known).all()  # Nature stays what it is
    everybody = Tardos(3, 60, 3)
    order = Hidden().reveal(everybody, everybody.draw(200, rng), rng)
    assert order.shape == (200, 3, 60)


def test_rates_are_the_rates_and_nothing_else():
    world, rng = Tardos(12, 5, 3), np.random.default_rng(3)
    draw = world.draw(10, rng)
    assert (Rates().reveal(world, draw, rng) == draw.nature.rates).all()
    with pytest.raises(InputError, match="`rates` is not defined for the world Superset"):
        Game(Superset(2, 3, 4), Identity(), Member(), side=Rates())


def test_a_pair_is_no_nature():
    """What stands for it in a draw is the other data set, from which the released one follows."""
    with pytest.raises(InputError, match="`nature` is not defined for the world Pairs"):
        Game(Pairs([[[0], [1]]]), Identity(), Member(), side=Hidden())
