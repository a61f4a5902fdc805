"""Attacks that are asked: functions, conversations, and those that fail now and then."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from narcissus import Game, play
from narcissus.attacks import OwnAttack, ParityMembership, Reencryption
from narcissus.attacks.base import Answers, Failure
from narcissus.errors import InputError
from narcissus.game.asking import JoinedPredicates, ask, converse, guarded
from narcissus.knowledge import Told
from narcissus.mechanisms import Identity, Parity, PublicKey
from narcissus.success.relations import FirstBit, Own, Prefix, RandomRow
from narcissus.success.relations.base import Attempts
from narcissus.worlds import Bits, Pairs, Uniform


def test_interactive_mechanisms_talk_with_the_attacker():
    game = Game(Pairs([[[0], [1]]]), PublicKey("deterministic"), FirstBit())
    assert play(game, Reencryption(), trials=50, stop=False, rng=1).attackers[0].success.value == 1

    class Rude(Reencryption):
        def prepare(self, game):
            return self

        def converse(self, conversation, known, rng):
            return conversation.ask((b"short", b"longer"))

    rude = play(game, Rude(), trials=20, stop=False, rng=1)
    assert rude.attackers[0].failed == 20
    assert "one length" in rude.remarks[0]


@pytest.mark.parametrize("kind", ["text", "array", "predicate", "bit"])
def test_attempts_at_an_interactive_mechanism_may_be_of_any_type(kind):
    """Three messages: a question, its answer, and an attempt that is no single integer."""

    class Asked:
        interactive = True

        def answers(self, data, rng):
            yield data[(yield)]

    class Curious:
        def converse(self, conversation, known, rng):
            bit = int(conversation.ask(0))
            if rng.random() < 0.3:
                return None
            made = {
                "text": f"bit {bit}",
                "array": np.array([bit, 1 - bit]),
                "predicate": lambda row: row == bit,
                "bit": bit,
            }
            return made[kind]

    relations = {
        "text": Own(lambda data, attempt: attempt == f"bit {int(data[0])}"),
        "array": Own(lambda data, attempt: list(attempt) == [int(data[0]), 1 - int(data[0])]),
        "predicate": RandomRow(),
        "bit": FirstBit(),
    }
    game = Game(Bits(1), Asked(), relations[kind])
    run = play(game, Curious(), trials=400, stop=False, rng=2)
    one = run.attackers[0]
    assert one.failed == 0
    assert (one.scores.success == one.scores.made).all()
    assert 0.6 < one.success.value < 0.8


def test_own_functions_get_what_they_ask_for():
    game = Game(Bits(6), Identity(), Prefix(), side=Told(lambda s: int(s[0])))
    seen = []

    def attack(release, known, rng):
        seen.append((int(release[0]) == known, rng.random()))
        return release

    run = play(game, OwnAttack(attack), trials=30, stop=False, rng=1)
    assert all(right for right, _ in seen)
    assert len({draw for _, draw in seen}) == 30
    assert run.attackers[0].success.value == 1
    only = play(game, OwnAttack(lambda release: release), trials=5, stop=False, rng=1)
    assert only.attackers[0].success.value == 1
    none = play(game, OwnAttack(lambda release: None), trials=30, stop=False, rng=1)
    assert none.attackers[0].success.value == 0
    assert "no attempt" in none.remarks[0]


def test_an_attack_that_fails_now_and_then_is_reported_and_the_run_goes_on():
    """One release in some hundreds makes the attacker fail; the trial counts against it."""
    game = Game(Bits(8), Identity(), Prefix())

    def attack(release, known, rng):
        if release.all():
            raise ValueError("all ones")
        return release

    run = play(game, OwnAttack(attack), trials=3000, stop=False, rng=2)
    one = run.attackers[0]
    assert run.trials == 3000
    assert 0 < one.failed < 40
    assert one.success.value == pytest.approx(1 - one.failed / 3000)
    assert len(one.failures) == min(20, one.failed)
    first = one.failures[0]
    assert first.error == "ValueError: all ones"
    assert not one.scores.success[first.trial]
    assert str(first.seed) in run.remarks[0]
    assert f"failed on {one.failed} of 3000 trials" in run.remarks[0]


def test_an_attack_in_batches_loses_only_the_trials_at_which_it_fails():
    class Batchwise:
        def attempt(self, release, known, rng):
            if (release == 1).all(axis=1).any():
                raise RuntimeError("all ones")
            return release

    one = play(Game(Bits(8), Identity(), Prefix()), Batchwise(), trials=3000, stop=False, rng=2)
    attacked = one.attackers[0]
    assert 0 < attacked.failed < 40
    assert attacked.success.value == pytest.approx(1 - attacked.failed / 3000)

    class Predicates:
        def attempt(self, release, known, rng):
            if (release[:, 0] == 1).all(axis=1).any():
                raise RuntimeError("all ones")
            return ParityMembership().attempt(release, known, rng)

    game = Game(Uniform(2, 8), Parity(), RandomRow())
    attacked = play(game, Predicates(), trials=500, stop=False, rng=2).attackers[0]
    assert 0 < attacked.failed < 80
    assert attacked.success.value == pytest.approx(1 - attacked.failed / 500)


def test_a_trial_that_is_asked_again_has_a_seed_of_its_own():
    """An attack that must not see two releases at once, and makes no attempt at some."""
    seen = []

    class OneByOne:
        def attempt(self, release, known, rng):
            if len(release) > 1:
                raise RuntimeError("one at a time")
            assert known.tolist() == release[:, :1].tolist()
            seen.append(int(rng.integers(2**62)))
            if release[0].all():
                raise ValueError("all ones")
            return Attempts(release, np.array([not release[0, 0]]))

    release = np.random.default_rng(0).integers(0, 2, (200, 3))
    found = ask(OneByOne(), release, release[:, :1], 200, np.random.default_rng(1))
    assert len(set(seen)) == 200
    assert len({failure.seed for failure in found.failures}) == len(found.failures)
    full = release.all(axis=1)
    assert [failure.trial for failure in found.failures] == np.flatnonzero(full).tolist()
    np.testing.assert_array_equal(found.made, release[:, 0] == 0)
    for trial, value in enumerate(found.values):
        if full[trial]:
            assert value is None
        else:
            np.testing.assert_array_equal(value, release[trial])
    [first, *_] = found.failures
    again = np.random.default_rng(first.seed).integers(2**62)
    assert again == seen[first.trial]


def test_what_an_attack_gives_is_taken_as_it_is():
    class Gives:
        def __init__(self, answer):
            self.answer = answer

        def attempt(self, release, known, rng):
            return self.answer

    values, made = np.zeros((3, 2)), np.array([True, False, True])
    rng = np.random.default_rng(0)
    plain = ask(Gives(values), values, None, 3, rng)
    assert plain.values is values
    assert plain.made.tolist() == [True] * 3
    wrapped = ask(Gives(Attempts(values, made)), values, None, 3, rng)
    assert (wrapped.values is values, wrapped.made is made, wrapped.failures) == (True, True, [])
    answers = Answers(values, made, [Failure(1, 2, "x")])
    assert ask(Gives(answers), values, None, 3, rng) is answers


def test_predicates_of_single_trials_are_one_batch():
    """One that failed holds nowhere; those that know their weight tell it."""

    class Light:
        def __init__(self, value, weight):
            self.value, self.known = value, weight

        def __call__(self, rows):
            assert len(rows) == 1  # those of its own trial
            return (rows == self.value).astype(float)

        def weight(self, world):
            return None if self.known is None else np.array([self.known])

    parts = [Light(1, 0.5), None, Light(0, None), lambda rows: np.ones(rows.shape)]
    joined = JoinedPredicates(parts)
    rows = np.array([[0, 1], [0, 1], [0, 1], [0, 1]])
    assert joined(rows).tolist() == [[0, 1], [0, 0], [1, 0], [1, 1]]
    np.testing.assert_array_equal(joined.weight(None), [0.5, np.nan, np.nan, np.nan])
    assert len(joined) == 4
    assert joined.take(np.array([2, 0])).parts == [parts[2], parts[0]]
    assert joined.take(np.array([2, 0]))(rows[:2]).tolist() == [[1, 0], [0, 1]]


def test_an_error_in_a_part_names_it_and_ours_pass():
    def broken():
        raise KeyError("lost")

    def refused():
        raise InputError("as it was")

    with pytest.raises(InputError, match="the world list raised KeyError: 'lost'"):
        guarded("world", [], broken)
    with pytest.raises(InputError, match=r"^as it was$"):
        guarded("world", [], refused)
    assert guarded("world", [], lambda: 3) == 3


class Talks:
    """Says a number of its own, then repeats what it is asked."""

    interactive = True

    def answers(self, data, rng):
        question = yield int(rng.integers(2**62))
        while True:
            question = yield question


def conversed(mechanism, function, trials=4, known=None, kept=3):
    draw = Bits(1).draw(trials, np.random.default_rng(1))
    attack, rng = OwnAttack(function), np.random.default_rng(2)
    return converse(mechanism, draw, known, attack, rng, kept=kept)


def test_every_conversation_has_chance_of_its_own_on_both_sides():
    found = conversed(Talks(), lambda talk, known, rng: (talk.greeting, rng.integers(2**62)), 300)
    assert len({value for pair in found.values for value in pair}) == 600
    assert found.made.all()


def test_the_attacker_has_not_the_generator_of_the_mechanism():
    """Who had it would know the coins that come: no encryption would be secure."""

    class Coins(Talks):
        def answers(self, data, rng):
            yield
            yield rng.random()

    def looks_ahead(talk, known, rng):
        coin = copy.deepcopy(rng).random()
        return bool(talk.ask(0) != coin)

    assert all(conversed(Coins(), looks_ahead, 50).values)


def test_who_converses_hears_what_he_is_told():
    found = conversed(Talks(), lambda talk, known: talk.ask(known), known=[3, 1, 4, 1])
    assert found.values.tolist() == [3, 1, 4, 1]


def test_what_was_said_first_is_kept():
    def attack(talk):
        for number in range(20):
            talk.ask(number)
        if talk.greeting % 2:
            raise RuntimeError("odd")
        return "done"

    found = conversed(Talks(), attack, 6, kept=4)
    assert [one.trial for one in found.transcripts] == [0, 1, 2, 3]
    failed = {failure.trial for failure in found.failures}
    for one in found.transcripts:
        assert one.questions == 20
        assert one.exchanges == tuple((str(k), str(k)) for k in range(8))
        assert one.attempt == ("nothing" if one.trial in failed else "done")
        assert (int(one.greeting) % 2 == 1) == (one.trial in failed)
    assert failed


def test_an_error_of_the_mechanism_ends_the_run_and_a_refusal_does_not():
    class Strict(Talks):
        def answers(self, data, rng):
            question = yield
            if question < 0:
                raise ValueError("no negative numbers")
            yield 1 // question

    refused = conversed(Strict(), lambda talk: talk.ask(-1))
    assert refused.failures[0].error == "ValueError: no negative numbers"
    with pytest.raises(
        InputError, match="the mechanism raised ZeroDivisionError in a conversation"
    ):
        conversed(Strict(), lambda talk: talk.ask(0))


def test_attempts_that_are_not_made_do_not_spoil_the_others():
    found = conversed(Talks(), lambda talk, known, rng: None if rng.random() < 0.5 else 7, 40)
    assert 0 < found.made.sum() < 40
    assert isinstance(found.values, np.ndarray)
    assert conversed(Talks(), lambda talk: None).made.sum() == 0
