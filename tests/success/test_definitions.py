"""The papers' definitions refuse games that they do not speak of, and are one inequality."""

from dataclasses import replace

import numpy as np
import pytest

from narcissus import Game
from narcissus.errors import InputError
from narcissus.knowledge import KnownRows
from narcissus.mechanisms import Identity
from narcissus.study.registry import STATEMENT, loaded
from narcissus.success import (
    BayesianSafety,
    KeptSurprisal,
    PairResilience,
    Resilience,
    SafetyGivenKnowledge,
    SurprisalResilience,
    TwoCriteriaSafety,
)
from narcissus.success.relations import Prefix
from narcissus.success.statements import Scores
from narcissus.worlds import Bits, Neighbours

GAME = Game(Bits(3), Identity(), Prefix())


@pytest.mark.parametrize(
    ("statement", "needs"),
    [
        (PairResilience, "a world of pairs"),
        (TwoCriteriaSafety, r"\[looser\]"),
        (SafetyGivenKnowledge, r"\[side-information\]"),
    ],
)
def test_a_game_that_it_does_not_speak_of_is_refused(statement, needs):
    with pytest.raises(InputError, match=needs):
        statement.require(GAME)


def test_a_game_that_it_speaks_of_is_not():
    BayesianSafety.require(GAME)
    TwoCriteriaSafety.require(replace(GAME, looser=Prefix()))
    SafetyGivenKnowledge.require(replace(GAME, side=KnownRows(1)))
    PairResilience.require(Game(Neighbours(3), Identity(), Prefix()))


def test_two_of_them_have_a_relation_for_fresh_data():
    named = {name for name, target in STATEMENT.items() if loaded(target).two_relations}
    assert named == {"two-criteria", "surprisal"}


def test_all_are_the_same_inequality():
    scores = Scores(np.array([True, False]), np.array([0.5, 0.25]), 0, np.full(2, np.nan))
    resilient = [loaded(t) for t in STATEMENT.values() if issubclass(loaded(t), Resilience)]
    assert len(resilient) == 10
    for statement in resilient:
        more = {"share": 0.5} if statement is SurprisalResilience else {}
        (test,) = statement(np.log(2.0), 0.125, **more).tests(scores)
        np.testing.assert_allclose(test.values, [1 - 1 - 0.125, -0.5 - 0.125])


def test_the_share_of_surprisal_is_one():
    with pytest.raises(InputError, match="`share`"):
        SurprisalResilience(1.0, 0.1, share=2)


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.4", "Remark 4.5")
def test_a_share_and_bits_are_both_asked_for():
    told, plain = np.array([1.0, 5.0, 9.0, 9.0]), np.array([2.0, 20.0, 10.0, 30.0])
    assert KeptSurprisal(0.5).enough(told, plain).tolist() == [True, False, True, False]
    assert KeptSurprisal(0.5, bits=3).enough(told, plain).tolist() == [False, False, True, False]
    assert KeptSurprisal(0.0, bits=5).enough(told, plain).tolist() == [False, True, True, True]


def test_of_fresh_data_something_is_asked_only_where_it_is_said():
    assert KeptSurprisal(0.5).of_fresh is None
    assert KeptSurprisal(0.5, 7, 0.2).of_fresh == KeptSurprisal(0.2)
    assert KeptSurprisal.of(0.5) == KeptSurprisal(0.5)
    assert KeptSurprisal.of(KeptSurprisal(0.1, 2)) == KeptSurprisal(0.1, 2)


@pytest.mark.parametrize(
    ("asked", "match"), [((1.5,), "`share`"), ((0.5, -1), "`bits`"), ((0.5, 0, 2), "`fresh_share`")]
)
def test_what_cannot_be_asked(asked, match):
    with pytest.raises(InputError, match=match):
        KeptSurprisal(*asked)
