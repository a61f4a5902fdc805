"""Matching and subtraction: where they win, and where they are refused."""

from __future__ import annotations

import pytest

from narcissus import Game, play
from narcissus.attacks import (
    Subtraction,
    SupersetMatching,
)
from narcissus.errors import InputError
from narcissus.knowledge import Candidates, Hidden, KnownRows, Rates
from narcissus.mechanisms import (
    ExactAverage,
    Parity,
)
from narcissus.success.relations import (
    Member,
)
from narcissus.worlds import Finite, Tardos


def test_superset_matching_needs_a_list_of_rows():
    finite = Finite([[0, 1], [1, 1]], [[1.0, 0.0], [0.0, 1.0]])
    for world, side in ((Tardos(5, 4, 2), Rates()), (finite, Hidden())):
        with pytest.raises(InputError, match="needs a list of rows"):
            SupersetMatching().prepare(Game(world, Parity(), Member(), side=side))
    whole = Game(Tardos(30, 40, 3), Parity(), Member(), side=Hidden())
    found = play(whole, SupersetMatching(), trials=100, stop=False, rng=1).attackers[0]
    assert found.success.value == 1  # who knows the population finds the rows by their parities
    assert found.baseline.value < 0.4


def test_subtraction_needs_all_rows_but_one():
    """With fewer rows it would divide by a wrong number, and say nothing of it."""
    for side in (KnownRows(2), Hidden(), Candidates()):
        with pytest.raises(InputError, match="all rows but one"):
            Subtraction().prepare(Game(Tardos(9, 4, 4), ExactAverage(), Member(), side=side))
    game = Game(Tardos(9, 4, 4), ExactAverage(), Member(), side=KnownRows(3))
    assert Subtraction().prepare(game) == Subtraction()
