"""Renyi and zero-concentrated differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from narcissus._validation import non_negative, real
from narcissus.errors import InputError
from narcissus.guarantees.base import (
    FloatArray,
    Guarantee,
    ProfileGuarantee,
    alphas,
    epsilons,
    mirrored,
)
from narcissus.guarantees.curve import ProfileCurve


def bernoulli_divergence(q: FloatArray, p: FloatArray, alpha: float) -> FloatArray:
    """Give the Renyi divergence of order ``alpha`` of Bernoulli(q) from Bernoulli(p)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = alpha * np.log(q) + (1 - alpha) * np.log(p)
        miss = alpha * np.log1p(-q) + (1 - alpha) * np.log1p(-p)
    hit = np.where(q == 0, -np.inf, hit)
    miss = np.where(q == 1, -np.inf, miss)
    return np.logaddexp(hit, miss) / (alpha - 1)


def largest_rate(p: FloatArray, alpha: float, gamma: float, *, both: bool) -> FloatArray:
    """Give the largest ``q >= p`` whose divergence from ``p`` is at most ``gamma``, any shape.

    ``both`` asks the same of the divergence of ``p`` from ``q``. The end of the last bracket that
    is refused is returned, so that rounding errs upwards. The search is over the log odds.
    """
    with np.errstate(divide="ignore"):
        low = np.where(p > 0, np.log(p) - np.log1p(-p), -745.0)
    high = np.full(p.shape, 40.0)
    inner = (p > 0) & (p < 1)
    low = np.where(inner, low, -745.0)
    high = np.maximum(high, low)
    for _ in range(80):
        middle = (low + high) / 2
        q = special.expit(middle)
        allowed = bernoulli_divergence(q, np.where(inner, p, 0.5), alpha) <= gamma
        if both:
            allowed &= bernoulli_divergence(np.where(inner, p, 0.5), q, alpha) <= gamma
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    found = special.expit(high)
    return np.where(inner, np.where(high >= 40.0, 1.0, np.maximum(found, p)), p)


@dataclass(frozen=True)
class RenyiDP(Guarantee):
    """Renyi differential privacy of one order, in both directions.

    Parameters
    ----------
    alpha
        The order, above 1 and finite.
    gamma
        Limit of the Renyi divergence, at least 0.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.

    Notes
    -----
    Source: Mironov 2017. The profile is Canonne, Kamath and Steinke 2020, Proposition 12,
    or less; the trade-off function is the whole region of two-point distributions within the
    divergence (Narcissus theory 4.6).
    """

    alpha: float
    gamma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", order(self.alpha))
        object.__setattr__(self, "gamma", non_negative("gamma", self.gamma))

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        """Give the smaller of two limits; any shape.

        ``exp((alpha - 1)(gamma - e)) (1 - 1/alpha)^(alpha - 1) / alpha``, and chords between points
        that the trade-off function touches.
        """
        e = epsilons("epsilon", epsilon)
        size = np.abs(e)
        closed = _conversion(size, np.asarray(self.alpha - 1), self.gamma)
        return mirrored(e, np.minimum(closed, self._region.profile(size)))

    @cached_property
    def _region(self) -> ProfileCurve:
        return ProfileCurve(*_tangent_points(self.alpha, self.gamma, 600))

    def power(self, alpha: ArrayLike) -> FloatArray:
        """Give the largest rate within the divergence in both directions; any shape."""
        return largest_rate(alphas(alpha), self.alpha, self.gamma, both=True)

    def trade_off(self, alpha: ArrayLike) -> FloatArray:
        """Give ``1 - power(alpha)``; any shape."""
        return 1.0 - self.power(alpha)

    def describe(self) -> str:
        """Say the guarantee in words."""
        return f"Renyi DP of order {self.alpha:g} with gamma {self.gamma:g} ({self.neighbours})"


@dataclass(frozen=True)
class ZeroConcentratedDP(ProfileGuarantee):
    """Zero-concentrated DP: Renyi divergence at most ``rho alpha`` at every order above 1.

    Parameters
    ----------
    rho
        At least 0 and finite.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.

    Notes
    -----
    Source: Bun and Steinke 2016; the profile is the least over the orders of Canonne, Kamath and
    Steinke 2020, Proposition 12, or less, as for `RenyiDP`.
    """

    rho: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rho", non_negative("rho", self.rho))

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        """Give the least conversion over the orders; any shape."""
        e = epsilons("epsilon", epsilon)
        size = np.abs(e)
        # The exponent's slope (2 a - 1) rho - e + log(1 - 1/a) rises in a: bisect for its root
        # over log(a - 1). Any order is valid, so the last one is right wherever it lies.
        low, high = np.full(size.shape, -60.0), np.full(size.shape, 60.0)
        for _ in range(70):
            middle = (low + high) / 2
            excess = np.exp(middle)
            with np.errstate(over="ignore"):
                slope = (2 * excess + 1) * self.rho - size + middle - np.log1p(excess)
            low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
        less = np.exp((low + high) / 2)
        found = _conversion(size, less, self.rho * (1 + less))
        return mirrored(e, np.minimum(found, self._region.profile(size)))

    @cached_property
    def _region(self) -> ProfileCurve:
        """Points that single orders allow at most; more orders only tighten."""
        orders = 1 + np.logspace(-2, 3, 21)
        parts = [_tangent_points(float(a), self.rho * float(a), 150) for a in orders]
        return ProfileCurve(
            tuple(e for points, _ in parts for e in points),
            tuple(d for _, deltas in parts for d in deltas),
        )

    def describe(self) -> str:
        """Say the guarantee in words."""
        return f"zero-concentrated DP with rho {self.rho:g} ({self.neighbours})"


def _tangent_points(
    alpha: float, gamma: float, count: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Give points (epsilon, delta) from tangents of the region of two-point distributions.

    With ``r = b / a`` and ``s = (1 - b) / (1 - a)`` the boundary ``D(b || a) = gamma`` has the
    slope ``(1 - 1/alpha) (r^alpha - s^alpha) / (r^(alpha-1) - s^(alpha-1))``.
    """
    a = special.expit(np.linspace(-60.0, 4.0, count))
    b = largest_rate(a, alpha, gamma, both=False)
    inside = (b > a) & (b < 1)
    a, b = a[inside], b[inside]
    with np.errstate(under="ignore"):
        share = (np.log1p(-b) - np.log1p(-a)) - (np.log(b) - np.log(a))
        slope = (1 - 1 / alpha) * (b / a)
        slope *= np.expm1(alpha * share) / np.expm1((alpha - 1) * share)
    used = slope >= 1
    if gamma == 0 or not used.any():
        return (0.0,), (1.0 if gamma > 0 else 0.0,)
    deltas = np.clip(b[used] - slope[used] * a[used], 0.0, 1.0)
    return tuple(np.log(slope[used]).tolist()), tuple(deltas.tolist())


def order(value: float) -> float:
    """Check the order of a Renyi divergence."""
    alpha = real("alpha", value)
    if not (1 < alpha < np.inf):
        raise InputError(f"`alpha` must be above 1 and finite, got {value!r}")
    return alpha


def _conversion(size: FloatArray, less: FloatArray, gamma: float | FloatArray) -> FloatArray:
    """Give the delta of Canonne, Kamath and Steinke 2020, Proposition 12, at most 1.

    ``less`` is the order minus 1. The proposition holds for every real epsilon, since it limits
    ``max(0, 1 - exp(epsilon - loss))`` by a multiple of ``exp((alpha - 1) loss)`` point by point.
    """
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        exponent = less * (gamma - size + np.log(less)) - (less + 1) * np.log1p(less)
    return np.exp(np.minimum(np.nan_to_num(exponent, nan=-np.inf), 0.0))
