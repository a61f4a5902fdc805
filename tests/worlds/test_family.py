"""Families of distributions: every member by itself, and averages that are called averages."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import Game, profile
from narcissus.errors import InputError
from narcissus.mechanisms import CountingQuery
from narcissus.success.relations import Prefix
from narcissus.worlds import (
    Bits,
    Family,
    Finite,
    NamedFamily,
    Neighbours,
    Pairs,
    RandomNeighbours,
    Superset,
    members,
)

SPLIT = [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_what_holds_on_average_over_pairs_fails_for_one_of_them():
    """The numbers of the defect: the mixture needs 9/256, the family 1."""
    count = CountingQuery(0.0)
    drawn = profile(Game(RandomNeighbours(8), count, Prefix()), 1.0)
    each = profile(Game(Neighbours(8), count, Prefix()), 1.0)
    assert drawn.delta[0] == pytest.approx(9 / 256)
    assert drawn.member == ("",)
    assert each.delta[0] == pytest.approx(1)
    assert each.member[0].startswith("pair 1, [0, 0, 0, 0, 0, 0, 0, 0] and [1, 0,")
    assert "for each of 1,024 distributions" in str(each)
    assert each.to_dict()["worst"] == list(each.member)


def test_pairs_are_a_family_unless_they_are_drawn():
    listed, drawn = Pairs(SPLIT), Pairs(SPLIT, [0.2, 0.3, 0.5])
    assert len(members(listed)) == 3
    assert members(drawn) == {"": drawn}
    assert members(Pairs(SPLIT[:1])).keys() == {""}
    with pytest.raises(InputError, match="not drawn from"):
        listed.draw(3, np.random.default_rng(0))
    with pytest.raises(InputError, match="not drawn from"):
        listed.enumerate()
    assert "on average" in drawn.scope
    assert len(members(Neighbours(3))) == 12
    assert len(members(RandomNeighbours(3))) == 1


def test_a_prior_over_distributions_is_called_an_average_over_them():
    prior = Finite([[0], [1]], [[1.0, 0.0], [0.5, 0.5]], [0.9, 0.1])
    assert prior.scope == "this prior, on average over the 2 natures"
    assert Finite([[0], [1]]).scope == "this one distribution"
    assert "on average" in Superset(2, 3, 4).scope


def test_a_family_may_hold_families_and_equal_parts():
    family = Family([Bits(2), Neighbours(2), Bits(2), Neighbours(2)])
    assert len(family.members) == 2 * (1 + 4)
    assert next(iter(family.members)) == "Bits(n=2, rate=0.5)"
    assert "Bits(n=2, rate=0.5) (part 3)" in family.members
    with pytest.raises(InputError, match="at least one world"):
        Family([])


def test_a_family_that_was_made_has_its_names():
    family = NamedFamily(["a", "b"], [Bits(2), Bits(3)])
    assert members(family) == {"a": Bits(2), "b": Bits(3)}
    for names, parts in (([], []), (["a"], [Bits(2), Bits(3)]), (["a", "a"], [Bits(2), Bits(3)])):
        with pytest.raises(InputError, match="each its own name"):
            NamedFamily(names, parts)
