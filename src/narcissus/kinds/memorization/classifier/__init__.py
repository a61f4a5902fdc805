"""Studies of classifiers: which training images can be reconstructed from the weights."""
