"""Models trained on a secret with DP-SGD, thousands at the same time.

A character n-gram model predicts the last character of a canary from the ones before. The context
is fixed and training is lazy: only parameters that the canary touches are trained. So a model
learns one softmax over the characters about the secret: a vector of logits, here a row of an array
of models. The attacker sees the logits after the last step. A small network, fine-tuned on private
documents, reads a context and predicts what comes next; everything but the secret is public, since
an attacker of differential privacy knows all other documents.

A study specifies the training by its epsilon. Adding a canary moves a step by the clipping norm,
replacing one by twice that: libraries account so, and the noise follows them. But two softmax
gradients differ by less, except for very small norms. So the training guarantees more than its
noise was made for, and reports this.

Source: Swanberg et al. 2025, sections 5 and 5.2; Narcissus theory 4.6 and 10; per-example clipping
as in Abadi et al. 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from narcissus._arrays import Floats, IntArray
from narcissus._options import Level
from narcissus._random import RandomSource, child, generator
from narcissus._validation import between, integer, one_of, positive
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP
from narcissus.guarantees.training import training_program

NEIGHBOURS = ("replace-one", "add-remove")
RATES = tuple(float(rate) for rate in np.geomspace(1e-4, 1.0, 17))
"""Learning rates that are tried, each divided by the steps and times 10."""
_PILOTS = 1000  # models that try each learning rate
_AT_ONCE = 500  # networks whose gradients are held at once
STARTS = ("prior", "zero", "public")
SENSITIVITIES = ("clip", "softmax")


@dataclass(frozen=True)
class SecretTraining:
    """DP-SGD on one canary: every step clips its gradient and adds Gaussian noise.

    noise: standard deviation of the noise of a step, as a multiple of ``clip``; 0 adds none.
    clip: largest L2 norm of the canary's gradient. No softmax gradient exceeds the root of 2.
    steps: steps, each on the whole data (one canary: there is nothing to sample).
    learning_rate: step size. The smaller, the closer the last logits are to a sufficient statistic
        of all noisy gradients; large steps forget.

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
            raise InputError("training needs `noise` for a guarantee")
        program = training_program(self.steps, self.noise, self.clip)
        return GaussianDP(self._mu_at_noise_1(self.clip, self.steps) / self.noise, program=program)

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
) -> Floats:
    """Train one model for each secret.

    secrets: index of the last character in each canary, shape (models,), in 0 .. values - 1.
    start: initial logits, shape (values,), as of a pretrained model. None: all 0.
    Returns: shape (models, values): logits after the last step.
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


def _start(start: ArrayLike, values: int) -> Floats:
    logits = np.asarray(start, dtype=np.float64)
    if logits.shape != (values,) or not np.isfinite(logits).all():
        raise InputError(f"`start` must hold {values} finite logits, got shape {logits.shape}")
    return logits


@runtime_checkable
class TrainsOnSecrets(Protocol):
    """A mechanism that trains a model on each secret and releases its logits."""

    @property
    def training(self) -> SecretTraining: ...

    @property
    def values(self) -> int:
        """Number of values of a secret."""
        ...

    @property
    def start(self) -> Floats | None:
        """Initial logits, shape (values,); None: 0, which makes all secrets alike."""
        ...

    def without_noise(self) -> TrainsOnSecrets: ...

    def release(self, data: ArrayLike, rng: np.random.Generator) -> Floats:
        """Train a model for each secret; logits of shape (trials, values)."""
        ...


@dataclass(frozen=True, eq=False)
class TrainedOnSecret:
    """The mechanism that releases a model trained on a secret character.

    start: initial logits of all models, shape (values,); None: 0.
    """

    training: SecretTraining
    values: int
    start: Floats | None = None

    def __post_init__(self) -> None:
        if self.start is not None:
            _start(self.start, self.values)

    def without_noise(self) -> TrainedOnSecret:
        return replace(self, training=replace(self.training, noise=0.0))

    def release(self, data: ArrayLike, rng: np.random.Generator) -> Floats:
        return train_models(data, self.values, self.training, start=self.start, rng=rng)


def trained_on_secret(
    values: int,
    noise: float,
    clip: float = math.sqrt(2),
    steps: int = 100,
    learning_rate: float = 0.01,
) -> TrainedOnSecret:
    """Release the logits of a model trained on a secret character with DP-SGD.

    values: Number of characters.
    noise: Standard deviation of the noise of a step, as a multiple of ``clip``; 0 adds none.
    clip: Largest L2 norm of the gradient.
    steps: Steps of training, each on the whole data.
    learning_rate: Step size.

    >>> trained_on_secret(10, 2.0).training.guarantee.mu
    5.0
    """
    training = SecretTraining(noise, clip, steps, learning_rate)
    return TrainedOnSecret(training, integer("values", values, low=2))


MadeT = TypeVar("MadeT", bound=TrainsOnSecrets)


@dataclass(frozen=True)
class AskedTraining:
    """DP-SGD specified by its epsilon.

    epsilon: Target of the noise, with `delta` and `neighbours`; a list asks for each. Infinite: no
        noise.
    delta: In (0, 1).
    steps: Steps, each on the whole data.
    clip: Largest L2 norm of a gradient.
    learning_rate: Step size; by default the one of a grid with the least mean loss on simulated
        canaries, as published.
    neighbours: Meaning of `epsilon`: another canary (`replace-one`) or one more (`add-remove`).
        Bounds always use the guarantee for another canary.
    """

    epsilon: Level
    delta: float = 1e-5
    steps: int = 100
    clip: float = 1.0
    learning_rate: float | None = None
    neighbours: Literal["replace-one", "add-remove"] = "replace-one"

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon, allow_infinite=True)
        between("delta", self.delta, 0, 1, open_low=True, open_high=True)
        integer("steps", self.steps, low=1)
        positive("clip", self.clip)
        if self.learning_rate is not None:
            positive("learning_rate", self.learning_rate)
        one_of("neighbours", self.neighbours, NEIGHBOURS)

    @property
    def accounted(self) -> GaussianDP | None:
        """The noise's target guarantee for `neighbours`; None without noise."""
        if math.isinf(self.epsilon):
            return None
        return GaussianDP.from_epsilon_delta(self.epsilon, self.delta, adjacency=self.neighbours)

    @property
    def apart(self) -> float:
        """Largest distance of two neighbours in a step, in clipping norms."""
        return 2.0 if self.neighbours == "replace-one" else 1.0

    @property
    def noise(self) -> float:
        """Standard deviation of a step's noise, as a multiple of ``clip``."""
        accounted = self.accounted
        return 0.0 if accounted is None else math.sqrt(self.steps) * self.apart / accounted.mu

    def chosen(self, made: Callable[[float], MadeT], chances: Floats) -> MadeT:
        """Return the mechanism with the given learning rate, or the best of the grid.

        That is the one with the least mean loss on simulated canaries, the same for every rate.
        """
        if self.learning_rate is not None:
            return made(self.learning_rate)

        def loss(mechanism: TrainsOnSecrets) -> float:
            rng = child(0, self.steps, chances.size)
            secrets = rng.choice(chances.size, size=_PILOTS, p=chances / chances.sum())
            logits = mechanism.release(secrets, rng)
            secret_logits = logits[np.arange(_PILOTS), secrets]
            return float((special.logsumexp(logits, axis=1) - secret_logits).mean())

        return min((made(10 * rate / self.steps) for rate in RATES), key=loss)


@dataclass(frozen=True)
class NetworkTraining(SecretTraining):
    """DP-SGD on all documents at the same time, whose gradients may point in any direction."""

    @property
    def guarantee(self) -> GaussianDP:
        """Replace-one guarantee for a document: sensitivity 2 clip in each step."""
        accounted = super().guarantee  # refuses training without noise
        return replace(accounted, mu=2 * math.sqrt(self.steps) / self.noise)


@dataclass(frozen=True, eq=False)
class PublicNetwork:
    """A network with one hidden layer before fine-tuning, and the known documents."""

    # before each next character, shape (documents, inputs); the secret's is the last
    contexts: Floats
    follows: IntArray  # next characters of all but the last, shape (documents - 1,)
    inner: Floats  # weights, shape (inputs, hidden)
    outer: Floats  # weights, shape (hidden, values)
    bias: Floats  # shape (values,)

    @classmethod
    def drawn(cls, chances: Floats, documents: int, hidden: int) -> PublicNetwork:
        """Draw a network as if pretrained on public text: its output bias is the log prior."""
        rng = child(0, documents, hidden, chances.size)
        contexts = rng.choice([-1.0, 1.0], size=(documents, hidden)) / math.sqrt(hidden)
        follows = rng.choice(chances.size, size=documents - 1, p=chances / chances.sum())
        inner = rng.normal(size=(hidden, hidden))
        outer = rng.normal(size=(hidden, chances.size)) * 0.1 / math.sqrt(hidden)
        bias = np.log(np.maximum(chances, 1e-12))
        return cls(contexts, follows, inner, outer, bias)

    def logits(self) -> Floats:
        """Return the logits after the secret's context, before fine-tuning, shape (values,)."""
        return np.tanh(self.contexts[-1] @ self.inner) @ self.outer + self.bias


@dataclass(frozen=True, eq=False)
class FineTunedOnSecret:
    """The mechanism that releases a network fine-tuned on a secret and on other documents."""

    training: NetworkTraining
    network: PublicNetwork  # initial weights and known documents

    @property
    def values(self) -> int:
        return self.network.bias.size

    @property
    def start(self) -> Floats:
        return self.network.logits()

    def without_noise(self) -> FineTunedOnSecret:
        return replace(self, training=replace(self.training, noise=0.0))

    def release(self, data: ArrayLike, rng: np.random.Generator) -> Floats:
        secrets = np.asarray(data)
        parts = [secrets[i : i + _AT_ONCE] for i in range(0, len(secrets), _AT_ONCE)]
        return np.concatenate([self._train(part, rng) for part in parts])

    def _train(self, secrets: IntArray, rng: np.random.Generator) -> Floats:
        known, training, models = self.network, self.training, len(secrets)
        weights = [
            np.repeat(part[None], models, axis=0)
            for part in (known.inner, known.outer, known.bias[None])
        ]
        follows = np.column_stack([np.repeat(known.follows[None], models, axis=0), secrets])
        scale = training.noise * training.clip
        for _ in range(training.steps):
            sums = clipped_sums(known.contexts, follows, weights, training.clip)
            for part, gradient in zip(weights, sums, strict=True):
                if scale > 0:
                    np.add(gradient, rng.normal(0.0, scale, part.shape), out=gradient)
                np.subtract(part, training.learning_rate * gradient, out=part)
        inner, outer, bias = weights
        last = np.tanh(known.contexts[-1] @ inner)
        return np.einsum("mh,mhv->mv", last, outer) + bias[:, 0]


def clipped_sums(
    contexts: Floats, follows: IntArray, weights: list[Floats], clip: float
) -> list[Floats]:
    """Sum all documents' gradients, each clipped separately, for many networks at the same time.

    ``contexts`` has shape (documents, inputs), ``follows`` (models, documents). ``weights`` and the
    result have shapes (models, inputs, hidden), (models, hidden, values) and (models, 1, values).

    A layer's gradient is an outer product for each document. Its norm is the product of two norms,
    so no document's gradient is written out.
    """
    inner, outer, bias = weights
    hidden = np.tanh(contexts @ inner)
    logits = hidden @ outer + bias
    above = np.exp(logits - logits.max(axis=2, keepdims=True))
    above /= above.sum(axis=2, keepdims=True)
    models, documents = np.ogrid[: follows.shape[0], : follows.shape[1]]
    above[models, documents, follows] -= 1.0
    below = (above @ outer.transpose(0, 2, 1)) * (1.0 - hidden**2)
    norms = (above**2).sum(axis=2) * ((hidden**2).sum(axis=2) + 1.0)
    norms += (below**2).sum(axis=2) * (contexts**2).sum(axis=1)
    factors = np.minimum(1.0, clip / np.maximum(np.sqrt(norms), 1e-300))[:, :, None]
    above, below = above * factors, below * factors
    return [contexts.T @ below, hidden.transpose(0, 2, 1) @ above, above.sum(axis=1, keepdims=True)]


@dataclass(frozen=True)
class FineTune(AskedTraining):
    """A small network with a hidden layer, fine-tuned with DP-SGD on documents and a secret.

    documents: Training documents, including the secret's; the others are known.
    hidden: Units of the hidden layer, and inputs.
    """

    documents: int = 10
    hidden: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("documents", self.documents, low=1, high=1000)
        integer("hidden", self.hidden, low=1, high=256)

    @property
    def work(self) -> float:
        """Work of a step for each network and value, in units of an n-gram logit."""
        return float(self.documents * max(1, self.hidden // 4))

    @property
    def start(self) -> str:
        """Starting point of the networks, as a word in the record."""
        return "network"

    def trained_on(self, chances: Floats) -> FineTunedOnSecret:
        network = PublicNetwork.drawn(chances, self.documents, self.hidden)
        how = (self.noise, self.clip, self.steps)
        return self.chosen(
            lambda rate: FineTunedOnSecret(NetworkTraining(*how, rate), network), chances
        )


@dataclass(frozen=True)
class NgramDpSgd(AskedTraining):
    """A character n-gram model, trained on a canary with DP-SGD; only its last character is secret.

    start: Initial logits: `prior`, the logarithm of the prior, as after pretraining on unlimited
        public text; `public`, counts of `public` canaries; `zero`, nothing.
    sensitivity: Basis of the noise: `clip`, all that clipping allows, as libraries account it;
        `softmax`, the largest difference of two softmax gradients.
    public: Public canaries, drawn from the prior, that the start `public` counts.
    """

    start: Literal["prior", "zero", "public"] = "prior"
    sensitivity: Literal["clip", "softmax"] = "clip"
    public: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("start", self.start, STARTS)
        one_of("sensitivity", self.sensitivity, SENSITIVITIES)
        integer("public", self.public, low=1)

    @property
    def apart(self) -> float:
        """Assumed distance of two neighbours in a step, in clipping norms."""
        clipped = super().apart
        return min(clipped, math.sqrt(2) / self.clip) if self.sensitivity == "softmax" else clipped

    @property
    def work(self) -> float:
        """Work of a step for each model and value, in logits."""
        return 1.0

    def start_of(self, chances: Floats) -> Floats | None:
        """Return the initial logits of the models, shape (values,); None: 0."""
        if self.start == "zero":
            return None
        if self.start == "prior":
            # what no public text ever had is unlikely to a pretrained model, not impossible
            return np.log(np.maximum(chances, 1e-12))
        drawn = child(0, self.public).multinomial(self.public, chances / chances.sum())
        return np.log((drawn + 1.0) / (self.public + chances.size))

    def trained_on(self, chances: Floats) -> TrainedOnSecret:
        start, how = self.start_of(chances), (self.noise, self.clip, self.steps)
        return self.chosen(
            lambda rate: TrainedOnSecret(SecretTraining(*how, rate), chances.size, start), chances
        )
