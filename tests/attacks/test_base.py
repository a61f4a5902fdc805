"""Attacks refuse games that they do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.attacks import (
    BucketHashing,
    Inversion,
    KeySearch,
    Subtraction,
    TryInputs,
    TwoCandidates,
)
from narcissus.errors import InputError
from narcissus.game import Game
from narcissus.mechanisms import (
    ExactAverage,
)
from narcissus.success.relations import (
    Member,
)
from narcissus.worlds import (
    Tardos,
)


def test_attacks_refuse_games_they_do_not_fit():
    tardos = Game(Tardos(10, 4, 3), ExactAverage(), Member())
    for attack in (Subtraction(), TwoCandidates(), Inversion(), BucketHashing(), KeySearch()):
        with pytest.raises(InputError, match=r"needs|no inverse"):
            attack.prepare(tardos)
    with pytest.raises(InputError, match="prepare"):
        TryInputs().attempt(np.zeros((1, 4)), None, np.random.default_rng(0))
