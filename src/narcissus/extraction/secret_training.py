"""Training an n-gram model on a secret with DP-SGD: thousands of models at once.

A character n-gram model predicts the last character of a canary from the ones before. The context
is fixed and training is lazy: only parameters that the canary touches are trained. So a model
learns one softmax over the characters about the secret: a vector of logits, here a row of an array
of models. The attacker sees the logits after the last step.

Source: Swanberg et al. 2025, section 5; Narcissus theory 4.6 and 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP

FloatArray = NDArray[np.float64]


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
        noisy gradients; large steps forget.

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
        """Guarantee of the training for the canary, replace-one."""
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
    secrets: ArrayLike,
    values: int,
    training: SecretTraining,
    *,
    start: ArrayLike | None = None,
    rng: RandomSource = None,
) -> FloatArray:
    """Train one model for each secret.

    Parameters
    ----------
    secrets
        Index of the last character in each canary, shape (models,), in 0 .. values - 1.
    values
        Number of characters.
    training
        Parameters of the training.
    start
        Initial logits, shape (values,), as of a pretrained model. None: all 0.
    rng
        Draws the noise.

    Returns
    -------
    array of shape (models, values)
        Logits after the last step.
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
    if start is not None:
        logits += _start(start, values)
    scale = training.noise * training.clip
    for _ in range(training.steps):
        # By columns the largest of a few logits is found six times as fast.
        gradient = np.exp(logits - np.asfortranarray(logits).max(axis=1, keepdims=True))
        gradient /= gradient.sum(axis=1, keepdims=True)
        gradient[models, numbers] -= 1.0
        norm = np.linalg.norm(gradient, axis=1, keepdims=True)
        gradient *= np.minimum(1.0, training.clip / np.maximum(norm, 1e-300))
        if scale > 0:
            gradient += random.normal(0.0, scale, logits.shape)
        logits -= training.learning_rate * gradient
    return logits


def _start(start: ArrayLike, values: int) -> FloatArray:
    found = np.asarray(start, dtype=np.float64)
    if found.shape != (values,) or not np.isfinite(found).all():
        raise InputError(f"`start` must hold {values} finite logits, got shape {found.shape}")
    return found


@runtime_checkable
class TrainsOnSecrets(Protocol):
    """A mechanism that trains a model on each secret and releases its logits."""

    @property
    def training(self) -> SecretTraining:
        """Parameters of the training."""
        ...

    @property
    def values(self) -> int:
        """Number of values of a secret."""
        ...

    @property
    def start(self) -> FloatArray | None:
        """Initial logits, shape (values,); None: 0, which makes all secrets alike."""
        ...

    def without_noise(self) -> TrainsOnSecrets:
        """Return the same training without noise."""
        ...

    def release(self, data: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Train a model for each secret; logits of shape (trials, values)."""
        ...


@dataclass(frozen=True, eq=False)
class TrainedOnSecret:
    """The mechanism that releases a model trained on a secret character.

    Parameters
    ----------
    training
        Parameters of the training.
    values
        Number of characters.
    start
        Initial logits of all models, shape (values,); None: 0.
    """

    training: SecretTraining
    values: int
    start: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.start is not None:
            _start(self.start, self.values)

    def without_noise(self) -> TrainedOnSecret:
        return replace(self, training=replace(self.training, noise=0.0))

    def release(self, data: ArrayLike, rng: np.random.Generator) -> FloatArray:
        return train_models(data, self.values, self.training, start=self.start, rng=rng)


def trained_on_secret(
    values: int,
    noise: float,
    clip: float = math.sqrt(2),
    steps: int = 100,
    learning_rate: float = 0.01,
) -> TrainedOnSecret:
    """Release the logits of a model trained on a secret character with DP-SGD.

    Parameters
    ----------
    values
        Number of characters.
    noise
        Standard deviation of the noise of a step, as a multiple of ``clip``; 0 adds none.
    clip
        Largest L2 norm of the gradient.
    steps
        Steps of training, each on the whole data.
    learning_rate
        Step size.

    Examples
    --------
    >>> trained_on_secret(10, 2.0).training.guarantee.mu
    5.0
    """
    training = SecretTraining(noise, clip, steps, learning_rate)
    return TrainedOnSecret(training, integer("values", values, low=2))
