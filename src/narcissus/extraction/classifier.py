"""A two-layer classifier, trained close to a KKT point of its margin problem.

Full-batch gradient descent on the logistic loss drives a homogeneous network to a
Karush-Kuhn-Tucker point of the problem "least norm at margin one". Its weights become a weighted
sum of the gradients at a few training points, which the reconstruction inverts.

Source: Cohen et al. 2024, D.3 (after Haim et al. 2022); Narcissus theory 10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, non_negative, positive
from narcissus.errors import InputError
from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.files import DataSet
from narcissus.guarantees import GaussianDP
from narcissus.observer import SILENT, Observer

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoLayerNet:
    """``f(x) = v . relu(W x + b)``, homogeneous of degree 2 in its weights."""

    W: FloatArray  # W, b, v: weights of shape (width, d), (width,) and (width,)
    b: FloatArray
    v: FloatArray

    def __call__(self, rows: ArrayLike) -> FloatArray:
        """Return the outputs, shape (n,); the sign is the class."""
        return np.maximum(np.asarray(rows) @ self.W.T + self.b, 0.0) @ self.v

    @property
    def norm(self) -> float:
        """Euclidean norm of all weights."""
        return float(np.sqrt((self.W**2).sum() + (self.b**2).sum() + (self.v**2).sum()))

    def scaled(self, norm: float) -> TwoLayerNet:
        """Return the same classifier with weights of another norm."""
        factor = norm / self.norm
        return TwoLayerNet(self.W * factor, self.b * factor, self.v * factor)

    @property
    def dense(self) -> DenseNet:
        """The same network as layers."""
        return DenseNet((self.W, self.v[None]), (self.b, np.zeros(1)))


def noisy_guarantee(steps: int, noise: float) -> GaussianDP:
    """Replace-one guarantee of `train_classifier` with ``noise`` for each example.

    A clipped gradient moves by at most 2; full-batch Gaussian steps compose exactly.
    """
    return GaussianDP(2 * math.sqrt(integer("steps", steps, low=1)) / positive("noise", noise))


def _back(v: FloatArray, z: FloatArray) -> FloatArray:
    """Return the derivative of the output by each neuron's input, shape (n, width)."""
    return v * (z > 0)


def train_classifier(
    rows: ArrayLike,
    labels: ArrayLike,
    *,
    width: int = 400,
    steps: int = 20_000,
    learning_rate: float = 0.5,
    start: float = 0.02,
    noise: float = 0.0,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> TwoLayerNet:
    """Train by full-batch gradient descent on the logistic loss, to a very small loss.

    The step size grows as the loss falls (divided by the loss and by the margin); it follows the
    path of a constant step, but finishes in reasonable time.

    Parameters
    ----------
    rows
        Training data, shape (n, d), centred.
    labels
        -1 or 1, shape (n,), both present.
    width
        Neurons.
    steps, learning_rate
        Number of steps, and their size.
    start
        Standard deviation of the initial weights.
    noise
        0: none, the path above. Otherwise DP-SGD: each example's gradient is clipped to norm 1, and
        each entry of the sum gets noise of this standard deviation. All steps together are Gaussian
        DP with ``mu = 2 sqrt(steps) / noise``, replace-one (`noisy_guarantee`).
    rng
        Draws the initial weights and the noise.
    observer
        Receives progress.
    """
    x = np.asarray(rows, dtype=np.float64)
    y = np.asarray(labels, dtype=np.float64)
    if x.ndim != 2 or y.shape != (x.shape[0],) or set(np.unique(y)) != {-1.0, 1.0}:
        raise InputError("`rows` must have the shape (n, d) and `labels` n values, -1 and 1 both")
    if not np.isfinite(x).all():
        raise InputError("`rows` must be finite")
    width, steps = integer("width", width, low=1), integer("steps", steps, low=1)
    positive("learning_rate", learning_rate)
    non_negative("noise", noise)
    random = generator(rng)
    d = x.shape[1]
    w = random.normal(0.0, positive("start", start), (width, d))
    b = random.normal(0.0, start, width)
    v = random.normal(0.0, 0.3 / np.sqrt(width), width)
    observer.start("train the classifier", steps)
    for _ in range(steps):
        z = x @ w.T + b
        h = np.maximum(z, 0.0)
        margins = y * (h @ v)
        least = float(margins.min())
        if noise > 0:
            # Clipped to norm 1 for each example, then noise for the sum, as DP-SGD does it.
            slope = -y * special.expit(-margins)
            squares = (_back(v, z) ** 2).sum(axis=1) * ((x**2).sum(axis=1) + 1)
            length = np.abs(slope) * np.sqrt(squares + (h**2).sum(axis=1))
            g = slope / np.maximum(length, 1.0)
            rate = learning_rate / y.size
        else:
            # Gradient of the loss divided by the loss: weights exp(-margin), safe in logs.
            weight = np.exp(np.logaddexp(0, least) - np.logaddexp(0, margins))
            g = -y * weight / weight.sum()
            rate = learning_rate / max(1.0, least)
        back = g[:, None] * _back(v, z)
        gradients = [back.T @ x, back.sum(axis=0), h.T @ g]
        if noise > 0:
            gradients = [part + random.normal(0.0, noise, part.shape) for part in gradients]
        w -= rate * gradients[0]
        b -= rate * gradients[1]
        v -= rate * gradients[2]
        observer.advance()
    observer.finish()
    return TwoLayerNet(w, b, v)


@dataclass(frozen=True)
class TrainedClassifier:
    """The mechanism that releases a classifier of the labelled rows of a data set.

    Parameters
    ----------
    width
        Neurons.
    steps
        Steps of gradient descent.
    noise
        Standard deviation of the noise on the summed gradient of a step; 0 adds none.
    """

    width: int = 400
    steps: int = 20_000
    noise: float = 0.0

    def release(self, data: Sequence[DataSet], rng: np.random.Generator) -> list[TwoLayerNet]:
        return [self._train(one, rng) for one in data]

    def _train(self, data: DataSet, rng: np.random.Generator) -> TwoLayerNet:
        if data.labels is None:
            raise InputError("a classifier needs labels: draw from a `Pool` that has some")
        return train_classifier(
            data.rows, data.labels, width=self.width, steps=self.steps, noise=self.noise, rng=rng
        )
