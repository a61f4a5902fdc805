"""What every guarantee offers: a privacy profile and a trade-off function, two views of one thing.

A guarantee speaks about any two neighbouring data sets in *both* directions, so its trade-off
function is symmetric and its profile obeys
``profile(-e) = 1 - exp(-e) + exp(-e) * profile(e)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import one_of, probabilities
from narcissus.errors import InputError

Adjacency = Literal["replace-one", "add-remove"]
FloatArray = NDArray[np.float64]

# Below this a point of the profile adds nothing that a 64-bit probability could show.
NEGLIGIBLE_DELTA = 1e-13


def epsilons(name: str, values: ArrayLike) -> FloatArray:
    """Give ``values`` as an array of epsilons: any real or infinite number, no NaN."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"`{name}` must be numbers, got {values!r}") from error
    if np.isnan(array).any():
        raise InputError(f"`{name}` must be numbers, got NaN")
    return array


@dataclass(frozen=True)
class Guarantee(ABC):
    """What is known about a mechanism from outside.

    Attributes
    ----------
    adjacency
        Which data sets are neighbours: ``"replace-one"`` (one record has another value) or
        ``"add-remove"`` (one record is there or not). The bounds of this package are about
        replaced records; see `require_replace_one`.
    """

    adjacency: Adjacency = field(default="replace-one", kw_only=True)

    def __post_init__(self) -> None:
        one_of("adjacency", self.adjacency, get_args(Adjacency))

    @abstractmethod
    def profile(self, epsilon: ArrayLike) -> FloatArray:
        """Give the smallest delta with which (epsilon, delta)-DP follows.

        Parameters
        ----------
        epsilon
            Any shape; negative and infinite values are allowed.

        Returns
        -------
        array of the same shape
            In [0, 1], at least ``1 - exp(epsilon)``.
        """

    @abstractmethod
    def trade_off(self, alpha: ArrayLike) -> FloatArray:
        """Give the least false negative rate of a test with false positive rate ``alpha``.

        Parameters
        ----------
        alpha
            Any shape, in [0, 1].

        Returns
        -------
        array of the same shape
            In [0, 1 - alpha], convex and non-increasing in ``alpha``.
        """

    @abstractmethod
    def describe(self) -> str:
        """Say the guarantee in words, with its adjacency."""

    def power(self, alpha: ArrayLike) -> FloatArray:
        """Give ``1 - trade_off(alpha)``, the largest true positive rate; any shape.

        Guarantees override it where ``1 - trade_off`` would lose the digits of a tiny rate.
        """
        return 1.0 - self.trade_off(alpha)

    def tangents(self, count: int = 40) -> FloatArray:
        """Give epsilons at which the profile is worth using, at most ``count`` of them.

        Equally spaced from 0 to where the profile becomes negligible. Each point is a statement
        (epsilon, delta)-DP of its own, so that any choice is valid and more only tighten.
        """
        high = 1.0
        while float(self.profile(high)) > NEGLIGIBLE_DELTA and high < 1e300:
            high *= 2
        low = 0.0
        for _ in range(60):
            middle = (low + high) / 2
            if float(self.profile(middle)) > NEGLIGIBLE_DELTA:
                low = middle
            else:
                high = middle
        return np.linspace(0.0, high, count)


def alphas(values: ArrayLike) -> FloatArray:
    """Give ``values`` as an array of false positive rates in [0, 1]."""
    return probabilities("alpha", values)


def require_replace_one(guarantee: Guarantee) -> None:
    """Refuse a guarantee about added or removed records where a replaced one is meant.

    Raises
    ------
    InputError
        With the factor: replacing is removing and adding, so epsilon doubles and delta is
        multiplied by ``1 + exp(epsilon)``; the mu of Gaussian DP doubles.
    """
    if guarantee.adjacency != "replace-one":
        raise InputError(
            f"`guarantee` must be about replace-one neighbours, got {guarantee.describe()}; "
            "replacing a record is removing one and adding one, so convert it first with "
            "`as_replace_one` (epsilon and mu double, rho and renyi's gamma at least double)"
        )
