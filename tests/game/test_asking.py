"""Attacks that are asked: functions, conversations, and those that fail now and then."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus import Game, play
from narcissus.attacks import (
    OwnAttack,
    ParityMembership,
    Reencryption,
)
from narcissus.knowledge import Told
from narcissus.mechanisms import (
    Identity,
    Parity,
    PublicKey,
)
from narcissus.success.relations import (
    FirstBit,
    Own,
    Prefix,
    RandomRow,
)
from narcissus.worlds import Bits, Pairs, Uniform


def test_interactive_mechanisms_talk_with_the_attacker():
    game = Game(Pairs([[[0], [1]]]), PublicKey("deterministic"), FirstBit())
    assert play(game, Reencryption(), trials=50, stop=False, rng=1).attackers[0].success.value == 1

    class Rude(Reencryption):
        def choose(self, scheme, key, rng):
            return b"short", b"longer"

    rude = play(game, Rude(), trials=20, stop=False, rng=1)
    assert rude.attackers[0].failed == 20
    assert "one length" in rude.remarks[0]


@pytest.mark.parametrize("kind", ["text", "array", "predicate", "bit"])
def test_attempts_at_an_interactive_mechanism_may_be_of_any_type(kind):
    """Three messages: a question, its answer, and an attempt that is no single integer."""

    class Asked:
        interactive = True

        def interact(self, data, player, rng):
            return player.answer(data[player.ask()], rng)

    class Curious:
        def ask(self):
            return 0

        def answer(self, bit, rng):
            bit = int(bit)
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
