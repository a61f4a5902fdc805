"""Points read off single neurons: exact where one is active at a single point."""

import numpy as np

from narcissus.extraction.dense_net import DenseNet
from narcissus.extraction.kkt import single_neurons


def net_of(weight, bias):
    return DenseNet((np.array(weight), np.ones((3, len(bias)))), (np.array(bias), np.zeros(3)))


def test_a_neuron_of_one_point_is_that_point_and_what_more_say_comes_first():
    points = np.random.default_rng(1).uniform(-1, 1, (2, 5))
    factors = [(0, 2.0), (1, 0.5), (1, 3.0)]
    weight = [a * points[i] for i, a in factors]
    net = net_of(weight, [a for _, a in factors])
    found = single_neurons(net, box=1, keep=5)
    assert np.allclose(found, points[[1, 0]])
    assert np.allclose(single_neurons(net, box=1, keep=1), points[1:])


def test_what_is_outside_the_box_inactive_or_without_a_bias_is_no_point():
    point = np.array([0.5, -0.5, 0.2])
    net = net_of([point, -point, 9 * point], [0.0, -1.0, 1.0])
    assert single_neurons(net, box=1, keep=5).shape == (0, 3)
    assert len(single_neurons(net, box=5, keep=5)) == 1
