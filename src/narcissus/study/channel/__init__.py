"""Studies of the kind "channel"."""

from narcissus.study.channel.kind import KIND

__all__ = ["KIND"]
