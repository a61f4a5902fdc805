"""Odds multiplied by a guarantee, against arithmetic in many digits."""

from __future__ import annotations

import math

import mpmath
import pytest

from narcissus.bounds import Needs, Question, Theorem, posterior, threat
from narcissus.bounds.theorem import log_odds
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
)
from narcissus.guarantees.base import DECLARED
from narcissus.results import Bound, NotAssessed


@pytest.mark.states("Swanberg et al. 2025", "Theorem 3.2")
@pytest.mark.parametrize("prior", [1e-300, 1e-9, 0.2, 0.5, 0.999])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 5.0, 600.0, 1e4])
def test_the_odds_are_multiplied(prior, epsilon):
    with mpmath.workdps(60):
        odds = mpmath.mpf(prior) / (1 - mpmath.mpf(prior)) * mpmath.exp(epsilon)
        truth = float(odds / (1 + odds))
    # a log of 700 has an error of 1e-13
    assert float(posterior(prior, epsilon)) == pytest.approx(truth, rel=1e-12, abs=0)


def test_what_is_certain_stays_so_and_shapes_broadcast():
    assert posterior([0.0, 1.0], 3.0).tolist() == [0, 1]
    assert log_odds([0.0, 0.5, 1.0]).tolist() == [-math.inf, 0, math.inf]
    assert posterior([[0.1], [0.2]], [0.0, 1.0, 2.0]).shape == (2, 3)
    with pytest.raises(InputError, match="prior"):
        posterior(1.1, 0.0)


TEN = threat(prior=0.2, targets=10, guesses=7, inseparable=0.1)
EVEN = threat(values=[0.25] * 4, targets=10)
SKEWED = threat(values=[0.7, 0.2, 0.1], targets=10)
NEAR = threat(values=[0.25] * 4, within=1, targets=10)


def half(**told) -> Theorem:
    """A theorem that says one half."""
    told = {"about": ("success", "tail"), "limit": lambda q: 0.5, **told}
    return Theorem(id="half", source="Somebody 2026, Theorem 1", says="Half.", **told)


def test_a_question_about_one_target_is_a_tail_of_one():
    one, many = Question(TEN, PureDP(1.0)), Question(TEN, PureDP(1.0), 3)
    assert (one.about, one.n, one.r, one.v, one.p) == ("success", 1, 1, 1, 0.2)
    assert (many.about, many.n, many.r, many.v, many.p) == ("tail", 10, 7, 3, 0.2)
    assert one.quantity == "success on one target"
    assert many.quantity == "probability that at least 3 of 10 targets are reconstructed"
    assert (many.epsilon, many.delta) == (1.0, 0.0)
    approximate = Question(TEN, ApproximateDP(0.5, 0.01), 0)
    assert (approximate.epsilon, approximate.delta) == (0.5, 0.01)
    assert approximate.about == "tail"
    assert float(approximate.odds) == pytest.approx(math.log(0.25) + 0.5, rel=1e-14)


def test_a_question_is_about_replaced_records_and_whole_counts():
    with pytest.raises(InputError, match="replace-one"):
        Question(TEN, PureDP(1.0, adjacency="add-remove"))
    with pytest.raises(InputError, match="at_least"):
        Question(TEN, PureDP(1.0), 1.5)
    assert Question(TEN, PureDP(1.0), 3.0).at_least == 3


PURE, APPROXIMATE, GAUSSIAN = PureDP(1.0), ApproximateDP(1.0, 0.01), GaussianDP(1.0)


@pytest.mark.parametrize(
    ("needs", "met", "lacking", "said"),
    [
        ({"guarantee": (PureDP, RenyiDP)}, (TEN, PURE), (TEN, GAUSSIAN), "kind PureDP or RenyiDP"),
        ({"values": True}, (EVEN, PURE), (TEN, PURE), "the whole prior"),
        ({"exact_match": True}, (SKEWED, PURE), (NEAR, PURE), "name the very value"),
        ({"exact_match": True}, (EVEN, PURE), (TEN, PURE), "name the very value"),
        ({"uniform": True}, (EVEN, PURE), (SKEWED, PURE), "equally likely"),
        ({"uniform": True}, (EVEN, PURE), (NEAR, PURE), "equally likely"),
        ({"prior": 0.25}, (EVEN, PURE), (TEN, PURE), "prior success of 0.25"),
        ({"inseparable": 0.1}, (TEN, PURE), (threat(prior=0.2), PURE), "kappa of at least 0.1"),
        ({"not_pure": True}, (TEN, GAUSSIAN), (TEN, PURE), "other than pure DP"),
        ({"formula": True}, (TEN, APPROXIMATE), (TEN, ProfileCurve((1.0,), (0.1,))), "formula"),
        ({"most_values": 3}, (SKEWED, PURE), (EVEN, PURE), "at most 3 values"),
        ({"most_targets": 10}, (TEN, PURE), (threat(prior=0.2, targets=11), PURE), "10 targets"),
        ({"most_guesses": 7}, (TEN, PURE), (EVEN, PURE), "at most 7 guesses"),
        ({"several_points": True}, (TEN, GAUSSIAN), (TEN, APPROXIMATE), "more than one point"),
    ],
)
def test_what_is_lacking_is_said(needs, met, lacking, said):
    theorem = half(needs=Needs(**needs))
    assert theorem.lacks(Question(*met, 2)) is None
    assert said in theorem.lacks(Question(*lacking, 2))
    # to hold is asked for in the same words, beside what is needed to answer
    holds = half(holds=Needs(**needs))
    assert holds.valid(Question(*met, 2))
    assert not holds.valid(Question(*lacking, 2))
    assert holds.lacks(Question(*lacking, 2)) is None


def test_counts_that_it_is_not_about_are_lacking():
    few, only = half(needs=Needs(most_at_least=3)), half(needs=Needs(at_least=1))
    assert few.lacks(Question(TEN, PURE, 3)) is None
    assert "count of at most 3" in few.lacks(Question(TEN, PURE, 4))
    assert only.lacks(Question(TEN, PURE, 1)) is None
    assert "the count 1" in only.lacks(Question(TEN, PURE, 2))
    assert "success" in half(about=("success",)).lacks(Question(TEN, PURE, 2))
    assert "the tail" in half(about=("tail",)).lacks(Question(TEN, PURE))


def test_whoever_needs_nothing_answers_everything():
    for danger in (TEN, EVEN, SKEWED, NEAR):
        for guarantee in (PURE, APPROXIMATE, GAUSSIAN, ProfileCurve((1.0,), (0.1,))):
            for count in (None, 0, 2, 11):
                assert half().lacks(Question(danger, guarantee, count)) is None
    assert half().valid(Question(TEN, PURE))
    assert not half(holds=None, why="It does not.").valid(Question(TEN, PURE))
    assert half(holds=None).bound(TEN, PURE).valid is False


def test_a_limit_is_cut_to_what_is_possible():
    def says(limit, count=None):
        return half(limit=lambda q: limit).bound(TEN, PURE, count).value

    assert (says(1.7), says(0.6), says(0.1), says(-3.0)) == (1, 0.6, 0.2, 0.2)
    assert (says(1.7, 7), says(0.6, 7), says(0.1, 7), says(-3.0, 7)) == (1, 0.6, 0.1, 0)
    # all reach a count of none, nobody one above the guesses: whatever the theorem says
    assert (says(0.5, 0), says(0.5, -1), says(0.5, 8)) == (1, 1, 0)


def test_a_claim_names_its_theorem_and_what_it_rests_on():
    found = half(title="one half").bound(TEN, PURE, 3)
    assert isinstance(found, Bound)
    assert (found.value, found.id) == (0.5, "half")
    assert found.theorem == "Somebody 2026, Theorem 1 (one half)"
    assert found.quantity == "probability that at least 3 of 10 targets are reconstructed"
    assert half().statement == "Somebody 2026, Theorem 1"
    assert half().by("sampled").statement == "Somebody 2026, Theorem 1 (sampled)"
    assert half(title="one half").by("sampled").title == "one half, sampled"
    lacking = half(needs=Needs(values=True)).bound(TEN, PURE, 3)
    assert isinstance(lacking, NotAssessed)
    assert lacking.reason == "Somebody 2026, Theorem 1 needs the whole prior of a target's value"
    assert lacking.quantity == found.quantity


def test_assumptions_are_those_that_were_used():
    def rests(danger, count=None, **told):
        return half(**told).assumptions(Question(danger, PURE, count))

    every = rests(TEN, 3, inseparable=True, also=("the moon is full",))
    assert every == (
        "pure DP with epsilon 1 (replace-one neighbours)",
        *DECLARED,
        "the targets' values are independent given what the attacker knows",
        "no attempt that the attack can make succeeds a priori with probability above 0.2",
        "the number of guesses, 7, is fixed before the release is seen",
        "no guess tells two draws of a target apart with probability 0.1",
        "the moon is full",
    )
    assert rests(TEN, 3) == every[:5]
    assert rests(TEN, 3, independent=False) == (*every[:2], *every[3:5])
    assert rests(TEN) == (*every[:2], every[3])
    # all are guessed, and any two draws are told apart
    bare = threat(prior=0.2, targets=10)
    assert rests(bare, 3, inseparable=True) == every[:4]
    with_values = rests(SKEWED, 3, needs=Needs(values=True))
    assert with_values == (*every[:3], "the prior of the target's value is as given")
    worst = threat(prior=0.2, exact_match=True)
    assert "no value is likelier a priori than 0.2" in rests(worst, needs=Needs(values=True))[2]
