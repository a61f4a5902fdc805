"""A small network fine-tuned with DP-SGD on private documents, one of which holds a secret.

The network reads a context and predicts what comes next. Everything but the secret is public: an
attacker of differential privacy knows all other documents. Many networks are trained at once. Only
the logits after the secret's context are released, since a guess needs no others.

Source: Narcissus theory 10; per-example clipping as in Abadi et al. 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._random import child
from narcissus._validation import integer
from narcissus.extraction.asked_training import AskedTraining
from narcissus.extraction.secret_training import FloatArray, SecretTraining
from narcissus.guarantees import GaussianDP

IntArray = NDArray[np.int64]
_AT_ONCE = 500  # networks whose gradients are held at once


@dataclass(frozen=True)
class NetworkTraining(SecretTraining):
    """DP-SGD on all documents at once, whose gradients may point in any direction."""

    @property
    def guarantee(self) -> GaussianDP:
        """Replace-one guarantee for a document: sensitivity 2 clip in each step."""
        accounted = super().guarantee  # refuses training without noise
        return replace(accounted, mu=2 * math.sqrt(self.steps) / self.noise)


@dataclass(frozen=True, eq=False)
class PublicNetwork:
    """A network with one hidden layer before fine-tuning, and the known documents."""

    # before each next character, shape (documents, inputs); the secret's is the last
    contexts: FloatArray
    follows: IntArray  # next characters of all but the last, shape (documents - 1,)
    inner: FloatArray  # weights, shape (inputs, hidden)
    outer: FloatArray  # weights, shape (hidden, values)
    bias: FloatArray  # shape (values,)

    @classmethod
    def drawn(cls, chances: FloatArray, documents: int, hidden: int) -> PublicNetwork:
        """Draw a network as if pretrained on public text: its output bias is the log prior."""
        rng = child(0, documents, hidden, chances.size)
        contexts = rng.choice([-1.0, 1.0], size=(documents, hidden)) / math.sqrt(hidden)
        follows = rng.choice(chances.size, size=documents - 1, p=chances / chances.sum())
        inner = rng.normal(size=(hidden, hidden))
        outer = rng.normal(size=(hidden, chances.size)) * 0.1 / math.sqrt(hidden)
        bias = np.log(np.maximum(chances, 1e-12))
        return cls(contexts, follows, inner, outer, bias)

    def logits(self) -> FloatArray:
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
    def start(self) -> FloatArray:
        return self.network.logits()

    def without_noise(self) -> FineTunedOnSecret:
        return replace(self, training=replace(self.training, noise=0.0))

    def release(self, data: ArrayLike, rng: np.random.Generator) -> FloatArray:
        secrets = np.asarray(data)
        parts = [secrets[i : i + _AT_ONCE] for i in range(0, len(secrets), _AT_ONCE)]
        return np.concatenate([self._train(part, rng) for part in parts])

    def _train(self, secrets: IntArray, rng: np.random.Generator) -> FloatArray:
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
    contexts: FloatArray, follows: IntArray, weights: list[FloatArray], clip: float
) -> list[FloatArray]:
    """Sum all documents' gradients, each clipped separately, for many networks at once.

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
    kept = np.minimum(1.0, clip / np.maximum(np.sqrt(norms), 1e-300))[:, :, None]
    above, below = above * kept, below * kept
    return [contexts.T @ below, hidden.transpose(0, 2, 1) @ above, above.sum(axis=1, keepdims=True)]


@dataclass(frozen=True)
class FineTune(AskedTraining):
    """A small network with a hidden layer, fine-tuned with DP-SGD on documents and a secret.

    Parameters
    ----------
    documents
        Training documents, including the secret's; the others are known.
    hidden
        Units of the hidden layer, and inputs.
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

    def trained_on(self, chances: FloatArray) -> FineTunedOnSecret:
        network = PublicNetwork.drawn(chances, self.documents, self.hidden)

        def made(rate: float) -> FineTunedOnSecret:
            training = NetworkTraining(self.noise, self.clip, self.steps, rate)
            return FineTunedOnSecret(training, network)

        return self.chosen(made, chances)
