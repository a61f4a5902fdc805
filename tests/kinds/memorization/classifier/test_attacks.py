"""The pieces of the attacks: each depends on its key alone, and pooled they are all there."""

import numpy as np

from narcissus.extraction.images import ImageLayout
from narcissus.kinds.memorization.classifier.kind import AttacksNetworks, given_networks, sides_of

from .conftest import GIVEN


def test_pieces_are_pooled_by_network(load, folder):
    study = load(
        GIVEN,
        weights={"shadows": ["shadow.npz"]},
        reconstruction={"starts": 2, "steps": 5, "points": 6},
        informed={"targets": 50, "steps": 2},
    ).settings
    sides = sides_of(study, folder, 3)
    nets = given_networks(study.weights, folder, ImageLayout(8, 8))
    attacks = AttacksNetworks.of(study, nets, sides, 3)
    assert attacks.targets == 12  # no more than there are
    assert attacks.keys[:3] == ["points/0/closed", "points/0/0", "points/0/1"]
    assert len(attacks.keys) == 2 * 3 + 12
    found = {key: attacks(key) for key in reversed(attacks.keys)}
    pooled = attacks.pooled(found, 1)
    closed = found["points/1/closed"]["points"]
    assert len(pooled) == len(closed) + 2 * 6
    assert np.array_equal(pooled[: len(closed)], closed)
    assert not np.array_equal(pooled, attacks.pooled(found, 0))
    assert attacks.guessed(found).shape == (12, 64)
    assert np.array_equal(attacks("points/1/1")["points"], found["points/1/1"]["points"])
    only = AttacksNetworks(nets, sides, study.reconstruction, None, 3)
    assert not [key for key in only.keys if key.startswith("informed")]
