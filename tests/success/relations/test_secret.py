"""Naming a secret."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Bits, Secret

RNG = np.random.default_rng(1)


def test_it_holds_for_the_number_alone_and_knows_its_baseline():
    relation, world = NamesSecret(3), Secret([0.5, 0.3, 0.2])
    guesses = np.array([0, 2, 2])
    assert relation.holds(np.array([0, 1, 2]), guesses, RNG).tolist() == [True, False, True]
    assert relation.baseline(world, guesses).tolist() == [0.5, 0.2, 0.2]
    assert relation.baseline(Bits(1), guesses) is None
    assert relation.guesses(None).tolist() == [0, 1, 2]


@pytest.mark.parametrize("guess", [[3], [-1], [0.5], [[0]], ["0"]])
def test_what_is_no_secret_is_an_error(guess):
    with pytest.raises(InputError, match="number of a secret, 0 to 2"):
        NamesSecret(3).holds(np.array([0]), guess, RNG)
