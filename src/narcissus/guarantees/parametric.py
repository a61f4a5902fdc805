"""Guarantees of one or two parameters, and which of them follow from others.

Pure, approximate, Gaussian, Renyi and zero-concentrated DP, and Bayes security of one record.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike

from narcissus._validation import between, non_negative, probability, real
from narcissus.errors import InputError
from narcissus.guarantees.base import (
    Adjacency,
    Floats,
    Guarantee,
    ProfileGuarantee,
    Secret,
    alphas,
    epsilons,
    mirrored,
)
from narcissus.guarantees.curves import ProfileCurve, one_after_another


def randomized_response_profile(epsilon: Floats, epsilon_0: float) -> Floats:
    """Return the profile of randomized response at ``epsilon_0``, the worst under pure DP.

    ``max(0, 1 - e^e, (e^e0 - e^e) / (1 + e^e0))``, written so that nothing overflows or cancels.
    """
    with np.errstate(over="ignore"):
        floor = -np.expm1(epsilon)
        middle = -np.expm1(epsilon - epsilon_0) / (1.0 + math.exp(-epsilon_0))
    return np.maximum(np.maximum(floor, middle), 0.0)


def _log_grown(rate: Floats, epsilon: float, *, missed: bool = False) -> Floats:
    """Return the log of ``min(1, e^epsilon rate)``, or of the same with ``1 - rate``."""
    with np.errstate(divide="ignore"):
        return np.minimum((np.log1p(-rate) if missed else np.log(rate)) + epsilon, 0.0)


class _OnePoint(Guarantee):
    """A guarantee that one point of its profile, (epsilon, delta), implies the whole of."""

    epsilon: float
    delta: float

    def profile(self, epsilon: ArrayLike) -> Floats:
        """Return delta; at worst all is revealed with ``delta``, else randomized response."""
        pure = randomized_response_profile(epsilons("epsilon", epsilon), self.epsilon)
        return self.delta + (1.0 - self.delta) * pure

    def power(self, alpha: ArrayLike) -> Floats:
        """Return ``min(1, delta + e^epsilon alpha, 1 - e^-epsilon (1 - delta - alpha))``."""
        rate = alphas(alpha)
        steep = self.delta + np.exp(_log_grown(rate, self.epsilon))
        flat = 1.0 - np.exp(-self.epsilon) * np.maximum(1.0 - self.delta - rate, 0.0)
        return np.minimum(steep, flat)

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Return ``max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha))``."""
        rate = alphas(alpha)
        steep = 1.0 - self.delta - np.exp(_log_grown(rate, self.epsilon))
        flat = np.exp(-self.epsilon) * (1.0 - self.delta - rate)
        return np.maximum(np.maximum(steep, flat), 0.0)

    def tangents(self, count: int = 40) -> Floats:
        """Return ``[epsilon]``: this one point implies the whole profile."""
        return np.array([self.epsilon])


@dataclass(frozen=True)
class PureDP(_OnePoint, epsilon=non_negative):
    """Pure differential privacy: ``P(E) <= exp(epsilon) P'(E)`` for every event.

    Source: Dwork et al. 2006; profile: randomized response (Narcissus theory 3).

    >>> round(float(PureDP(1.0).profile(0.0)), 6)
    0.462117
    """

    epsilon: float  # at least 0 and finite
    delta: ClassVar[float] = 0.0  # pyright: ignore[reportIncompatibleVariableOverride]

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Return ``max(0, 1 - e^epsilon alpha, e^-epsilon (1 - alpha))``; any shape."""
        rate = alphas(alpha)
        steep = -np.expm1(_log_grown(rate, self.epsilon))
        return np.maximum(steep, np.exp(-self.epsilon) * (1.0 - rate))

    def least_alpha(self, power: ArrayLike) -> Floats:
        """Return ``max(e^-epsilon power, 1 - e^epsilon (1 - power))``; any shape."""
        rate = alphas(power)
        steep = -np.expm1(_log_grown(rate, self.epsilon, missed=True))
        return np.maximum(np.exp(-self.epsilon) * rate, steep)

    def describe(self) -> str:
        return f"pure DP with epsilon {self.epsilon:g} ({self.neighbours})"


@dataclass(frozen=True)
class ApproximateDP(_OnePoint, epsilon=non_negative, delta=probability):
    """Approximate differential privacy: ``P(E) <= exp(epsilon) P'(E) + delta`` for every event.

    Source: Dwork et al. 2006; trade-off function: Wasserman and Zhou 2010.
    """

    epsilon: float  # at least 0 and finite
    delta: float  # in [0, 1]

    def least_alpha(self, power: ArrayLike) -> Floats:
        """Return ``max(0, e^-epsilon (power - delta), 1 - delta - e^epsilon (1 - power))``."""
        rate = alphas(power)
        flat = np.exp(-self.epsilon) * np.maximum(rate - self.delta, 0.0)
        steep = -np.expm1(_log_grown(rate, self.epsilon, missed=True))
        return np.maximum(flat, steep - self.delta)

    def describe(self) -> str:
        return (
            f"approximate DP with epsilon {self.epsilon:g} and delta {self.delta:g} "
            f"({self.neighbours})"
        )


@dataclass(frozen=True)
class BayesSecurity(_OnePoint, beta_star=probability):
    """Bayes security of the channel from one record, the others fixed.

    Equivalent to (0, 1 - beta_star)-DP: the total variation distance between any two values of the
    record is at most ``1 - beta_star``.

    Source: Chatzikokolakis et al., Proposition 2.

    beta_star: In [0, 1]; 1 reveals nothing. A value computed over whole data sets implies it; the
        converse is only ``beta_star >= 1 - n delta``.
    """

    beta_star: float
    epsilon: ClassVar[float] = 0.0  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def delta(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        return 1.0 - self.beta_star

    def describe(self) -> str:
        return f"Bayes security with beta* {self.beta_star:g} ({self.neighbours})"


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_FRACTION = ((4.0, 10.0, 40), (10.0, 16.0, 20), (16.0, np.inf, 16))
"""Ranges of the continued fraction and their numbers of steps; more change no digit."""
_SQRT_2 = math.sqrt(2.0)
_SQRT_2_PI = math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class GaussianDP(Guarantee, mu=non_negative):
    """Gaussian DP: at least as hard to distinguish as N(0, 1) and N(mu, 1).

    Source: Dong, Roth and Su 2022, Definition 2.6 and Corollary 2.13.

    mu: At least 0 and finite. A Gaussian mechanism with L2 sensitivity ``D`` and noise ``sigma``
        has ``mu = D / sigma``.

    >>> round(float(GaussianDP(1.0).profile(0.0)), 6)
    0.382925
    """

    mu: float

    @classmethod
    def from_epsilon_delta(
        cls, epsilon: float, delta: float, *, adjacency: Adjacency = "replace-one"
    ) -> Self:
        """Return the largest mu under which (epsilon, delta)-DP holds.

        Exact calibration of the Gaussian mechanism (Balle and Wang 2018, Theorem 8), to the last
        digits even for a delta of 1e-300; ``epsilon`` at least 0 and finite, ``delta`` in (0, 1).
        """
        target = non_negative("epsilon", epsilon)
        allowed = between("delta", delta, 0, 1, open_low=True, open_high=True)

        def excess(log_mu: float) -> float:
            profile_delta = float(_profile(np.asarray(target), math.exp(log_mu)))
            return (math.log(profile_delta) if profile_delta > 0 else -1e4) - math.log(allowed)

        low, high = 0.0, 0.0
        while excess(high) < 0:
            high += 1.0
        while excess(low) > 0:
            low -= 1.0
        root = scipy.optimize.brentq(excess, low, high, xtol=1e-15, rtol=1e-15, maxiter=500)
        return cls(math.exp(root), adjacency=adjacency)

    def profile(self, epsilon: ArrayLike) -> Floats:
        """Return ``Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)``; any shape, tails included."""
        return _profile(epsilons("epsilon", epsilon), self.mu)

    def power(self, alpha: ArrayLike) -> Floats:
        """Return ``Phi(Phi^-1(alpha) + mu)``; any shape."""
        return scipy.special.ndtr(scipy.special.ndtri(alphas(alpha)) + self.mu)

    def trade_off(self, alpha: ArrayLike) -> Floats:
        """Return ``Phi(Phi^-1(1 - alpha) - mu)``; any shape."""
        return scipy.special.ndtr(-scipy.special.ndtri(alphas(alpha)) - self.mu)

    def least_alpha(self, power: ArrayLike) -> Floats:
        """Return ``Phi(Phi^-1(power) - mu)``; any shape."""
        return scipy.special.ndtr(scipy.special.ndtri(alphas(power)) - self.mu)

    def describe(self) -> str:
        return f"Gaussian DP with mu {self.mu:g} ({self.neighbours})"


def _profile(epsilon: Floats, mu: float) -> Floats:
    """Compute the profile of N(0, 1) against N(mu, 1), relatively accurate at every epsilon.

    With ``x = e/mu - mu/2`` and the Mills ratio ``M`` both terms share the factor ``phi(x)``:
    ``delta = phi(x) (M(x) - M(x + mu))``. For small ``mu`` the difference cancels and is computed
    as the integral of ``-M'(y) = 1 - y M(y)``.
    """
    size = np.abs(epsilon)
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        if mu == 0:
            positive = np.zeros_like(size)
        else:
            x = size / mu - mu / 2
            density = np.exp(-0.5 * np.square(x)) / _SQRT_2_PI
            if mu < 2:
                middles = x[..., None] + mu * (1 + _NODES) / 2
                slopes = np.zeros_like(middles)
                some = density > 0  # no mass is left elsewhere
                slopes[some] = _mills_slope(middles[some])
                positive = density * (mu / 2) * (slopes @ _WEIGHTS)
            else:
                right = density * _mills(x + mu)
                # M overflows far on the left, where Phi(-x) is near 1 and nothing cancels.
                near = np.where(x < -1, 0.0, x)
                positive = np.where(
                    x < -1, scipy.special.ndtr(-x) - right, density * _mills(near) - right
                )
            positive = np.where(density > 0, positive, np.where(x < 0, 1.0, 0.0))
    return mirrored(epsilon, positive)


def _mills(x: Floats) -> Floats:
    """Compute the Mills ratio ``(1 - Phi(x)) / phi(x)``."""
    return math.sqrt(math.pi / 2) * scipy.special.erfcx(x / _SQRT_2)


def _mills_slope(x: Floats) -> Floats:
    """Compute ``1 - x M(x)``, minus the slope of the Mills ratio ``M``, for ``x > -2``.

    It falls like ``1/x^2``, so above 4 it comes from the continued fraction ``M = 1/(x + 1/(x +
    2/(x + ...)))``, in which nothing cancels: ``1 - x M = M / (x + 2/(x + ...))``.
    """
    slope = 1.0 - x * (ratio := _mills(x))
    for low, high, steps in _FRACTION:
        here = (x > low) & (x <= high)
        far = x[here]
        fraction = far.copy()
        for step in range(steps, 1, -1):
            fraction = far + step / fraction
        slope[here] = ratio[here] / fraction
    return slope


_ROUNDED = 1e-13, 4e-16  # above the rounding error of a divergence, relative and per order
_SERIES = 24  # terms, each at most a fifth of the one before


def bernoulli_divergence(
    q: Floats, p: Floats, alpha: float | Floats, apart: ArrayLike | None = None
) -> Floats:
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
        lost = ~np.isfinite(near)
        if not lost.any():
            return near
        # Powers that overflow are far from 1, where logarithms lose nothing.
        q, p, order = (np.broadcast_to(array, near.shape)[lost] for array in (q, p, alpha))
        hit = np.where(q > 0, order * np.log(q) - (order - 1) * np.log(p), -np.inf)
        miss = np.where(q < 1, order * np.log1p(-q) - (order - 1) * np.log1p(-p), -np.inf)
        near = np.array(near)
        near[lost] = np.logaddexp(hit, miss) / (order - 1)
    return near


def _excess(u: Floats, alpha: float | Floats) -> Floats:
    """Compute ``((1 + u)^alpha - 1 - alpha u) / (alpha - 1)`` for ``u >= -1``, at least 0."""
    u, alpha = np.broadcast_arrays(u, alpha)
    less = alpha - 1
    value = (1 + u) * np.expm1(less * np.log1p(u)) / less - u
    value = np.where(u == -1, 1.0, value)
    small = (np.abs(u) < 1e-2) & (alpha * np.abs(u) < 0.5)
    if small.any():
        x, order, sum_ = u[small], alpha[small], np.zeros(int(small.sum()))
        for k in range(_SERIES, 1, -1):  # the binomial series, from its last term
            sum_ = 1 + (order - k) / (k + 1) * x * sum_
        value[small] = order / 2 * x * x * sum_
    return value


def largest_rate(p: Floats, alpha: float | Floats, gamma: float | Floats, *, both: bool) -> Floats:
    """Return the largest ``q >= p`` whose divergence from ``p`` is at most ``gamma``, any shape.

    With ``both`` the divergence of ``p`` from ``q`` must be at most ``gamma`` too. Bisection over
    the log odds returns the refused end of the last bracket, and slightly more than ``gamma`` is
    allowed, so rounding errs upwards.
    """
    p = np.asarray(p, dtype=np.float64)
    inner = (p > 0) & (p < 1)
    rate = np.where(inner, p, 0.5)
    low = scipy.special.logit(rate)
    high = np.maximum(low, 40.0)
    limit = gamma * (1 + _ROUNDED[0] + _ROUNDED[1] * alpha)
    for _ in range(64):
        middle = (low + high) / 2
        q = np.maximum(scipy.special.expit(middle), rate)
        allowed = bernoulli_divergence(q, rate, alpha) <= limit
        if both:
            allowed &= bernoulli_divergence(rate, q, alpha) <= limit
        low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
    bound = np.where(high >= 40.0, 1.0, np.maximum(scipy.special.expit(high), p))
    return np.where(inner, bound, p)


@dataclass(frozen=True)
class RenyiDP(Guarantee, alpha=lambda _, value: order(value), gamma=non_negative):
    """Renyi differential privacy of one order, in both directions.

    Source: Mironov 2017. The profile is Canonne, Kamath and Steinke 2020, Proposition 12, or less;
    the trade-off function is the whole region of two-point distributions within the divergence
    (Narcissus theory 4.6).

    alpha: The order, above 1 and finite.
    gamma: Upper bound on the Renyi divergence, at least 0.
    """

    alpha: float
    gamma: float

    def profile(self, epsilon: ArrayLike) -> Floats:
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

    def power(self, alpha: ArrayLike) -> Floats:
        """Return the largest rate within the divergence in both directions; any shape."""
        return largest_rate(alphas(alpha), self.alpha, self.gamma, both=True)

    def trade_off(self, alpha: ArrayLike) -> Floats:
        return 1.0 - self.power(alpha)

    def describe(self) -> str:
        return f"Renyi DP of order {self.alpha:g} with gamma {self.gamma:g} ({self.neighbours})"


@dataclass(frozen=True)
class ZeroConcentratedDP(ProfileGuarantee, rho=non_negative):
    """Zero-concentrated DP: Renyi divergence at most ``rho alpha`` at every order above 1.

    Source: Bun and Steinke 2016; the profile is the minimum over orders of Canonne, Kamath and
    Steinke 2020, Proposition 12, or less, as for `RenyiDP`.
    """

    rho: float  # at least 0 and finite

    def profile(self, epsilon: ArrayLike) -> Floats:
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
        deltas = _conversion(size, less, self.rho * (1 + less))
        return mirrored(e, np.minimum(deltas, self._region.profile(size)))

    @cached_property
    def _region(self) -> ProfileCurve:
        """Upper bounds from single orders; more orders only tighten."""
        orders = 1 + np.logspace(-2, 3, 21)
        return ProfileCurve(*_tangent_points(orders[:, None], self.rho * orders[:, None], 150))

    def describe(self) -> str:
        return f"zero-concentrated DP with rho {self.rho:g} ({self.neighbours})"


def _tangent_points(
    alpha: float | Floats, gamma: float | Floats, count: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return points (epsilon, delta) from tangents of the region of two-point distributions.

    With ``x = ln((b / a) (1 - a) / (1 - b))`` the boundary ``D(b || a) = gamma`` has the slope
    ``(1 - 1/alpha) (b / a) (1 - exp(-alpha x)) / (1 - exp(-(alpha - 1) x))``, and the tangent
    meets ``a = 0`` at ``b / alpha (1 - m n)``, ``m = (1 - exp(-x)) / x``, ``n = y / (exp(y) - 1)``
    at ``y = (alpha - 1) x``, both taken from 1 on. Orders and their gammas may be columns.
    """
    if not np.any(gamma):
        return (0.0,), (0.0,)
    a = scipy.special.expit(np.linspace(-60.0, 4.0, count))
    b = largest_rate(a, alpha, gamma, both=False)
    inside = (b > a) & (b < 1)
    a, b, alpha = (
        np.broadcast_to(a, b.shape)[inside],
        b[inside],
        np.broadcast_to(alpha, b.shape)[inside],
    )
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


def _past_line(z: Floats) -> Floats:
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


def _conversion(size: Floats, less: Floats, gamma: float | Floats) -> Floats:
    """Return the delta of Canonne, Kamath and Steinke 2020, Proposition 12, at most 1.

    ``less`` is the order minus 1. The proposition holds for every real epsilon, since it bounds
    ``max(0, 1 - exp(epsilon - loss))`` by a multiple of ``exp((alpha - 1) loss)`` pointwise.
    """
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        exponent = less * (gamma - size - np.log1p(1 / less)) - np.log1p(less)
    return np.exp(np.minimum(np.nan_to_num(exponent, nan=-np.inf), 0.0))


def as_approximate(
    guarantee: Guarantee, *, epsilon: float | None = None, delta: float | None = None
) -> ApproximateDP:
    """Derive (epsilon, delta)-DP: the smallest delta at an epsilon, or epsilon at a delta.

    InputError: Both or neither are given, or no epsilon reaches ``delta``.

    >>> round(as_approximate(GaussianDP(1.0), delta=1e-5).epsilon, 4)
    4.3772
    """
    if (epsilon is None) == (delta is None):
        raise InputError("`epsilon` or `delta` must be given, and not both")
    if epsilon is not None:
        at = non_negative("epsilon", epsilon)
        return ApproximateDP(at, float(guarantee.profile(at)), **guarantee.around)
    allowed = probability("delta", delta)
    low, high = 0.0, 1.0
    while float(guarantee.profile(high)) > allowed:
        low, high = high, 2 * high
        if high > 1e300:
            raise InputError(
                f"`delta` must be at least what {guarantee.describe()} keeps at every epsilon, "
                f"got {allowed:g}"
            )
    if float(guarantee.profile(0.0)) <= allowed:
        return ApproximateDP(0.0, allowed, **guarantee.around)
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if float(guarantee.profile(middle)) > allowed else (low, middle)
    return ApproximateDP(high, allowed, **guarantee.around)


def as_gaussian(guarantee: Guarantee) -> GaussianDP:
    """Derive Gaussian DP; only pure and Gaussian DP imply any.

    Source: Dong, Roth and Su 2022. The trade-off function of pure DP exceeds the Gaussian one most
    at its fixed point ``1 / (1 + exp(epsilon))``: ``mu = 2 Phi^-1(exp(epsilon) / (1 +
    exp(epsilon)))``.
    """
    if isinstance(guarantee, GaussianDP):
        return guarantee
    if isinstance(guarantee, PureDP):
        e = guarantee.epsilon
        if e < 1:  # the rate is near 1/2, whose distance from it is what counts
            mu = math.sqrt(8) * float(scipy.special.erfinv(math.tanh(e / 2)))
        else:  # of the small rate: Phi^-1 of one near 1 loses its digits
            mu = -2.0 * float(scipy.special.ndtri_exp(scipy.special.log_expit(-e)))
        return GaussianDP(mu, **guarantee.around)
    raise _refused(guarantee, "Gaussian DP")


def as_renyi(guarantee: Guarantee, alpha: float) -> RenyiDP:
    """Derive Renyi DP of order ``alpha``.

    Source: Mironov 2017: randomized response for pure DP (Proposition 5), ``alpha mu^2 / 2`` for
    Gaussian DP, ``alpha rho`` for zCDP.
    """
    a = order(alpha)
    if isinstance(guarantee, RenyiDP):
        if a > guarantee.alpha:
            raise InputError(
                f"`alpha` must be at most {guarantee.alpha:g}, the order that is known, got {a:g}"
            )
        return RenyiDP(a, guarantee.gamma, **guarantee.around)
    if isinstance(guarantee, PureDP):
        e = guarantee.epsilon
        coins = np.asarray(scipy.special.expit(e)), np.asarray(scipy.special.expit(-e))
        gamma = float(bernoulli_divergence(*coins, a, math.tanh(e / 2)))
        return RenyiDP(a, min(max(gamma, 0.0), e), **guarantee.around)
    rho = _rho(guarantee)
    if rho is None:
        raise _refused(guarantee, "Renyi DP")
    return RenyiDP(a, a * rho, **guarantee.around)


def as_zero_concentrated(guarantee: Guarantee) -> ZeroConcentratedDP:
    """Derive zCDP: ``epsilon^2 / 2`` from pure DP, ``mu^2 / 2`` from Gaussian DP.

    Source: Bun and Steinke 2016, Propositions 1.4 and 1.6.
    """
    rho = guarantee.epsilon**2 / 2 if isinstance(guarantee, PureDP) else _rho(guarantee)
    if rho is None:
        raise _refused(guarantee, "zero-concentrated DP")
    return ZeroConcentratedDP(rho, **guarantee.around)


def as_replace_one(guarantee: Guarantee) -> Guarantee:
    """Convert a guarantee about added or removed records to one about a replaced record.

    A replacement is a removal and an addition: epsilon and mu double, rho is multiplied by 4, and
    the profile becomes ``min over e1 + e2 = e of delta(e1) + exp(e1) delta(e2)``. The result
    records the original guarantee.

    Source: Dwork and Roth 2014, Theorem 2.2 (the profile form is its proof); Dong, Roth and Su
    2022, Theorem 2.14 (Gaussian); Bun and Steinke 2016, Proposition 1.9 (zCDP); Mironov 2017,
    Proposition 11 with Hoelder exponents ``(alpha - 1, (alpha - 1)/(alpha - 2))`` (Renyi).

    >>> as_replace_one(PureDP(0.5, adjacency="add-remove")).describe().split(", ")[0]
    'pure DP with epsilon 1 (replace-one neighbours'
    """
    if guarantee.adjacency == "replace-one":
        return guarantee
    for kind, twice in _TWICE.items():
        if isinstance(guarantee, kind):
            once = {"converted_from": guarantee.describe(), "program": guarantee.program}
            return replace(twice(guarantee), **once)
    once = guarantee.profile
    last = float(guarantee.tangents(200)[-1])
    both = one_after_another(once, once, last)
    return replace(both, converted_from=guarantee.describe(), program=guarantee.program)


def as_asked(guarantee: Guarantee, secret: Secret) -> Guarantee:
    """Convert a guarantee to the attacker's question.

    Source: Narcissus theory 3. Membership is a secret with two values whose data sets are
    neighbours, so no third data set lies between them.

    For a value, a guarantee about added and removed records is converted by `as_replace_one`. For
    membership it holds as it is; with replaced records the question is then "this record, or
    another in its place".

    >>> once = GaussianDP(1.0, adjacency="add-remove")
    >>> as_asked(once, "membership").describe()
    'Gaussian DP with mu 1 (add-remove neighbours: the record is in or out)'
    >>> as_asked(once, "value").describe().split(", ")[0]
    'Gaussian DP with mu 2 (replace-one neighbours'
    """
    if secret == "value":
        marked = guarantee.secret != secret
        return as_replace_one(replace(guarantee, secret=secret) if marked else guarantee)
    if guarantee.converted_from:
        raise InputError(
            f"`guarantee` was converted to a replaced record, got {guarantee.describe()}; "
            "ask of the one that it was converted from"
        )
    return replace(guarantee, secret=secret)


def _renyi_twice(guarantee: RenyiDP) -> RenyiDP:
    # D_b(P||R) <= (b - 1/2)/(b - 1) D_2b(P||Q) + D_{2b-1}(Q||R) at b = alpha/2, and the
    # divergence of order alpha - 1 is at most the one of order alpha.
    half = guarantee.alpha / 2
    if half <= 1:
        raise InputError(
            f"`guarantee` must have an order above 2 to say anything about a replaced record, "
            f"got {guarantee.describe()}"
        )
    return RenyiDP(half, guarantee.gamma * ((half - 0.5) / (half - 1) + 1))


def _approximate_twice(guarantee: ApproximateDP) -> ApproximateDP:
    e, d = guarantee.epsilon, guarantee.delta
    return ApproximateDP(2 * e, min(1.0, d * (1.0 + math.exp(min(e, 700.0)))))


# What removing a record and adding another one keep of each guarantee.
_TWICE: dict[type[Guarantee], Callable[[Any], Guarantee]] = {
    PureDP: lambda g: PureDP(2 * g.epsilon),
    GaussianDP: lambda g: GaussianDP(2 * g.mu),
    ZeroConcentratedDP: lambda g: ZeroConcentratedDP(4 * g.rho),
    BayesSecurity: lambda g: BayesSecurity(max(0.0, 1.0 - 2.0 * (1.0 - g.beta_star))),
    ApproximateDP: _approximate_twice,
    RenyiDP: _renyi_twice,
}


def _rho(guarantee: Guarantee) -> float | None:
    """Return the rho implied at every order, or None if the guarantee implies none."""
    if isinstance(guarantee, ZeroConcentratedDP):
        return guarantee.rho
    if isinstance(guarantee, GaussianDP):
        return guarantee.mu**2 / 2
    return None


def _refused(guarantee: Guarantee, wanted: str) -> InputError:
    return InputError(
        f"`guarantee` implies no {wanted}, got {guarantee.describe()}; "
        "`as_approximate` is always possible"
    )
