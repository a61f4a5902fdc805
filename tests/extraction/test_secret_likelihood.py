"""What an attacker learns of logits: held against the exact Gaussian, and against the prior."""

import math

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.secret_training import SecretTraining, TrainedOnSecret
from narcissus.extraction.secrets import (
    PretrainedLikelihood,
    SymmetricLikelihood,
    learnt_likelihood,
)

PRIOR = np.array([0.5, 0.3, 0.15, 0.05])


def one_step(noise):
    return TrainedOnSecret(SecretTraining(noise, steps=1), 4, np.log(PRIOR))


def test_the_start_decides_what_is_learnt():
    symmetric = TrainedOnSecret(SecretTraining(2.0, steps=2), 4)
    assert isinstance(learnt_likelihood(symmetric, PRIOR, 50, 1), SymmetricLikelihood)
    assert isinstance(learnt_likelihood(one_step(2.0), PRIOR, 50, 1), PretrainedLikelihood)


def test_after_one_step_it_is_the_exact_likelihood():
    """One step is a Gaussian around the clipped gradient, known in closed form."""
    noise = 0.8
    mechanism = one_step(noise)
    found = learnt_likelihood(mechanism, PRIOR, 40_000, 3)
    logits = mechanism.release(np.arange(4).repeat(50), np.random.default_rng(9))
    gradients = PRIOR - np.eye(4)  # all of norm below the root of two, so unclipped
    spread = 0.01 * noise * math.sqrt(2)
    centres = np.log(PRIOR) - 0.01 * gradients
    apart = logits[:, None, :] - centres[None]
    exact = -0.5 * (apart**2).sum(axis=2) / spread**2
    ours = found.log_density(logits)
    # constants that are the same for all secrets do not count
    centred = [a - a.mean(axis=1, keepdims=True) for a in (ours, exact)]
    assert np.abs(centred[0] - centred[1]).max() < 0.06 * np.abs(centred[1]).max()
    assert found.trust == pytest.approx(1, abs=0.1)


def test_where_models_say_nothing_nothing_is_trusted():
    mechanism = TrainedOnSecret(SecretTraining(1e5, steps=2), 4, np.log(PRIOR))
    found = learnt_likelihood(mechanism, PRIOR, 4000, 3)
    logits = mechanism.release(np.zeros(200, dtype=int), np.random.default_rng(1))
    assert np.ptp(found.log_density(logits), axis=1).max() < math.log(0.5 / 0.3)


def test_without_noise_the_secret_is_certain():
    mechanism = TrainedOnSecret(SecretTraining(0.0, steps=3), 4, np.log(PRIOR))
    found = learnt_likelihood(mechanism, PRIOR, 100, 3)
    logits = mechanism.release(np.arange(4), np.random.default_rng(1))
    assert (found.log_density(logits).argmax(axis=1) == np.arange(4)).all()


def test_one_model_is_too_few():
    with pytest.raises(InputError, match="shadow_models"):
        learnt_likelihood(one_step(1.0), PRIOR, 1, 1)
