"""Knowledge that does not fit a world is refused."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.knowledge import Candidates, Hidden, Hiding, KnownRows, Told
from narcissus.mechanisms import (
    Identity,
)
from narcissus.success.relations import (
    Prefix,
)
from narcissus.worlds import (
    Bits,
    Pairs,
)


def test_side_information_refuses_worlds_it_cannot_condition_on():
    for side, world in (
        (Candidates(), Bits(4)),
        (Hidden(), Bits(4)),
        (Hiding(10), Bits(4)),
        (KnownRows(2), Pairs([[[0], [1]]])),
    ):
        with pytest.raises(InputError, match="not defined for the world"):
            Game(world, Identity(), Prefix(), side=side)
    with pytest.raises(InputError, match="at most 4"):
        Game(Bits(4), Identity(), Prefix(), side=KnownRows(5))
    noise = np.random.default_rng(0)
    with pytest.raises(InputError, match="not random"):
        Game(Bits(4), Identity(), Prefix(), side=Told(lambda s: noise.random()))
