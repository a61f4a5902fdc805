"""Families that are played: trials are shared, members have chance of their own."""

from __future__ import annotations

import pytest
from scipy import stats

from narcissus import Game, play
from narcissus.attacks import FixedGuess, ReleasedRow
from narcissus.mechanisms import Constant, Identity, RandomizedResponse
from narcissus.success import Resilience
from narcissus.success.relations import Own, Prefix
from narcissus.worlds import (
    Pairs,
)

SPLIT = [[[0, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]]]


def test_play_names_the_member_that_is_violated():
    """One pair of three is told apart by its first record; the others never are."""

    def relation(data, attempt):
        return int(data[0]) == attempt

    def first(release):
        return int(release[0])

    from narcissus.attacks import OwnAttack

    game = Game(Pairs(SPLIT), Identity(), Own(relation))
    run = play(game, OwnAttack(first), Resilience(0.0, 0.2), trials=900, rng=5)
    assert run.outcome == "violates"
    assert run.members == 3
    assert run.member == "pair 2, [1, 1] and [0, 1]"
    assert run.member in str(run)
    assert run.attackers[0].success.value == 1
    assert run.attackers[0].baseline.value == 0
    # three distributions share the level of each limit, and both rates halve it
    assert run.attackers[0].success.confidence == pytest.approx(1 - 0.05 / 3 / 2)


def test_trials_are_shared_and_workers_would_see_the_same_blocks():
    game = Game(Pairs(SPLIT), Constant(), Prefix())
    run = play(game, FixedGuess([0, 0]), Resilience(0.0, 0.9), trials=100, stop=False, rng=1)
    assert run.trials in (33, 34)
    few = play(game, FixedGuess([0, 0]), Resilience(0.0, 0.9), trials=1, stop=False, rng=1)
    assert few.trials == 1


def test_members_of_a_family_have_random_numbers_of_their_own():
    pair = SPLIT[0]
    game = Game(Pairs([pair, pair]), RandomizedResponse(1.0), Prefix())
    seen = {}

    def keep(player, keys):
        for key in keys:
            seen[key] = player(key)
            yield seen[key]

    play(game, ReleasedRow("all"), Resilience(0, 1), trials=200, stop=False, rng=3, through=keep)
    one, other = seen["batch/0/100/0"], seen["batch/0/100/1"]
    assert (one["0/success"] != other["0/success"]).any()


@pytest.mark.coverage_claim
def test_a_family_of_true_statements_is_refuted_no_more_often_than_said():
    """20 pairs at the edge of the statement, 300 runs at 70%; false-alarm rate 1e-6.

    Each pair is a fair coin for the attacker, success and baseline alike, so the statement at
    epsilon 0 and delta 0 is true with equality. Without the level shared among the pairs most
    runs would call it violated.
    """
    pairs = [[[0, k], [1, k]] for k in range(20)]
    game = Game(Pairs(pairs), Constant(), Prefix(1))
    wrong = sum(
        play(game, FixedGuess([0]), Resilience(), trials=20 * 60, confidence=0.7, rng=seed).outcome
        == "violates"
        for seed in range(300)
    )
    assert wrong <= stats.binom.ppf(1 - 1e-6, 300, 0.3)
