"""Runs that play until a statement is refuted, shown to be kept by attacks, or time is up."""

import math

import numpy as np
import pytest

from narcissus.attacks import ReleasedRow
from narcissus.evidence import anytime_limits
from narcissus.game import Game, play
from narcissus.game.looks import counts, most_needed, until_decided
from narcissus.game.loop import Until, plan_looks, scenarios_of
from narcissus.mechanisms import RandomizedResponse
from narcissus.results import Estimate
from narcissus.success import Resilience, Threshold
from narcissus.success.relations import Prefix
from narcissus.worlds import Bits, Family

GAP = (math.e / (1 + math.e)) ** 3 - 1 / 8
"""What naming the released row gains on average."""
GAME = Game(Bits(3), RandomizedResponse(1.0), Prefix())


def until(statement, game=GAME, rng=1, **how):
    return play(game, {"row": ReleasedRow("all")}, statement, trials=Until(**how), rng=rng)


@pytest.mark.parametrize("away", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_a_run_ends_at_the_first_look_whose_limit_is_allowed(away, epsilon):
    """The limits are made again here, of the trials that were played until then."""
    factor = math.exp(epsilon)
    delta = (math.e / (1 + math.e)) ** 3 - factor / 8 + away
    found = until(Resilience(epsilon, delta))
    assert (found.ended, found.decided) == ("below", None)
    assert found.trials == counts()[found.look - 1]
    scores = found.attackers[0].scores
    gains = (scores.success - factor * scores.baseline + factor) / (1 + factor)
    at = [anytime_limits(gains[:n], confidence=0.95).high for n in counts()[: found.look]]
    is_below = [high * (1 + factor) - factor <= delta for high in at]
    assert is_below == [False] * (found.look - 1) + [True]


@pytest.mark.parametrize("statement", [Resilience(0.0, GAP - 0.2), Threshold(0.05, 0.5)])
def test_a_run_ends_once_a_statement_is_refuted(statement):
    found = until(statement)
    assert (found.ended, found.outcome) == ("decided", "violates")
    assert found.decided <= found.trials <= counts()[found.look - 1]


def test_trials_are_those_of_a_longer_run():
    """Where a run ends changes none of its trials."""
    short, long = (until(Resilience(0.0, delta)) for delta in (GAP + 0.5, GAP + 0.1))
    one, other = (found.attackers[0].scores.success for found in (short, long))
    assert len(one) < len(other)
    assert (one == other[: len(one)]).all()


def test_every_member_of_a_family_must_be_below():
    """The worst of two is not: time ends the run, though its other member gains nothing."""
    game = Game(Family([Bits(3), Bits(3, 0.9)]), RandomizedResponse(1.0), Prefix())
    single = until(Resilience(0.0, GAP + 0.02), ended=7)
    found = until(Resilience(0.0, GAP + 0.1), game, ended=7)
    assert (single.look, found.ended, found.members) == (7, "budget", 2)
    assert found.trials == counts()[6]  # of each


def test_looks_share_blocks_of_bounded_size(monkeypatch):
    monkeypatch.setattr("narcissus.game.loop._LARGEST_BLOCK", 100)
    rounds = list(plan_looks(scenarios_of(GAME, {"row": ReleasedRow("all")}), until_decided()))
    assert np.cumsum([sum(b.size for b in blocks) for blocks in rounds]).tolist() == counts()
    numbers = [block.number for blocks in rounds for block in blocks]
    assert numbers == list(range(len(numbers)))
    assert max(block.size for blocks in rounds for block in blocks) == 100


def test_what_is_known_ends_at_once_and_what_no_limit_is_for_ends_by_time():
    assert until(Resilience(0.0, 0.5), known=True).trials == 20
    found = until(Threshold(0.9, 0.5), ended=3)
    assert (found.ended, found.look, found.trials) == ("budget", 3, 45)


@pytest.mark.parametrize(
    ("found", "limit", "needed"),
    [
        ([(0.1, 0.0, 0.2)], 0.15, 400),
        ([(0.1, 0.0, 0.2)], 0.3, 100),  # it is below already
        ([(0.2, 0.1, 0.3)], 0.15, 400),
        ([(0.1, 0.0, 0.2), (0.2, 0.1, 0.3), (0.3, 0.2, 0.4)], 0.15, 100),  # one above is enough
        ([(0.1, 0.0, 0.2), (0.12, 0.0, 0.2)], 0.15, 712),  # all must be below
        ([(0.1, 0.0, 0.2)], 0.1, None),
        ([], 0.1, None),
    ],
)
def test_what_it_would_take(found, limit, needed):
    estimates = [Estimate(value, low, high, 0.95, 100) for value, low, high in found]
    assert most_needed(estimates, limit) == needed
