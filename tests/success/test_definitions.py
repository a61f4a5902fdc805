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
