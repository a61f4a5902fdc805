"""Points from pairs of neurons, at an exact point of the conditions."""

import numpy as np

from narcissus.extraction.classifier import TwoLayerNet
from narcissus.extraction.neuron_pairs import neuron_pairs


def test_pairs_of_neurons_give_points_exactly():
    """At an exact point of the conditions the closed form is exact."""
    rng = np.random.default_rng(3)
    # Points with inner products just below -1: then every set of points is where some neuron is on.
    gram = np.full((3, 3), -1.05) + 6 * np.eye(3)
    points = np.linalg.cholesky(gram) @ np.linalg.qr(rng.normal(size=(6, 3)))[0].T
    multipliers, v = np.array([0.7, 0.4, 0.5]), rng.uniform(0.5, 1.5, 8)
    on = np.array([[(j >> i) & 1 for i in range(3)] for j in range(8)])
    both = np.concatenate([points, np.ones((3, 1))], axis=1)
    first = v[:, None] * ((on * multipliers) @ both)
    net = TwoLayerNet(first[:, :-1], first[:, -1], v)
    assert (on.astype(bool) == (points @ net.W.T + net.b > 0).T).all()  # it is such a point
    found = neuron_pairs(net, box=10, keep=50)
    apart = np.linalg.norm(points[:, None] - found[None], axis=2).min(axis=1)
    assert apart.max() < 1e-9
