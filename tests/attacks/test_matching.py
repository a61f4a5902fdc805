"""Matching and subtraction: where they win, and where they are refused."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import Game, play
from narcissus.attacks import (
    Subtraction,
    SupersetMatching,
)
from narcissus.attacks.matching import fits
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, Hidden, Hiding, KnownRows, Rates
from narcissus.mechanisms import (
    ExactAverage,
    Parity,
)
from narcissus.success.relations import (
    Member,
)
from narcissus.worlds import Finite, Tardos, Uniform


def test_superset_matching_needs_a_list_of_rows():
    finite = Finite([[0, 1], [1, 1]], [[1.0, 0.0], [0.0, 1.0]])
    for world, side in ((Tardos(5, 4, 2), Rates()), (finite, Hidden())):
        with pytest.raises(InputError, match="needs a list of rows"):
            SupersetMatching().prepare(Game(world, Parity(), Member(), side=side))
    whole = Game(Tardos(30, 40, 3), Parity(), Member(), side=Hidden())
    found = play(whole, SupersetMatching(), trials=100, stop=False, rng=1).attackers[0]
    assert found.success.value == 1  # who knows the population finds the rows by their parities
    assert found.baseline.value < 0.4


@pytest.mark.states("Kaplan et al. 2025", "Example 1.4")
def test_rows_of_the_list_are_known_by_their_parities_and_others_fit_by_chance(within):
    """A row that was not released fits one of n others' parities by chance: 1 - (1 - 2^-d/2)^n."""
    world, rng, trials = Uniform(3, 8), np.random.default_rng(12), 20_000
    draw = world.draw(trials, rng)
    parities = Parity().release(draw.data, rng)
    assert fits(draw.data, parities).all()
    strangers = world.draw(trials, rng).data[:, :1]
    assert within(int(fits(strangers, parities).sum()), trials, 1 - (1 - 2**-4) ** 3)


@pytest.mark.states("Kaplan et al. 2025", "Example 1.4")
def test_who_knows_a_list_that_holds_the_rows_finds_one_of_them():
    """Of 200 rows of 60 bits, 3 released: 2^-30 for a false one. Fresh draws of the list: 3/200."""
    game = Game(Uniform(3, 60), Parity(), Member(), side=Hiding(200))
    found = play(game, SupersetMatching(), trials=2000, stop=False, rng=3).attackers[0]
    assert found.success.value == 1
    assert found.baseline.low <= 3 / 200 <= found.baseline.high
    assert found.baseline.high < 0.05


def test_subtraction_needs_all_rows_but_one():
    """With fewer rows it would divide by a wrong number, and say nothing of it."""
    for side in (KnownRows(2), Hidden(), Candidates()):
        with pytest.raises(InputError, match="all rows but one"):
            Subtraction().prepare(Game(Tardos(9, 4, 4), ExactAverage(), Member(), side=side))
    game = Game(Tardos(9, 4, 4), ExactAverage(), Member(), side=KnownRows(3))
    assert Subtraction().prepare(game) == Subtraction()
