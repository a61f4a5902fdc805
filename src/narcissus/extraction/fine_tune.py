"""A small network that is fine-tuned on private documents with DP-SGD, one of which holds a secret.

The network reads a context and predicts what comes next. It is public, and so is everything but
the secret: an attacker of differential privacy knows all other documents. Many networks are trained
at once; what is released is the network, of which a guess of the secret needs the logits after the
secret's own context.

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
    """DP-SGD on all documents at once; gradients of two of them may point anywhere."""

    @property
    def guarantee(self) -> GaussianDP:
        """What the training guarantees about one document, replace-one: two norms a step."""
        accounted = super().guarantee  # refuses training without noise
        return replace(accounted, mu=2 * math.sqrt(self.steps) / self.noise)


@dataclass(frozen=True, eq=False)
class PublicNetwork:
    """A network with one hidden layer before fine-tuning, and the documents that are known.

    Attributes
    ----------
    contexts
        What stands before each next character, shape (documents, inputs); that of the secret is
        the last.
    follows
        What follows on all but the last, shape (documents - 1,).
    inner, outer, bias
        Weights, shapes (inputs, hidden), (hidden, values) and (values,).
    """

    contexts: FloatArray
    follows: IntArray
    inner: FloatArray
    outer: FloatArray
    bias: FloatArray

    @classmethod
    def drawn(cls, chances: FloatArray, documents: int, hidden: int) -> PublicNetwork:
        """Draw one as pretraining on public text leaves it: its output bias is the log prior."""
        rng = child(0, documents, hidden, chances.size)
        contexts = rng.choice([-1.0, 1.0], size=(documents, hidden)) / math.sqrt(hidden)
        follows = rng.choice(chances.size, size=documents - 1, p=chances / chances.sum())
        inner = rng.normal(size=(hidden, hidden))
        outer = rng.normal(size=(hidden, chances.size)) * 0.1 / math.sqrt(hidden)
        bias = np.log(np.maximum(chances, 1e-12))
        return cls(contexts, follows, inner, outer, bias)

    def logits(self) -> FloatArray:
        """Give the logits after the secret's context, before fine-tuning, shape (values,)."""
        return np.tanh(self.contexts[-1] @ self.inner) @ self.outer + self.bias


@dataclass(frozen=True, eq=False)
class FineTunedOnSecret:
    """The mechanism that releases a network fine-tuned on a secret, and on other documents.

    Parameters
    ----------
    training
        How it is trained.
    network
        What it starts from, and what is known.
    """

    training: NetworkTraining
    network: PublicNetwork

    @property
    def values(self) -> int:
        """How many characters there are."""
        return self.network.bias.size

    @property
    def start(self) -> FloatArray:
        """The logits that all networks start from, shape (values,)."""
        return self.network.logits()

    def without_noise(self) -> FineTunedOnSecret:
        """Give the same training without noise."""
        return replace(self, training=replace(self.training, noise=0.0))

    def release(self, data: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """Train a network for each secret; logits after its context, shape (trials, values)."""
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
    """Sum the gradients of all documents, each clipped by itself, for many networks at once.

    Parameters
    ----------
    contexts
        Shape (documents, inputs).
    follows
        Shape (models, documents).
    weights
        Shapes (models, inputs, hidden), (models, hidden, values), (models, 1, values).
    clip
        Largest L2 norm of a document's gradient.

    Returns
    -------
    list of arrays
        Of the shapes of ``weights``.

    Notes
    -----
    The gradient of a layer is an outer product for each document, so its norm is the product of
    two norms, and no document's gradient is written out.
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
        How many are trained on, that of the secret included; the others are known.
    hidden
        Units of the hidden layer, and inputs.
    """

    documents: int = 10
    hidden: int = 8

    def __post_init__(self) -> None:
        """Refuse what no network can be trained by."""
        super().__post_init__()
        integer("documents", self.documents, low=1, high=1000)
        integer("hidden", self.hidden, low=1, high=256)

    @property
    def work(self) -> float:
        """How much a step takes for each network and value, in logits of an n-gram model."""
        return float(self.documents * max(1, self.hidden // 4))

    @property
    def start(self) -> str:
        """What networks start from, in a word of the record."""
        return "network"

    def trained_on(self, chances: FloatArray) -> FineTunedOnSecret:
        """Give the mechanism for secrets of a prior, its learning rate chosen."""
        network = PublicNetwork.drawn(chances, self.documents, self.hidden)

        def made(rate: float) -> FineTunedOnSecret:
            training = NetworkTraining(self.noise, self.clip, self.steps, rate)
            return FineTunedOnSecret(training, network)

        return self.chosen(made, chances)
