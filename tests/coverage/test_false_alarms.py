"""False alarms of "violates" at mechanisms that are resilient, looked at after every trial."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from narcissus import Game, play
from narcissus.mechanisms import RandomizedResponse
from narcissus.profiles import Bayes, write_out
from narcissus.success import Resilience
from narcissus.success.relations import OneOfPair
from narcissus.success.statements import largest_refuted
from narcissus.worlds import Pairs

RUNS, TRIALS, ALPHA = 400, 1000, 0.1


@pytest.mark.coverage_claim
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.repeats(100, RUNS)
def test_false_alarms_at_the_exact_profile(epsilon, repeats):
    """Randomized response at exactly its profile: the best attacker has mean zero.

    400 runs of up to 1,000 trials, each looked at after every trial and stopped at the first
    alarm. At level 0.1 the alarms are at most binomial(400, 0.1); false alarm rate of this test
    1e-6. The refuted epsilons are wrong at most as often.
    """
    game = Game(Pairs([[[0], [1]]]), RandomizedResponse(1.0), OneOfPair(1))
    delta = write_out(game).delta(epsilon)
    attacker = Bayes(epsilon).prepare(game)
    statement = Resilience(epsilon, delta)
    alarms = beyond = 0
    for seed in range(repeats):
        run = play(game, attacker, statement, trials=TRIALS, confidence=1 - ALPHA, rng=seed)
        alarms += run.outcome == "violates"
        refuted = largest_refuted([run.attackers[0].scores], delta, -math.log(ALPHA))
        beyond += refuted is not None and refuted > epsilon
    allowed = stats.binom.isf(1e-6, repeats, ALPHA)
    assert alarms <= allowed
    assert beyond <= allowed


@pytest.mark.coverage_claim
def test_violations_are_found():
    """The same runs against a delta that is too small by 0.1: nearly all are decided."""
    game = Game(Pairs([[[0], [1]]]), RandomizedResponse(1.0), OneOfPair(1))
    delta = write_out(game).delta(0.0)
    attacker = Bayes(0.0).prepare(game)
    found = [
        play(game, attacker, Resilience(0.0, delta - 0.1), trials=2000, rng=seed).decided
        for seed in range(60)
    ]
    assert np.mean([trial is not None for trial in found]) > 0.95
