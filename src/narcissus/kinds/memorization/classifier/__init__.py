"""Studies of classifiers: which training images can be reconstructed from the weights."""

from narcissus.kinds.memorization.classifier.kind import KIND

__all__ = ["KIND"]
