"""Random guesses, and the tail of a sum of independent trials."""

import math
from itertools import product

import numpy as np

from narcissus.guarantees import ApproximateDP, PureDP


def cover(rng: np.random.Generator, values: int) -> np.ndarray:
    """A random 0/1 matrix without an empty or a full guess; exact match every third time."""
    if rng.random() < 1 / 3:
        return np.eye(values)
    while True:
        matrix = (rng.random((values, rng.integers(2, values + 2))) < 0.5).astype(float)
        sizes = matrix.sum(axis=0)
        if ((sizes > 0) & (sizes < values)).all():
            return np.unique(matrix, axis=1)


def tail(chances: list, v: int):
    """The chance of at least ``v`` successes, outcome by outcome; floats or fractions."""
    return sum(
        math.prod(c if hit else 1 - c for c, hit in zip(chances, outcome, strict=True))
        for outcome in product((0, 1), repeat=len(chances))
        if sum(outcome) >= v
    )


def draw_guarantee(rng: np.random.Generator) -> ApproximateDP | PureDP:
    """Pure or approximate DP, from no information to nearly all."""
    epsilon = float(rng.choice([0.0, 0.1, 0.5, 1.0, 2.0, 4.0]) * rng.uniform(0.5, 1))
    delta = float(rng.choice([0.0, 0.001, 0.02, 0.2]) * rng.uniform(0.5, 1))
    return ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
