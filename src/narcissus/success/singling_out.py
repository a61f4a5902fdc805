"""Predicate singling out: isolating one record with a light predicate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from narcissus._options import FilledIn
from narcissus._validation import between, integer, probability
from narcissus.errors import InputError
from narcissus.success.statements import LARGEST_EPSILON, Claim, Scores, Test
from narcissus.worlds import (
    Bits,
    Finite,
    Pairs,
    RandomNeighbours,
    Records,
    Superset,
    Tardos,
    members,
)
from narcissus.worlds.base import Law

SAME = 1e-12
"""Weights that differ by less, relatively, are one: they are sums that were rounded."""

_MOST = 1 << 20


def achievable(law: Law | None) -> NDArray[np.float64] | None:
    """Return the weights that predicates on a record can have, rising from 0.

    A weight is the sum of the probabilities of the values for which the predicate holds. None where
    there is no law, or more than some million sums.

    Examples
    --------
    >>> achievable(Law(np.arange(3), np.array([0.5, 0.25, 0.25]))).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if law is None:
        return None
    chances, times = np.unique(law.chances[law.chances > 0], return_counts=True)
    if np.log2(times + 1.0).sum() > np.log2(_MOST):
        return None
    sums = np.zeros(1)
    for chance, count in zip(chances, times, strict=True):
        sums = _distinct((sums[:, None] + chance * np.arange(count + 1)).ravel())
    return np.minimum(sums, 1.0)


def _distinct(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sort weights, and keep the largest of those that are equal up to rounding."""
    weights = np.sort(weights)
    last = np.append(np.diff(weights) > SAME * weights[1:], True)
    return weights[last]


@dataclass(frozen=True)
class SinglingOut(Claim):
    """Predicate singling out: for every ``w <= w_max``, isolating with weight at most ``w``.

    Parameters
    ----------
    epsilon
        At least 0, at most 100.
    delta
        In [0, 1].
    n
        Rows of a data set, drawn independently from one distribution D.
    w_max
        Largest weight that counts as light, in (0, 1].
    points
        Most weights at which the curve is evaluated. The curve changes only at weights of some
        predicate; where these are more, or unknown, the points are spread evenly on a
        logarithmic scale from ``1e-9 * w_max`` to ``w_max``.
    possible
        Weights of the predicates on a record of D, rising from 0. None: unknown; then every
        weight is taken to be possible, which allows the mechanism more than the definition does.
        A violation of the statement stays valid, satisfaction may not.

    Notes
    -----
    Source: Cohen et al. 2024, Definition 2.4. The baseline is the supremum over the predicates
    of D with weight at most ``w``, that is over ``n w' (1 - w')^(n - 1)`` for weights ``w'`` that
    a predicate can have.
    """

    n: Annotated[int, FilledIn()]
    w_max: float
    epsilon: float = 0.0
    delta: float = 0.0
    points: int = 28
    possible: Annotated[NDArray[np.float64] | None, FilledIn()] = field(
        default=None, repr=False, compare=False
    )
    rule: ClassVar[Literal["mean", "min"]] = "mean"
    definition: ClassVar[str] = "Cohen et al. 2024, Definition 2.4"

    def __post_init__(self) -> None:
        integer("n", self.n, low=1)
        between("epsilon", self.epsilon, 0, LARGEST_EPSILON)
        probability("delta", self.delta)
        between("w_max", self.w_max, 0, 1, open_low=True)
        integer("points", self.points, low=1, high=1000)

    @classmethod
    def require(cls, game: Any) -> None:
        for world in members(game.world).values():
            name = type(world).__name__
            if isinstance(world, Bits | Records) and world.law is None:
                raise InputError(
                    "the statement `singling-out` is about rows that are drawn from one "
                    f"distribution, and those of the world {name} are not alike"
                )
            if isinstance(world, Finite | Pairs | RandomNeighbours | Superset | Tardos):
                raise InputError(
                    "the statement `singling-out` is about rows that are drawn independently from "
                    f"one distribution, and those of the world {name} are not; it works for bits, "
                    "records, uniform, mona-lisa, or a world of your own"
                )

    def prepare(self, game: Any) -> SinglingOut:
        """Take the weights of predicates from the world, where it has a law of one record."""
        return replace(self, possible=achievable(getattr(game.world, "law", None)))

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights ``w`` of the curve, from light to heavy."""
        if self.possible is not None:
            light = self.possible[self.possible <= self.w_max * (1 + SAME)]
            if len(light) <= self.points:
                return light
        if self.points == 1:
            return np.array([self.w_max])
        return self.w_max * np.logspace(-9, 0, self.points)

    def baseline(self, w: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Compute the best chance to isolate without the release, at weight at most ``w``."""
        if self.possible is None:
            return self._isolates(np.minimum(w, 1 / self.n))
        best = np.maximum.accumulate(self._isolates(self.possible))
        return best[np.searchsorted(self.possible, np.multiply(w, 1 + SAME), side="right") - 1]

    def _isolates(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute the chance that a predicate of a weight holds for exactly one of ``n`` rows."""
        if self.n == 1:
            return np.asarray(weight)
        with np.errstate(divide="ignore"):
            return self.n * weight * np.exp((self.n - 1) * np.log1p(-np.asarray(weight)))

    def tests(self, scores: Scores) -> list[Test]:
        light = np.nan_to_num(scores.weight, nan=np.inf)
        limits = math.exp(self.epsilon) * self.baseline(self.weights) + self.delta
        return [
            Test((scores.success & (light <= w * (1 + SAME))) - limit, min(-limit, -1e-12))
            for w, limit in zip(self.weights, limits, strict=True)
        ]

    def words(self) -> str:
        return (
            f"for every w <= {self.w_max:g}: isolating with weight <= w has chance at most "
            f"e^{self.epsilon:g} x max n w'(1-w')^(n-1) + {self.delta:g}, over the weights w' <= w "
            "that a predicate can have"
        )
