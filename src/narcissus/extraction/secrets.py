"""Secrets in n-gram models trained with DP-SGD: thousands of models trained and attacked at once.

A character n-gram model predicts the last character of a canary from the ones before. Those are
fixed, and training is lazy (only parameters that the canary touches are trained), so what a model
learns about the secret is one softmax over the characters: a vector of logits, here a row of an
array of models. The attacker sees the logits after the last step.

Source: Swanberg et al. 2025, section 5; Narcissus theory 4.6 and 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import distribution, integer, positive
from narcissus.bounds.one_target import optimum
from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson
from narcissus.guarantees import GaussianDP
from narcissus.results import Bound, Estimate, Grade, Result

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class SecretTraining:
    """DP-SGD on one canary: every step clips its gradient and adds Gaussian noise.

    Attributes
    ----------
    noise
        Standard deviation of the noise of a step, as a multiple of ``clip``; 0 adds none.
    clip
        Largest L2 norm of the canary's gradient. No softmax gradient exceeds the root of 2.
    steps
        Steps, each on the whole data (one canary: there is nothing to sample).
    learning_rate
        Step size. The smaller, the closer the last logits are to a sufficient statistic of all
        noisy gradients; a large one forgets.

    Notes
    -----
    The guarantee is exact for the sum of the steps as an attacker sees all of them: replacing the
    canary moves a clipped gradient by at most ``min(2 clip, sqrt 2)``, since two softmax gradients
    at the same logits differ by the difference of two unit vectors and clipping brings points
    closer; ``steps`` Gaussian steps compose to one with ``sqrt(steps)`` times the ``mu``. Opacus
    accounts for adding or removing the canary, by ``clip`` a step.
    """

    noise: float
    clip: float = math.sqrt(2)
    steps: int = 100
    learning_rate: float = 0.01

    def __post_init__(self) -> None:
        if self.noise != 0:
            positive("noise", self.noise)
        positive("clip", self.clip)
        integer("steps", self.steps, low=1)
        positive("learning_rate", self.learning_rate)

    @property
    def guarantee(self) -> GaussianDP:
        """What the training guarantees about the canary, replace-one."""
        if self.noise == 0:
            raise InputError("training without `noise` guarantees nothing")
        return GaussianDP(self._mu_at_noise_1(self.clip, self.steps) / self.noise)

    @staticmethod
    def _mu_at_noise_1(clip: float, steps: int) -> float:
        return math.sqrt(steps) * min(2 * clip, math.sqrt(2)) / clip

    @classmethod
    def private(
        cls,
        epsilon: float,
        delta: float = 1e-5,
        *,
        clip: float = math.sqrt(2),
        steps: int = 100,
        learning_rate: float = 0.01,
    ) -> SecretTraining:
        """Choose the noise that makes the training (epsilon, delta)-DP, replace-one, exactly."""
        mu = GaussianDP.from_epsilon_delta(epsilon, delta).mu
        noise = cls._mu_at_noise_1(positive("clip", clip), integer("steps", steps, low=1)) / mu
        return cls(noise, clip, steps, learning_rate)


def train_models(
    secrets: ArrayLike, values: int, training: SecretTraining, *, rng: RandomSource = None
) -> FloatArray:
    """Train one model for each secret.

    Parameters
    ----------
    secrets
        Number of the last character in each canary, shape (models,), in 0 .. values - 1.
    values
        How many characters there are.
    training
        How.
    rng
        Draws the noise.

    Returns
    -------
    array of shape (models, values)
        Logits after the last step; all models start from 0.
    """
    values = integer("values", values, low=2)
    numbers = np.asarray(secrets)
    if numbers.ndim != 1 or numbers.size == 0 or not np.issubdtype(numbers.dtype, np.integer):
        raise InputError("`secrets` must be a non-empty vector of whole numbers")
    if numbers.min() < 0 or numbers.max() >= values:
        raise InputError(f"`secrets` must lie in 0 .. {values - 1}")
    random = generator(rng)
    models = np.arange(numbers.size)
    logits = np.zeros((numbers.size, values))
    scale = training.noise * training.clip
    for _ in range(training.steps):
        gradient = np.exp(logits - logits.max(axis=1, keepdims=True))
        gradient /= gradient.sum(axis=1, keepdims=True)
        gradient[models, numbers] -= 1.0
        norm = np.linalg.norm(gradient, axis=1, keepdims=True)
        gradient *= np.minimum(1.0, training.clip / np.maximum(norm, 1e-300))
        if scale > 0:
            gradient += random.normal(0.0, scale, logits.shape)
        logits -= training.learning_rate * gradient
    return logits


def published_guess(logits: ArrayLike) -> IntArray:
    """Name the character that the model finds likeliest, as published; shape (models,)."""
    return np.asarray(logits).argmax(axis=1)


@dataclass(frozen=True)
class _Likelihood:
    """Gaussian model of the logits given the secret, from models that the attacker trained.

    By symmetry one secret stands for all: the mean at the secret and elsewhere, and a covariance
    of the form ``a I + b 11' + c (e 1' + 1 e') + d e e'``, estimated by averaging over the other
    characters.
    """

    mean: FloatArray
    precision: FloatArray

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

    def log_density(self, logits: FloatArray) -> FloatArray:
        """Give the log density under each secret up to a constant, shape (models, values)."""
        values = logits.shape[1]
        scores = np.empty_like(logits)
        for secret in range(values):
            order = np.r_[secret, np.delete(np.arange(values), secret)]
            centred = logits[:, order] - self.mean
            scores[:, secret] = -0.5 * np.einsum("mi,ij,mj->m", centred, self.precision, centred)
        return scores


def posterior_guess(
    logits: ArrayLike,
    prior: ArrayLike,
    training: SecretTraining,
    *,
    shadow_models: int = 4000,
    rng: RandomSource = None,
) -> IntArray:
    """Name the likeliest character given the model *and* the prior.

    The attacker trains ``shadow_models`` models of their own on canaries of their own, learns how
    logits scatter around a secret, and weighs that likelihood by the prior: the best attack there
    is, as far as the logits are Gaussian (they are for small learning rates).

    Parameters
    ----------
    logits
        From the models under attack, shape (models, values).
    prior
        Distribution of the secret, shape (values,).
    training
        How the models were trained, which is public.
    shadow_models
        Models that the attacker trains.
    rng
        Draws their noise.

    Source: Narcissus theory 10 (Swanberg et al. 2025 name the missing prior as their attack's
    weakness, section 5.3).
    """
    weights = distribution("prior", prior)
    array = np.asarray(logits, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != weights.size:
        raise InputError(
            f"`logits` must have the shape (models, {weights.size}), got {array.shape}"
        )
    learnt = _Likelihood.learn(training, weights.size, shadow_models, generator(rng))
    with np.errstate(divide="ignore"):
        return (learnt.log_density(array) + np.log(weights)).argmax(axis=1)


@dataclass(frozen=True)
class SecretAttack(Result):
    """Success of the attacks on many models, beside what is known without and what is proved.

    Attributes
    ----------
    published, posterior
        Share of secrets named right by each attack.
    published_baseline, posterior_baseline
        The same guesses held against fresh secrets, exactly from the prior.
    prior
        Success of naming the likeliest secret without any model.
    bound
        What no attacker exceeds: the optimum of theory 4.6; None without noise.
    """

    published: Estimate
    posterior: Estimate
    published_baseline: float
    posterior_baseline: float
    prior: float
    bound: Bound | None

    @property
    def grade(self) -> Grade:
        """'sampled'."""
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

    Parameters
    ----------
    prior
        Distribution of the secret character, shape (values,).
    training
        How the models are trained.
    models
        How many (the paper: 2,000).
    shadow_models
        Models that the prior-aware attacker trains to learn the likelihood.
    confidence
        Level of the limits.
    rng
        Draws secrets and noise.

    Examples
    --------
    >>> found = attack_secrets([0.1] * 10, SecretTraining.private(10.0), models=200, rng=1)
    >>> found.published.value > found.prior
    True
    """
    weights = distribution("prior", prior)
    models = integer("models", models, low=1)
    random = generator(rng)
    secrets = random.choice(weights.size, models, p=weights)
    logits = train_models(secrets, weights.size, training, rng=random)
    guesses = {
        "published": published_guess(logits),
        "posterior": posterior_guess(
            logits, weights, training, shadow_models=shadow_models, rng=random
        ),
    }
    found = {
        name: clopper_pearson(
            int((guess == secrets).sum()),
            models,
            confidence=confidence,
            quantity=f"secrets named right by the {name} attack",
        )
        for name, guess in guesses.items()
    }
    bound = None
    if training.noise > 0:
        guarantee = training.guarantee
        bound = Bound(
            float(optimum(weights, guarantee)[0]),
            "success in naming the secret, of any attacker",
            "Narcissus theory 4.6",
            (f"the training is {guarantee.describe()}", "the secret is drawn from the prior"),
        )
    return SecretAttack(
        found["published"],
        found["posterior"],
        float(weights[guesses["published"]].mean()),
        float(weights[guesses["posterior"]].mean()),
        float(weights.max()),
        bound,
    )


def zipf_prior(values: int, exponent: float = 1.1) -> FloatArray:
    """Give Zipf's law over ``values`` values, the likeliest first (the paper's passwords)."""
    weights = np.arange(1, integer("values", values, low=1) + 1.0) ** -positive(
        "exponent", exponent
    )
    return weights / weights.sum()
