"""Which attacks learn, and that what they become can be played."""

import numpy as np
import pytest

from narcissus.attacks.table import (
    GibbsSampling,
    Learned,
    MeanField,
    NearestRecord,
    PriorGuess,
    Simulated,
    Stack,
    TableAttack,
    Trainable,
)


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
