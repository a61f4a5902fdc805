"""Adaptive composition of (epsilon, delta)-private answers."""

from __future__ import annotations

import numpy as np
import scipy

from narcissus._validation import integer, non_negative, probability
from narcissus.guarantees.base import Adjacency
from narcissus.guarantees.curve import ProfileCurve
from narcissus.guarantees.losses import from_losses


def optimal_composition(
    epsilon: float, times: int, delta: float = 0.0, *, adjacency: Adjacency = "replace-one"
) -> ProfileCurve:
    """Compose ``times`` adaptive (epsilon, delta)-private answers optimally.

    No better guarantee holds for all such mechanisms: randomized response attains it.

    Source: Kairouz, Oh and Viswanath 2015, Theorem 3.3.

    Parameters
    ----------
    epsilon, delta
        The guarantee of each answer.
    times
        Number of answers.
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.

    Examples
    --------
    >>> two = optimal_composition(1.0, 2)
    >>> two.profile([0.0, 1.0, 2.0]).round(6)  # basic composition: 0 from epsilon 2 on
    array([0.462117, 0.337835, 0.      ])
    """
    one = non_negative("epsilon", epsilon)
    many = integer("times", times, low=1)
    with np.errstate(divide="ignore"):
        failed = -np.expm1(many * np.log1p(-probability("delta", delta)))
    kept = np.arange(many + 1)
    mass = scipy.stats.binom.pmf(kept, many, 1 / (1 + np.exp(-one)))
    mass = (1 - failed) * mass
    return from_losses(
        (2 * kept - many) * one,
        mass,
        adjacency=adjacency,
        at_infinity=float(failed),
        reverse=mass,
    )
