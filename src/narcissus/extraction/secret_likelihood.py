"""How logits scatter around a secret, learnt by an attacker who trains models of their own.

Source: Narcissus theory 10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from narcissus._random import RandomSource, generator
from narcissus.errors import InputError
from narcissus.extraction.secret_training import (
    FloatArray,
    SecretTraining,
    TrainsOnSecrets,
    train_models,
)

IntArray = NDArray[np.int64]
_LARGEST_TRUST = 4.0  # times the density of the fitted Gaussian: models that start far from linear


class LogitLikelihood(Protocol):
    """How likely logits are given each secret."""

    def log_density(self, logits: FloatArray) -> FloatArray:
        """Give the log density under each secret up to a constant, shape (models, values)."""
        ...


def learnt_likelihood(
    mechanism: TrainsOnSecrets, chances: FloatArray, models: int, rng: RandomSource
) -> LogitLikelihood:
    """Train models as the mechanism does, and learn from them.

    Parameters
    ----------
    mechanism
        How models are trained, and what they start from.
    chances
        The prior, shape (values,).
    models
        How many the attacker trains.
    rng
        Draws their secrets and noise.
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

    mean: FloatArray
    precision: FloatArray

    @classmethod
    def learn(cls, training: SecretTraining, values: int, models: int, rng: RandomSource) -> Self:
        """Train models on one secret, and learn from their logits."""
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


@dataclass(frozen=True)
class PretrainedLikelihood:
    """Gaussian model of the logits given the secret, where models start from a pretrained one.

    The secrets are not alike then. The centre of each is what training without noise gives; one
    covariance for all is that of noisy models around their centre. How far to trust both is fitted
    on further models, by the likelihood of their secrets: at no trust at all the attacker names
    the likeliest secret, so that a poor fit costs little.
    """

    centres: FloatArray
    precision: FloatArray
    trust: float = 1.0

    @classmethod
    def learn(
        cls, mechanism: TrainsOnSecrets, chances: FloatArray, models: int, rng: RandomSource
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
        found = cls(centres + bias, np.asarray(precision, dtype=np.float64))
        return replace(found, trust=found._trust(logits[half:], secrets[half:], chances))

    def _trust(self, logits: FloatArray, secrets: IntArray, chances: FloatArray) -> float:
        """Find the power of the density under which the secrets are likeliest."""
        density = replace(self, trust=1.0).log_density(logits)
        with np.errstate(divide="ignore"):
            prior = np.log(chances)

        def surprise(trust: float) -> float:
            scores = prior + trust * density
            own = scores[np.arange(len(secrets)), secrets]
            return float((special.logsumexp(scores, axis=1) - own).mean())

        found = optimize.minimize_scalar(
            surprise, bounds=(0.0, _LARGEST_TRUST), method="bounded", options={"xatol": 1e-4}
        )
        return float(found.x)

    def log_density(self, logits: FloatArray) -> FloatArray:
        """Give the log density under each secret up to a constant, shape (models, values)."""
        weighed = self.centres @ self.precision
        own = 0.5 * np.einsum("vi,vi->v", weighed, self.centres)
        return self.trust * (logits @ weighed.T - own)
