"""Preimages: found where an input that was tried has the image, and nowhere else."""

import numpy as np
import pytest

from narcissus.attacks import Inversion, TryInputs
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import MultiplyHash, Sha256
from narcissus.success.relations import SameImage
from narcissus.worlds import Bits


def test_every_attempt_is_a_preimage_and_none_is_made_where_none_was_tried():
    """Of 256 images, some 40 are seen by 40 tries: by hand from the inputs that are tried."""
    world, function = Bits(16), Sha256(8)
    attack = TryInputs(40).prepare(Game(world, function, SameImage(function)))
    releases = function.release(world.draw(300, np.random.default_rng(1)).data, None)
    found = attack.attempt(releases, None, np.random.default_rng(2))
    assert attack.inputs.shape == (40, 16)
    images = {image.tobytes() for image in function.release(attack.inputs, None)}
    assert found.made.tolist() == [image.tobytes() in images for image in releases]
    assert 0 < found.made.sum() < 300
    again = function.release(found.values, None)
    assert (again[found.made] == releases[found.made]).all()


def test_the_same_inputs_are_tried_whatever_the_seed_of_the_trials():
    """Else trials that share a table would succeed or fail together, and no limit would hold."""
    world, function = Bits(16), Sha256(8)
    game = Game(world, function, SameImage(function))
    releases = function.release(world.draw(300, np.random.default_rng(1)).data, None)
    found = [
        TryInputs(40).prepare(game).attempt(releases, None, np.random.default_rng(seed))
        for seed in (2, 3)
    ]
    assert (found[0].made == found[1].made).all()
    assert (found[0].values == found[1].values).all()


def test_it_must_know_the_game_and_try_at_least_one_input():
    with pytest.raises(InputError, match="prepare"):
        TryInputs().attempt(np.zeros((1, 4)), None, np.random.default_rng(0))
    with pytest.raises(InputError, match="budget"):
        TryInputs(0)


def test_a_function_with_an_inverse_is_undone():
    world, function = Bits(64), MultiplyHash()
    data = world.draw(50, np.random.default_rng(3)).data
    attack = Inversion().prepare(Game(world, function, SameImage(function)))
    found = attack.attempt(function.release(data, None), None, np.random.default_rng(0))
    assert (found == data).all()
    with pytest.raises(InputError, match="Sha256 has no inverse"):
        Inversion().prepare(Game(world, Sha256(), SameImage(Sha256())))
