"""Classifiers of dense layers and ReLUs, of any depth, with one output or one for each class.

The `explanation` ignores biases after the first layer: they are few, and a network without them is
homogeneous in its weights, as the theory requires.

Source: Haim et al. 2022; for several classes Buzaglo et al. 2023; Narcissus theory 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive
from narcissus.errors import InputError
from narcissus.observer import SILENT, Observer

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DenseNet:
    """``f(x) = W_L relu(... relu(W_1 x + b_1) ...) + b_L``."""

    weights: tuple[FloatArray, ...]  # by layer, of shape (outputs, inputs)
    biases: tuple[FloatArray, ...]  # by layer, of shape (outputs,); 0 if there is none

    def __call__(self, rows: ArrayLike) -> FloatArray:
        """Return the outputs, shape (n, outputs)."""
        found = np.asarray(rows, dtype=np.float64)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            found = np.maximum(found @ weight.T + bias, 0.0)
        return found @ self.weights[-1].T + self.biases[-1]

    def classes(self, rows: ArrayLike) -> NDArray[np.intp]:
        """Return the class of each row, shape (n,): 0 or 1 by the sign of a single output."""
        found = self(rows)
        if self.outputs == 1:
            return (found[:, 0] >= 0).astype(np.intp)
        return found.argmax(axis=1)

    @property
    def inputs(self) -> int:
        """Numbers in a row."""
        return self.weights[0].shape[1]

    @property
    def outputs(self) -> int:
        """Number of outputs: 1, or one for each class."""
        return self.weights[-1].shape[0]

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(part.size for part in (*self.weights, *self.biases))

    @property
    def norm(self) -> float:
        """Euclidean norm of all weights and of the first biases."""
        return math.sqrt(sum(float((p**2).sum()) for p in (*self.weights, self.biases[0])))

    def scaled(self, norm: float) -> DenseNet:
        """Return the same classifier with weights of another norm."""
        factor = positive("norm", norm) / self.norm
        biases = tuple(b * factor ** (i + 1) for i, b in enumerate(self.biases))
        return DenseNet(tuple(w * factor for w in self.weights), biases)

    @property
    def has_own_weights(self) -> bool:
        """Whether the neurons of the first layer share no weights."""
        return True

    def error(self, layer: int, by_weights: FloatArray) -> tuple[FloatArray, float]:
        """Return the residual of a gradient against the weights of a layer, and its
        squared norm.
        """
        left = by_weights - self.weights[layer]
        return left, float((left**2).sum())

    def bias_error(self, by_bias: FloatArray) -> tuple[FloatArray, float]:
        """Return a gradient's residual against the first biases, and its square; 0 without any."""
        if not self.biases[0].any():
            return np.zeros_like(by_bias), 0.0
        left = by_bias - self.biases[0]
        return left, float((left**2).sum())

    def describe(self) -> str:
        """Describe the layers: "64-100-10"."""
        return "-".join(str(n) for n in (self.inputs, *(w.shape[0] for w in self.weights)))


def train_dense(
    rows: ArrayLike,
    classes: ArrayLike,
    *,
    hidden: tuple[int, ...] = (200,),
    steps: int = 4000,
    learning_rate: float = 0.1,
    start: float = 0.02,
    kinds: int | None = None,
    rng: RandomSource = None,
    observer: Observer = SILENT,
) -> DenseNet:
    """Train by full-batch gradient descent on the cross-entropy, to a very small loss.

    As in `train_classifier`, the step grows as the loss falls, which follows the path of a constant
    one. Two classes share one output; more have one each. Only the first layer has biases.

    Parameters
    ----------
    rows
        Training data, shape (n, d), finite.
    classes
        0, 1, ..., of shape (n,); at least two.
    hidden
        Neurons by hidden layer.
    steps, learning_rate
        Number of steps, and their size.
    start
        Standard deviation of the first layer's initial weights; later layers have 0.3 over the root
        of their inputs.
    kinds
        Number of classes, if these rows may lack some.
    rng
        Draws the initial weights.
    observer
        Receives progress.
    """
    x, y = np.asarray(rows, dtype=np.float64), np.asarray(classes)
    if x.ndim != 2 or y.shape != (x.shape[0],) or not np.isfinite(x).all():
        raise InputError("`rows` must have the shape (n, d) and be finite, `classes` n values")
    if not np.issubdtype(y.dtype, np.integer) or y.min() < 0 or np.unique(y).size < 2:
        raise InputError("`classes` must be whole numbers from 0, two of them or more")
    if not hidden:
        raise InputError("`hidden` must hold at least one layer")
    widths = [x.shape[1], *(integer("hidden", n, low=1) for n in hidden)]
    outputs = integer("kinds", int(y.max()) + 1 if kinds is None else kinds, low=int(y.max()) + 1)
    random = generator(rng)
    positive("start", start)
    positive("learning_rate", learning_rate)
    weights = [random.normal(0.0, start, (widths[1], widths[0]))]
    bias = random.normal(0.0, start, widths[1])
    for n, m in zip(widths[1:], [*widths[2:], 1 if outputs == 2 else outputs], strict=True):
        weights.append(random.normal(0.0, 0.3 / math.sqrt(n), (m, n)))
    observer.start("train the network", integer("steps", steps, low=1))
    for _ in range(steps):
        layers = [x, np.maximum(x @ weights[0].T + bias, 0.0)]
        for weight in weights[1:-1]:
            layers.append(np.maximum(layers[-1] @ weight.T, 0.0))
        by_output, least = _residuals(layers[-1] @ weights[-1].T, y)
        rate = learning_rate / max(1.0, least)
        for i in reversed(range(len(weights))):
            by_weight = by_output.T @ layers[i]
            by_bias = by_output.sum(axis=0)
            if i > 0:
                by_output = (by_output @ weights[i]) * (layers[i] > 0)
            else:
                bias -= rate * by_bias
            weights[i] -= rate * by_weight
        observer.advance()
    observer.finish()
    later = tuple(np.zeros(w.shape[0]) for w in weights[1:])
    return DenseNet(tuple(weights), (bias, *later))


def _residuals(found: FloatArray, y: NDArray[np.integer]) -> tuple[FloatArray, float]:
    """Return the gradient of the loss by the outputs, divided by the loss, and the least margin.

    In logarithms, since a loss of 1e-300 has a gradient like any other.
    """
    if found.shape[1] == 1:
        signs = 2.0 * y - 1
        margins = signs * found[:, 0]
        missed = -np.logaddexp(0, margins)  # logarithm of the other class's chance
        weight = np.exp(missed - missed.max())
        return (-signs * weight / weight.sum())[:, None], float(margins.min())
    places = np.arange(y.size)
    wrong = found.copy()
    wrong[places, y] = -np.inf
    margins = found[places, y] - wrong.max(axis=1)
    top = found.max(axis=1, keepdims=True)
    chances = wrong - top - np.log(np.exp(found - top).sum(axis=1, keepdims=True))
    weight = np.exp(chances - chances.max())
    weight[places, y] = -weight.sum(axis=1)
    return weight / -weight[places, y].sum(), float(margins.min())
