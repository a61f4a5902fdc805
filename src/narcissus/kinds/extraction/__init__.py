"""Studies of the kind "extraction": a release, its data, a program that claims to extract them."""

from narcissus.kinds.extraction.kind import KIND

__all__ = ["KIND"]
