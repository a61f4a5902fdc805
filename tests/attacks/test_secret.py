"""The Bayes guess."""

import numpy as np
import pytest
from scipy import sparse

from narcissus.attacks import BayesGuess
from narcissus.channels import channel
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import Constant, ThroughChannel
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret

ROWS = np.array([[0.7, 0.3, 0.0], [0.1, 0.2, 0.7]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("prior", "named"), [([0.5, 0.5], [0, 0, 1]), ([0.1, 0.9], [1, 1, 1])])
def test_it_names_the_likeliest_secret_of_each_output(kind, prior, named):
    game = Game(Secret(prior), ThroughChannel(channel(kind(ROWS))), NamesSecret(2))
    attack = BayesGuess().prepare(game)
    assert attack.attempt(np.array([0, 1, 2]), None, np.random.default_rng(1)).tolist() == named


def test_it_must_know_the_game():
    with pytest.raises(InputError, match="prepare"):
        BayesGuess().attempt(np.array([0]), None, np.random.default_rng(1))
    with pytest.raises(InputError, match="ThroughChannel"):
        BayesGuess().prepare(Game(Secret([0.5, 0.5]), Constant(), NamesSecret(2)))
