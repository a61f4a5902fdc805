"""Attackers who do not look, or who copy: what they name, by hand."""

import numpy as np

from narcissus.attacks import FixedGuess, RareRow, ReleasedPlaces, ReleasedRow

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
