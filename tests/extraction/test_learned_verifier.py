"""A verifier that learns: its fit is the minimum of its loss, and it learns what there is."""

import numpy as np
import pytest
from scipy import optimize

from narcissus.errors import InputError
from narcissus.extraction import LearnedVerifier
from narcissus.extraction.learned_verifier import features, fit_logistic
from narcissus.game import Game
from narcissus.mechanisms import Stretched
from narcissus.success.relations import FirstBit
from narcissus.worlds import Pairs

BITS = np.array([0, 1] * 200)


def gain(generator, seed_bits, **options):
    mechanism = Stretched(seed_bits, 1024, generator)
    attack = LearnedVerifier(**options).prepare(Game(Pairs([[[0], [1]]]), mechanism, FirstBit()))
    strings = mechanism.release(BITS[:, None], np.random.default_rng(4))
    said = attack.attempt(strings, None, np.random.default_rng(0))
    return said[BITS == 1].mean() - said[BITS == 0].mean()


def test_it_learns_a_weak_generator_and_not_a_strong_one():
    assert gain("congruential", 16) > 0.95
    assert abs(gain("sha-256", 64)) < 4.9 * np.sqrt(2 * 0.25 / 200)


def test_more_training_tells_more():
    assert gain("congruential", 24, training=2000) > gain("congruential", 24, training=60) + 0.1


def test_the_fit_is_the_minimum_of_the_loss():
    rng = np.random.default_rng(8)
    table = np.hstack([np.ones((200, 1)), rng.normal(size=(200, 4))])
    labels = (table @ [0.5, 1, -2, 0, 0.3] + rng.logistic(size=200) > 0).astype(float)

    def loss(weights):
        score = table @ weights
        return np.logaddexp(0, score).sum() - labels @ score + 3 * (weights[1:] ** 2).sum() / 2

    found = fit_logistic(table, labels, 3.0)
    best = optimize.minimize(loss, np.zeros(5), tol=1e-12)
    assert found == pytest.approx(best.x, abs=1e-4)
    assert loss(found) <= best.fun + 1e-8


def test_labels_that_are_all_told_apart_do_not_run_away():
    table = np.array([[1.0, -1.0], [1.0, 1.0]] * 20)
    weights = fit_logistic(table, np.array([0.0, 1.0] * 20), 1.0)
    assert abs(weights[0]) < 1e-9
    assert 0 < weights[1] < 10


def test_features_of_random_strings_are_of_mean_0_and_variance_1():
    table = features(np.random.default_rng(6).integers(0, 2, (4000, 512), dtype=np.uint8))
    assert (table[:, 0] == 1).all()
    assert table.shape[1] == 1 + 128 + 121
    assert np.abs(table[:, 1:].mean(axis=0)).max() < 5.5 / np.sqrt(4000)
    assert np.abs(table[:, 1:].var(axis=0) - 1).max() < 5.5 * np.sqrt(2 / 4000)


def test_what_cannot_be_learned_from_is_refused():
    with pytest.raises(InputError, match="prepare"):
        LearnedVerifier().attempt(np.zeros((2, 256)), None, np.random.default_rng(0))
    with pytest.raises(InputError, match="training"):
        LearnedVerifier(training=3)
    with pytest.raises(InputError, match="penalty"):
        LearnedVerifier(penalty=0)
