"""Memorized information against the entropies of the joint law, written down by hand."""

import math
from itertools import product

import numpy as np
import pytest

from narcissus import memorized_information
from narcissus.errors import InputError, TooLargeError
from narcissus.mechanisms import CountingQuery, Identity, RandomizedResponse
from narcissus.worlds import Bits, Finite, Neighbours, Uniform


def entropy(chances):
    return -sum(p * math.log2(p) for p in chances if p > 0)


@pytest.mark.parametrize("rate", [0.5, 0.1])
def test_a_count_tells_its_entropy(rate):
    """The count is a function of the data: what it tells is its own entropy."""
    n = 4
    law = [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
    found = memorized_information(Bits(n, rate), CountingQuery())
    assert found == pytest.approx(entropy(law), abs=1e-12)


def test_everything_tells_the_entropy_of_the_data_given_nature():
    """Averaged over two natures, each with its own law of three data sets."""
    laws, chances = [[0.2, 0.3, 0.5], [0.9, 0.1, 0.0]], [0.25, 0.75]
    world = Finite([[0, 1], [1, 1], [0, 0]], laws, chances)
    expected = sum(w * entropy(law) for w, law in zip(chances, laws, strict=True))
    assert memorized_information(world, Identity()) == pytest.approx(expected, abs=1e-12)


def test_a_noisy_channel_tells_less():
    """Against the sum over the joint law of data and release."""
    rates, world, mechanism = [0.2, 0.5, 0.9], Bits(3, [0.2, 0.5, 0.9]), RandomizedResponse(1.0)
    data = np.array(list(product([0, 1], repeat=3)))
    law = np.prod(np.where(data == 1, rates, 1 - np.array(rates)), axis=1)
    flipped = (data[:, None] != data[None]).sum(axis=2)
    keep = math.e / (1 + math.e)
    joint = law[:, None] * keep ** (3 - flipped) * (1 - keep) ** flipped
    expected = entropy(law) + entropy(joint.sum(axis=0)) - entropy(joint.ravel())
    assert memorized_information(world, mechanism) == pytest.approx(expected, abs=1e-9)


def test_what_is_refused():
    with pytest.raises(TooLargeError, match="at most 100"):
        memorized_information(Uniform(2, 4), Identity(), limit=100)
    with pytest.raises(InputError, match="one distribution"):
        memorized_information(Neighbours(2), Identity())
