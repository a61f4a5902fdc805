"""Priors with too many values to list: the likeliest values, and an upper bound on the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import probabilities
from narcissus.errors import InputError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ListedPriors:
    """The likeliest values of several targets' priors, and an upper bound on all others.

    Raises
    ------
    InputError
        Shapes do not match, a mass sum exceeds 1 or falls short of it although all values are
        listed, or an unlisted value may be likelier than a listed one.
    """

    masses: FloatArray  # prior probabilities of the listed values, shape (m, K); zeros pad
    # upper bound on every other value's probability, shape (m,); at most the smallest of the
    # masses, and 0 if all values are listed
    unlisted: FloatArray

    def __post_init__(self) -> None:
        masses = np.atleast_2d(probabilities("masses", self.masses))
        unlisted = np.atleast_1d(probabilities("unlisted", self.unlisted))
        if masses.ndim != 2 or masses.size == 0 or unlisted.shape != (len(masses),):
            raise InputError(
                "`masses` must have one row a target and `unlisted` one number a target, "
                f"got shapes {masses.shape} and {unlisted.shape}"
            )
        total = masses.sum(axis=1)
        if (total > 1 + 1e-9).any() or ((total < 1 - 1e-9) & (unlisted == 0)).any():
            raise InputError(
                "`masses` must sum to at most 1, and to 1 where no value is left out, "
                f"got sums from {total.min():.12g} to {total.max():.12g}"
            )
        least = np.where(masses > 0, masses, np.inf).min(axis=1)
        if (unlisted > least * (1 + 1e-6)).any():
            raise InputError("`unlisted` must not be above the smallest of the masses")
        object.__setattr__(self, "masses", masses)
        object.__setattr__(self, "unlisted", unlisted)

    def with_rest(self, each: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return masses and counts of the prior whose unlisted values have mass ``each`` (m,).

        Shapes (m, K + 1), as for `narcissus.bounds.optimum`; the counts need not be whole.
        """
        rest = np.maximum(1.0 - self.masses.sum(axis=1), 0.0)
        share = np.minimum(each, rest)
        counts = np.divide(rest, share, out=np.zeros_like(rest), where=share > 0)
        masses = np.column_stack([self.masses, share])
        return masses, np.column_stack([(self.masses > 0).astype(np.float64), counts])
