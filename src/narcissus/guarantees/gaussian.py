"""Gaussian differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from narcissus._validation import between, non_negative
from narcissus.guarantees.base import Adjacency, FloatArray, Guarantee, alphas, epsilons, mirrored

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_FRACTION = ((4.0, 10.0, 40), (10.0, 16.0, 20), (16.0, np.inf, 16))
"""From where to where the continued fraction takes so many steps; more change no digit."""
_SQRT_2 = math.sqrt(2.0)
_SQRT_2_PI = math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class GaussianDP(Guarantee):
    """Gaussian DP: at least as hard to distinguish as N(0, 1) and N(mu, 1).

    Source: Dong, Roth and Su 2022, Definition 2.6 and Corollary 2.13.

    Parameters
    ----------
    mu
        At least 0 and finite. A Gaussian mechanism with L2 sensitivity ``D`` and noise ``sigma``
        has ``mu = D / sigma``.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.

    Examples
    --------
    >>> round(float(GaussianDP(1.0).profile(0.0)), 6)
    0.382925
    """

    mu: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mu", non_negative("mu", self.mu))

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
            found = float(_profile(np.asarray(target), math.exp(log_mu)))
            return (math.log(found) if found > 0 else -1e4) - math.log(allowed)

        low, high = 0.0, 0.0
        while excess(high) < 0:
            high += 1.0
        while excess(low) > 0:
            low -= 1.0
        root = optimize.brentq(excess, low, high, xtol=1e-15, rtol=1e-15, maxiter=500)
        return cls(math.exp(root), adjacency=adjacency)

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        """Return ``Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)``; any shape, tails included."""
        return _profile(epsilons("epsilon", epsilon), self.mu)

    def power(self, alpha: ArrayLike) -> FloatArray:
        """Return ``Phi(Phi^-1(alpha) + mu)``; any shape."""
        return special.ndtr(special.ndtri(alphas(alpha)) + self.mu)

    def trade_off(self, alpha: ArrayLike) -> FloatArray:
        """Return ``Phi(Phi^-1(1 - alpha) - mu)``; any shape."""
        return special.ndtr(-special.ndtri(alphas(alpha)) - self.mu)

    def least_alpha(self, power: ArrayLike) -> FloatArray:
        """Return ``Phi(Phi^-1(power) - mu)``; any shape."""
        return special.ndtr(special.ndtri(alphas(power)) - self.mu)

    def describe(self) -> str:
        return f"Gaussian DP with mu {self.mu:g} ({self.neighbours})"


def _profile(epsilon: FloatArray, mu: float) -> FloatArray:
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
                some = density > 0  # nothing is left where it is lost
                slopes[some] = _mills_slope(middles[some])
                positive = density * (mu / 2) * (slopes @ _WEIGHTS)
            else:
                right = density * _mills(x + mu)
                # M overflows far on the left, where Phi(-x) is near 1 and nothing cancels.
                near = np.where(x < -1, 0.0, x)
                positive = np.where(
                    x < -1, special.ndtr(-x) - right, density * _mills(near) - right
                )
            positive = np.where(density > 0, positive, np.where(x < 0, 1.0, 0.0))
    return mirrored(epsilon, positive)


def _mills(x: FloatArray) -> FloatArray:
    """Compute the Mills ratio ``(1 - Phi(x)) / phi(x)``."""
    return math.sqrt(math.pi / 2) * special.erfcx(x / _SQRT_2)


def _mills_slope(x: FloatArray) -> FloatArray:
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
