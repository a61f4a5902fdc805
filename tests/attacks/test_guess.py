"""Attackers who do not look, who average, or who look up: what they name, by hand."""

import math

import numpy as np
import pytest
from scipy import sparse

from narcissus.attacks import (
    BayesGuess,
    FixedGuess,
    Majority,
    Posterior,
    RareRow,
    ReleasedPlaces,
    ReleasedRow,
    Subtraction,
)
from narcissus.attacks.guess import BestPredicate, Lookup
from narcissus.channels import channel
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import (
    Constant,
    ExactAverage,
    ThroughChannel,
)
from narcissus.success.relations import NamesSecret, TablePredicate
from narcissus.worlds import (
    Secret,
    Uniform,
)
from narcissus.worlds.base import key_of

RNG = np.random.default_rng(0)


RELEASE = np.array([[[0, 0], [0, 3], [1, 1]], [[0, 0], [0, 0], [0, 0]], [[5, 0], [0, 0], [2, 2]]])


def test_a_fixed_guess_is_named_in_every_trial():
    assert FixedGuess(3.0).attempt(RELEASE, None, RNG).tolist() == [3.0] * 3
    named = FixedGuess([1, 0]).attempt(RELEASE, None, RNG)
    assert named.tolist() == [[1, 0]] * 3
    named[0] = 7  # each trial has its own
    assert named[1].tolist() == [1, 0]


def test_a_released_row_or_all_of_them():
    assert ReleasedRow().attempt(RELEASE, None, RNG).tolist() == [[0, 0], [0, 0], [5, 0]]
    assert ReleasedRow(2).attempt(RELEASE, None, RNG).tolist() == [[1, 1], [0, 0], [2, 2]]
    assert (ReleasedRow("all").attempt(RELEASE, None, RNG) == RELEASE).all()


def test_the_first_row_that_is_somebody_or_else_nobody():
    assert RareRow().attempt(RELEASE, None, RNG).tolist() == [[0, 3], [0, 0], [5, 0]]


def test_places_are_named_with_their_entries():
    release = np.array([[4, 5, 6], [7, 8, 9]])
    found = ReleasedPlaces(2).attempt(release, None, RNG)
    assert found.tolist() == [[[0, 1], [4, 5]], [[0, 1], [7, 8]]]


def test_majority_and_subtraction_do_what_they_say():
    rng = np.random.default_rng(6)
    data = Uniform(5, 6).draw(20, rng).data
    average = ExactAverage().release(data, rng)
    assert (Majority().attempt(average, None, rng) == (data.mean(axis=1) >= 0.5)).all()
    assert (Subtraction().attempt(average, data[:, :4], rng) == data[:, 4]).all()


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.6])
def test_posterior_abstains_where_no_entry_gains_at_its_epsilon(epsilon):
    shares = np.array([0.0, 0.2, 0.4, 0.5, 0.7, 0.85, 1.0])
    found = Posterior(epsilon, rate=0.5).attempt(shares, None, RNG)
    likelier = np.maximum(shares, 1 - shares)
    assert found.made.tolist() == (likelier > math.exp(epsilon) * 0.5).tolist()
    assert (found.values[found.made, 1, 0] == (shares > 0.5)[found.made]).all()
    assert (found.values[:, 0] == 0).all()


@pytest.mark.parametrize(("epsilon", "made"), [(0.0, True), (0.6, True), (0.7, False)])
def test_what_was_likely_before_is_no_gain(epsilon, made):
    """A one is likelier, 0.8, but less so than before; a zero gains up to log 2."""
    found = Posterior(epsilon, rate=0.9).attempt(np.array([0.8]), None, RNG)
    assert found.made[0] == made
    assert found.values[0, 1, 0] == 0 or not made


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


RELEASES = np.array([[0, 1], [1, 1], [0, 0]])


def test_lookup_names_what_its_table_says_and_abstains_elsewhere():
    table = {(key_of(None), key_of(RELEASES[0])): 2, (key_of(None), key_of(RELEASES[1])): -1}
    found = Lookup(np.array([10, 20, 30]), table).attempt(RELEASES, None, RNG)
    assert found.made.tolist() == [True, False, False]
    assert found.values[0] == 30


def test_lookup_looks_at_what_was_told():
    table = {(key_of(1), key_of(RELEASES[0])): 0, (key_of(2), key_of(RELEASES[0])): 1}
    found = Lookup(np.array([10, 20]), table).attempt(RELEASES[[0, 0]], [2, 1], RNG)
    assert found.made.all()
    assert found.values.tolist() == [20, 10]


def test_the_best_predicate_holds_nowhere_for_a_release_that_it_does_not_know():
    guesses = TablePredicate(np.array([5, 6, 7]), np.eye(3, dtype=bool))
    table = {(key_of(None), key_of(RELEASES[2])): np.array([True, False, True])}
    found = BestPredicate(guesses, table).attempt(RELEASES, None, RNG)
    assert found(np.tile([5, 6, 7], (3, 1))).tolist() == [
        [False] * 3,
        [False] * 3,
        [True, False, True],
    ]
