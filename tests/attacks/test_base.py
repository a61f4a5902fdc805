"""Attacks refuse games that they do not fit."""

from __future__ import annotations

import pytest

from narcissus.attacks import (
    BucketHashing,
    Subtraction,
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
    for attack in (Subtraction(), TwoCandidates(), BucketHashing()):
        with pytest.raises(InputError, match="needs"):
            attack.prepare(tardos)
