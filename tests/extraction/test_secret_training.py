"""Training on a secret: exact accounting, clipping, seeds."""

import math

import numpy as np
import pytest
from scipy import special

from narcissus.errors import InputError
from narcissus.extraction.secret_training import SecretTraining, TrainedOnSecret, train_models


def test_accounting_against_privacy_loss_distributions():
    from dp_accounting.pld import privacy_loss_distribution as pld

    training = SecretTraining(noise=8.0, clip=0.3, steps=50)
    # sensitivity 2 clip, noise of standard deviation 8 clip, fifty times
    losses = pld.from_gaussian_mechanism(8.0, sensitivity=2.0).self_compose(50)
    for epsilon in (0.5, 2.0, 6.0):
        delta = losses.get_delta_for_epsilon(epsilon)
        assert math.isclose(float(training.guarantee.profile(epsilon)), delta, rel_tol=1e-3)
    private = SecretTraining.private(2.0, 1e-5, clip=0.3, steps=50)
    assert math.isclose(float(private.guarantee.profile(2.0)), 1e-5, rel_tol=1e-6)


@pytest.mark.parametrize("clip", [0.1, 0.6, 0.9, 1.2, 2.0])
def test_no_pair_of_gradients_is_farther_apart_than_accounted(clip):
    """Random logits and the worst case of the text: two likely characters."""
    rng = np.random.default_rng(8)
    logits = np.concatenate([rng.normal(size=(4000, 5)) * 6, [[50, 50, 0, 0, 0.0]]])
    chances = special.softmax(logits, axis=1)

    def gradient(secret):
        g = chances - np.eye(5)[secret]
        return g * np.minimum(1, clip / np.linalg.norm(g, axis=1))[:, None]

    apart = np.linalg.norm(gradient(0) - gradient(1), axis=1)
    accounted = clip * SecretTraining(1.0, clip, 1).guarantee.mu
    assert apart.max() <= accounted + 1e-9
    assert math.isclose(apart[-1], accounted, rel_tol=1e-9) or clip > 0.7


def test_training_without_noise_gives_the_secret_away():
    secrets = np.array([0, 3, 9, 3])
    logits = train_models(secrets, 10, SecretTraining(0.0))
    assert logits.argmax(axis=1).tolist() == secrets.tolist()
    with pytest.raises(InputError, match="guarantees nothing"):
        _ = SecretTraining(0.0).guarantee


def test_clipping_bounds_every_step():
    training = SecretTraining(0.0, clip=0.01, steps=7, learning_rate=0.5)
    logits = train_models(np.array([2]), 4, training)
    assert np.linalg.norm(logits) <= 7 * 0.5 * 0.01 + 1e-12


def test_same_seed_same_models():
    training = SecretTraining(1.0)
    first, again = (train_models(np.array([1, 2]), 4, training, rng=3) for _ in range(2))
    assert (first == again).all()
    played = TrainedOnSecret(training, 4).release(np.array([1, 2]), np.random.default_rng(3))
    assert (first == played).all()


@pytest.mark.parametrize("secrets", [[], [4], [-1], [0.5], [[0]]])
def test_bad_secrets(secrets):
    with pytest.raises(InputError, match="secrets"):
        train_models(np.array(secrets), 4, SecretTraining(1.0))


def test_models_start_where_they_are_told():
    start = np.array([2.0, 0.0, -1.0])
    still = SecretTraining(0.0, steps=1, learning_rate=1e-9)
    assert np.allclose(train_models(np.array([1]), 3, still, start=start), start)
    mechanism = TrainedOnSecret(SecretTraining(1.0, steps=2), 3, start)
    played = mechanism.release(np.array([1]), np.random.default_rng(3))
    trained = train_models(np.array([1]), 3, SecretTraining(1.0, steps=2), start=start, rng=3)
    assert (played == trained).all()
    for wrong in ([0.0, 0.0], [0.0, np.inf, 0.0]):
        with pytest.raises(InputError, match="`start` must hold 3"):
            TrainedOnSecret(SecretTraining(1.0), 3, np.array(wrong))
