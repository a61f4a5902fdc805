"""Shannon capacity by Blahut and Arimoto, between limits that hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus._validation import positive
from narcissus.channels.channel import channel
from narcissus.results import Grade, Result

MOST_STEPS = 100_000


@dataclass(frozen=True, eq=False)
class ShannonCapacity(Result):
    """The most Shannon information that an output can give about the secret, over all priors.

    Attributes
    ----------
    low, high
        Limits, in bits.
    prior
        A prior that reaches the lower one, shape (secrets,).
    """

    low: float
    high: float
    prior: NDArray[np.float64]

    @property
    def grade(self) -> Grade:
        """Always 'proved'."""
        return "proved"

    @property
    def value(self) -> float:
        """The upper limit: no output gives more."""
        return self.high

    def __str__(self) -> str:
        return f"PROVED: Shannon capacity between {self.low:.10g} and {self.high:.10g} bits"


def shannon_capacity(matrix: Any, *, tolerance: float = 1e-9) -> ShannonCapacity:
    """Find the Shannon capacity of a channel.

    Parameters
    ----------
    matrix
        A channel.
    tolerance
        Of the two limits, in bits; after 100,000 steps what there is.

    Notes
    -----
    For any prior p with output law q: ``I(p) <= capacity <= max_s KL(C_s || q)``.
    Source: Blahut 1972; Arimoto 1972.
    """
    c, near = channel(matrix), positive("tolerance", tolerance)
    rows, secrets = c.matrix, c.shape[0]
    if c.is_sparse:
        entropy = rows.copy()
        entropy.data = special.entr(rows.data)
    else:
        entropy = special.entr(rows)
    own = -np.asarray(entropy.sum(axis=1))
    prior = np.full(secrets, 1 / secrets)
    low, high, best = 0.0, np.inf, prior
    for _ in range(MOST_STEPS):
        law = prior @ rows
        told = own - rows @ np.log(np.where(law > 0, law, 1.0))
        bits = float(prior @ told) / np.log(2)
        if bits > low:
            low, best = bits, prior
        high = min(high, float(told.max()) / np.log(2))
        if high - low <= near:
            break
        prior = prior * np.exp(told - told.max())
        prior /= prior.sum()
    return ShannonCapacity(min(low, high), high, best)
