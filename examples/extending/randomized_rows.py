"""A table mechanism that releases rows."""

import math
from dataclasses import dataclass

import numpy as np

from narcissus._options import Level
from narcissus._validation import positive
from narcissus.guarantees import PureDP
from narcissus.mechanisms import TableMechanism
from narcissus.mechanisms.table.rows import PreparedRows


@dataclass(frozen=True)
class RandomizedRows(TableMechanism):
    """Everybody's row in random order, each value by randomized response.

    Parameters
    ----------
    epsilon
        Privacy level of a whole row, above 0.
    """

    epsilon: Level

    def __post_init__(self):
        positive("epsilon", self.epsilon)

    @property
    def label(self):
        return f"ε = {self.epsilon:g}"

    @property
    def title(self):
        return "Randomized rows"

    @property
    def strength(self):
        return 1 / self.epsilon

    def prepare(self, columns):
        sizes = np.array(columns.sizes)
        # a value is e^(epsilon / columns) times likelier than each other one
        redrawn = sizes / (math.expm1(self.epsilon / len(sizes)) + sizes)

        def make(codes, rng):
            others = rng.integers(sizes, size=codes.shape)
            return rng.permutation(np.where(rng.random(codes.shape) < redrawn, others, codes))

        return PreparedRows.of(columns, make, PureDP(self.epsilon))
