"""Attackers given by a table say what the table says, and nothing where it says nothing."""

import numpy as np

from narcissus.attacks.bayes import BestPredicate, Lookup
from narcissus.success.relations import TablePredicate
from narcissus.worlds.base import key_of

RNG = np.random.default_rng(0)
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
