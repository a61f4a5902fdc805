"""What some mechanism with the guarantee does reach: the other side of an upper bound.

Source: Narcissus theory 4.10.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import integer
from narcissus.bounds.domination import exact_match_optimum
from narcissus.bounds.poisson_binomial import PoissonBinomial
from narcissus.bounds.rows import prior_rows
from narcissus.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP, require_replace_one
from narcissus.results import NotAssessed

FloatArray = NDArray[np.float64]

STEPS = 400  # strengths of the mechanism among which a Gaussian one is shared out


def reached_tails(priors: ArrayLike, guarantee: Guarantee) -> FloatArray | NotAssessed:
    """Give ``Pr[at least v fall]`` that some mechanism with the guarantee reaches, exact match.

    Parameters
    ----------
    priors
        One distribution a target, shape (n, V) or (V,); zeros pad. Targets are independent.
    guarantee
        About replace-one neighbours: pure, approximate or Gaussian DP; of others no such
        mechanism is known here.

    Returns
    -------
    array of shape (n + 2,), for ``v = 0 .. n + 1``, or why there is none

    Notes
    -----
    Source: Narcissus theory 4.10. Pure DP: the best mechanism for one target, run on each by
    itself. Approximate DP: with probability delta everything is told, else that. Gaussian DP with
    ``mu``: publish ``|Lambda|``, ``Lambda ~ N(mu^2 / 2, mu^2)``, then the pure mechanism of that
    epsilon, with one ``Lambda`` for all targets. Its tail rises with ``|Lambda|``, which is rounded
    down, so that the number is never above what is reached.

    Examples
    --------
    >>> from narcissus.guarantees import PureDP
    >>> round(float(reached_tails([[0.7, 0.3]] * 12, PureDP(1.0))[9]), 6)
    0.589582
    """
    require_replace_one(guarantee)
    rows = prior_rows("priors", priors)
    different, back = np.unique(rows, axis=0, return_inverse=True)
    who = np.ravel(back)

    def pure(epsilon: float) -> FloatArray:
        return PoissonBinomial(exact_match_optimum(different, epsilon)[who]).tails()

    if isinstance(guarantee, PureDP):
        return pure(guarantee.epsilon)
    if isinstance(guarantee, ApproximateDP):
        found = guarantee.delta + (1.0 - guarantee.delta) * pure(guarantee.epsilon)
        found[-1] = 0.0
        return found
    if isinstance(guarantee, GaussianDP):
        return _gaussian(guarantee.mu, pure)
    return NotAssessed(
        "the count that some mechanism reaches",
        f"no mechanism that is as strong as {guarantee.describe()} allows is known here",
    )


def reached(priors: ArrayLike, guarantee: Guarantee, at_least: int) -> float | NotAssessed:
    """Give one of `reached_tails`: the chance of at least so many."""
    v = integer("at_least", at_least)
    tails = reached_tails(priors, guarantee)
    if isinstance(tails, NotAssessed):
        return tails
    return float(tails[min(max(v, 0), tails.size - 1)])


def _gaussian(mu: float, pure: Callable[[float], FloatArray]) -> FloatArray:
    """Average over the strengths, each rounded down to one of some hundred.

    The steps are equally likely parts of the law of ``|Lambda|``.
    """
    shares = np.arange(STEPS) / STEPS
    edges = _strengths(mu, shares)
    laws = np.array([pure(float(edge)) for edge in edges])
    return laws.mean(axis=0)


def _strengths(mu: float, shares: FloatArray) -> FloatArray:
    """Give quantiles of ``|Lambda|``, rounded down; shape as ``shares``, in [0, 1)."""
    low, high = np.zeros_like(shares), np.full_like(shares, mu**2 / 2 + 40 * mu)
    for _ in range(80):
        middle = (low + high) / 2
        below = special.ndtr(middle / mu - mu / 2) - special.ndtr(-middle / mu - mu / 2)
        low, high = np.where(below <= shares, middle, low), np.where(below <= shares, high, middle)
    return low
