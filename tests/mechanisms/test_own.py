"""A mechanism given by a plain function."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import OwnMechanism


def test_the_function_releases_each_data_set():
    data = np.arange(6).reshape(3, 2)
    made = OwnMechanism(lambda one, rng: one.sum()).release(data, np.random.default_rng(0))
    assert list(made) == [1, 5, 9]


def test_what_the_function_raises_names_it():
    def broken(data, rng):
        raise ValueError("oh")

    with pytest.raises(InputError, match="the mechanism `broken` raised ValueError: oh"):
        OwnMechanism(broken).release(np.zeros((1, 2)), np.random.default_rng(0))
