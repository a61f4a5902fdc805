"""Secrets in models trained with DP-SGD, attacked by thousands: a game with two attackers.

A secret is drawn from a prior, a model is trained on it (`TrainedOnSecret`), and the attackers name
the secret from the model's logits, whose distribution given a secret they learn from shadow models.

Source: Swanberg et al. 2025, section 5; Narcissus theory 4.6 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from narcissus._arrays import Floats, IntArray, first_largest
from narcissus._options import FilledIn
from narcissus._random import RandomSource, child, entropy_of, generator
from narcissus._validation import distribution, integer, positive
from narcissus.bounds import best, bounds_on, threat
from narcissus.errors import InputError
from narcissus.extraction.secret_training import (
    SecretTraining,
    TrainedOnSecret,
    TrainsOnSecrets,
    train_models,
)
from narcissus.game.loop import named_right
from narcissus.game.rules import Game
from narcissus.results import Bound, Estimate, Grade, Result
from narcissus.success.relations import NamesSecret
from narcissus.worlds import Secret

_LARGEST_TRUST = 4.0  # times the density of the fitted Gaussian: models that start far from linear


class LogitLikelihood(Protocol):
    """Likelihood of logits given each secret."""

    def log_density(self, logits: Floats) -> Floats:
        """Return the log density under each secret up to a constant, shape (models, values)."""
        ...


def learnt_likelihood(
    mechanism: TrainsOnSecrets, chances: Floats, models: int, rng: RandomSource
) -> LogitLikelihood:
    """Train shadow models as the mechanism does, and learn the likelihood of logits from them.

    ``chances`` is the prior, shape (values,); ``rng`` draws the ``models`` secrets and their noise.
    """
    if mechanism.start is None:
        return SymmetricLikelihood.learn(mechanism.training, chances.size, models, rng)
    return PretrainedLikelihood.learn(mechanism, chances, models, rng)


@dataclass(frozen=True)
class SymmetricLikelihood:
    """Gaussian model of the logits given the secret, where all models start from 0.

    By symmetry one secret stands for all: the mean at the secret and elsewhere, and a covariance
    of the form ``a I + b 11' + c (e 1' + 1 e') + d e e'``, estimated by averaging over the other
    characters.
    """

    mean: Floats
    precision: Floats

    @classmethod
    def learn(cls, training: SecretTraining, values: int, models: int, rng: RandomSource) -> Self:
        sample = train_models(np.zeros(models, dtype=np.int64), values, training, rng=rng)
        rest = sample[:, 1:]
        mean = np.concatenate([[sample[:, 0].mean()], np.full(values - 1, rest.mean())])
        centred = sample - mean
        raw = centred.T @ centred / models
        covariance = np.empty((values, values))
        others = raw[1:, 1:]
        diagonal = others.diagonal().mean()
        off = (others.sum() - others.diagonal().sum()) / max(1, (values - 1) * (values - 2))
        covariance[1:, 1:] = off
        np.fill_diagonal(covariance, diagonal)
        covariance[0, 0] = raw[0, 0]
        covariance[0, 1:] = covariance[1:, 0] = raw[0, 1:].mean()
        # Without noise the model is certain; a floor keeps the precision finite.
        floor = 1e-12 * max(1.0, float(np.abs(mean).max())) ** 2
        precision = np.linalg.inv(covariance + floor * np.eye(values))
        return cls(mean, np.asarray(precision, dtype=np.float64))

    def log_density(self, logits: Floats) -> Floats:
        values = logits.shape[1]
        scores = np.empty_like(logits)
        for secret in range(values):
            order = np.r_[secret, np.delete(np.arange(values), secret)]
            centred = logits[:, order] - self.mean
            scores[:, secret] = -0.5 * np.einsum("mi,ij,mj->m", centred, self.precision, centred)
        return scores


@dataclass(frozen=True)
class PretrainedLikelihood:
    """Gaussian model of the logits given the secret, where models start from a pretrained one.

    Here the secrets are not alike. Training without noise gives the centre of each; noisy models
    around their centres give one covariance for all. A trust in both is fitted on further models,
    by the likelihood of their secrets. At no trust the attacker names the likeliest secret, so a
    poor fit costs little.
    """

    centres: Floats
    precision: Floats
    trust: float = 1.0

    @classmethod
    def learn(
        cls, mechanism: TrainsOnSecrets, chances: Floats, models: int, rng: RandomSource
    ) -> Self:
        """Train models on secrets from the prior: half for the covariance, half for the trust."""
        if models < 2:
            raise InputError(f"`shadow_models` must be at least 2, got {models}")
        random = generator(rng)
        values = chances.size
        centres = mechanism.without_noise().release(np.arange(values), random)
        secrets = random.choice(values, size=models, p=chances / chances.sum())
        logits = mechanism.release(secrets, random)
        half = models // 2
        rest = logits[:half] - centres[secrets[:half]]
        bias = rest.mean(axis=0)
        covariance = (rest - bias).T @ (rest - bias) / half
        # What noise moves all logits by says nothing; a floor keeps the precision finite.
        floor = 1e-9 * max(1e-12, float(np.trace(covariance)) / values)
        floor = max(floor, 1e-12 * max(1.0, float(np.abs(centres).max())) ** 2)
        precision = np.linalg.inv(covariance + floor * np.eye(values))
        likelihood = cls(centres + bias, np.asarray(precision, dtype=np.float64))
        return replace(likelihood, trust=likelihood._trust(logits[half:], secrets[half:], chances))

    def _trust(self, logits: Floats, secrets: IntArray, chances: Floats) -> float:
        """Find the power of the density under which the secrets are likeliest."""
        density = replace(self, trust=1.0).log_density(logits)
        with np.errstate(divide="ignore"):
            prior = np.log(chances)

        def surprise(trust: float) -> float:
            scores = prior + trust * density
            secret_scores = scores[np.arange(len(secrets)), secrets]
            return float((special.logsumexp(scores, axis=1) - secret_scores).mean())

        optimum = optimize.minimize_scalar(
            surprise, bounds=(0.0, _LARGEST_TRUST), method="bounded", options={"xatol": 1e-4}
        )
        return float(optimum.x)

    def log_density(self, logits: Floats) -> Floats:
        weighed = self.centres @ self.precision
        offsets = 0.5 * np.einsum("vi,vi->v", weighed, self.centres)
        return self.trust * (logits @ weighed.T - offsets)


PUBLISHED, POSTERIOR = "published attack", "posterior attack"


@dataclass(frozen=True)
class PublishedGuess:
    """Name the character that the model finds likeliest, as published."""

    def attempt(self, release: Floats, known: Any, rng: np.random.Generator) -> IntArray:
        return release.argmax(axis=1)


@dataclass(frozen=True)
class PosteriorGuess:
    """Name the likeliest character given the model *and* the prior.

    The attacker trains ``shadow_models`` models on separate canaries, learns the distribution of
    logits given a secret, and weighs that likelihood by the prior. This is the best attack if the
    logits are Gaussian (they are for small learning rates).

    Source: Narcissus theory 10 (Swanberg et al. 2025 name the missing prior as their attack's
    weakness, section 5.3).

    shadow_models: Models that the attacker trains.
    seed: Seed of their noise.
    """

    shadow_models: int = 4000
    seed: int = 0
    likelihood: Annotated[LogitLikelihood | None, FilledIn()] = None
    log_prior: Annotated[Floats | None, FilledIn()] = None

    def prepare(self, game: Any) -> PosteriorGuess:
        """Train the shadow models, which are public except for their noise."""
        if not (isinstance(game.world, Secret) and isinstance(game.mechanism, TrainsOnSecrets)):
            raise InputError(
                "the posterior guess needs the world `Secret` and a mechanism that trains on "
                "secrets, such as `TrainedOnSecret`"
            )
        chances = game.world.chances
        learnt = learnt_likelihood(game.mechanism, chances, self.shadow_models, self.seed)
        with np.errstate(divide="ignore"):
            return replace(self, likelihood=learnt, log_prior=np.log(chances))

    def attempt(self, release: Floats, known: Any, rng: np.random.Generator) -> IntArray:
        if self.likelihood is None or self.log_prior is None:
            raise InputError("call `prepare` first: the attack needs the prior and the training")
        return first_largest(self.likelihood.log_density(release) + self.log_prior)


@dataclass(frozen=True)
class RankingGuess:
    """Name the character whose probability the training raised most, over the model before it.

    The model before training is public (pretrained) or known from the prior; it takes the place of
    the ranking attack's model of other data. Without one, the ranking is that of `PublishedGuess`.

    Source: Carlini et al. 2021 as recounted by Cohen et al. 2024, D.3.
    """

    start: Annotated[Floats | None, FilledIn()] = None

    def prepare(self, game: Any) -> RankingGuess:
        """Take the model before training from the game."""
        if not isinstance(game.mechanism, TrainsOnSecrets):
            raise InputError(
                "the ranking guess needs a mechanism that trains on secrets, such as "
                "`TrainedOnSecret`"
            )
        start = game.mechanism.start
        return RankingGuess(np.zeros(game.mechanism.values) if start is None else start)

    def attempt(self, release: Floats, known: Any, rng: np.random.Generator) -> IntArray:
        if self.start is None:
            raise InputError("call `prepare` first: the attack needs the model before training")
        return (release - self.start).argmax(axis=1)


@dataclass(frozen=True)
class SecretAttack(Result):
    """Success of the attacks on many models, with baselines and a bound."""

    published: Estimate  # published, posterior: share of secrets named correctly by each attack
    posterior: Estimate
    # published_baseline, posterior_baseline: exact success of the same guesses on fresh
    # secrets from the prior
    published_baseline: float
    posterior_baseline: float
    prior: float  # success of naming the likeliest secret without any model
    # best upper bound on any attacker's success in naming the secret; None without noise
    bound: Bound | None
    remarks: tuple[str, ...] = ()  # notes for the reader, such as an attack that failed

    @property
    def grade(self) -> Grade:
        return "sampled"


def attack_secrets(
    prior: ArrayLike,
    training: SecretTraining,
    *,
    models: int = 2000,
    shadow_models: int = 4000,
    confidence: float = 0.95,
    rng: RandomSource = None,
) -> SecretAttack:
    """Draw secrets from a prior, train a model on each, attack them all.

    shadow_models: models that the prior-aware attacker trains to learn the likelihood.

    >>> found = attack_secrets([0.1] * 10, SecretTraining.private(10.0), models=200, rng=1)
    >>> found.published.value > found.prior
    True
    """
    weights = distribution("prior", prior)
    entropy = entropy_of(rng)
    game = Game(Secret(weights), TrainedOnSecret(training, weights.size), NamesSecret(weights.size))
    seed = int(child(entropy, 2).integers(2**63))  # the game itself takes pairs of keys
    attacks = {PUBLISHED: PublishedGuess(), POSTERIOR: PosteriorGuess(shadow_models, seed)}
    estimates, baselines, remarks = named_right(
        game, attacks, trials=integer("models", models, low=1), confidence=confidence, rng=entropy
    )
    bound = None
    if training.noise > 0:
        bound = best(bounds_on(threat(values=weights), training.guarantee, expensive=False))
    return SecretAttack(
        estimates[PUBLISHED],
        estimates[POSTERIOR],
        baselines[PUBLISHED],
        baselines[POSTERIOR],
        float(weights.max()),
        bound,
        remarks,
    )


def zipf_prior(values: int, exponent: float = 1.1) -> Floats:
    """Return Zipf's law over ``values`` values, the likeliest first (the paper's passwords)."""
    weights = np.arange(1, integer("values", values, low=1) + 1.0) ** -positive(
        "exponent", exponent
    )
    return weights / weights.sum()
