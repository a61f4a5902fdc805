"""Games: one loop for every statement about what an attacker can recover."""

from narcissus.game.indistinguishability import (
    Indistinguishability,
    epsilon_of_success,
    play_ind_bay,
    play_ind_ldp,
    play_ind_minbay,
)
from narcissus.game.loop import Attacked, Play, play
from narcissus.game.rules import Game

__all__ = [
    "Attacked",
    "Game",
    "Indistinguishability",
    "Play",
    "epsilon_of_success",
    "play",
    "play_ind_bay",
    "play_ind_ldp",
    "play_ind_minbay",
]
