"""Bounds on the number of targets that fall: from above with a confidence, and from below.

The lower bounds are attained by some mechanism with the guarantee.

Source: Narcissus theory 4, "Which bound?", and 4.10.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._validation import between, integer
from narcissus.bounds.binomial import PoissonBinomial, upper_tail
from narcissus.bounds.domination import optimum_of_heads
from narcissus.bounds.swap import LARGEST_PROGRAM, PROGRAM_POINTS, SWAP_PROGRAM, swap_program
from narcissus.bounds.theorem import Question
from narcissus.bounds.theorems import best, bounds_on
from narcissus.bounds.threat import Threat, prior_kinds
from narcissus.guarantees import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    require_replace_one,
)
from narcissus.results import Bound, NotAssessed

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def at_most(threat: Threat, guarantee: Guarantee, confidence: float) -> Bound:
    """Bound the number of fallen targets with a confidence in [0, 1); the value is a whole number.

    The number is exceeded with probability at most ``1 - confidence``.
    """
    level = between("confidence", confidence, 0, 1, open_high=True)
    allowed = 1.0 - level

    def closed(v: int) -> Bound:
        return best(bounds_on(threat, guarantee, v, dear=False))

    low, high = -1, threat.guesses
    chosen: Bound | None = None
    while high - low > 1:
        middle = (low + high) // 2
        bound = closed(middle + 1)
        if bound.value <= allowed:
            high, chosen = middle, bound
        else:
            low = middle
    # The closed forms say no more. The program is sharper and dear, so every third point of the
    # profile, which is cheaper and never below all of them, first comes near the answer.
    for points in _program_points(threat, guarantee):
        fewer = _fewer(threat, guarantee, allowed, high, points)
        if fewer < high:
            high = fewer
            q = Question(threat, guarantee, high + 1)
            chosen = SWAP_PROGRAM.claim(0.0, "", SWAP_PROGRAM.assumptions(q))
    if chosen is None:
        chosen = Bound(0.0, "", "every target may fall")
    said = f"number of {threat.targets} targets that fall, with confidence {level:g}"
    return replace(chosen, value=float(high), quantity=said)


def _program_points(threat: Threat, guarantee: Guarantee) -> list[FloatArray]:
    """Points for the swap program, few first; none if the program cannot improve the bound."""
    points = guarantee.tangents(PROGRAM_POINTS)
    several = guarantee.tangents(2).size > 1
    return [points[::3], points] if several and threat.guesses <= LARGEST_PROGRAM else []


def _fewer(
    threat: Threat, guarantee: Guarantee, allowed: float, high: int, points: FloatArray
) -> int:
    """Descend from ``high`` by doubling steps, then bisect, while the tail is ``allowed``."""
    low, step, doubling = -1, 1, True
    while high - low > 1:
        middle = max(high - step, low + 1) if doubling else (low + high) // 2
        if swap_program(threat, guarantee, middle + 1, epsilons=points) <= allowed:
            high, step = middle, 2 * step
        else:
            low, doubling = middle, False
    return high


STEPS = 400
"""Strengths of the mechanism among which a Gaussian one is shared out."""

_WHAT = "the count that some mechanism reaches"
_SMALL = 1024  # targets up to which all strengths are summed in one go
_RARE = (2.0, 9.0)  # log odds of the shares of strengths where tails are made


class _Strengths(NamedTuple):
    """A mixture of pure mechanisms, one strength for all targets."""

    epsilons: FloatArray  # shape (k,)
    weights: FloatArray  # shape (k,)
    told: float = 0.0  # probability that everything is revealed


def reached_tails(
    priors: ArrayLike,
    guarantee: Guarantee,
    *,
    repeats: ArrayLike | None = None,
    steps: int = STEPS,
) -> FloatArray | NotAssessed:
    """Compute ``Pr[at least v fall]`` under some mechanism with the guarantee, exact match.

    Returns an array for ``v = 0 .. n + 1``, or the reason why there is none.

    Parameters
    ----------
    priors
        One distribution per target, shape (m, V) or (V,); zeros pad. Targets are independent.
    guarantee
        About replace-one neighbours: pure, approximate, Gaussian, zero-concentrated or Renyi DP;
        for others no such mechanism is known here.
    repeats
        Number of targets per row, shape (m,); default one each.
    steps
        Even number of strengths that discretise a Gaussian mechanism; more only raise the tails.

    Notes
    -----
    Source: Narcissus theory 4.10. Pure DP: the best mechanism for one target, run on each
    separately. Approximate DP: everything is revealed with probability delta, else the same.
    Gaussian DP with ``mu``: publish ``|Lambda|``, ``Lambda ~ N(mu^2 / 2, mu^2)``, then run the pure
    mechanism of that epsilon, with one ``Lambda`` for all targets. Its tail rises with
    ``|Lambda|``, which is rounded down, so the number never exceeds the tail attained. It is no
    less private than the Gaussian mechanism, whose Renyi divergence of order a is ``a mu^2 / 2``;
    zero-concentrated and Renyi DP use the ``mu`` of that.

    Examples
    --------
    >>> from narcissus.guarantees import PureDP
    >>> round(float(reached_tails([[0.7, 0.3]] * 12, PureDP(1.0))[9]), 6)
    0.589582
    """
    rows, many = prior_kinds(priors, repeats)
    mixture = _mixture(guarantee, steps)
    if mixture is None:
        return _none(guarantee)
    chances = _chances(rows, mixture)
    found = _tails(np.repeat(chances, many, axis=1), mixture.weights)
    found = mixture.told + (1.0 - mixture.told) * np.minimum(found, 1.0)
    found[0], found[-1] = 1.0, 0.0
    return found


def reached(
    priors: ArrayLike, guarantee: Guarantee, at_least: int, *, repeats: ArrayLike | None = None
) -> float | NotAssessed:
    """Return one of `reached_tails`: the probability of at least ``at_least``.

    If all targets are alike their number is unlimited.
    """
    v = integer("at_least", at_least)
    rows, many = prior_kinds(priors, repeats)
    n = int(many.sum())
    if len(rows) > 1:
        tails = reached_tails(rows, guarantee, repeats=many)
        return tails if isinstance(tails, NotAssessed) else float(tails[min(max(v, 0), n + 1)])
    mixture = _mixture(guarantee, STEPS)
    if mixture is None:
        return _none(guarantee)
    if v <= 0 or v > n:
        return float(v <= 0)
    odds = special.logit(_chances(rows, mixture)[:, 0])
    tail = min(1.0, float(upper_tail(n, v, odds) @ mixture.weights))
    return mixture.told + (1.0 - mixture.told) * tail


def reached_number(
    priors: ArrayLike,
    guarantee: Guarantee,
    confidence: float,
    *,
    repeats: ArrayLike | None = None,
) -> int | NotAssessed:
    """Return the number that some mechanism stays below with at most that confidence.

    The least ``v`` whose `reached` probability to exceed it is at most ``1 - confidence``: a lower
    bound on `narcissus.bounds.at_most`.

    >>> from narcissus.guarantees import GaussianDP
    >>> reached_number([0.5, 0.5], GaussianDP(0.5), 0.95, repeats=[100])
    75
    """
    level = between("confidence", confidence, 0, 1, open_high=True)
    rows, many = prior_kinds(priors, repeats)
    if len(rows) > 1:
        tails = reached_tails(rows, guarantee, repeats=many)
        if isinstance(tails, NotAssessed):
            return tails
        return int(np.argmax(tails[1:] <= 1.0 - level))
    low, high = -1, int(many.sum())
    while high - low > 1:
        middle = (low + high) // 2
        tail = reached(rows, guarantee, middle + 1, repeats=many)
        if isinstance(tail, NotAssessed):
            return tail
        low, high = (low, middle) if tail <= 1.0 - level else (middle, high)
    return high


def reached_of_threat(threat: Threat, guarantee: Guarantee, at_least: int) -> float | NotAssessed:
    """Return `reached` for the guessed targets of a threat; exact match.

    If only the best guess is known it is for the worst prior that fits.
    """
    if threat.values is None or not threat.exact_match or threat.guesses == 0:
        return _unknown_prior()
    return reached(threat.values, guarantee, at_least, repeats=[threat.guesses])


def reached_number_of_threat(
    threat: Threat, guarantee: Guarantee, confidence: float
) -> int | NotAssessed:
    """Return `reached_number` for the guessed targets of a threat; exact match."""
    if threat.values is None or not threat.exact_match or threat.guesses == 0:
        return _unknown_prior()
    return reached_number(threat.values, guarantee, confidence, repeats=[threat.guesses])


def _unknown_prior() -> NotAssessed:
    return NotAssessed(
        _WHAT, "it takes the prior of the targets' values, and guesses that name the very value"
    )


def _none(guarantee: Guarantee) -> NotAssessed:
    return NotAssessed(
        _WHAT,
        f"no mechanism that is as strong as {guarantee.describe()} allows is known here",
    )


def _mixture(guarantee: Guarantee, steps: int) -> _Strengths | None:
    require_replace_one(guarantee)
    if isinstance(guarantee, PureDP | ApproximateDP):
        told = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
        return _Strengths(np.array([guarantee.epsilon]), np.ones(1), told)
    if isinstance(guarantee, GaussianDP):
        return _gaussian(guarantee.mu, steps)
    if isinstance(guarantee, ZeroConcentratedDP):
        return _gaussian(math.sqrt(2.0 * guarantee.rho), steps)
    if isinstance(guarantee, RenyiDP):
        return _gaussian(math.sqrt(2.0 * guarantee.gamma / guarantee.alpha), steps)
    return None


def _gaussian(mu: float, steps: int) -> _Strengths:
    """Discretise the law of ``|Lambda|``: half evenly, half where it is rare, for small tails."""
    if mu == 0:
        return _Strengths(np.zeros(1), np.ones(1))
    half = max(1, steps // 2)
    shares = np.union1d(np.arange(half) / half, special.expit(np.linspace(*_RARE, half)))
    return _Strengths(_quantiles(mu, shares), np.diff(np.append(shares, 1.0)))


def _quantiles(mu: float, shares: FloatArray) -> FloatArray:
    """Return quantiles of ``|Lambda|``, rounded down; ``shares`` in [0, 1)."""
    low, high = np.zeros_like(shares), np.full_like(shares, mu**2 / 2 + 40 * mu)
    for _ in range(80):
        middle = (low + high) / 2
        below = special.ndtr(middle / mu - mu / 2) - special.ndtr(-middle / mu - mu / 2)
        low, high = np.where(below <= shares, middle, low), np.where(below <= shares, high, middle)
    return low


def _chances(rows: FloatArray, mixture: _Strengths) -> FloatArray:
    """Return each kind's chance to fall at each strength, shape (strengths, m)."""
    heads = np.cumsum(-np.sort(-rows, axis=1), axis=1)
    one = np.ones(len(rows))
    return np.array([optimum_of_heads(heads, e * one) for e in mixture.epsilons])


def _tails(chances: FloatArray, weights: FloatArray) -> FloatArray:
    """Average the tails over strengths; ``chances`` has shape (strengths, n)."""
    n = chances.shape[1]
    if n > _SMALL:
        return sum((w * PoissonBinomial(p).tails() for p, w in zip(chances, weights, strict=True)),
                   np.zeros(n + 2))  # fmt: skip
    law = np.zeros((n + 2, weights.size))
    law[0] = weights
    with np.errstate(under="ignore"):
        for i, p in enumerate(chances.T):
            fallen = law[: i + 1] * p
            law[: i + 1] -= fallen
            law[1 : i + 2] += fallen
    return np.cumsum(law.sum(axis=1)[::-1])[::-1]
