"""Classifiers whose weights their training points explain: trained here, or read from a file.

Full-batch gradient descent on the logistic loss drives a homogeneous network to a
Karush-Kuhn-Tucker point of the problem "least norm at margin one". Its weights become a weighted
sum of the gradients at a few training points, which the reconstruction inverts. Biases after the
first layer are left out of this sum: they are few, and a network without them is homogeneous.

Between two ReLUs everything is linear in the input and in the kernel, so a convolution is a dense
layer with shared weights, ``W = spread(kernel)``, and the gradient by the kernel is ``spread``
transposed of the gradient by ``W`` **[new]**. ``W`` has a number for each pair of an input and an
output, so this is for small images.

Weights are read from a file of named arrays, by a declared architecture. Nothing is guessed: each
layer is named, in order, and an array that belongs to no layer is refused, since the network would
be another one.

Source: Cohen et al. 2024, D.3 (after Haim et al. 2022); for several classes Buzaglo et al. 2023;
Narcissus theory 10.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from narcissus._arrays import Floats
from narcissus._random import RandomSource, generator
from narcissus._validation import did_you_mean, integer, non_negative, one_of, positive
from narcissus.errors import InputError, TooLargeError
from narcissus.extraction.files import DataSet, arrays_of, refuse_pickle
from narcissus.guarantees import GaussianDP
from narcissus.guarantees.training import training_program
from narcissus.observer import SILENT, Observer

Shape = tuple[int, int, int]
"""Channels, height and width."""
LARGEST_LAYER = 3 * 10**7
"""Most numbers of a layer that is written out as a dense one."""
ACTIVATIONS = ("relu",)
"""What may be between two layers."""
_SUFFIXES = frozenset({".npz", ".safetensors"})


@dataclass(frozen=True, eq=False)
class Sharing:
    """How a layer's weights are shared out of its kernel; by default they are the kernel."""

    spread: Any = None  # from kernel to weights, shape (outputs * pooled, kernel size)
    pooling: Any = None  # before the layer, shape (pooled, inputs)
    positions: int = 1  # outputs that share a bias

    def weights(self, kernel: Floats) -> Floats:
        """Share a kernel out, shape (outputs, inputs)."""
        matrix = kernel
        if self.spread is not None:
            outputs = kernel.shape[0] * self.positions
            matrix = (self.spread @ kernel.ravel()).reshape(outputs, -1)
        return matrix if self.pooling is None else matrix @ self.pooling

    def by_kernel(self, by_weights: Floats, shape: tuple[int, ...]) -> Floats:
        gradient = by_weights if self.pooling is None else by_weights @ self.pooling.T
        return (
            gradient if self.spread is None else (self.spread.T @ gradient.ravel()).reshape(shape)
        )


@dataclass(frozen=True, eq=False)
class DenseNet:
    """``f(x) = W_L relu(... relu(W_1 x + b_1) ...) + b_L``."""

    # by layer: (outputs, inputs), or (channels, channels before, height, width)
    kernels: tuple[Floats, ...]
    channel_biases: tuple[Floats, ...]  # by layer, shape (outputs,) or (channels,); 0: none
    sharing: tuple[Sharing, ...] = ()  # by layer; (): none, the weights are the kernels

    @cached_property
    def weights(self) -> tuple[Floats, ...]:
        """Weights by layer, of shape (outputs, inputs)."""
        return tuple(
            sharing.weights(k) for sharing, k in zip(self._shared, self.kernels, strict=True)
        )

    @cached_property
    def biases(self) -> tuple[Floats, ...]:
        """Biases by layer, of shape (outputs,)."""
        pairs = zip(self._shared, self.channel_biases, strict=True)
        return tuple(np.repeat(bias, sharing.positions) for sharing, bias in pairs)

    @property
    def _shared(self) -> tuple[Sharing, ...]:
        return self.sharing or (Sharing(),) * len(self.kernels)

    def __call__(self, rows: ArrayLike) -> Floats:
        """Return the outputs, shape (n, outputs)."""
        activations = np.asarray(rows, dtype=np.float64)
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            activations = np.maximum(activations @ weight.T + bias, 0.0)
        return activations @ self.weights[-1].T + self.biases[-1]

    def classes(self, rows: ArrayLike) -> NDArray[np.intp]:
        """Return the class of each row, shape (n,): 0 or 1 by the sign of a single output."""
        outputs = self(rows)
        if self.outputs == 1:
            return (outputs[:, 0] >= 0).astype(np.intp)
        return outputs.argmax(axis=1)

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
        return sum(part.size for part in (*self.kernels, *self.channel_biases))

    @property
    def norm(self) -> float:
        """Euclidean norm of all kernels and of the first biases."""
        parts = (*self.kernels, self.channel_biases[0])
        return math.sqrt(sum(float((p**2).sum()) for p in parts))

    def scaled(self, norm: float) -> DenseNet:
        """Return the same classifier with weights of another norm."""
        factor = positive("norm", norm) / self.norm
        biases = tuple(b * factor ** (i + 1) for i, b in enumerate(self.channel_biases))
        return DenseNet(tuple(k * factor for k in self.kernels), biases, self.sharing)

    def error(self, layer: int, by_weights: Floats) -> tuple[Floats, float]:
        """Return a gradient's residual against a layer's weights, and its squared norm."""
        sharing, kernel = self._shared[layer], self.kernels[layer]
        left = sharing.by_kernel(by_weights, kernel.shape) - kernel
        return sharing.weights(left), float((left**2).sum())

    def bias_error(self, by_bias: Floats) -> tuple[Floats, float]:
        """Return a gradient's residual against the first biases, and its square; 0 without any."""
        places = self._shared[0].positions
        if not self.channel_biases[0].any():
            return np.zeros_like(by_bias), 0.0
        left = by_bias.reshape(-1, places).sum(axis=1) - self.channel_biases[0]
        return np.repeat(left, places), float((left**2).sum())

    def describe(self) -> str:
        """Describe the layers: "64-100-10", or "64-288 (8 of 3x3)-10"."""
        words = [str(self.inputs)]
        for kernel, weight in zip(self.kernels, self.weights, strict=True):
            made, _, *of = kernel.shape
            words.append(f"{len(weight)} ({made} of {of[0]}x{of[1]})" if of else f"{made}")
        return "-".join(words)


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

    rows: training data, shape (n, d), finite.
    classes: 0, 1, ..., of shape (n,); at least two.
    start: standard deviation of the first layer's initial weights; later layers have 0.3 over the
        root of their inputs.
    kinds: number of classes, if these rows may lack some.
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
        by_output, smallest_margin = _residuals(layers[-1] @ weights[-1].T, y)
        rate = learning_rate / max(1.0, smallest_margin)
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


def _residuals(found: Floats, y: NDArray[np.integer]) -> tuple[Floats, float]:
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


@dataclass(frozen=True)
class Convolution:
    """A layer ``Conv2d`` by name, with a square stride and zero padding."""

    name: str
    stride: int = 1
    padding: int = 0


@dataclass(frozen=True)
class AveragePooling:
    """Means of disjoint squares; comes after a ReLU, or before all layers."""

    size: int


Layer = str | Convolution | AveragePooling
"""A dense layer by its name, a convolution, or pooling."""


def conv_net(
    layers: Sequence[Layer],
    kernels: Sequence[Floats],
    biases: Sequence[Floats],
    image: Shape,
) -> DenseNet:
    """Make a network from its architecture and its numbers.

    layers: from input to output, with a ReLU after each layer with a kernel except the last. A
        dense layer takes its input flattened, channel by channel.
    """
    shape: tuple[int, ...] = image
    pooling, sharing, place = None, list[Sharing](), 0
    for layer in layers:
        if isinstance(layer, AveragePooling):
            if pooling is not None:
                raise InputError("two poolings follow each other: write one")
            pooling, shape = _pooling(layer, shape)
            continue
        size, kernel = math.prod(shape), kernels[place]
        before = size if pooling is None else pooling.shape[1]
        if isinstance(layer, Convolution):
            spread, shape = _spread(layer, kernel, shape)
            positions = math.prod(shape[1:])
            _refuse_large(layer.name, math.prod(shape) * before)
        else:
            if kernel.ndim != 2 or kernel.shape[1] != size:
                raise InputError(
                    f"`{layer}.weight` has the shape {kernel.shape}, and a dense layer behind "
                    f"{size:,} numbers has (outputs, {size})"
                )
            spread, shape, positions = None, kernel.shape[:1], 1
            _refuse_large(layer, kernel.shape[0] * before)
        sharing.append(Sharing(spread, pooling, positions))
        pooling, place = None, place + 1
    if pooling is not None or len(shape) > 1:
        raise InputError("the last of `layers` must be a dense one, which gives the classes")
    return DenseNet(tuple(kernels), tuple(biases), tuple(sharing))


def _refuse_large(name: str, size: int) -> None:
    if size > LARGEST_LAYER:
        raise TooLargeError(
            f"the layer `{name}` has {size:,} numbers as a dense one, more than {LARGEST_LAYER:,}: "
            "convolutions are attacked on small images only"
        )


def _pooling(layer: AveragePooling, shape: tuple[int, ...]) -> tuple[Any, Shape]:
    """Return the matrix of the means of squares, shape (means, inputs), and the output's shape."""
    size = integer("pool", layer.size, low=1)
    if len(shape) == 1:
        raise InputError("pooling follows a dense layer: it takes an image")
    channels, height, width = shape
    after = (channels, height // size, width // size)
    if 0 in after:
        raise InputError(f"pooling by {size} leaves nothing of {height} x {width}")
    _refuse_large("pooling", math.prod(after) * size**2)
    c, y, x, dy, dx = np.ogrid[:channels, : after[1], : after[2], :size, :size]
    whole = (*after, size, size)
    out = np.broadcast_to((c * after[1] + y) * after[2] + x, whole).ravel()
    into = ((c * height + y * size + dy) * width + x * size + dx).ravel()
    share = np.full(into.size, 1 / size**2)
    matrix = sparse.csr_array((share, (out, into)), shape=(math.prod(after), math.prod(shape)))
    return matrix, after


def _spread(layer: Convolution, kernel: Floats, shape: tuple[int, ...]) -> tuple[Any, Shape]:
    """Return the matrix from a kernel to the weights of a dense layer, and the output's shape."""
    stride = integer("stride", layer.stride, low=1)
    padding = integer("padding", layer.padding, low=0)
    name = f"`{layer.name}.weight`"
    if len(shape) == 1:
        raise InputError(f"the convolution {name} follows a dense layer: it takes an image")
    channels, height, width = shape
    if kernel.ndim != 4 or kernel.shape[1] != channels:
        raise InputError(
            f"{name} has the shape {kernel.shape}, and a convolution of {channels} channels has "
            f"(channels, {channels}, height, width)"
        )
    made, _, tall, wide = kernel.shape
    after = (
        made,
        (height + 2 * padding - tall) // stride + 1,
        (width + 2 * padding - wide) // stride + 1,
    )
    if min(after) < 1:
        raise InputError(f"{name} is larger than what is before it, {height} x {width}")
    _refuse_large(layer.name, math.prod(after) * channels * tall * wide)
    f, y, x, c, dy, dx = np.ogrid[:made, : after[1], : after[2], :channels, :tall, :wide]
    row, column = y * stride + dy - padding, x * stride + dx - padding
    inside = np.broadcast_to(
        (row >= 0) & (row < height) & (column >= 0) & (column < width), (*after, *kernel.shape[1:])
    )
    into = (c * height + row) * width + column
    weight = ((f * after[1] + y) * after[2] + x) * math.prod(shape) + into
    number = ((f * channels + c) * tall + dy) * wide + dx
    places = [np.broadcast_to(n, inside.shape)[inside] for n in (weight, number)]
    size = (math.prod(after) * math.prod(shape), kernel.size)
    return sparse.csr_array((np.ones(places[0].size), (places[0], places[1])), shape=size), after


@dataclass(frozen=True, eq=False)
class TwoLayerNet:
    """``f(x) = v . relu(W x + b)``, homogeneous of degree 2 in its weights."""

    W: Floats  # W, b, v: weights of shape (width, d), (width,) and (width,)
    b: Floats
    v: Floats

    def __call__(self, rows: ArrayLike) -> Floats:
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
    times, sigma = integer("steps", steps, low=1), positive("noise", noise)
    return GaussianDP(2 * math.sqrt(times) / sigma, program=training_program(times, sigma))


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

    rows: training data, shape (n, d), centred.
    labels: -1 or 1, shape (n,), both present.
    noise: 0: none, the path above. Otherwise DP-SGD: each example's gradient is clipped to norm 1,
        and each entry of the sum gets noise of this standard deviation. All steps together are
        Gaussian DP with ``mu = 2 sqrt(steps) / noise``, replace-one (`noisy_guarantee`).
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
        smallest_margin = float(margins.min())
        if noise > 0:
            # Clipped to norm 1 for each example, then noise for the sum, as DP-SGD does it.
            slope = -y * special.expit(-margins)
            squares = ((v * (z > 0)) ** 2).sum(axis=1) * ((x**2).sum(axis=1) + 1)
            length = np.abs(slope) * np.sqrt(squares + (h**2).sum(axis=1))
            g = slope / np.maximum(length, 1.0)
            rate = learning_rate / y.size
        else:
            # Gradient of the loss divided by the loss: weights exp(-margin), safe in logs.
            weight = np.exp(np.logaddexp(0, smallest_margin) - np.logaddexp(0, margins))
            g = -y * weight / weight.sum()
            rate = learning_rate / max(1.0, smallest_margin)
        back = g[:, None] * (v * (z > 0))
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

    width: Neurons.
    steps: Steps of gradient descent.
    noise: Standard deviation of the noise on the summed gradient of a step; 0 adds none.
    """

    width: int = 400
    steps: int = 20_000
    noise: float = 0.0

    def release(self, data: Sequence[DataSet], rng: np.random.Generator) -> list[TwoLayerNet]:
        if any(data_set.labels is None for data_set in data):
            raise InputError("a classifier needs labels: draw from a `Pool` that has some")
        how: dict[str, Any] = {"width": self.width, "steps": self.steps, "noise": self.noise}
        return [
            train_classifier(data_set.rows, np.asarray(data_set.labels), **how, rng=rng)
            for data_set in data
        ]


def read_dense_net(
    path: Path | str,
    layers: Sequence[Layer],
    *,
    activation: str = "relu",
    transposed: bool = False,
    inputs: int | None = None,
    image: Shape | None = None,
) -> DenseNet:
    """Read a network of dense layers, or of convolutions, average pooling and dense layers.

    path: a ``.safetensors`` or ``.npz`` file. Pickles (``.pt``, ``.pth``) are refused.
    layers: from input to output. ``"fc1"`` names a dense layer with the arrays ``fc1.weight`` and,
        if present, ``fc1.bias``; the name of a `Convolution` works alike.
    transposed: whether weights are (inputs, outputs), as in Keras, instead of (outputs, inputs).
    inputs: numbers in a row, to be checked.
    image: channels, height and width of an image, which convolutions and pooling need.
    Raises InputError: an array is missing (the nearest is named), left over, of the wrong shape, or
        not finite.
    """
    path = Path(path)
    refuse_pickle(path)
    one_of("activation", activation, ACTIVATIONS)
    if path.suffix not in _SUFFIXES:
        raise InputError(f"{path} is not read as weights: save them as .safetensors or .npz")
    names = [
        layer if isinstance(layer, str) else layer.name
        for layer in layers
        if not isinstance(layer, AveragePooling)
    ]
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError("`layers` must name at least two layers, each once, from input to output")
    arrays = arrays_of(path)
    weights = [_named(arrays, f"{name}.weight", path) for name in names]
    _refuse_left(arrays, names, path)
    if any(not isinstance(layer, str) for layer in layers):
        if image is None or transposed:
            raise InputError("convolutions need `image`, and weights that are not `transposed`")
        channel_biases = [
            _bias(arrays, name, len(layer), path)
            for name, layer in zip(names, weights, strict=True)
        ]
        return conv_net(layers, weights, channel_biases, image)
    if transposed:
        weights = [weight.T for weight in weights]
    if inputs is not None and weights[0].shape[1:] != (inputs,):
        raise InputError(
            f"{path}: `{names[0]}.weight` has the shape {weights[0].shape}, and an image has "
            f"{inputs} numbers: it should be (outputs, {inputs}){_turned(weights[0], inputs)}"
        )
    biases = list[NDArray[np.float64]]()
    for place, (name, weight) in enumerate(zip(names, weights, strict=True)):
        before = weights[place - 1].shape[0] if place else weight.shape[-1]
        if weight.ndim != 2 or weight.shape[1] != before:
            raise InputError(
                f"{path}: `{name}.weight` has the shape {weight.shape}, and a dense layer behind "
                f"{before} numbers has (outputs, {before})" + _turned(weight, before)
            )
        biases.append(_bias(arrays, name, weight.shape[0], path))
    return DenseNet(tuple(np.ascontiguousarray(weight) for weight in weights), tuple(biases))


def _turned(weight: NDArray[Any], inputs: int) -> str:
    return "; is `transposed` what is meant?" if weight.shape[:1] == (inputs,) else ""


def _bias(
    arrays: Mapping[str, NDArray[Any]], layer: str, outputs: int, path: Path
) -> NDArray[np.float64]:
    """Return the bias of a layer; 0 if there is none."""
    name = f"{layer}.bias"
    bias = _named(arrays, name, path) if name in arrays else np.zeros(outputs)
    if bias.shape != (outputs,):
        raise InputError(
            f"{path}: `{name}` has the shape {bias.shape}, and the layer has {outputs} outputs"
        )
    return bias


def _refuse_left(arrays: Mapping[str, NDArray[Any]], names: Sequence[str], path: Path) -> None:
    used = {f"{name}.{part}" for name in names for part in ("weight", "bias")}
    left = sorted(set(arrays) - used)
    if not left:
        return
    hint = ""
    if any(name.endswith((".running_mean", ".running_var")) for name in left):
        hint = (
            "; batch normalisation is not homogeneous in its weights, so the conditions that are "
            "read off fail: nothing here attacks such a network"
        )
    raise InputError(
        f"{path} holds {', '.join(f'`{name}`' for name in left[:5])} as well, which `layers` does "
        "not name: only networks of dense layers, convolutions and average pooling with ReLUs "
        f"between them are read{hint}"
    )


def _named(arrays: Mapping[str, NDArray[Any]], name: str, path: Path) -> NDArray[np.float64]:
    if name not in arrays:
        raise InputError(
            f"{path} has no array `{name}`; it has {', '.join(sorted(arrays)[:12]) or 'none'}"
            f"{did_you_mean(name, arrays)}"
        )
    array = arrays[name].astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError(
            f"{path}: `{name}` has {int((~np.isfinite(array)).sum()):,} values that are not finite "
            "(NaN or infinite): the network was not trained to an end"
        )
    if name.endswith(".weight") and not array.any():
        raise InputError(f"{path}: `{name}` is all zero")
    return array
