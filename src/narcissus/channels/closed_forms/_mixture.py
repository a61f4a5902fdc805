"""Masses of noise in the plane that falls with the distance alone, each with a bound on its error.

``e^(-a r)`` is a mixture of Gaussians over their variance v: with ``u = ln v``

    e^(-a r) = integral of g(u; 1/2) e^(-r^2 / 2v) du,
    a^2 / (2 pi) e^(-a r) = integral of g(u; 3/2) e^(-r^2 / 2v) / (2 pi v) du,
    g(u; s) = (v a^2 / 2)^s e^(-v a^2 / 2) / Gamma(s).

Given v the two coordinates are independent, so that a table of all masses is one product of
matrices, of terms that are positive. The integrand is analytic in the strip ``|Im u| < pi/2``, and
the trapezoidal rule of step h is off by at most ``2 M / (e^(2 pi b / h) - 1)``, M the integral of
its modulus at ``Im u = b``. There ``|e^(-r^2 / 2v)| <= e^(-r^2 cos b / 2|v|)``; with
``v' = |v| / cos b`` this is the same mixture for ``a cos b``, times ``(cos b)^(-1/2)`` (s = 1/2) or
``(cos b)^(-5/2)`` (s = 3/2, where the two normal densities bring ``1 / cos b`` more).

Source: Narcissus theory 6.11; Trefethen and Weideman 2014, theorem 5.1 (the trapezoidal rule).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from narcissus.errors import InputError

Floats = NDArray[np.float64]
Factor = Callable[[float], tuple[Floats, Floats]]
"""Variance -> the coordinate's masses of all pieces, and what rounding may have done to each."""

STRIP = 1.0
"""Height at which the integrand's modulus is taken, below pi / 2."""
FINE = 60.0
"""Exponent of what the rule and the cut on the right are off by, before distances."""
CUT = 18.0
"""Figures that the cut on the left leaves to what holds the origin."""
_EPS = float(np.finfo(np.float64).eps)


def masses(
    rate: float,
    power: float,
    factor: Factor,
    reach: int,
    modulus: Floats,
    inside: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Give the masses of all pairs of pieces, and a bound on each one's error.

    Parameters
    ----------
    rate
        Fall of the density with the distance, ``a``; above 0.
    power
        1/2 for points, 3/2 for areas: ``s`` above.
    factor
        See `Factor`; the pieces are of one coordinate, shape (pieces,), at most ``1 + 2.6 sqrt v``.
    reach
        Largest distance of a piece in either coordinate.
    modulus
        Bound on the pair's mass for the rate ``a cos b``, times the power of ``cos b`` above; shape
        (pieces, pieces).
    inside
        Whether a piece holds the origin, shape (pieces,).

    Returns
    -------
    masses, errors
        Shape (pieces, pieces).

    Notes
    -----
    Source: Narcissus theory 6.11.
    """
    step = 2 * math.pi * STRIP / (FINE + rate * reach)
    start = -(CUT / power) * math.log(10) - 2 * math.log(max(rate, 1.0))
    most = FINE + 3 * rate * reach  # of v a^2 / 2
    end = math.log(2 * most / rate**2)
    nodes = start + step * np.arange(math.ceil((end - start) / step) + 1)
    variances = np.exp(nodes)
    load = variances * rate**2 / 2
    logs = power * np.log(load) - load - math.lgamma(power)
    weight = step * np.exp(logs)
    wrong = _EPS * (8 + 2 * (np.abs(nodes) + load)) * weight
    found = [factor(float(v)) for v in variances]
    pieces, rounded = np.array([f for f, _ in found]), np.array([e for _, e in found])
    mass = pieces.T @ (weight[:, None] * pieces)
    errors = rounded.T @ (weight[:, None] * pieces)
    errors = errors + errors.T + pieces.T @ (wrong[:, None] * pieces)
    errors += _EPS * nodes.size * mass
    fine = 2 * math.pi * STRIP / step
    errors += 2 * modulus * math.exp(-fine) / -math.expm1(-fine)
    # left of the first node: a piece that holds the origin has at most its mass there or 1, any
    # other falls with v; right of the last: the weights fall by e^-30h and more from node to node
    first = np.where(inside, np.maximum(pieces[0], 1.0), pieces[0])
    errors += 1.01 * weight[0] / math.expm1(power * step) * np.outer(first, first)
    last = weight[-1] * (1 + 2.6 * math.sqrt(float(variances[-1]))) ** 2
    errors += last / math.expm1(30 * step)
    return mass, errors


def off_by(values: Floats, errors: Floats) -> float:
    """Give the largest relative error.

    Raises
    ------
    InputError
        It is no longer small: some outputs are too unlikely for floating point.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = float(np.max(errors / values)) if (values > 0).all() else math.inf
    if not worst < 1e-9:
        raise InputError(
            "some points are told apart so well that floating point does not hold their masses; "
            "take a smaller epsilon, or a grid that spans less"
        )
    return worst
