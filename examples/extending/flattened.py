"""A record prior: what the attacker knows beforehand."""

import numpy as np

from narcissus._validation import probability
from narcissus.priors import IndependentColumns


def fit_flattened(table, *, power: float = 0.5):
    """Take columns as independent, with counts flattened: an attacker who knows little.

    Parameters
    ----------
    power
        Counts are raised to it, in [0, 1]: 1 leaves them, 0 makes all values alike.
    """
    probability("power", power)
    marginals = []
    for column, size in enumerate(table.sizes):
        weights = np.bincount(table.codes[:, column], minlength=size) ** power
        marginals.append(weights / weights.sum())
    return IndependentColumns(table.names, tuple(marginals))
