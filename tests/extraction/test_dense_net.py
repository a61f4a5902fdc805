"""Networks of dense layers: what they give, and that training reaches a very small loss."""

from itertools import pairwise

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.dense_net import DenseNet, train_dense


def random_net(*sizes, seed=0):
    rng = np.random.default_rng(seed)
    weights = tuple(rng.normal(size=(b, a)) for a, b in pairwise(sizes))
    return DenseNet(weights, tuple(rng.normal(size=b) for b in sizes[1:]))


def test_outputs_are_those_of_the_formula():
    net = random_net(3, 4, 5, 2)
    x = np.array([0.3, -1.0, 2.0])
    hidden = np.maximum(net.weights[0] @ x + net.biases[0], 0)
    hidden = np.maximum(net.weights[1] @ hidden + net.biases[1], 0)
    expected = net.weights[2] @ hidden + net.biases[2]
    assert np.allclose(net([x])[0], expected)
    assert net.classes([x])[0] == expected.argmax()
    assert (net.inputs, net.outputs, net.describe()) == (3, 2, "3-4-5-2")
    assert net.parameters == 12 + 4 + 20 + 5 + 10 + 2


def test_scaled_weights_are_the_same_classifier():
    """Biases of later layers grow with the power of the layer."""
    net = random_net(3, 4, 5, 2)
    rows = np.random.default_rng(1).normal(size=(9, 3))
    other = net.scaled(2.0)
    assert other.norm == pytest.approx(2.0)
    ratio = other(rows) / net(rows)
    assert np.allclose(ratio, ratio[0, 0])


@pytest.mark.parametrize(
    ("kinds", "hidden"), [(2, (30,)), (3, (30,)), (2, (20, 15)), (3, (20, 15))]
)
def test_training_separates(kinds, hidden):
    rng = np.random.default_rng(2)
    rows, classes = rng.normal(size=(15, 6)), np.arange(15) % kinds
    net = train_dense(rows, classes, hidden=hidden, steps=1500, rng=3)
    assert net.outputs == (1 if kinds == 2 else 3)
    assert np.array_equal(net.classes(rows), classes)
    found = net(rows)
    if kinds == 2:
        least = (found[:, 0] * (2 * classes - 1)).min()
    else:
        own = found[np.arange(15), classes]
        found[np.arange(15), classes] = -np.inf
        least = (own - found.max(axis=1)).min()
    assert least > 10  # a loss of exp(-10)
    assert not any(bias.any() for bias in net.biases[1:])


def test_first_step_is_that_of_the_cross_entropy():
    """Its gradient by finite differences, divided by the loss."""
    rng = np.random.default_rng(4)
    rows, classes = rng.normal(size=(5, 3)), np.array([0, 1, 2, 0, 1])

    def trained(steps):
        return train_dense(rows, classes, hidden=(4,), steps=steps, learning_rate=1e-3, start=0.5,
                           rng=5)  # fmt: skip

    # a step of 1e-12 is as good as none
    start = train_dense(rows, classes, hidden=(4,), steps=1, learning_rate=1e-12, start=0.5, rng=5)
    step = (trained(1).weights[0] - start.weights[0]) / 1e-3

    def loss(weight):
        found = DenseNet((weight, start.weights[1]), start.biases)(rows)
        logs = found - np.log(np.exp(found).sum(axis=1, keepdims=True))
        return -logs[np.arange(5), classes].sum()

    # what it is divided by is the chance of the wrong classes, all rows together
    found = start(rows)
    chances = np.exp(found) / np.exp(found).sum(axis=1, keepdims=True)
    whole = (1 - chances[np.arange(5), classes]).sum()
    for place in ((0, 0), (2, 1), (3, 2)):
        moved = [start.weights[0].copy() for _ in range(2)]
        moved[0][place] += 1e-5
        moved[1][place] -= 1e-5
        slope = (loss(moved[0]) - loss(moved[1])) / 2e-5
        assert step[place] == pytest.approx(-slope / whole, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rows": [[np.nan]] * 2}, "finite"),
        ({"classes": [0, 0]}, "two"),
        ({"classes": [0.5, 1]}, "whole"),
        ({"hidden": ()}, "hidden"),
        ({"kinds": 1}, "kinds"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(changes, said):
    with pytest.raises(InputError, match=said):
        train_dense(**{"rows": [[0.0], [1.0]], "classes": [0, 1], **changes})
