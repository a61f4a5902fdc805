"""What a statement says of itself, and what it says where it says nothing."""

from narcissus import Game
from narcissus.mechanisms import Identity
from narcissus.success import Claim, Resilience, SinglingOut
from narcissus.success.relations import Prefix
from narcissus.worlds import Bits


def test_a_statement_takes_one_relation_and_any_game_unless_it_says_otherwise():
    class Bare(Claim):
        definition = "Example 2026, Definition 1"

    assert not Bare.two_relations
    assert Bare.require(Game(Bits(3), Identity(), Prefix())) is None
    assert Resilience.require is not SinglingOut.require
