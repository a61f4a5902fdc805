"""Mechanisms in closed form, made from what a study file or the command line says of them."""

from __future__ import annotations

import math

from narcissus._validation import integer, positive
from narcissus.channels.closed_forms import Exponential, Gaussian, Laplace, Subset, UnaryEncoding
from narcissus.errors import InputError


def exponential(values: int, epsilon: float) -> Exponential:
    """Return the exponential mechanism on ``0 .. values - 1``; the utility is minus the distance.

    values: number of secrets.
    epsilon: privacy level.
    """
    return Exponential.on_a_line(values, epsilon)


def gaussian(
    span: float = 1.0,
    sigma: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    points: int = 2,
) -> Gaussian:
    """Add normal noise to numbers of a span; give ``sigma``, or ``epsilon`` and ``delta``.

    span: distance from the smallest secret to the largest.
    sigma: standard deviation of the noise.
    epsilon: privacy level for the span, of the classical calibration.
    delta: goes with it, above 0.
    points: number of secrets, evenly spread.
    """
    if sigma is not None and epsilon is None and delta is None:
        return Gaussian(span, sigma, points)
    if sigma is None and epsilon is not None and delta is not None:
        return Gaussian(span, span * Gaussian.classical(epsilon, delta).sigma, points)
    raise InputError("gaussian needs `sigma`, or `epsilon` and `delta` (classical calibration)")


def laplace(
    span: float = 1.0,
    scale: float | None = None,
    epsilon: float | None = None,
    points: int = 2,
) -> Laplace:
    """Add Laplace noise to numbers of a span; give ``scale`` or ``epsilon``.

    span: distance from the smallest secret to the largest.
    scale: scale of the noise.
    epsilon: privacy level for the span, instead of the scale.
    points: number of secrets, evenly spread.
    """
    if (scale is None) == (epsilon is None):
        raise InputError("laplace needs `scale` or `epsilon` (for the span), one of them")
    if scale is None:
        scale = span / positive("epsilon", epsilon)
    return Laplace(span, scale, points)


def subset(values: int, epsilon: float, size: int | None = None) -> Subset:
    """Release a random set of values, likelier with the true one in it (subset selection).

    values: number of secrets.
    epsilon: privacy level.
    size: values of the set; if left out, what is best for estimating frequencies (Ye and Barg
        2018).
    """
    values = integer("values", values, low=2)
    best = max(1, min(values - 1, round(values / (math.exp(min(epsilon, 700)) + 1))))
    return Subset(values, best if size is None else size, epsilon)


def unary(values: int, epsilon: float) -> UnaryEncoding:
    """Release a bit for each value, each kept or flipped (unary encoding, basic RAPPOR).

    values: number of secrets.
    epsilon: privacy level.
    """
    return UnaryEncoding(values, epsilon)


def optimized_unary(values: int, epsilon: float) -> UnaryEncoding:
    """Release a bit for each value, with the flips that are best for estimating frequencies.

    values: number of secrets.
    epsilon: privacy level.
    """
    return UnaryEncoding(values, epsilon, optimized=True)
