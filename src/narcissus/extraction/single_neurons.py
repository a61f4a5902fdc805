"""Training points from single neurons of the first layer: for any depth and any number of classes.

At a Karush-Kuhn-Tucker point the weights and the bias of a neuron of the first layer are
``(w_j, b_j) = sum_i a_ij (x_i, 1)`` over the training points at which it is active. One that is
active at a single point has that point as ``w_j / b_j``. Nobody can tell from outside which neurons
are, so all that fall into the box are candidates, and those that several neurons name come first.

Source: Narcissus (own result), from the conditions of theory 10 **[new]**.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from narcissus._random import RandomSource, generator
from narcissus._validation import integer, positive
from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.neuron_pairs import most_confirmed


def single_neurons(
    net: DenseNet, *, box: float, keep: int, sample: int = 4000, rng: RandomSource = None
) -> NDArray[np.float64]:
    """Read candidates for training points off the neurons of the first layer.

    Parameters
    ----------
    net
        The network.
    box
        Largest absolute value that an entry of a training point can have.
    keep
        Most points that are returned.
    sample
        Most candidates that are compared with each other.
    rng
        Chooses them where there are more.

    Returns
    -------
    array of shape (at most keep, d)
        The most confirmed first; empty where no neuron gives a point in the box at which it is
        active.
    """
    positive("box", box)
    keep = integer("keep", keep, low=1)
    w, b = net.weights[0], net.biases[0]
    some = np.abs(b) > 1e-9 * np.abs(w).max(initial=0.0)
    w, b = w[some], b[some]
    points = w / b[:, None]
    good = (np.abs(points) <= box).all(axis=1) & ((w * points).sum(axis=1) + b > 0)
    points = points[good]
    if points.shape[0] > sample:
        chosen = generator(rng).choice(points.shape[0], sample, replace=False)
        points = points[np.sort(chosen)]
    return most_confirmed(points, keep)
