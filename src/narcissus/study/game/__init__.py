"""Studies of the kind "game"."""

from narcissus.study.game.kind import KIND

__all__ = ["KIND"]
