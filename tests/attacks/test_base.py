"""A conversation is counted, written down, and ends; attacks refuse games that they do not fit."""

import numpy as np
import pytest

from narcissus.attacks import (
    BucketHashing,
    Subtraction,
    TwoCandidates,
)
from narcissus.attacks.base import (
    LONGEST,
    BrokenMechanismError,
    Conversation,
    ConversationOverError,
    written,
)
from narcissus.errors import InputError, MissingExtraError
from narcissus.game import Game
from narcissus.mechanisms import (
    ExactAverage,
)
from narcissus.success.relations import (
    Member,
)
from narcissus.worlds import (
    Tardos,
)


def test_attacks_refuse_games_they_do_not_fit():
    tardos = Game(Tardos(10, 4, 3), ExactAverage(), Member())
    for attack in (Subtraction(), TwoCandidates(), BucketHashing()):
        with pytest.raises(InputError, match="needs"):
            attack.prepare(tardos)


def echo(greeting=None, most=None):
    question = yield greeting
    count = 0
    while most is None or count < most:
        count += 1
        question = yield question


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (None, "nothing"),
        (3, "3"),
        (b"attack at dawn", "attack at dawn"),
        (bytes([200, 10]), "c80a"),
        (np.array([1, 0, 1]), "101"),
        (np.array([1, -1, 0]), "+-."),
        (np.array([1, 7]), "[1, 7]"),
        (np.array([0.5]), "[0.5]"),
        (np.float64(2.5), "2.5"),
        (np.array(3), "3"),
        ((b"a", [1, None]), "(a, (1, nothing))"),
        ("two\nlines", "two lines"),
    ],
)
def test_messages_are_written_in_a_line(message, text):
    assert written(message) == text


@pytest.mark.parametrize("message", ["x" * 500, b"x" * 500, list(range(500)), np.arange(500)])
def test_long_messages_are_cut(message):
    assert len(written(message)) == LONGEST
    assert written(message).endswith("...")


def test_questions_are_counted_and_end():
    talk = Conversation(echo("hello"), 3)
    assert (talk.greeting, talk.left, talk.questions) == ("hello", 3, 0)
    assert [talk.ask(k) for k in range(3)] == [0, 1, 2]
    assert (talk.left, talk.questions) == (0, 3)
    with pytest.raises(ConversationOverError, match="answers 3 questions, no more"):
        talk.ask(9)
    said = talk.transcript(4, "me")
    assert (said.trial, said.greeting, said.questions, said.attempt) == (4, "hello", 3, "me")
    assert said.exchanges == (("0", "0"), ("1", "1"), ("2", "2"))


def test_a_mechanism_may_end_it_and_has_then_no_fixed_number():
    talk = Conversation(echo(most=1))
    assert talk.left is None
    assert talk.transcript(0, None).greeting == ""
    assert talk.ask("a") == "a"
    with pytest.raises(ConversationOverError, match="ended the conversation after 1 questions"):
        talk.ask("b")


def raising(error, before=False):
    if before:
        raise error
    yield None
    raise error


def test_a_refusal_is_the_attackers_fault_and_anything_else_the_mechanisms():
    for error in (InputError("not so"), ValueError("not so")):
        with pytest.raises(type(error), match=r"^not so$"):
            Conversation(raising(error)).ask(1)
        with pytest.raises(BrokenMechanismError, match="cannot begin: not so"):
            Conversation(raising(error, before=True))
    with pytest.raises(BrokenMechanismError, match="raised KeyError in a conversation: 'x'"):
        Conversation(raising(KeyError("x"))).ask(1)
    with pytest.raises(BrokenMechanismError, match="raised KeyError"):
        Conversation(raising(KeyError("x"), before=True))
    with pytest.raises(MissingExtraError):
        Conversation(raising(MissingExtraError("extra"), before=True))


def test_what_is_closed_is_over():
    talk = Conversation(echo())
    talk.close()
    with pytest.raises(ConversationOverError):
        talk.ask(1)


def test_an_array_of_nothing_is_written_as_nothing():
    assert written(np.array([], dtype=int)) == ""
    assert written(np.array([-1, 0, 1])) == "-.+"
    assert written(np.array([0, 1])) == "01"
