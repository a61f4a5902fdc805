"""Distance of a network's weights from a weighted sum of its gradients at some points.

A network trained to a very small loss is ``theta = sum_i grad <c_i, f(x_i)>``. With one output
``c_i = lambda_i y_i``; with several, ``-lambda_ij`` for each other class and their sum for the
class itself; all ``lambda >= 0``. A steep sigmoid replaces the derivative of the ReLU in the
gradients, so the distance is differentiable.

Source: Haim et al. 2022; for several classes Buzaglo et al. 2023; Narcissus theory 10.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus.extraction.dense_net import DenseNet

FloatArray = NDArray[np.float64]


def coefficients(roots: FloatArray, classes: NDArray[np.intp]) -> FloatArray:
    """Return ``c_i`` from the roots of the multipliers, both of shape (points, outputs).

    With one output, classes are 0 and 1. With several, the root of a point's class is unused.
    """
    squares = roots**2
    if roots.shape[1] == 1:
        return squares * (2.0 * classes[:, None] - 1)
    places = np.arange(classes.size)
    squares[places, classes] = 0.0
    found = -squares
    found[places, classes] = squares.sum(axis=1)
    return found


def by_roots(by_c: FloatArray, roots: FloatArray, classes: NDArray[np.intp]) -> FloatArray:
    """Turn a gradient by the coefficients into one by the roots."""
    if roots.shape[1] == 1:
        return 2 * roots * by_c * (2.0 * classes[:, None] - 1)
    own = by_c[np.arange(classes.size), classes]
    return 2 * roots * (own[:, None] - by_c)  # 0 for the own class


def unexplained(
    net: DenseNet, points: FloatArray, c: FloatArray, *, steepness: float
) -> tuple[float, FloatArray, FloatArray]:
    """Return the squared distance of the weights to their explanation, and its gradients by points
    and by c.

    ``points`` has shape (m, d), ``c`` (m, outputs). Later layers' biases affect the outputs only.
    ``steepness`` belongs to the sigmoid that replaces the derivative of the ReLU.
    """
    last = len(net.weights) - 1
    layers, inner, gates = [points], list[FloatArray](), list[FloatArray]()
    for weight, bias in zip(net.weights[:-1], net.biases[:-1], strict=True):
        z = layers[-1] @ weight.T + bias
        inner.append(z)
        gates.append(special.expit(steepness * z))
        layers.append(np.maximum(z, 0.0))
    # derivatives of sum_i <c_i, f(x_i)> by the inputs of each layer's neurons
    ungated, back = dict[int, FloatArray](), {last: c}
    for i in reversed(range(last)):
        ungated[i] = back[i + 1] @ net.weights[i + 1]
        back[i] = ungated[i] * gates[i]
    held = [net.error(i, back[i].T @ layers[i]) for i in range(last + 1)]
    error_b, left_b = net.bias_error(back[0].sum(axis=0))
    errors, loss = [error for error, _ in held], sum(left for _, left in held) + left_b
    # and the derivative of sum <error, gradient> by all of them, forward and back again
    by_z = dict[int, FloatArray]()
    along = layers[0] @ errors[0].T + error_b
    for i in range(last):
        by_z[i] = along * ungated[i] * (steepness * gates[i] * (1 - gates[i]))
        along = layers[i + 1] @ errors[i + 1].T + (along * gates[i]) @ net.weights[i + 1].T
    by_layer = back[last] @ errors[last]
    for i in reversed(range(last)):
        through = by_z[i] + by_layer * (inner[i] > 0)
        by_layer = back[i] @ errors[i] + through @ net.weights[i]
    return loss, 2 * by_layer, 2 * along
