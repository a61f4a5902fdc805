"""Games: one loop for every statement about what an attacker can recover."""

from narcissus.game.loop import play
from narcissus.game.outcome import Attacked, Play
from narcissus.game.rules import Game

__all__ = ["Attacked", "Game", "Play", "play"]
