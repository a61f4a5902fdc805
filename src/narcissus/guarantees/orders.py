"""The two orders of a removed record: with it against without it, and the reverse.

Accountants of subsampled mechanisms return two profiles, each a statement by itself; two steps, one
of each order, replace a record.

Source: Dwork and Roth 2014, Theorem 2.2, in its profile form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from narcissus._validation import probabilities
from narcissus.errors import InputError
from narcissus.guarantees.base import FloatArray, Secret, epsilons
from narcissus.guarantees.curve import ProfileCurve, chords, corners

Profile = Callable[[FloatArray], FloatArray]

_POINTS = 400  # of the profile of two steps
_SPLITS = 201  # of each epsilon between the steps
_FARTHEST = 300.0  # e^300 times a mass is still a float


def from_orders(
    points: ArrayLike, add: ArrayLike, remove: ArrayLike, *, secret: Secret = "value"
) -> ProfileCurve:
    """Combine the profiles of adding and of removing a record.

    Parameters
    ----------
    points
        Epsilons, at least 0 and finite, shape (k,).
    add
        Delta of "without the record" against "with it" at each point, shape (k,).
    remove
        Delta of "with the record" against "without it", shape (k,).
    secret
        ``"value"``: for a replaced record. ``"membership"``: the worse of both orders.

    Notes
    -----
    Each order at ``-e`` follows from the other at ``e``, so it is bounded by the chords through its
    own points and the mirrored points of the other. The result is the minimum over ``e1 + e2 = e``
    and over the order of the steps of ``delta_1(e1) + exp(e1) delta_2(e2)``.

    Examples
    --------
    >>> both = from_orders([0.0, 1.0], [0.1, 0.0], [0.2, 0.0])
    >>> both.profile([0.0, 2.0]).round(3)  # at epsilon 0 both orders are the same
    array([0.2, 0. ])
    """
    where = epsilons("points", points).ravel()
    steps = [probabilities(name, d).ravel() for name, d in (("add", add), ("remove", remove))]
    if where.size == 0 or any(step.size != where.size for step in steps):
        raise InputError(
            "`points`, `add` and `remove` must be as many and at least one, "
            f"got {where.size}, {steps[0].size} and {steps[1].size}"
        )
    if not (np.isfinite(where) & (where >= 0)).all():
        raise InputError("`points` must be at least 0 and finite")
    order = np.argsort(where, kind="stable")
    where = where[order]
    first, second = (np.minimum.accumulate(step[order]) for step in steps)
    orders = _one_order(where, first, second), _one_order(where, second, first)
    if secret == "membership":
        worse = np.maximum(*(profile(where) for profile in orders))
        return ProfileCurve(
            tuple(where.tolist()), tuple(worse.tolist()), adjacency="add-remove", secret=secret
        )
    both = one_after_another(*orders, float(where[-1]))
    return replace(
        both,
        converted_from=f"profiles of {where.size} points of adding and of removing a record "
        "(add-remove neighbours)",
    )


def one_after_another(add: Profile, remove: Profile, last: float) -> ProfileCurve:
    """Compose a removal and an addition in the better order; profiles are flat after ``last``."""
    points = np.linspace(0.0, min(2 * last, 2 * _FARTHEST), _POINTS)
    # The first step takes a part of each epsilon; parts beyond the last point say no more.
    low, high = np.maximum(points - last, 0.0), np.minimum(points, last)
    part = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _SPLITS)
    other = points[:, None] - part
    best = np.ones(points.size)
    for one, then in ((add, remove), (remove, add)):
        with np.errstate(over="ignore"):
            # 0 times a huge number is 0, and what is too huge says nothing
            second = np.exp(np.minimum(part, 700.0)) * then(np.maximum(other, 0.0))
        best = np.minimum(best, (one(part) + second).min(axis=1))
    return ProfileCurve(tuple(points.tolist()), tuple(np.minimum(best, 1.0).tolist()))


def _one_order(where: FloatArray, own: FloatArray, other: FloatArray) -> Profile:
    """Return the profile of one order: the chords in ``t = exp(epsilon)`` below all points."""
    hull = corners(where, own, other)
    return lambda epsilon: chords(*hull, epsilon)
