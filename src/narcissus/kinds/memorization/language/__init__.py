"""Studies of the kind "language-model": a language model as a release, and its documents."""

from narcissus.kinds.memorization.language.kind import KIND

__all__ = ["KIND"]
