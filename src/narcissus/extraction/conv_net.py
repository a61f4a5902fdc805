"""Classifiers of convolutions, ReLUs, average pooling and dense layers, as weight-sharing dense
nets.

Between two ReLUs everything is linear in the input and in the kernel, so a layer is a dense one
with shared weights: ``W = spread(kernel)``. The gradient by the kernel is ``spread`` transposed of
the gradient by ``W``. The conditions of theory 10 need nothing else: they hold for every network
that is homogeneous in its weights (Haim et al. 2022). ``W`` has a number for each pair of an input
and an output, so this is for small images.

Source: Haim et al. 2022; the layers as dense ones with shared weights **[new]**.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from narcissus._validation import integer, positive
from narcissus.errors import InputError, TooLargeError
from narcissus.extraction.dense_net import DenseNet

FloatArray = NDArray[np.float64]
Shape = tuple[int, int, int]
"""Channels, height and width."""

LARGEST_LAYER = 3 * 10**7
"""Most numbers of a layer that is written out as a dense one."""


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


@dataclass(frozen=True, eq=False)
class Sharing:
    """How a layer's weights are shared out of its kernel."""

    # from kernel to weights after pooling, shape (outputs * pooled, kernel size); None:
    # identity
    spread: Any = None
    pooling: Any = None  # pooling before the layer, shape (pooled, inputs); None: none
    positions: int = 1  # outputs that share a bias

    def weights(self, kernel: FloatArray) -> FloatArray:
        """Share a kernel out, shape (outputs, inputs)."""
        found = kernel
        if self.spread is not None:
            outputs = kernel.shape[0] * self.positions
            found = (self.spread @ kernel.ravel()).reshape(outputs, -1)
        return found if self.pooling is None else found @ self.pooling

    def by_kernel(self, by_weights: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        """Turn a gradient by the weights into one by the kernel."""
        found = by_weights if self.pooling is None else by_weights @ self.pooling.T
        return found if self.spread is None else (self.spread.T @ found.ravel()).reshape(shape)


@dataclass(frozen=True, eq=False)
class ConvNet(DenseNet):
    """A network whose weights are shared out of kernels; `conv_net` makes it."""

    # by layer: (outputs, inputs), or (channels, channels before, height, width)
    kernels: tuple[FloatArray, ...]
    channel_biases: tuple[FloatArray, ...]  # by layer, shape (outputs,) or (channels,)
    sharing: tuple[Sharing, ...]  # by layer

    @classmethod
    def of(
        cls, kernels: Sequence[FloatArray], biases: Sequence[FloatArray], sharing: Sequence[Sharing]
    ) -> ConvNet:
        """Share kernels and biases out."""
        return cls(
            tuple(own.weights(kernel) for own, kernel in zip(sharing, kernels, strict=True)),
            tuple(np.repeat(b, own.positions) for own, b in zip(sharing, biases, strict=True)),
            tuple(kernels),
            tuple(biases),
            tuple(sharing),
        )

    @property
    def parameters(self) -> int:
        return sum(part.size for part in (*self.kernels, *self.channel_biases))

    @property
    def norm(self) -> float:
        """Euclidean norm of all kernels and of the first biases."""
        parts = (*self.kernels, self.channel_biases[0])
        return math.sqrt(sum(float((p**2).sum()) for p in parts))

    @property
    def has_own_weights(self) -> bool:
        return False

    def scaled(self, norm: float) -> ConvNet:
        factor = positive("norm", norm) / self.norm
        biases = [b * factor ** (i + 1) for i, b in enumerate(self.channel_biases)]
        return ConvNet.of([k * factor for k in self.kernels], biases, self.sharing)

    def error(self, layer: int, by_weights: FloatArray) -> tuple[FloatArray, float]:
        own, kernel = self.sharing[layer], self.kernels[layer]
        left = own.by_kernel(by_weights, kernel.shape) - kernel
        return own.weights(left), float((left**2).sum())

    def bias_error(self, by_bias: FloatArray) -> tuple[FloatArray, float]:
        places = self.sharing[0].positions
        if not self.channel_biases[0].any():
            return np.zeros_like(by_bias), 0.0
        left = by_bias.reshape(-1, places).sum(axis=1) - self.channel_biases[0]
        return np.repeat(left, places), float((left**2).sum())

    def describe(self) -> str:
        """Describe the layers: "64-288 (8 of 3x3)-10"."""
        words = [str(self.inputs)]
        for kernel, weight in zip(self.kernels, self.weights, strict=True):
            made, _, *of = kernel.shape
            words.append(f"{len(weight)} ({made} of {of[0]}x{of[1]})" if of else f"{made}")
        return "-".join(words)


def conv_net(
    layers: Sequence[Layer],
    kernels: Sequence[FloatArray],
    biases: Sequence[FloatArray],
    image: Shape,
) -> ConvNet:
    """Make a network from its architecture and its numbers.

    Parameters
    ----------
    layers
        From input to output, with a ReLU after each layer with a kernel except the last. A dense
        layer takes its input flattened, channel by channel.
    kernels, biases
        In the order of the layers that have them.
    image
        Shape of the input.

    Raises
    ------
    InputError
        A layer does not fit its input.
    TooLargeError
        A layer has more than `LARGEST_LAYER` numbers as a dense one.
    """
    shape: Shape | int = image
    pooling, sharing, place = None, list[Sharing](), 0
    for layer in layers:
        if isinstance(layer, AveragePooling):
            if pooling is not None:
                raise InputError("two poolings follow each other: write one")
            pooling, shape = _pooling(layer, shape)
            continue
        kernel, before = kernels[place], _count(shape) if pooling is None else pooling.shape[1]
        if isinstance(layer, Convolution):
            spread, after = _spread(layer, kernel, shape)
            positions = after[1] * after[2]
            _refuse_large(layer.name, _count(after) * before)
        else:
            if kernel.ndim != 2 or kernel.shape[1] != _count(shape):
                raise InputError(
                    f"`{layer}.weight` has the shape {kernel.shape}, and a dense layer behind "
                    f"{_count(shape):,} numbers has (outputs, {_count(shape)})"
                )
            spread, after, positions = None, kernel.shape[0], 1
            _refuse_large(layer, kernel.shape[0] * before)
        sharing.append(Sharing(spread, pooling, positions))
        shape, pooling, place = after, None, place + 1
    if pooling is not None or not isinstance(shape, int):
        raise InputError("the last of `layers` must be a dense one, which gives the classes")
    return ConvNet.of(kernels, biases, sharing)


def _count(shape: Shape | int) -> int:
    return shape if isinstance(shape, int) else math.prod(shape)


def _refuse_large(name: str, size: int) -> None:
    if size > LARGEST_LAYER:
        raise TooLargeError(
            f"the layer `{name}` has {size:,} numbers as a dense one, more than {LARGEST_LAYER:,}: "
            "convolutions are attacked on small images only"
        )


def _pooling(layer: AveragePooling, shape: Shape | int) -> tuple[Any, Shape]:
    """Return the matrix of the means of squares, shape (means, inputs), and the output's shape."""
    size = integer("pool", layer.size, low=1)
    if isinstance(shape, int):
        raise InputError("pooling stands behind a dense layer: it takes an image")
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
    found = sparse.csr_array((share, (out, into)), shape=(math.prod(after), math.prod(shape)))
    return found, after


def _spread(layer: Convolution, kernel: FloatArray, shape: Shape | int) -> tuple[Any, Shape]:
    """Return the matrix from a kernel to the weights of a dense layer, and the output's shape."""
    stride = integer("stride", layer.stride, low=1)
    padding = integer("padding", layer.padding, low=0)
    name = f"`{layer.name}.weight`"
    if isinstance(shape, int):
        raise InputError(f"the convolution {name} stands behind a dense layer: it takes an image")
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
