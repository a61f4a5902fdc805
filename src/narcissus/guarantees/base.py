"""What every guarantee offers: a privacy profile and a trade-off function, two views of one thing.

A guarantee speaks about any two neighbouring data sets in *both* directions, so its trade-off
function is symmetric and its profile obeys
``profile(-e) = 1 - exp(-e) + exp(-e) * profile(e)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import one_of, probabilities
from narcissus.errors import InputError

Adjacency = Literal["replace-one", "add-remove"]
Secret = Literal["value", "membership"]
"""What an attacker asks: what value a person's record has, or whether it is in the data."""
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
        ``"add-remove"`` (one record is there or not). A bound on the value of a record needs
        replaced ones; see `require_replace_one`.
    secret
        What the attacker asks, ``"value"`` or ``"membership"``; see
        `narcissus.guarantees.as_asked`.
    converted_from
        What was known, where this follows from a guarantee about other neighbours; see
        `narcissus.guarantees.as_replace_one`. It takes no part in comparisons.
    """

    adjacency: Adjacency = field(default="replace-one", kw_only=True)
    secret: Secret = field(default="value", kw_only=True, repr=False)
    converted_from: str = field(default="", kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        one_of("adjacency", self.adjacency, get_args(Adjacency))
        one_of("secret", self.secret, get_args(Secret))

    @property
    def question(self) -> str:
        """What the attacker asks, in words."""
        if self.secret == "value":
            return "what value a person's record has"
        place = "" if self.adjacency == "add-remove" else ", or another in its place"
        return f"whether a person's record is in the data{place}"

    @property
    def around(self) -> dict[str, Any]:
        """The neighbours and the secret, as arguments of another guarantee about the same."""
        return {"adjacency": self.adjacency, "secret": self.secret}

    @property
    def neighbours(self) -> str:
        """The neighbours in words, with what it was converted from, if anything."""
        if self.secret == "membership":
            two = "in or out" if self.adjacency == "add-remove" else "in, or another in its place"
            return f"{self.adjacency} neighbours: the record is {two}"
        if not self.converted_from:
            return f"{self.adjacency} neighbours"
        return (
            f"{self.adjacency} neighbours, a replaced record being one removed and one added: "
            f"from {self.converted_from}"
        )

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

    def least_alpha(self, power: ArrayLike) -> FloatArray:
        """Give the least false positive rate of a test with that true positive rate; any shape.

        The inverse of `power`; since the trade-off function is symmetric it is
        ``trade_off(1 - power)``.
        """
        return self.trade_off(1.0 - alphas(power))

    def epsilon_beyond(self, delta: float) -> float:
        """Give about the smallest epsilon whose delta is at most ``delta``; 1e300 if none."""
        low, high = 0.0, 1.0
        while float(self.profile(high)) > delta and high < 1e300:
            low, high = high, 2 * high
        if float(self.profile(0.0)) <= delta:
            return 0.0
        for _ in range(60):
            middle = (low + high) / 2
            if float(self.profile(middle)) > delta:
                low = middle
            else:
                high = middle
        return min(high, 1e300)

    def tangents(self, count: int = 40) -> FloatArray:
        """Give epsilons at which the profile is worth using, at most ``count`` of them.

        Equally spaced from 0 to where the profile becomes negligible. Each point is a statement
        (epsilon, delta)-DP of its own, so that any choice is valid and more only tighten.
        """
        return np.linspace(0.0, self._negligible, count)

    @cached_property
    def _negligible(self) -> float:
        """Where delta becomes negligible; it takes a hundred profiles to find."""
        return self.epsilon_beyond(NEGLIGIBLE_DELTA)


class ProfileGuarantee(Guarantee):
    """A guarantee whose trade-off function is what its profile implies."""

    def power(self, alpha: ArrayLike) -> FloatArray:
        """Give ``min_e [profile(e) + exp(e) alpha]``, by search over ``e``; any shape.

        Every ``e`` gives a valid limit, so that an unfinished search costs sharpness only.
        """
        rate = alphas(alpha)
        end = self.epsilon_beyond(1e-300)
        end = end if end < 1e300 else self.epsilon_beyond(float(self.profile(1e300)))
        low, high = np.full(rate.shape, -end), np.full(rate.shape, end)
        best = np.ones(rate.shape)
        with np.errstate(divide="ignore"):
            log_rate = np.log(rate)[..., None]
        for count in (129, 17, 17, 17, 17, 17):
            points = low[..., None] + (high - low)[..., None] * np.linspace(0.0, 1.0, count)
            with np.errstate(over="ignore", invalid="ignore"):
                values = self.profile(points) + np.exp(points + log_rate)
            values = np.where(log_rate == -np.inf, self.profile(points), values)
            near = values.argmin(axis=-1)[..., None]
            best = np.minimum(best, np.take_along_axis(values, near, axis=-1)[..., 0])
            low = np.take_along_axis(points, np.maximum(near - 1, 0), axis=-1)[..., 0]
            high = np.take_along_axis(points, np.minimum(near + 1, count - 1), axis=-1)[..., 0]
        return np.maximum(best, rate)

    def trade_off(self, alpha: ArrayLike) -> FloatArray:
        """Give ``max_e [1 - profile(e) - exp(e) alpha]``; any shape."""
        return 1.0 - self.power(alpha)


def mirrored(epsilon: FloatArray, at_size: FloatArray) -> FloatArray:
    """Give the profile at ``epsilon`` from its values ``at_size`` at ``abs(epsilon)``.

    Both directions hold, so ``profile(-e) = 1 - exp(-e) + exp(-e) profile(e)``.
    """
    size = np.abs(epsilon)
    with np.errstate(under="ignore"):
        below = -np.expm1(-size) + np.exp(-size) * at_size
    return np.clip(np.where(epsilon < 0, below, at_size), 0.0, 1.0)


def alphas(values: ArrayLike) -> FloatArray:
    """Give ``values`` as an array of false positive rates in [0, 1]."""
    return probabilities("alpha", values)


def require_replace_one(guarantee: Guarantee) -> None:
    """Refuse a guarantee about added or removed records where a value is asked.

    A guarantee of which membership is asked holds as it is, whichever neighbours it is about:
    the two data sets that are told apart, with the record and without it, are such neighbours.

    Raises
    ------
    InputError
        With the factor: replacing is removing and adding, so epsilon doubles and delta is
        multiplied by ``1 + exp(epsilon)``; the mu of Gaussian DP doubles.
    """
    if guarantee.adjacency != "replace-one" and guarantee.secret != "membership":
        raise InputError(
            f"`guarantee` must be about replace-one neighbours, got {guarantee.describe()}; "
            "a replaced record is one removed and one added: convert with "
            "`as_replace_one` (epsilon and mu double, delta becomes delta (1 + exp(epsilon))), or "
            "ask for membership with `as_asked`"
        )
