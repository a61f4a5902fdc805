"""Which attacks learn, and that what they become can be played."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from narcissus.attacks.table import (
    GibbsSampling,
    Learned,
    MeanField,
    NearestRecord,
    OwnLearner,
    OwnTableAttack,
    PriorGuess,
    Simulated,
    Stack,
    TableAttack,
    Trainable,
)
from narcissus.errors import InputError, TooLargeError


@pytest.mark.parametrize("kind", [MeanField, Learned, Stack])
def test_some_learn_and_become_attacks(worlds, kind):
    rng = np.random.default_rng(1)
    targets, secrets = worlds.world(rng, people=20, sizes=(2, 3, 2), unknown=(0,), k=2)
    release = worlds.protect(targets, worlds.rules["rounded"], secrets, rng)
    attack = kind()
    assert isinstance(attack, Trainable)
    trained = attack.train([Simulated(targets, release, secrets)], rng)
    assert isinstance(trained, TableAttack)
    assert attack == kind()  # what is learned is in the new one
    guesses = trained.attempt([release, release], [targets, targets], rng)
    assert guesses.shape == (2, 20)


@pytest.mark.parametrize("kind", [PriorGuess, NearestRecord, GibbsSampling])
def test_others_have_nothing_to_learn(kind):
    assert not isinstance(kind(), Trainable)


@dataclass(frozen=True)
class Mine:
    """Says for everybody what most of those had whom it learned from."""

    value: int = 0
    title, uses, informed = "mine", "release", False

    def train(self, simulated, rng):
        rng.random()
        secrets = np.concatenate([one.secrets for one in simulated])
        return replace(self, value=int(np.bincount(secrets).argmax()))

    def guess(self, view, *, rng):
        return np.full(view.targets.people, self.value)


def lesson(worlds, secrets):
    rng = np.random.default_rng(1)
    targets, _ = worlds.world(rng, people=len(secrets), sizes=(2, 3), unknown=(1,), k=2)
    return Simulated(targets, "anything at all", np.array(secrets))


def test_a_class_of_ones_own_learns_and_its_guesses_are_checked(worlds):
    attack = OwnLearner("mine", Mine())
    assert isinstance(attack, Trainable)
    assert not isinstance(OwnTableAttack("mine", Mine()), Trainable)
    lessons = [lesson(worlds, [1, 2, 1]), lesson(worlds, [2, 0, 2])]
    rng, same = np.random.default_rng(5), np.random.default_rng(5)
    learned = attack.train(lessons, rng)
    assert rng.random() == same.random(2)[1]  # it was given the generator
    assert learned == OwnTableAttack("mine", Mine(2))
    assert attack.own == Mine()
    known = lessons[0].targets
    assert learned.attempt(["a release"], [known], rng).tolist() == [[2, 2, 2]]
    beyond = attack.train([lesson(worlds, [3, 3, 3])], rng)
    with pytest.raises(InputError, match=r"attack `mine` must give 3 guesses in \[0, 3\)"):
        beyond.attempt(["a release"], [known], rng)


def test_what_is_wrong_with_learning_is_said_with_the_name():
    class Wrong(Mine):
        def __init__(self, answer):
            object.__setattr__(self, "answer", answer)

        def train(self, simulated, rng):
            return self.answer()

    def refused():
        raise TooLargeError("of its own")

    for answer, error, said in [
        (lambda: 1 // 0, InputError, "attack `w` did not learn: ZeroDivisionError"),
        (lambda: None, InputError, "attack `w`: `train` must give what is to `guess`.*NoneType"),
        (refused, TooLargeError, "^of its own$"),
    ]:
        with pytest.raises(error, match=said):
            OwnLearner("w", Wrong(answer)).train([], np.random.default_rng(0))
