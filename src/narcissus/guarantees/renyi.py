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

_ROUNDED = 1e-13, 4e-16  # above what rounding moves a divergence by, relatively, and by its order
_SERIES = 24  # terms, each at most a fifth of the one before


def bernoulli_divergence(
    q: FloatArray, p: FloatArray, alpha: float, apart: ArrayLike | None = None
) -> FloatArray:
    """Compute the Renyi divergence of Bernoulli(q) from Bernoulli(p) to the last digits.

    ``apart`` is ``q - p`` where it is known more precisely than by subtraction. With ``u = q/p -
    1``, also for the complements, the moment of order ``alpha`` exceeds 1 by the mean of ``(1 +
    u)^alpha - 1 - alpha u``. Its terms are never negative, so nothing cancels, however close the
    order is to 1 or the two distributions to each other.
    """
    less, apart = alpha - 1, q - p if apart is None else np.asarray(apart)
    with np.errstate(all="ignore"):
        hit = np.where(p > 0, p * _excess(apart / p, alpha), np.where(q > 0, np.inf, 0.0))
        miss = np.where(p < 1, (1 - p) * _excess(-apart / (1 - p), alpha), 0.0)
        near = np.log1p(less * (hit + np.where((p < 1) | (q == 1), miss, np.inf))) / less
        # Powers that overflow are far from 1, where logarithms lose nothing.
        hit = np.where(q > 0, alpha * np.log(q) - less * np.log(p), -np.inf)
        miss = np.where(q < 1, alpha * np.log1p(-q) - less * np.log1p(-p), -np.inf)
        far = np.logaddexp(hit, miss) / less
    return np.where(np.isfinite(near), near, far)


def _excess(u: FloatArray, alpha: float) -> FloatArray:
    """Compute ``((1 + u)^alpha - 1 - alpha u) / (alpha - 1)`` for ``u >= -1``, at least 0."""
    less = alpha - 1
    value = (1 + u) * np.expm1(less * np.log1p(u)) / less - u
    value = np.where(u == -1, 1.0, value)
    small = (np.abs(u) < 1e-2) & (alpha * np.abs(u) < 0.5)
    if small.any():
        x, sum_ = u[small], np.zeros(int(small.sum()))
        for k in range(_SERIES, 1, -1):  # the binomial series, from its last term
            sum_ = 1 + (alpha - k) / (k + 1) * x * sum_
        value[small] = alpha / 2 * x * x * sum_
    return value


def largest_rate(p: FloatArray, alpha: float, gamma: float, *, both: bool) -> FloatArray:
    """Return the largest ``q >= p`` whose divergence from ``p`` is at most ``gamma``, any shape.

    With ``both`` the divergence of ``p`` from ``q`` must be at most ``gamma`` too. Bisection over
    the log odds returns the refused end of the last bracket, and slightly more than ``gamma`` is
    allowed, so rounding errs upwards.
    """
    p = np.asarray(p, dtype=np.float64)
    inner = (p > 0) & (p < 1)
    rate = np.where(inner, p, 0.5)
    low = special.logit(rate)
    high = np.maximum(low, 40.0)
    limit = gamma * (1 + _ROUNDED[0] + _ROUNDED[1] * alpha)
    for _ in range(64):
        middle = (low + high) / 2
        q = np.maximum(special.expit(middle), rate)
        allowed = bernoulli_divergence(q, rate, alpha) <= limit
        if both:
            allowed &= bernoulli_divergence(rate, q, alpha) <= limit
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    found = np.where(high >= 40.0, 1.0, np.maximum(special.expit(high), p))
    return np.where(inner, found, p)


@dataclass(frozen=True)
class RenyiDP(Guarantee):
    """Renyi differential privacy of one order, in both directions.

    Source: Mironov 2017. The profile is Canonne, Kamath and Steinke 2020, Proposition 12, or less;
    the trade-off function is the whole region of two-point distributions within the divergence
    (Narcissus theory 4.6).

    Parameters
    ----------
    alpha
        The order, above 1 and finite.
    gamma
        Upper bound on the Renyi divergence, at least 0.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.
    """

    alpha: float
    gamma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", order(self.alpha))
        object.__setattr__(self, "gamma", non_negative("gamma", self.gamma))

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        """Return the smaller of two bounds; any shape.

        ``exp((alpha - 1)(gamma - e)) (1 - 1/alpha)^(alpha - 1) / alpha``, and chords between
        tangent points of the trade-off function.
        """
        e = epsilons("epsilon", epsilon)
        size = np.abs(e)
        closed = _conversion(size, np.asarray(self.alpha - 1), self.gamma)
        return mirrored(e, np.minimum(closed, self._region.profile(size)))

    @cached_property
    def _region(self) -> ProfileCurve:
        return ProfileCurve(*_tangent_points(self.alpha, self.gamma, 600))

    def power(self, alpha: ArrayLike) -> FloatArray:
        """Return the largest rate within the divergence in both directions; any shape."""
        return largest_rate(alphas(alpha), self.alpha, self.gamma, both=True)

    def trade_off(self, alpha: ArrayLike) -> FloatArray:
        return 1.0 - self.power(alpha)

    def describe(self) -> str:
        return f"Renyi DP of order {self.alpha:g} with gamma {self.gamma:g} ({self.neighbours})"


@dataclass(frozen=True)
class ZeroConcentratedDP(ProfileGuarantee):
    """Zero-concentrated DP: Renyi divergence at most ``rho alpha`` at every order above 1.

    Source: Bun and Steinke 2016; the profile is the minimum over orders of Canonne, Kamath and
    Steinke 2020, Proposition 12, or less, as for `RenyiDP`.

    Parameters
    ----------
    rho
        At least 0 and finite.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.
    """

    rho: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rho", non_negative("rho", self.rho))

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        """Return the smallest conversion over the orders; any shape."""
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
        """Upper bounds from single orders; more orders only tighten."""
        orders = 1 + np.logspace(-2, 3, 21)
        parts = [_tangent_points(float(a), self.rho * float(a), 150) for a in orders]
        return ProfileCurve(
            tuple(e for points, _ in parts for e in points),
            tuple(d for _, deltas in parts for d in deltas),
        )

    def describe(self) -> str:
        return f"zero-concentrated DP with rho {self.rho:g} ({self.neighbours})"


def _tangent_points(
    alpha: float, gamma: float, count: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return points (epsilon, delta) from tangents of the region of two-point distributions.

    With ``x = ln((b / a) (1 - a) / (1 - b))`` the boundary ``D(b || a) = gamma`` has the slope
    ``(1 - 1/alpha) (b / a) (1 - exp(-alpha x)) / (1 - exp(-(alpha - 1) x))``, and the tangent
    meets ``a = 0`` at ``b / alpha (1 - m n)``, ``m = (1 - exp(-x)) / x``, ``n = y / (exp(y) - 1)``
    at ``y = (alpha - 1) x``, both taken from 1 on.
    """
    if gamma == 0:
        return (0.0,), (0.0,)
    a = special.expit(np.linspace(-60.0, 4.0, count))
    b = largest_rate(a, alpha, gamma, both=False)
    inside = (b > a) & (b < 1)
    a, b = a[inside], b[inside]
    less, apart = alpha - 1, b - a
    x = np.log1p(apart / a) - np.log1p(-apart / (1 - a))
    y = less * x
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        slope = less / alpha * (b / a) * np.expm1(-alpha * x) / np.expm1(-y)
        late = np.where(y > 50, 1.0, _past_line(y) / np.expm1(y))
    deltas = b / alpha * (_past_line(-x) - np.expm1(-x) * late) / x
    used = slope >= 1
    if not used.any():
        return (0.0,), (1.0,)
    return tuple(np.log(slope[used]).tolist()), tuple(np.clip(deltas[used], 0.0, 1.0).tolist())


def _past_line(z: FloatArray) -> FloatArray:
    """Compute ``exp(z) - 1 - z``, at least 0, to the last digits even near 0."""
    with np.errstate(over="ignore", under="ignore"):
        series = z * z / 2 * (1 + z / 3 * (1 + z / 4 * (1 + z / 5 * (1 + z / 6 * (1 + z / 7)))))
        return np.where(np.abs(z) < 1e-2, series, np.expm1(z) - z)


def order(value: float) -> float:
    """Check the order of a Renyi divergence."""
    alpha = real("alpha", value)
    if not (1 < alpha < np.inf):
        raise InputError(f"`alpha` must be above 1 and finite, got {value!r}")
    return alpha


def _conversion(size: FloatArray, less: FloatArray, gamma: float | FloatArray) -> FloatArray:
    """Return the delta of Canonne, Kamath and Steinke 2020, Proposition 12, at most 1.

    ``less`` is the order minus 1. The proposition holds for every real epsilon, since it bounds
    ``max(0, 1 - exp(epsilon - loss))`` by a multiple of ``exp((alpha - 1) loss)`` pointwise.
    """
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        exponent = less * (gamma - size - np.log1p(1 / less)) - np.log1p(less)
    return np.exp(np.minimum(np.nan_to_num(exponent, nan=-np.inf), 0.0))
