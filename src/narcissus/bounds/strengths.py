"""Mechanisms that draw a strength in public: what can be reached under a guarantee.

A strength ``l`` is drawn and published, and the best pure mechanism of that epsilon is run for
every target. Neighbours differ in one target, so the profile is the mean of those of randomised
response, ``(e^l - t) / (e^l + 1)`` where that is positive, ``t = e^epsilon``: any law of strengths
that stays below the guarantee's profile is a mechanism with the guarantee.

Source: Narcissus theory 4.10, "What is reached".
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from narcissus.bounds.exact import maximise
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    Guarantee,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    require_replace_one,
)

FloatArray = NDArray[np.float64]

_RARE = (2.0, 9.0)  # log odds of the shares of strengths where tails are made
_GRID = 100  # strengths of a program, of each of two kinds
_ROUNDS = 3  # programs, each with the points where the one before exceeded the profile
_WORST = 60  # such points that are added
_ROUNDING = 1e-9
_SHRINKS = 20
_TINY = 1e-200  # a delta that no program divides by
_CELLS = 2**22  # numbers in one block


class Strengths(NamedTuple):
    """A law of strengths; with what is told it sums to 1."""

    epsilons: FloatArray  # shape (k,)
    weights: FloatArray  # shape (k,)
    told: float = 0.0  # probability that everything is revealed


def whole(guarantee: Guarantee, steps: int) -> Strengths | None:
    """Return a law of about ``steps`` strengths that uses up the profile; None: none is known."""
    require_replace_one(guarantee)
    if isinstance(guarantee, PureDP):
        return Strengths(np.array([guarantee.epsilon]), np.ones(1))
    if isinstance(guarantee, ApproximateDP | BayesSecurity):
        rest = np.array([1.0 - guarantee.delta])
        return Strengths(np.array([guarantee.epsilon]), rest, guarantee.delta)
    if isinstance(guarantee, ProfileCurve):
        return _of_curve(guarantee, steps)
    gaussian = _gaussian(guarantee)
    return None if gaussian is None else _of_gaussian(gaussian.mu, steps)


def _gaussian(guarantee: Guarantee) -> GaussianDP | None:
    """Return the Gaussian DP whose mechanisms have the guarantee; None: there is none."""
    if isinstance(guarantee, ZeroConcentratedDP):
        return GaussianDP(math.sqrt(2.0 * guarantee.rho))
    if isinstance(guarantee, RenyiDP):
        return GaussianDP(math.sqrt(2.0 * guarantee.gamma / guarantee.alpha))
    return guarantee if isinstance(guarantee, GaussianDP) else None


def _of_gaussian(mu: float, steps: int) -> Strengths:
    """Discretise the law of ``|Lambda|``: half evenly, half where it is rare, for small tails."""
    if mu == 0:
        return Strengths(np.zeros(1), np.ones(1))
    half = max(1, steps // 2)
    shares = np.union1d(np.arange(half) / half, special.expit(np.linspace(*_RARE, half)))
    return Strengths(_quantiles(mu, shares), np.diff(np.append(shares, 1.0)))


def _quantiles(mu: float, shares: FloatArray) -> FloatArray:
    """Return quantiles of ``|Lambda|``, rounded down; ``shares`` in [0, 1)."""
    low, high = np.zeros_like(shares), np.full_like(shares, mu**2 / 2 + 40 * mu)
    for _ in range(80):
        middle = (low + high) / 2
        below = special.ndtr(middle / mu - mu / 2) - special.ndtr(-middle / mu - mu / 2)
        low, high = np.where(below <= shares, middle, low), np.where(below <= shares, high, middle)
    return low


def _of_curve(curve: ProfileCurve, steps: int) -> Strengths:
    """Return the law whose profile is the curve itself, of at most ``steps`` of its corners.

    The weight of a corner is ``e^l + 1`` times the change of the slope there, in ``t``. Others
    are rounded down to the corners that are kept, which lowers the profile.
    """
    where = curve.tangents(sys.maxsize)
    delta = curve.profile(where)
    if where.size == 1:
        return _within(curve, np.zeros(1), np.zeros(1), float(delta[-1]))
    fall = -np.diff(delta) / -np.expm1(where[:-1] - where[1:])
    weights = (1.0 + np.exp(-where[1:])) * fall
    weights[:-1] -= (np.exp(where[1:-1] - where[2:]) + np.exp(-where[2:])) * fall[1:]
    law = np.maximum(np.append(0.0, weights), 0.0)
    shares = np.cumsum(law) / max(law.sum(), np.finfo(float).tiny)
    half = max(2, steps // 2)
    corners = np.union1d(
        np.linspace(0, where.size - 1, half).astype(np.intp),
        np.searchsorted(shares, np.arange(half) / half).clip(max=where.size - 1),
    )
    return _within(curve, where[corners], np.add.reduceat(law, corners), float(delta[-1]))


def strengths_of(guarantee: Guarantee) -> FloatArray | None:
    """Return strengths for `strongest`, rising from 0; None: more than `whole` is not known.

    Under pure DP `whole` is the optimum; under (epsilon, delta)-DP its gap is below delta.
    """
    bound = _gaussian(guarantee) or guarantee
    if isinstance(bound, GaussianDP):
        end, some = bound.tangents(2)[-1], _of_gaussian(bound.mu, _GRID).epsilons
    elif isinstance(bound, ProfileCurve):
        where = bound.tangents(sys.maxsize)
        # No strength is above a corner without a delta; else some are above the last one.
        positive = bound.profile(where) > 0
        end = where[-1] + 5.0 if positive[-1] else where[np.argmin(positive)]
        some = where[np.unique(np.linspace(0, where.size - 1, _GRID).astype(np.intp))]
    else:
        return None
    if float(bound.profile(0.0)) <= _TINY:
        return None
    return np.union1d(np.linspace(0.0, end, _GRID), some[some <= end])


def strongest(guarantee: Guarantee, strengths: FloatArray, tails: FloatArray) -> Strengths:
    """Return the law of ``strengths`` with the guarantee whose mean of ``tails`` is largest.

    ``strengths`` are of `strengths_of`, shape (k,), and ``tails`` are probabilities at each of
    them, shape (k,), that do not fall; the law has one strength more, 0, the first. A linear
    program finds it. Its profile is then compared with the guarantee's wherever it may exceed it,
    and made less.
    """
    bound = _gaussian(guarantee) or guarantee
    leak = 0.0 if isinstance(bound, GaussianDP) else float(bound.profile(strengths[-1]))
    where = strengths[bound.profile(strengths) > _TINY]
    gains = np.append(tails, 1.0) - tails[0]
    best, top_gain = Strengths(np.zeros(1), np.ones(1)), 0.0
    for _ in range(_ROUNDS):
        weights = _program(bound, where, strengths, leak, gains)
        if weights is None:
            break
        law = _within(bound, strengths, weights[:-1], float(weights[-1]))
        gained = law.told * gains[-1] + float(law.weights[1:] @ gains[:-1])
        best, top_gain = max((best, top_gain), (law, gained), key=lambda candidate: candidate[1])
        points = _places(bound, strengths, weights[:-1])
        excess = _spent(points, strengths, weights) - bound.profile(points) * (1 + 1e-6)
        over = np.argsort(-excess)[:_WORST]
        if excess[over[0]] <= 0:
            break
        where = np.union1d(where, points[over[excess[over] > 0]])
    return best


def _program(
    guarantee: Guarantee, where: FloatArray, strengths: FloatArray, told: float, gains: FloatArray
) -> FloatArray | None:
    """Return the best weights of the strengths and of telling all, at the points ``where``."""
    allowed = guarantee.profile(where)
    rows = np.column_stack([_sticks(where, strengths), np.ones(where.size)])
    with np.errstate(divide="ignore", over="ignore"):
        alone = np.where(rows > 0, allowed[:, None] / rows, np.inf).min(axis=0)
    # In parts of what each strength may weigh alone all numbers are between 0 and 1.
    ceilings = np.minimum(alone, 1.0)
    ceilings[-1] = min(ceilings[-1], told)
    gain = gains * ceilings
    if not gain.max() > 0:
        return None
    rows = np.vstack([rows * (ceilings / allowed[:, None]), ceilings])
    ones = np.ones(rows.shape[0])
    solution = maximise(gain / gain.max(), rows, ones, np.zeros((0, ceilings.size)), np.zeros(0))
    return None if solution is None else np.maximum(solution.x, 0.0) * ceilings


def _sticks(where: FloatArray, strengths: FloatArray) -> FloatArray:
    """Return the profile of randomised response, shape (points, strengths)."""
    below = np.minimum(where[:, None] - strengths, 0.0)
    return -np.expm1(below) / (1.0 + np.exp(-strengths))


def _spent(where: FloatArray, strengths: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the profile of a law, the last of ``weights`` being told, at ``where``."""
    size = max(1, _CELLS // strengths.size)
    parts = [
        _sticks(where[i : i + size], strengths) @ weights[:-1] for i in range(0, where.size, size)
    ]
    return np.concatenate(parts) + weights[-1]


def _places(guarantee: Guarantee, strengths: FloatArray, weights: FloatArray) -> FloatArray:
    """Return epsilons among which the profile of a law is nearest to the guarantee's, or above.

    In ``t`` the law's profile is linear between strengths. So is a curve between its corners; that
    of Gaussian DP has the slope ``-Phi(-epsilon / mu - mu / 2)``, and is nearest where both agree.
    """
    if not isinstance(guarantee, GaussianDP):
        return np.union1d(strengths, guarantee.tangents(sys.maxsize))
    slope = np.cumsum((weights * special.expit(-strengths))[::-1])[::-1]
    agree = -guarantee.mu * (special.ndtri(slope) + guarantee.mu / 2)
    return np.union1d(strengths, np.clip(agree, np.append(0.0, strengths[:-1]), strengths))


def _within(
    guarantee: Guarantee, strengths: FloatArray, weights: FloatArray, told: float
) -> Strengths:
    """Make a law less until it has the guarantee everywhere; the rest has strength 0, first."""
    law = np.append(weights, told) / max(1.0, float(weights.sum()) + told)
    for _ in range(_SHRINKS):
        where = _places(guarantee, strengths, law[:-1])
        spent, allowed = _spent(where, strengths, law), guarantee.profile(where)
        excess = np.divide(spent, allowed, out=np.full_like(spent, np.inf), where=allowed > 0)
        peak = float(excess[spent > 0].max(initial=0.0))
        if peak <= 1.0:  # nearest where both slopes agree: nowhere else is it above
            break
        law *= (1.0 - _ROUNDING) / peak
    else:
        law[:] = 0.0
    law *= 1.0 - _ROUNDING
    weights = np.append(max(0.0, 1.0 - float(law.sum())), law[:-1])
    return Strengths(np.append(0.0, strengths), weights, float(law[-1]))
