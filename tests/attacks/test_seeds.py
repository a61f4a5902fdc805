"""Seeds: all of them tell stretched strings from random ones, some of them some."""

import numpy as np
import pytest

from narcissus.attacks import SeedSearch
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import Identity, Stretched
from narcissus.success.relations import FirstBit
from narcissus.worlds import Pairs

BITS = np.array([0, 1] * 1500)


def named(budget, seed_bits=6):
    made, rng = Stretched(seed_bits, 48), np.random.default_rng(1)
    attack = SeedSearch(budget).prepare(Game(Pairs([[[0], [1]]]), made, FirstBit()))
    return attack.attempt(made.release(BITS[:, None], rng), None, rng)


def test_all_seeds_tell_every_string():
    assert (named(64) == BITS).all()


def test_random_seeds_tell_as_many_as_they_meet(within):
    """Of 64 seeds 16 are tried; random strings are never taken for others."""
    found = named(16)
    assert not found[BITS == 0].any()
    assert within(int(found[BITS == 1].sum()), 1500, 16 / 64)


def test_other_games_are_refused():
    with pytest.raises(InputError, match="needs the mechanism `stretched`"):
        SeedSearch().prepare(Game(Pairs([[[0], [1]]]), Identity(), FirstBit()))
    with pytest.raises(InputError, match="prepare"):
        SeedSearch().attempt(np.zeros((1, 4)), None, np.random.default_rng(0))
    with pytest.raises(InputError, match="budget"):
        SeedSearch(0)
