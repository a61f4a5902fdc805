"""Base class of guarantees: a privacy profile and a trade-off function, two views of one object.

A guarantee covers neighbouring data sets in *both* directions. Its trade-off function is therefore
symmetric, and ``profile(-e) = 1 - exp(-e) + exp(-e) * profile(e)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from narcissus._arrays import Floats
from narcissus._validation import one_of, probabilities
from narcissus.errors import InputError

Adjacency = Literal["replace-one", "add-remove"]
Secret = Literal["value", "membership"]
"""The attacker's question: the value of a person's record, or whether it is in the data."""
# Below this a point of the profile adds nothing visible in a 64-bit probability.
NEGLIGIBLE_DELTA = 1e-13
DECLARED = (
    "the program that releases keeps this, over all its releases together, and with noise as a "
    "computer rounds it",
)
"""What must hold of a guarantee that was declared, whatever the program is."""
EXACT_NOISE = "the noise is exact: what a computer rounds of it may tell more"
"""What must hold of noise: last digits can tell two data sets apart (Mironov 2012)."""
NOTHING_ELSE = "nothing else is released, and each release is made once"
"""What must hold of a mechanism whose releases are counted."""


def epsilons(name: str, values: ArrayLike) -> Floats:
    """Convert ``values`` to an array of epsilons: real or infinite numbers, no NaN."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"`{name}` must be numbers, got {values!r}") from error
    if np.isnan(array).any():
        raise InputError(f"`{name}` must be numbers, got NaN")
    return array


@dataclass(frozen=True)
class Guarantee(ABC):
    """A privacy guarantee of a mechanism; a subclass names the checks of its parameters."""

    _checks: ClassVar[dict[str, Callable[[str, Any], float]]] = {}

    def __init_subclass__(cls, **checks: Callable[[str, Any], float]) -> None:
        cls._checks = {**cls._checks, **checks}

    # neighbouring data sets: ``"replace-one"`` (one record has another value) or ``"add-
    # remove"`` (one record is present or not). Bounds on a record's value need the former;
    # see `require_replace_one`.
    adjacency: Adjacency = field(default="replace-one", kw_only=True)
    # what the attacker asks, ``"value"`` or ``"membership"``; see
    # `narcissus.guarantees.as_asked`
    secret: Secret = field(default="value", kw_only=True, repr=False)
    # the original guarantee, if this one was derived for other neighbours; ignored in
    # comparisons. See `narcissus.guarantees.as_replace_one`.
    converted_from: str = field(default="", kw_only=True, compare=False, repr=False)
    # what the mechanism must do for the guarantee to be one of it; empty where it is declared
    program: tuple[str, ...] = field(default=(), kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        one_of("adjacency", self.adjacency, get_args(Adjacency))
        one_of("secret", self.secret, get_args(Secret))
        for name, checked in self._checks.items():
            object.__setattr__(self, name, checked(name, getattr(self, name)))

    @property
    def question(self) -> str:
        """The attacker's question, in words."""
        if self.secret == "value":
            return "what value a person's record has"
        place = "" if self.adjacency == "add-remove" else ", or another in its place"
        return f"whether a person's record is in the data{place}"

    @property
    def around(self) -> dict[str, Any]:
        """Adjacency, secret and program, as keyword arguments of another guarantee."""
        return {"adjacency": self.adjacency, "secret": self.secret, "program": self.program}

    @property
    def neighbours(self) -> str:
        """The neighbours in words, with the guarantee this was converted from, if any."""
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
    def profile(self, epsilon: ArrayLike) -> Floats:
        """Return the smallest delta for which (epsilon, delta)-DP follows.

        ``epsilon`` may be negative or infinite, any shape; the result is at least 1 - e^epsilon.
        """

    @abstractmethod
    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Return the smallest false-negative rate of a test with false-positive rate ``alpha``.

        ``alpha`` is in [0, 1], any shape. The result is in [0, 1 - alpha], convex and
        non-increasing.
        """

    @property
    def assumed(self) -> tuple[str, ...]:
        """What whoever relies on the guarantee assumes: itself, and what the mechanism does."""
        return (self.describe(), *self.required)

    @property
    def required(self) -> tuple[str, ...]:
        """What the mechanism must do: its program, or to keep what was declared of it."""
        return self.program or DECLARED

    @abstractmethod
    def describe(self) -> str:
        """Describe the guarantee and its adjacency in words."""

    def power(self, alpha: ArrayLike) -> Floats:
        """Return ``1 - trade_off(alpha)``, the largest true-positive rate; any shape.

        Subclasses override it where ``1 - trade_off`` would lose the digits of a tiny rate.
        """
        return 1.0 - self.trade_off(alpha)

    def least_alpha(self, power: ArrayLike) -> Floats:
        """Return the smallest false-positive rate at true-positive rate ``power``; any shape.

        The inverse of `power`; as the trade-off function is symmetric, ``trade_off(1 - power)``.
        """
        return self.trade_off(1.0 - alphas(power))

    def epsilon_beyond(self, delta: float) -> float:
        """Return about the smallest epsilon whose delta is at most ``delta``; 1e300 if none."""
        low, high = 0.0, 1.0
        while float(self.profile(high)) > delta and high < 1e300:
            low, high = high, 2 * high
        if float(self.profile(0.0)) <= delta:
            return 0.0
        for _ in range(15):  # four halvings at once: a profile of an array costs little more
            points = [low, high]
            for _ in range(4):
                halves = [(left + other) / 2 for left, other in pairwise(points)]
                points = [low, *(x for pair in zip(halves, points[1:], strict=True) for x in pair)]
            above = self.profile(np.array(points)) > delta
            first, last = 0, 16
            while last - first > 1:
                middle = (first + last) // 2
                first, last = (middle, last) if above[middle] else (first, middle)
            low, high = points[first], points[last]
        return min(high, 1e300)

    def tangents(self, count: int = 40) -> Floats:
        """Return at most ``count`` epsilons, equally spaced from 0 until delta is negligible.

        Each point is an (epsilon, delta)-DP statement by itself: any choice is valid, more only
        tighten.
        """
        return np.linspace(0.0, self._negligible, count)

    @cached_property
    def _negligible(self) -> float:
        """Epsilon where delta becomes negligible; costs about a hundred profile evaluations."""
        return self.epsilon_beyond(NEGLIGIBLE_DELTA)


class ProfileGuarantee(Guarantee):
    """A guarantee whose trade-off function is derived from its profile."""

    def power(self, alpha: ArrayLike) -> Floats:
        """Return ``min_e [profile(e) + exp(e) alpha]``, by search over ``e``; any shape.

        Every ``e`` is a valid bound, so an unfinished search costs sharpness only.
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

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Return ``max_e [1 - profile(e) - exp(e) alpha]``; any shape."""
        return 1.0 - self.power(alpha)


def mirrored(epsilon: Floats, at_size: Floats) -> Floats:
    """Extend a profile to negative epsilons from its values ``at_size`` at ``abs(epsilon)``.

    Both directions hold, so ``profile(-e) = 1 - exp(-e) + exp(-e) profile(e)``.
    """
    size = np.abs(epsilon)
    with np.errstate(under="ignore"):
        below = -np.expm1(-size) + np.exp(-size) * at_size
    return np.clip(np.where(epsilon < 0, below, at_size), 0.0, 1.0)


def alphas(values: ArrayLike) -> Floats:
    """Convert ``values`` to an array of false-positive rates in [0, 1]."""
    return probabilities("alpha", values)


def require_replace_one(guarantee: Guarantee) -> None:
    """Refuse a guarantee about added or removed records for a question about a value.

    A guarantee for membership passes with any neighbours: the two data sets the attacker
    distinguishes, with and without the record, are themselves neighbours.

    InputError: With the conversion: a replacement is a removal and an addition, so epsilon and the
        mu of Gaussian DP double, and delta is multiplied by ``1 + exp(epsilon)``.
    """
    if guarantee.adjacency != "replace-one" and guarantee.secret != "membership":
        raise InputError(
            f"`guarantee` must be about replace-one neighbours, got {guarantee.describe()}; "
            "a replaced record is one removed and one added: convert with "
            "`as_replace_one` (epsilon and mu double, delta becomes delta (1 + exp(epsilon))), or "
            "ask for membership with `as_asked`"
        )
