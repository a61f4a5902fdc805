"""Studies of the kind "membership": scores of shadow models or of canaries, judged."""

from narcissus.kinds.membership.kind import KIND

__all__ = ["KIND"]
