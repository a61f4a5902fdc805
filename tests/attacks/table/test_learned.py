"""Learning from simulated releases: it helps, it is repeatable, and it sees no test release."""

import numpy as np
import pytest

from narcissus.attacks.table import Learned, Simulated, TableAttack, Trainable
from narcissus.attacks.table.base import view_of
from narcissus.errors import InputError
from narcissus.mechanisms import GaussianNoise, Microdata

KINDS = ["counts", "withheld", "rows"]


def simulated(worlds, kind, number, seed):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        targets, secrets = worlds.world(
            rng, people=60, sizes=(2, 3, 2, 3, 4), unknown=(1,), k=3, concentration=2.0
        )
        if kind == "counts":
            release = worlds.release(targets, GaussianNoise(2.0), secrets, rng)
        elif kind == "rows":
            release = Microdata(worlds.complete(targets, secrets))
        else:
            release = worlds.protect(targets, worlds.rules[kind], secrets, rng)
        found.append(Simulated(targets, release, secrets))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_it_recovers_more_than_the_prior(worlds, kind):
    trained = Learned().train(simulated(worlds, kind, 6, 1), np.random.default_rng(0))
    assert isinstance(trained, TableAttack)
    assert isinstance(Learned(), Trainable)
    gains = []
    for one in simulated(worlds, kind, 10, 2):
        [guess] = trained.attempt([one.release], [one.targets], np.random.default_rng(0))
        ours = (guess == one.secrets).mean()
        gains.append(ours - (one.targets.prior.argmax(axis=1) == one.secrets).mean())
    gains = np.array(gains)
    assert gains.mean() > 4 * gains.std(ddof=1) / np.sqrt(len(gains))
    assert gains.mean() > 0.05


def test_beliefs_are_calibrated_on_new_releases(worlds):
    """Mean belief in the guess is the share of right guesses, within four errors."""
    trained = Learned().train(simulated(worlds, "withheld", 10, 3), np.random.default_rng(0))
    said, right = [], []
    for one in simulated(worlds, "withheld", 20, 4):
        beliefs = trained.beliefs(view_of(one.targets, one.release), rng=np.random.default_rng(0))
        np.testing.assert_allclose(beliefs.sum(axis=1), 1)
        said.append(beliefs.max(axis=1))
        right.append(beliefs.argmax(axis=1) == one.secrets)
    said, right = np.concatenate(said), np.concatenate(right)
    assert abs(said.mean() - right.mean()) < 4 * right.std() / np.sqrt(right.size)


def test_the_same_training_gives_the_same_attack(worlds, monkeypatch):
    """Also where only some people are learned from; and then from others with another seed."""
    monkeypatch.setattr("narcissus.attacks.table.learned.ENTRIES", 60 * 3 * 9)
    releases = simulated(worlds, "withheld", 3, 5)
    one, two, three = (
        Learned().train(releases, np.random.default_rng(seed)).logit.weights for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != three).any()


def test_it_must_be_trained(worlds):
    [one] = simulated(worlds, "rows", 1, 6)
    with pytest.raises(InputError, match="train"):
        Learned().guess(view_of(one.targets, one.release), rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="at least one training release"):
        Learned().train([], np.random.default_rng(0))
    with pytest.raises(InputError, match="ridge"):
        Learned(ridge=0.0)
