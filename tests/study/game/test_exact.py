"""Statements judged exactly, against sums by hand over very small games."""

import math

import numpy as np
import pytest

from narcissus import Game
from narcissus.mechanisms import Constant, Identity, RandomizedResponse
from narcissus.profiles import write_out_family
from narcissus.study.game.kind import exactly, has_epsilon
from narcissus.success import FixedBaseline, NotMemorizing, Resilience, SinglingOut, Threshold
from narcissus.success.relations import Isolates, Own, Prefix, RandomRow
from narcissus.worlds import Bits, Family, Records

COIN = Game(Bits(1), Identity(), Prefix())
UNEVEN = Game(Records(1, [0.7, 0.2, 0.1]), Identity(), Prefix())


def judged(game, statement, epsilons=(0.0,)):
    return exactly(write_out_family(game), statement, epsilons)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_naming_a_coin_gains_what_its_own_baseline_leaves(epsilon):
    """Success 1 and baseline 1/2, or no attempt at all."""
    least = max(0.0, 1 - math.exp(epsilon) / 2)
    found = judged(COIN, Resilience(epsilon, 0.2), (1.0, 0.0, 1.0))
    assert found.epsilon == tuple(sorted({0.0, 1.0, epsilon}))
    expected = [max(0.0, 1 - math.exp(e) / 2) for e in found.epsilon]
    assert list(found.delta) == pytest.approx(expected)
    assert (found.least, found.limit) == (pytest.approx(least), 0.2)
    assert found.holds == (least <= 0.2)
    best = found.best_attacker
    assert best.at_epsilon == epsilon
    assert (best.success, best.baseline) == ((1, 0.5) if least else (0, 0))
    assert found.best_success == 1
    assert (found.members, found.member, best.member) == (1, None, None)
    assert (found.grade, found.assumptions) == ("proved", ())
    assert (found.data_sets, found.releases, found.guesses) == (2, 2, 2)
    assert found.best_fixed_guess is None


def test_the_edge_of_a_statement_holds():
    assert judged(COIN, Resilience(0.0, 0.5)).holds
    assert not judged(COIN, Resilience(0.0, 0.499999)).holds


def test_a_fixed_baseline_is_that_of_the_likeliest_value():
    """Everything is known: 1 less e^epsilon times .7."""
    for epsilon in (0.0, 0.2):
        found = judged(UNEVEN, FixedBaseline(epsilon, 0.1))
        assert found.least == pytest.approx(1 - 0.7 * math.exp(epsilon))
        assert found.best_fixed_guess == pytest.approx(0.7)
        assert epsilon in found.epsilon
    nothing = judged(Game(UNEVEN.world, Constant(), Prefix()), FixedBaseline(0.0, 0.0))
    assert nothing.least == pytest.approx(0, abs=1e-12)
    assert nothing.holds


@pytest.mark.parametrize(("tau", "least"), [(0.05, 0.0), (0.1, 0.1), (0.2, 0.3), (0.7, 1.0)])
def test_a_threshold_counts_the_values_that_are_rare_enough(tau, least):
    found = judged(UNEVEN, Threshold(0.25, tau), (0.5,))
    assert (found.least, found.limit) == (pytest.approx(least), 0.25)
    assert found.holds == (least <= 0.25)
    # its epsilon is no factor on a baseline: the profile is at the points that were asked
    assert found.epsilon == (0.5,)
    assert found.best_attacker.at_epsilon == 0.5


def test_what_a_statement_takes_as_a_factor():
    assert all(map(has_epsilon, (Resilience(), FixedBaseline(), SinglingOut(2, 0.5))))
    assert not any(map(has_epsilon, (Threshold(0, 0), NotMemorizing(1, 2, 0.1))))


def test_singling_out_takes_the_weight_at_which_most_is_gained():
    """Two records of two values, seen: one is singled out where they differ, at 1/2; and 1/2
    is what a predicate of weight 1/2 does anyway."""
    game = Game(Records(2, [0.5, 0.5]), Identity(), Isolates())
    found = judged(game, SinglingOut(2, 1.0))
    assert found.least == pytest.approx(0.5 - 2 * 0.5 * 0.5, abs=1e-12)
    three = Game(Records(2, [0.25] * 4), Identity(), Isolates())
    # with quarters: differing 3/4 of the time, where a predicate of weight 1/4 isolates with 3/8
    assert judged(three, SinglingOut(2, 0.25)).least == pytest.approx(3 / 4 - 3 / 8)
    assert judged(three, SinglingOut(2, 0.2)).least == 0


def test_statements_without_an_exact_form_have_none():
    assert judged(COIN, NotMemorizing(1, 1, 0.1)) is None
    rows = Game(Records(2, [0.5, 0.5]), Identity(), RandomRow())
    for statement in (FixedBaseline(), Threshold(0.1, 0.1)):
        assert judged(rows, statement) is None
    assert judged(rows, Resilience()) is not None
    assert judged(COIN, SinglingOut(1, 0.5)) is None


@pytest.mark.parametrize(
    ("statement", "worst"),
    [
        (Resilience(0.0, 0.1), "Bits(n=1, rate=0.5)"),
        (FixedBaseline(0.0, 0.1), "Bits(n=1, rate=0.5)"),
        (Threshold(0.3, 0.2), "Bits(n=1, rate=0.1)"),
    ],
)
def test_a_family_needs_what_its_worst_member_needs(statement, worst):
    worlds = [Bits(1, 0.1), Bits(1, 0.5), Bits(1, 0.4)]
    each = [judged(Game(world, Identity(), Prefix()), statement) for world in worlds]
    found = judged(Game(Family(worlds), Identity(), Prefix()), statement)
    assert found.members == 3
    assert found.member == worst
    assert found.least == max(one.least for one in each)
    assert worst in found.words
    assert found.best_attacker.member in {repr(world) for world in worlds}
    assert found.holds == all(one.holds for one in each)


def test_parts_of_ones_own_are_assumed_to_be_as_they_say():
    own = Game(Bits(1), Identity(), Own(lambda s, z: s[0] == z, [0, 1]))
    found = judged(own, Resilience(0.0, 0.5))
    assert (found.grade, found.holds) == ("proved if", True)
    assert "lists every attempt worth making" in found.assumptions[0]


def test_randomized_response_by_all_guesses():
    """Two bits, each kept with chance p: the best guess names the release."""
    p = 1 / (1 + math.exp(-1.0))
    found = judged(Game(Bits(2), RandomizedResponse(1.0), Prefix()), Resilience(0.25, 0.1))
    gain = [p**2, p * (1 - p), p * (1 - p), (1 - p) ** 2] - np.exp(0.25) / 4
    assert found.least == pytest.approx(gain.clip(0).max())
