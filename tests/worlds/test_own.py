"""A world given by a plain function."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.worlds import OwnWorld


def test_the_function_is_called_once_a_trial_and_again_for_fresh_data():
    world = OwnWorld(lambda rng: rng.integers(0, 100, 3))
    rng = np.random.default_rng(1)
    draw = world.draw(4, rng)
    assert draw.data.shape == (4, 3)
    assert draw.nature is None
    assert len({tuple(row) for row in draw.data}) == 4
    assert not (world.fresh(draw, rng) == draw.data).all()


def test_what_the_function_raises_names_it():
    def broken(rng):
        raise KeyError("oh")

    with pytest.raises(InputError, match="the world `broken` raised KeyError: 'oh'"):
        OwnWorld(broken).draw(1, np.random.default_rng(0))
