"""The distance of weights to their explanation, against finite differences."""

import numpy as np
import pytest
from scipy import optimize

from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.explanation import by_roots, coefficients, unexplained

from .test_dense_net import random_net

M = 4
SIZES = [(3, 7, 1), (3, 6, 4), (3, 6, 5, 4), (3, 6, 5, 4, 1)]


@pytest.mark.parametrize("sizes", SIZES)
def test_it_is_the_distance_to_the_sum_of_gradients(sizes):
    """With a step for the sigmoid: gradients of sum <c, f(x)> by the weights, numerically."""
    net, rng = random_net(*sizes), np.random.default_rng(1)
    points, c = rng.normal(size=(M, 3)), rng.normal(size=(M, sizes[-1]))

    def total(weights, first):
        return float((DenseNet(tuple(weights), (first, *net.biases[1:]))(points) * c).sum())

    def slope(layer, place):
        found = []
        for sign in (1, -1):
            weights, first = [w.copy() for w in net.weights], net.biases[0].copy()
            (first if layer < 0 else weights[layer])[place] += sign * 1e-6
            found.append(total(weights, first))
        return (found[0] - found[1]) / 2e-6

    expected = sum(
        (weight[place] - slope(layer, place)) ** 2
        for layer, weight in enumerate((*net.weights, net.biases[0]))
        for place in np.ndindex(weight.shape)
        for layer in [layer if layer < len(net.weights) else -1]
    )
    assert unexplained(net, points, c, steepness=1e9)[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("sizes", SIZES)
def test_gradient(sizes):
    net, rng = random_net(*sizes), np.random.default_rng(2)
    classes = np.arange(M) % max(2, sizes[-1])

    def split(flat):
        return flat[: 3 * M].reshape(M, 3), flat[3 * M :].reshape(M, -1)

    def loss(flat):
        points, roots = split(flat)
        return unexplained(net, points, coefficients(roots, classes), steepness=3.0)[0]

    def gradient(flat):
        points, roots = split(flat)
        c = coefficients(roots, classes)
        _, by_points, by_c = unexplained(net, points, c, steepness=3.0)
        return np.concatenate([by_points.ravel(), by_roots(by_c, roots, classes).ravel()])

    for _ in range(3):
        flat = rng.normal(size=M * (3 + sizes[-1]))
        scale = np.linalg.norm(gradient(flat))
        assert optimize.check_grad(loss, gradient, flat) < 1e-5 * scale


def test_coefficients_of_several_classes_sum_to_nothing_and_favour_their_own():
    rng = np.random.default_rng(3)
    classes = np.array([0, 2, 1])
    c = coefficients(rng.normal(size=(3, 3)), classes)
    assert np.allclose(c.sum(axis=1), 0)
    own = c[np.arange(3), classes]
    assert (own > 0).all()
    assert ((c <= 0).sum(axis=1) == 2).all()
    assert coefficients(np.array([[2.0], [3.0]]), np.array([1, 0])).tolist() == [[4], [-9]]
