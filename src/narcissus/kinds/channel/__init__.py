"""Studies of the kind "channel"."""

from narcissus.kinds.channel.kind import KIND

__all__ = ["KIND"]
