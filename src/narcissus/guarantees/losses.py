"""Explicit privacy loss distributions and their exact profiles.

Source: Sommer, Meiser and Mohammadi 2019; Narcissus theory 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from narcissus._validation import probabilities, probability
from narcissus.errors import InputError
from narcissus.guarantees.base import Adjacency, FloatArray, Secret, epsilons
from narcissus.guarantees.curve import ProfileCurve
from narcissus.guarantees.orders import from_orders

_MISSING = 1e-6  # so much of the mass may be lost to rounding; it is taken as an infinite loss
_IMPOSSIBLE = 1e-5  # and so much may be there that no two distributions have
_STEEP = 5.0  # losses below -5 count as -5 there: accountants' far lower tails are noise
_DUST = 1e-12
_KNOTS = 20_000  # losses that stay corners of the profile; chords between them are valid


def from_losses(
    losses: ArrayLike,
    masses: ArrayLike,
    *,
    adjacency: Adjacency = "replace-one",
    at_infinity: float = 0.0,
    reverse: ArrayLike | None = None,
) -> ProfileCurve:
    """Compute the profile of a privacy loss distribution: the larger of both orders of its pair.

    ``delta(e) = at_infinity + sum over losses l > e of mass (1 - exp(e - l))`` is a chord in
    ``exp(e)`` between the losses, so nothing is lost. With ``P`` and ``Q`` exchanged, a loss ``l``
    becomes ``-l`` with probability ``mass exp(-l)``; the missing mass lies where only ``Q`` has
    any.

    Parameters
    ----------
    losses
        ``ln P(o) / Q(o)``, shape (k,), in any order; infinite ones are allowed.
    masses
        Their probabilities under ``P``, shape (k,), which sum to 1 with ``at_infinity``.
    adjacency
        The neighbours of the distribution; add-remove is *not* converted here.
    at_infinity
        Probability of an infinite loss.
    reverse
        Probabilities of the losses ``ln Q(o) / P(o)`` under ``Q``, if known separately, shape (k,);
        the same as ``masses`` if ``P`` and ``Q`` are interchangeable. Accountants round the losses
        of both orders up; an order derived from the other is pessimistic by as much.

    Raises
    ------
    InputError
        The masses do not sum to 1, no two distributions have such losses, or the losses far below 0
        are rounding errors, so that the other order does not follow.

    Examples
    --------
    >>> coin = from_losses([1.0, -1.0], [0.731058578630005, 0.268941421369995])
    >>> coin.profile([0.0, 0.5, 1.0]).round(6)  # randomized response, epsilon 1
    array([0.462117, 0.287649, 0.      ])
    >>> uneven = from_losses(np.log([1.8, 0.2]), [0.9, 0.1])  # (.9, .1) against (.5, .5)
    >>> uneven.profile([0.0, 1.0]).round(6)
    array([0.4     , 0.228172])
    """
    one = _checked("masses", losses, masses, at_infinity)
    if reverse is None:
        other = _exchanged(*one)
    else:
        other = _checked("reverse", losses, reverse, at_infinity)
    points = _knots(np.concatenate([one[0], other[0]]))
    deltas = _deltas(*one, points), _deltas(*other, points)
    crossed = _crossing(points, *deltas)
    if crossed.size:
        points = np.union1d(points, crossed)
        deltas = _deltas(*one, points), _deltas(*other, points)
    larger = np.maximum(*deltas)
    return ProfileCurve(tuple(points.tolist()), tuple(larger.tolist()), adjacency=adjacency)


def _exchanged(where: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Exchange the pair: losses of ``Q`` against ``P``, masses under ``Q``, in rising order."""
    some = (mass > 0) & np.isfinite(where)
    with np.errstate(over="ignore"):
        under = mass[some] * np.exp(-where[some])
    total = float(np.sum(np.sort(under)))
    if not total <= 1 + _IMPOSSIBLE:
        raise InputError(
            "`losses` give one order only: with P and Q exchanged their probabilities sum to "
            f"{total:.6g}, so those far below 0 are rounding. A guarantee is about both orders: "
            "give the other one's probabilities too (in a file as the column "
            "`probability_reversed`); the same again where P and Q may change places"
        )
    rest = 1.0 - total
    if rest <= np.finfo(float).eps * (8 + np.abs(where[some]).max(initial=0.0)):
        rest = 0.0  # no more than what rounding losses and probabilities to floats leaves
    return np.append(-where[some][::-1], np.inf), np.append(under[::-1], rest)


def _crossing(points: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """Find where two profiles, chords between rising points, cross."""
    gap = one - other
    at = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[at] / (gap[at] - gap[at + 1])
    start, end = points[at], points[at + 1]
    return end + np.log(np.exp(start - end) * (1 - share) + share)


def from_losses_of_orders(
    losses: ArrayLike, add: ArrayLike, remove: ArrayLike, *, secret: Secret = "value"
) -> ProfileCurve:
    """Combine the loss distributions of adding and of removing a record.

    Parameters
    ----------
    losses
        Shape (k,); see `from_losses`.
    add
        Masses with ``P`` without the record and ``Q`` with it, shape (k,).
    remove
        Masses with ``P`` with the record, shape (k,).
    secret
        See `narcissus.guarantees.from_orders`.
    """
    orders = [_checked(name, losses, m, 0.0) for name, m in (("add", add), ("remove", remove))]
    points = _knots(np.concatenate([where for where, _ in orders]))
    deltas = (_deltas(where, mass, points) for where, mass in orders)
    return from_orders(points, *deltas, secret=secret)


def _checked(
    name: str, losses: ArrayLike, masses: ArrayLike, at_infinity: float
) -> tuple[FloatArray, FloatArray]:
    """Sort the losses with their masses; missing mass is at infinity."""
    where = epsilons("losses", losses).ravel()
    raw = np.asarray(masses, dtype=np.float64).ravel()
    # Transforms leave some masses a little below 0; to raise them is valid.
    mass = probabilities(name, np.where((raw < 0) & (raw > -_DUST), 0.0, raw))
    if where.size == 0 or where.size != mass.size:
        raise InputError(
            f"`losses` and `{name}` must be as many and at least one, "
            f"got {where.size} and {mass.size}"
        )
    where = np.append(where, np.inf)
    mass = np.append(mass, probability("at_infinity", at_infinity))
    total = float(np.sum(np.sort(mass)))
    if abs(total - 1.0) > _MISSING:
        raise InputError(
            f"`{name}` must sum to 1 with what has an infinite loss, got {total:.9g}"
            + ("; give the rest as the probability of an infinite loss" if total < 1 else "")
        )
    mass[-1] += max(0.0, 1.0 - total)
    order = np.argsort(where, kind="stable")
    where, mass = where[order], mass[order]
    # What P has more than Q is what Q has more than P: so much mass cannot lie below.
    above = float((mass * -np.expm1(-np.maximum(where, 0.0))).sum())
    below = float((mass * np.expm1(np.clip(-where, 0.0, _STEEP))).sum())
    if below > above + _IMPOSSIBLE:
        raise InputError(
            f"`losses` are of no two distributions: those below 0 need a difference of at least "
            f"{below:.6g}, those above 0 have {above:.6g}; is the sign exchanged? A loss is "
            "ln(P/Q), natural logarithm, weighed by P"
        )
    return where, mass


def _knots(where: FloatArray) -> FloatArray:
    """Return 0 and the finite losses of at least 0, thinned out if there are too many."""
    finite = where[np.isfinite(where) & (where > 0)]
    points = np.unique(np.append(finite, 0.0))
    if points.size > _KNOTS:
        points = points[np.unique(np.linspace(0, points.size - 1, _KNOTS).round().astype(int))]
    return points


def _deltas(where: FloatArray, mass: FloatArray, points: FloatArray) -> FloatArray:
    """Return ``sum of mass (1 - exp(e - l)) over l > e`` at rising points; losses rise too."""
    infinite = np.isinf(where) & (where > 0)
    lost = float(mass[infinite].sum())
    where, mass = where[~infinite], mass[~infinite]
    # From the largest loss down: with S the mass above e and W its part that Q has, both scaled
    # to the point at hand, everything that is added is positive.
    found = np.zeros(points.size)
    ends = np.searchsorted(where, points, side="right")
    value, total, upper = 0.0, 0.0, where.size
    previous = np.inf
    for i in range(points.size - 1, -1, -1):
        e, start = points[i], ends[i]
        if np.isfinite(previous):
            # delta(e) = delta(e') + (1 - exp(e - e')) (total' - delta(e'))
            value += -np.expm1(e - previous) * (total - value)
        new = mass[start:upper]
        value += float((new * -np.expm1(e - where[start:upper])).sum())
        total += float(new.sum())
        upper, previous, found[i] = start, e, value
    return np.minimum(found + lost, 1.0)
