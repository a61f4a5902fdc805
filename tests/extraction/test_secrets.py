"""n-gram secrets: exact accounting, bounds that hold, attacks that reach them where they can."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from narcissus.bounds import THEOREMS, optimum
from narcissus.errors import InputError
from narcissus.extraction.secret_training import SecretTraining, TrainedOnSecret
from narcissus.extraction.secrets import (
    PosteriorGuess,
    PretrainedLikelihood,
    PublishedGuess,
    RankingGuess,
    SymmetricLikelihood,
    attack_secrets,
    learnt_likelihood,
    zipf_prior,
)
from narcissus.game import Game
from narcissus.mechanisms import Constant
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret

ALARM = 1e-6  # false-alarm rate of each sampled claim
PRIORS = {
    "uniform": np.full(10, 0.1),
    "zipf": zipf_prior(10),
    "skewed": np.array([0.6, 0.2] + [0.025] * 8),
    "bit": np.array([0.5, 0.5]),
}


def attack(prior, training, **more):
    return attack_secrets(prior, training, models=4000, confidence=1 - 2 * ALARM, rng=5, **more)


@pytest.mark.states("Swanberg et al. 2025", "section 5")
@pytest.mark.states("Narcissus theory", "10")
@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 10.0])
@pytest.mark.one_in(3)
def test_bounds_hold_and_the_prior_helps(name, epsilon):
    found = attack(PRIORS[name], SecretTraining.private(epsilon))
    for estimate in (found.published, found.posterior):
        assert estimate.low <= found.bound.value
    assert found.posterior.value >= found.published.value
    assert found.posterior.high >= found.prior  # never worse than naming the likeliest
    # the same guesses against fresh secrets say no more than the prior does
    assert found.posterior_baseline <= found.prior + 1e-12


@pytest.mark.parametrize("name", ["uniform", "zipf", "skewed"])
def test_a_small_epsilon_leaves_the_prior(name):
    found = attack(PRIORS[name], SecretTraining.private(0.1))
    assert found.posterior.low <= found.prior + 0.005
    assert found.bound.value < found.prior + 0.01


@pytest.mark.states("Narcissus theory", "4.6", "10")
def test_the_attack_reaches_the_bound_where_the_guarantee_is_tight():
    """A bit, unclipped: the logits are a Gaussian test at distance mu, whose optimum is known."""
    for epsilon in (1.0, 5.0):
        training = SecretTraining.private(epsilon)
        found = attack(PRIORS["bit"], training)
        exact = special.ndtr(training.guarantee.mu / 2)
        assert math.isclose(found.bound.value, exact, abs_tol=2e-5)
        assert found.posterior.low <= exact <= found.posterior.high
    zipf = attack(PRIORS["zipf"], SecretTraining.private(5.0))
    assert zipf.posterior.high > zipf.bound.value - 0.02


def test_a_skewed_prior_decides_where_the_model_says_nothing():
    """With hopeless noise the prior-aware attacker names the likeliest, the published one not."""
    found = attack_secrets(PRIORS["skewed"], SecretTraining(1e6), models=2000, rng=2)
    assert found.posterior_baseline == pytest.approx(0.6)
    assert found.published_baseline == pytest.approx(0.1, abs=0.03)
    assert found.remarks == ()


def test_the_posterior_guess_needs_its_game():
    release, rng = np.zeros((1, 2)), np.random.default_rng(0)
    with pytest.raises(InputError, match="prepare"):
        PosteriorGuess().attempt(release, None, rng)
    game = Game(Secret([0.5, 0.5]), Constant(), NamesSecret(2))
    with pytest.raises(InputError, match="TrainedOnSecret"):
        PosteriorGuess().prepare(game)


def test_same_seed_same_attack():
    first, again = (
        attack_secrets(PRIORS["bit"], SecretTraining(1.0), models=50, rng=3) for _ in range(2)
    )
    assert first == again


def test_the_bound_is_the_best_of_the_theorems(monkeypatch):
    training = SecretTraining.private(1.0)
    few = {"models": 50, "shadow_models": 200, "rng": 1}
    found = attack_secrets(PRIORS["skewed"], training, **few).bound
    assert (found.id, found.quantity) == ("one-target-optimum", "success on one target")
    assert found.value == optimum(PRIORS["skewed"], training.guarantee)[0]
    own = replace(THEOREMS["one-target-optimum"], id="own", limit=lambda q: 0.0)
    monkeypatch.setitem(THEOREMS, "own", own)
    assert attack_secrets(PRIORS["skewed"], training, **few).bound.id == "own"


def test_ranking_names_what_rose_most():
    start = np.array([3.0, 0.0, 0.0])
    game = Game(
        Secret([0.8, 0.1, 0.1]), TrainedOnSecret(SecretTraining(1.0), 3, start), NamesSecret(3)
    )
    rng, release = np.random.default_rng(0), np.array([[3.1, 0.5, 0.0], [4.0, 0.5, 0.0]])
    attack = RankingGuess().prepare(game)
    assert attack.attempt(release, None, rng).tolist() == [1, 0]
    assert PublishedGuess().attempt(release, None, rng).tolist() == [0, 0]
    zero = Game(game.world, TrainedOnSecret(SecretTraining(1.0), 3), NamesSecret(3))
    same = RankingGuess().prepare(zero).attempt(release, None, rng)
    assert same.tolist() == [0, 0]  # without a start it is the published one
    with pytest.raises(InputError, match="prepare"):
        RankingGuess().attempt(release, None, rng)
    with pytest.raises(InputError, match="TrainedOnSecret"):
        RankingGuess().prepare(Game(game.world, Constant(), NamesSecret(3)))


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
