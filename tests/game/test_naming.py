"""Naming a secret: each attacker's limits by themselves, baselines exact."""

import pytest

from narcissus.attacks import FixedGuess
from narcissus.evidence import clopper_pearson
from narcissus.game import Game
from narcissus.game.naming import named_right
from narcissus.mechanisms import Constant
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret


def test_each_attacker_is_limited_at_the_level_asked_for():
    game = Game(Secret([0.75, 0.25]), Constant(), NamesSecret(2))
    attacks = {"first": FixedGuess(0), "second": FixedGuess(1)}
    wins, baselines, remarks = named_right(game, attacks, trials=700, confidence=0.9, rng=1)
    assert baselines == {"first": pytest.approx(0.75), "second": pytest.approx(0.25)}
    hits = round(wins["first"].value * 700)
    assert wins["second"].value == pytest.approx(1 - hits / 700)
    by_itself = clopper_pearson(hits, 700, confidence=0.9)
    assert (wins["first"].low, wins["first"].high) == (by_itself.low, by_itself.high)
    assert wins["first"].quantity == "success of the first"
    assert remarks == ()
