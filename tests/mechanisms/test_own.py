"""A mechanism given by a plain function."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import OwnMechanism
from narcissus.mechanisms.base import is_interactive


def test_the_function_releases_each_data_set():
    data = np.arange(6).reshape(3, 2)
    made = OwnMechanism(lambda one, rng: one.sum()).release(data, np.random.default_rng(0))
    assert list(made) == [1, 5, 9]


def test_what_the_function_raises_names_it():
    def broken(data, rng):
        raise ValueError("oh")

    with pytest.raises(InputError, match="the mechanism `broken` raised ValueError: oh"):
        OwnMechanism(broken).release(np.zeros((1, 2)), np.random.default_rng(0))


def test_a_function_that_yields_is_talked_with():
    def scheme(data, rng):
        question = yield "hello"
        while question >= 0:
            question = yield data[question]

    made = OwnMechanism(scheme)
    assert is_interactive(made)
    assert not is_interactive(OwnMechanism(lambda data, rng: data))
    talk = made.answers([5, 7], np.random.default_rng(0))
    assert [next(talk), talk.send(1), talk.send(0)] == ["hello", 7, 5]
