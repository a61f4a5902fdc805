"""The last training point, by who knows all others; and not where the network never saw it."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.extraction.dense_net import train_dense
from narcissus.extraction.informed import informed_reconstruct


@pytest.mark.parametrize("kinds", [2, 4])
def test_the_point_is_found_where_the_network_was_trained_on_it(kinds):
    rng = np.random.default_rng(1)
    rows, classes = rng.uniform(-1, 1, (6, 8)), np.arange(6) % kinds

    def guess(net, target):
        known, theirs = np.delete(rows, target, 0), np.delete(classes, target)
        return informed_reconstruct(net, known, theirs, box=1, steps=200)

    net = train_dense(rows, classes, hidden=(60,), steps=2000, rng=2)
    found = guess(net, 1)
    assert np.corrcoef(found.point, rows[1])[0, 1] > 0.95
    assert found.of_class == classes[1]
    assert found.loss < 0.1
    keep = np.arange(6) != 1
    without = train_dense(rows[keep], classes[keep], hidden=(60,), steps=2000, kinds=kinds, rng=2)
    assert np.corrcoef(guess(without, 1).point, rows[1])[0, 1] < 0.9


def test_what_does_not_fit_is_refused():
    net = train_dense([[0.0, 1], [1, 0]], [0, 1], hidden=(3,), steps=5, rng=1)
    with pytest.raises(InputError, match="known"):
        informed_reconstruct(net, np.zeros((2, 3)), np.array([0, 1]), box=1)
    with pytest.raises(InputError, match="box"):
        informed_reconstruct(net, np.zeros((2, 2)), np.array([0, 1]), box=0)
