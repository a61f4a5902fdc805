"""Naming a secret: each attacker's limits by themselves, baselines exact."""

import numpy as np
import pytest

from narcissus.attacks import BayesGuess, FixedGuess
from narcissus.channels import channel
from narcissus.evidence import clopper_pearson
from narcissus.game import Game
from narcissus.game.loop import named_right
from narcissus.mechanisms import Constant, ThroughChannel
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


def test_a_plain_violation_does_not_end_the_run():
    """Every secret is given away: all are named, though a fresh one is guessed half of the time."""
    game = Game(Secret([0.5, 0.5]), ThroughChannel(channel(np.eye(2))), NamesSecret(2))
    wins, baselines, _ = named_right(
        game, {"best": BayesGuess()}, trials=3000, confidence=0.95, rng=1
    )
    assert (wins["best"].value, wins["best"].trials) == (1.0, 3000)
    assert baselines == {"best": pytest.approx(0.5)}
