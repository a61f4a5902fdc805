"""Random guesses."""

import numpy as np


def cover(rng: np.random.Generator, values: int) -> np.ndarray:
    """A random 0/1 matrix without an empty or a full guess; exact match every third time."""
    if rng.random() < 1 / 3:
        return np.eye(values)
    while True:
        matrix = (rng.random((values, rng.integers(2, values + 2))) < 0.5).astype(float)
        sizes = matrix.sum(axis=0)
        if ((sizes > 0) & (sizes < values)).all():
            return np.unique(matrix, axis=1)
