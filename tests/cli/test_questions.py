"""What is asked, from ``--secret`` and what the other options leave open."""

from __future__ import annotations

import pytest

from narcissus.bounds import ThreatToPeople
from narcissus.cli import questions
from narcissus.cli.questions import (
    Answer,
    are_replaced,
    asked,
    known_of,
    no_membership,
    one_answer,
    together,
)
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP, as_asked

NONE = dict.fromkeys(("--prior", "--values", "--zipf", "--priors"))


@pytest.mark.parametrize(
    ("known", "success", "needless", "said"),
    [
        ({"--prior": 0.5}, None, {}, None),
        ({"--prior": 0.99}, "exact", {}, None),
        ({"--values": "0.2,0.8"}, None, {"--within": None}, None),
        ({"--priors": ThreatToPeople([[0.5, 0.5], [0.9, 0.1]])}, None, {}, None),
        ({"--prior": 0.01}, None, {}, "--prior 0.99"),
        ({"--prior": 0.5}, "any", {}, "`--success` must be exact"),
        ({"--values": "0.2,0.3,0.5"}, None, {}, "`--values` has 3"),
        ({"--priors": ThreatToPeople([[0.5, 0.3, 0.2]])}, None, {}, "`--priors` has 3"),
        ({"--zipf": "1,2"}, None, {}, "`--zipf`"),
        ({"--values": "0.2,0.8"}, None, {"--within": 1}, "`--within`"),
    ],
)
def test_what_is_known_may_be_about_membership_or_not(known, success, needless, said):
    reason = no_membership({**NONE, **known}, success, needless)
    assert (reason is None) == (said is None)
    assert asked("value", reason) == ("value",)
    if said is None:
        assert asked(None, reason) == questions.SECRETS
        assert asked("membership", reason) == ("membership",)
        return
    assert said in reason
    assert asked(None, reason) == ("value",)
    with pytest.raises(InputError, match="`--secret membership` has two values, in and out"):
        asked("membership", reason)


def test_a_word_that_is_no_question_is_refused():
    with pytest.raises(InputError, match="did you mean `membership`"):
        asked("membershp", None)


def test_of_membership_the_best_guess_is_the_whole_prior():
    assert known_of("value", {**NONE, "--prior": 0.75})["--prior"] == 0.75
    found = known_of("membership", {**NONE, "--prior": 0.75})
    assert (found["--prior"], found["--values"]) == (None, "0.75,0.25")
    assert known_of("membership", {**NONE, "--values": "0.1,0.9"})["--values"] == "0.1,0.9"


def test_one_answer_is_said_once_and_two_are_both_said():
    known = GaussianDP(1, adjacency="add-remove")
    two = [
        Answer(as_asked(known, s), {"success": i}, [f"{s}!"])
        for i, s in enumerate(questions.SECRETS)
    ]
    payload, lines = together(two, shared=False)
    assert (payload["secret"], payload["success"]) == ("value", 0)
    assert (payload["membership"]["secret"], payload["membership"]["success"]) == ("membership", 1)
    assert lines == [
        "Asked: what value a person's record has (--secret value).",
        "value!",
        "",
        "Asked: whether a person's record is in the data (--secret membership).",
        "membership!",
    ]
    assert (
        together(two[1:], shared=False)[1][0] == "Asked: whether a person's record is in the data."
    )
    one = Answer(GaussianDP(1), {"success": 7}, ["both!"])
    payload, lines = together([one], shared=True)
    assert payload["success"] == payload["membership"]["success"] == 7
    assert payload["membership"]["question"].endswith("or another in its place")
    assert lines[0].startswith("Asked: what value a person's record has; or whether")
    assert lines[1:] == ["both!"]
    assert are_replaced([as_asked(GaussianDP(1), secret) for secret in questions.SECRETS])
    assert not are_replaced([as_asked(known, secret) for secret in questions.SECRETS])
    assert not are_replaced([GaussianDP(1)])
    assert one_answer(questions.SECRETS, replaced=True, exact=True)
    assert not one_answer(questions.SECRETS, replaced=False, exact=True)
    assert not one_answer(questions.SECRETS, replaced=True, exact=False)
    assert not one_answer(("value",), replaced=True, exact=True)
