"""Guarantees as privacy profiles: points, both orders of a record, losses, files, accountants.

The two orders are the data with a removed record against those without it, and the reverse.
Accountants of subsampled mechanisms return one profile for each; two steps, one of each order,
replace a record.

Source: Dwork and Roth 2014, Theorem 2.2, in its profile form; Sommer, Meiser and Mohammadi 2019;
Narcissus theory 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from narcissus._number_table import NumberTable, read_number_table
from narcissus._optional import optional
from narcissus._outwards import upper
from narcissus._validation import integer, non_negative, positive, probabilities, probability
from narcissus.errors import InputError
from narcissus.guarantees.base import (
    NEGLIGIBLE_DELTA,
    Adjacency,
    Floats,
    ProfileGuarantee,
    Secret,
    epsilons,
    mirrored,
)


@dataclass(frozen=True)
class ProfileCurve(ProfileGuarantee):
    """The guarantee implied by (epsilon, delta)-DP at several points at the same time.

    Profiles are convex in ``exp(epsilon)``, so the chord between two points is a valid bound; after
    the last point the profile cannot rise.

    Source: Narcissus theory 3; Dong, Roth and Su 2022, Proposition 2.12 for the duality.

    points: Epsilons, at least 0 and finite, shape (k,).
    deltas: The delta of each point, shape (k,), in [0, 1].
    """

    points: tuple[float, ...] = field(repr=False)
    deltas: tuple[float, ...] = field(repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        where, delta = _rising(self.points, deltas=self.deltas)
        object.__setattr__(self, "points", tuple(where.tolist()))
        object.__setattr__(self, "deltas", tuple(delta.tolist()))
        object.__setattr__(self, "_hull", corners(where, delta, delta))

    @classmethod
    def from_profile(
        cls,
        profile: Callable[[float], float],
        points: ArrayLike,
        *,
        adjacency: Adjacency = "replace-one",
    ) -> Self:
        """Sample a function ``profile(epsilon) -> delta`` at ``points``."""
        where = epsilons("points", points).ravel().tolist()
        return cls(tuple(where), tuple(float(profile(e)) for e in where), adjacency=adjacency)

    def profile(self, epsilon: ArrayLike) -> Floats:
        e = epsilons("epsilon", epsilon)
        where, delta = self._hull  # pyright: ignore[reportAttributeAccessIssue] set in __post_init__
        return mirrored(e, chords(where, delta, np.abs(e)))

    def implied(self, tolerance: float = 1e-6) -> Floats:
        """Return the points whose delta the other points improve on, by a relative ``tolerance``.

        Such a point is true but redundant; the points of a single profile have none.
        """
        where, delta = np.array(self.points), np.array(self.deltas)
        return where[delta > self.profile(where) * (1 + tolerance) + 1e-12]

    def tangents(self, count: int = 40) -> Floats:
        """Return the points themselves, or ``count`` of them if there are more."""
        where = self._hull[0]  # pyright: ignore[reportAttributeAccessIssue] set in __post_init__
        if where.size <= count:
            return where
        return where[np.unique(np.linspace(0, where.size - 1, count).round().astype(int))]

    def describe(self) -> str:
        first = f"epsilon {self.points[0]:g} with delta {self.deltas[0]:g}"
        last = f"epsilon {self.points[-1]:g} with delta {self.deltas[-1]:g}"
        count = len(self.points)
        return f"a privacy profile of {count} points, {first} to {last} ({self.neighbours})"


def _rising(points: ArrayLike, **deltas: ArrayLike) -> list[Floats]:
    """Check points and the deltas at them; return them with rising points and falling deltas."""
    where = epsilons("points", points).ravel()
    curves = {name: probabilities(name, values).ravel() for name, values in deltas.items()}
    _require_as_many(points=where, **curves)
    if not (np.isfinite(where) & (where >= 0)).all():
        raise InputError("`points` must be at least 0 and finite")
    order = np.argsort(where, kind="stable")
    return [where[order], *(np.minimum.accumulate(curve[order]) for curve in curves.values())]


def _require_as_many(**values: Floats) -> None:
    *names, name = (f"`{column}`" for column in values)
    *sizes, size = (f"{column.size}" for column in values.values())
    if {size, *sizes} != {size} or size == "0":
        raise InputError(
            f"{', '.join(names)} and {name} must be as many and at least one, "
            f"got {', '.join(sizes)} and {size}"
        )


def _curve(points: Floats, deltas: Floats, **around: Any) -> ProfileCurve:
    return ProfileCurve(tuple(points.tolist()), tuple(deltas.tolist()), **around)


def corners(where: Floats, own: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the corners, ``epsilon >= 0``, of the largest profile of one order through its points.

    In the plane of ``t = exp(epsilon)`` and delta it is the lower convex hull of its points, the
    mirror images ``(1/t, 1 - 1/t + delta/t)`` of the other order's points, and ``(0, 1)``. ``t -
    1`` stands for ``t`` and keeps the digits of small epsilons. Points beyond ``exp(300)`` stay out
    of the hull and are kept as they are: chords between valid points are valid.
    """
    near = where[where <= 300]
    own_near, far = own[: near.size], own[near.size :]
    e = np.concatenate([[-np.inf], -near[::-1], near])
    mirror = -np.expm1(-near) + np.exp(-near) * other[: near.size]
    x, y = np.expm1(e), np.concatenate([[1.0], mirror[::-1], own_near])
    hull = _lower_hull(x, y)
    e, x, y = e[hull], x[hull], y[hull]
    first = int(np.searchsorted(x, 0.0, side="right"))  # the first corner right of t = 1
    at_zero = float(y[first - 1])
    if first < x.size:
        left, right = -x[first - 1], x[first]
        at_zero = float((y[first - 1] * right + y[first] * left) / (left + right))
    return (
        np.concatenate([[0.0], e[first:], where[near.size :]]),
        np.concatenate([[at_zero], y[first:], far]),
    )


def chords(where: Floats, delta: Floats, epsilon: Floats) -> Floats:
    """Return delta at epsilons of at least 0 from its corners, the first of them at 0.

    Both ends of a chord get a weight that keeps its digits, so that no delta becomes 0 next to a
    larger one.
    """
    if where.size == 1:
        return np.full(epsilon.shape, delta[0])
    right = np.clip(np.searchsorted(where, epsilon, side="right"), 1, where.size - 1)
    start, end = where[right - 1], where[right]
    here = np.minimum(epsilon, end)
    whole = np.expm1(start - end)
    # (exp(e) - exp(start)) / (exp(end) - exp(start)), and the rest of 1, without an overflow
    share = np.exp(here - end) * np.expm1(start - here) / whole
    return delta[right - 1] * (np.expm1(here - end) / whole) + delta[right] * share


def _lower_hull(xs: Floats, ys: Floats) -> list[int]:
    """Return the corners of the largest convex function below points sorted by ``xs``."""
    hull: list[int] = []
    for i in range(xs.size):
        if hull and xs[i] <= xs[hull[-1]]:
            if ys[i] >= ys[hull[-1]]:
                continue
            hull.pop()
        while len(hull) >= 2:
            a, b = hull[-2], hull[-1]
            if (ys[b] - ys[a]) * (xs[i] - xs[b]) < (ys[i] - ys[b]) * (xs[b] - xs[a]):
                break
            hull.pop()
        hull.append(i)
    return hull


Profile = Callable[[Floats], Floats]

_POINTS = 400  # of the profile of two steps
_SPLITS = 201  # of each epsilon between the steps
_FARTHEST = 300.0  # e^300 times a mass is still a float


def from_orders(
    points: ArrayLike, add: ArrayLike, remove: ArrayLike, *, secret: Secret = "value"
) -> ProfileCurve:
    """Combine the profiles of adding and of removing a record.

    points: Epsilons, at least 0 and finite, shape (k,).
    add: Delta of "without the record" against "with it" at each point, shape (k,).
    remove: Delta of "with the record" against "without it", shape (k,).
    secret: ``"value"``: for a replaced record. ``"membership"``: the worse of both orders.

    Each order at ``-e`` follows from the other at ``e``, so it is bounded by the chords through its
    own points and the mirrored points of the other. The result is the minimum over ``e1 + e2 = e``
    and over the order of the steps of ``delta_1(e1) + exp(e1) delta_2(e2)``.

    >>> both = from_orders([0.0, 1.0], [0.1, 0.0], [0.2, 0.0])
    >>> both.profile([0.0, 2.0]).round(3)  # at epsilon 0 both orders are the same
    array([0.2, 0. ])
    """
    where, first, second = _rising(points, add=add, remove=remove)
    orders = _one_order(where, first, second), _one_order(where, second, first)
    if secret == "membership":
        worse = np.maximum(*(profile(where) for profile in orders))
        return _curve(where, worse, adjacency="add-remove", secret=secret)
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
    for first, then in ((add, remove), (remove, add)):
        with np.errstate(over="ignore"):
            # 0 times a huge number is 0, and what is too huge says nothing
            second = np.exp(np.minimum(part, 700.0)) * then(np.maximum(other, 0.0))
        best = np.minimum(best, (first(part) + second).min(axis=1))
    return _curve(points, np.minimum(best, 1.0))


def _one_order(where: Floats, own: Floats, other: Floats) -> Profile:
    """Return the profile of one order: the chords in ``t = exp(epsilon)`` below all points."""
    hull = corners(where, own, other)
    return lambda epsilon: chords(*hull, epsilon)


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

    losses: ``ln P(o) / Q(o)``, shape (k,), in any order; infinite ones are allowed.
    masses: Their probabilities under ``P``, shape (k,), which sum to 1 with ``at_infinity``.
    adjacency: The neighbours of the distribution; add-remove is *not* converted here.
    at_infinity: Probability of an infinite loss.
    reverse: Probabilities of the losses ``ln Q(o) / P(o)`` under ``Q``, if known separately, shape
        (k,); the same as ``masses`` if ``P`` and ``Q`` are interchangeable. Accountants round the
        losses of both orders up; an order derived from the other is pessimistic by as much.

    InputError: The masses do not sum to 1, no two distributions have such losses, or the losses far
        below 0 are rounding errors, so that the other order does not follow.

    >>> coin = from_losses([1.0, -1.0], [0.731058578630005, 0.268941421369995])
    >>> coin.profile([0.0, 0.5, 1.0]).round(6)  # randomized response, epsilon 1
    array([0.462117, 0.287649, 0.      ])
    >>> uneven = from_losses(np.log([1.8, 0.2]), [0.9, 0.1])  # (.9, .1) against (.5, .5)
    >>> uneven.profile([0.0, 1.0]).round(6)
    array([0.4     , 0.228172])
    """
    distribution = _checked("masses", losses, masses, at_infinity)
    if reverse is None:
        other = _exchanged(*distribution)
    else:
        other = _checked("reverse", losses, reverse, at_infinity)
    points = _knots(np.concatenate([distribution[0], other[0]]))
    deltas = _deltas(*distribution, points), _deltas(*other, points)
    crossed = _crossing(points, *deltas)
    if crossed.size:
        points = np.union1d(points, crossed)
        deltas = _deltas(*distribution, points), _deltas(*other, points)
    larger = np.maximum(*deltas)
    return _curve(points, larger, adjacency=adjacency)


def _exchanged(where: Floats, mass: Floats) -> tuple[Floats, Floats]:
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


def _crossing(points: Floats, one: Floats, other: Floats) -> Floats:
    """Find where two profiles, chords between rising points, cross."""
    gap = one - other
    at = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[at] / (gap[at] - gap[at + 1])
    start, end = points[at], points[at + 1]
    return end + np.log(np.exp(start - end) * (1 - share) + share)


def from_losses_of_orders(
    losses: ArrayLike, add: ArrayLike, remove: ArrayLike, *, secret: Secret = "value"
) -> ProfileCurve:
    """Combine the loss distributions of adding and of removing a record; see `from_orders`.

    ``add`` are masses with ``P`` without the record and ``Q`` with it, ``remove`` those with ``P``
    with the record, each of shape (k,) like ``losses``.
    """
    orders = [_checked(name, losses, m, 0.0) for name, m in (("add", add), ("remove", remove))]
    points = _knots(np.concatenate([where for where, _ in orders]))
    deltas = (_deltas(where, mass, points) for where, mass in orders)
    return from_orders(points, *deltas, secret=secret)


def _checked(
    name: str, losses: ArrayLike, masses: ArrayLike, at_infinity: float
) -> tuple[Floats, Floats]:
    """Sort the losses with their masses; missing mass is at infinity."""
    where = epsilons("losses", losses).ravel()
    raw = np.asarray(masses, dtype=np.float64).ravel()
    # Transforms leave some masses a little below 0; to raise them is valid.
    mass = probabilities(name, np.where((raw < 0) & (raw > -_DUST), 0.0, raw))
    _require_as_many(losses=where, **{name: mass})
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


def _knots(where: Floats) -> Floats:
    """Return 0 and the finite losses of at least 0, thinned out if there are too many."""
    finite = where[np.isfinite(where) & (where > 0)]
    points = np.unique(np.append(finite, 0.0))
    if points.size > _KNOTS:
        points = points[np.unique(np.linspace(0, points.size - 1, _KNOTS).round().astype(int))]
    return points


def _deltas(where: Floats, mass: Floats, points: Floats) -> Floats:
    """Return ``sum of mass (1 - exp(e - l)) over l > e`` at rising points; losses rise too."""
    infinite = np.isinf(where) & (where > 0)
    lost = float(mass[infinite].sum())
    where, mass = where[~infinite], mass[~infinite]
    # From the largest loss down: with S the mass above e and W its part that Q has, both scaled
    # to the point at hand, everything that is added is positive.
    deltas = np.zeros(points.size)
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
        upper, previous, deltas[i] = start, e, value
    return np.minimum(deltas + lost, 1.0)


def optimal_composition(
    epsilon: float, times: int, delta: float = 0.0, *, adjacency: Adjacency = "replace-one"
) -> ProfileCurve:
    """Compose ``times`` adaptive (epsilon, delta)-private answers optimally.

    No better guarantee holds for all such mechanisms: randomized response attains it.

    Source: Kairouz, Oh and Viswanath 2015, Theorem 3.3.

    >>> two = optimal_composition(1.0, 2)
    >>> two.profile([0.0, 1.0, 2.0]).round(6)  # basic composition: 0 from epsilon 2 on
    array([0.462117, 0.337835, 0.      ])
    """
    level = non_negative("epsilon", epsilon)
    many = integer("times", times, low=1)
    with np.errstate(divide="ignore"):
        failed = -np.expm1(many * np.log1p(-probability("delta", delta)))
    counts = np.arange(many + 1)
    mass = scipy.stats.binom.pmf(counts, many, 1 / (1 + np.exp(-level)))
    mass = (1 - failed) * mass
    return from_losses(
        (2 * counts - many) * level,
        mass,
        adjacency=adjacency,
        at_infinity=float(failed),
        reverse=mass,
    )


_ROUNDED = 1e-9  # so much, relatively, a delta may rise by how it was written


def read_profile(
    path: Path | str, *, adjacency: Adjacency = "replace-one", secret: Secret = "value"
) -> ProfileCurve:
    """Read a privacy curve whose rows are (epsilon, delta)-DP statements.

    Profiles are convex in ``exp(epsilon)``, so the chord between two points holds; after the last
    point its delta does. Points above the chord of others are redundant but harmless; see
    `ProfileCurve.implied`.

    path: CSV, or JSON by its name; see `narcissus.guarantees` in the documentation. Columns
        ``epsilon`` and ``delta``; or ``epsilon``, ``delta_add`` and ``delta_remove``, the two
        orders of an added or removed record, which are converted to a replaced one.
    adjacency: The neighbours of a single ``delta``, in both orders.
    secret: For a value the two orders are converted to a replaced record; for membership the worse
        holds.

    InputError: With the row: an epsilon below 0, a delta outside [0, 1] or rising with epsilon.
    """
    table = read_number_table(Path(path))
    columns = table.columns(("epsilon", "delta"), ("epsilon", "delta_add", "delta_remove"))
    where = columns.pop("epsilon")
    _refuse(
        table,
        "epsilon",
        ~(np.isfinite(where) & (where >= 0)),
        where,
        "must be at least 0 and finite; rows below 0 say no more than those above: leave them out",
    )
    order = np.argsort(where, kind="stable")
    for name, deltas in columns.items():
        _refuse(table, name, ~((deltas >= 0) & (deltas <= 1)), deltas, "must be in [0, 1]")
        rises = np.flatnonzero(
            deltas[order][1:] > deltas[order][:-1] * (1 + _ROUNDED) + np.finfo(float).tiny
        )
        if rises.size:
            lower, upper = int(order[rises[0]]), int(order[rises[0] + 1])
            raise InputError(
                f"{table.place(upper, _number(table, name))}, must not rise with epsilon: "
                f"{deltas[lower]:g} at epsilon {where[lower]:g}, {deltas[upper]:g} at "
                f"{where[upper]:g}; are columns or rows mixed up?"
            )
    if "delta" in columns:
        return _curve(where, columns["delta"], adjacency=adjacency, secret=secret)
    return from_orders(where, columns["delta_add"], columns["delta_remove"], secret=secret)


def read_losses(
    path: Path | str, *, adjacency: Adjacency = "replace-one", secret: Secret = "value"
) -> ProfileCurve:
    """Read a privacy loss distribution: losses and their probabilities as rows.

    path: CSV, or JSON by its name. Columns ``loss`` (``ln P/Q``; ``inf`` where only ``P`` has mass)
        and ``probability`` (under ``P``), which imply the other order; optionally
        ``probability_reversed`` (of ``ln Q/P`` under ``Q``; see `from_losses`). Or ``loss``,
        ``probability_add`` (``P`` without the record) and ``probability_remove`` (``P`` with it),
        which are converted to a replaced record.
    adjacency: The neighbours of ``probability``.
    secret: See `read_profile`.

    InputError: With the row: a probability outside [0, 1]. Also: the probabilities do not sum to 1,
        no two distributions have such losses, or one order does not follow from the other.
    """
    table = read_number_table(Path(path))
    columns = table.columns(
        ("loss", "probability"),
        ("loss", "probability", "probability_reversed"),
        ("loss", "probability_add", "probability_remove"),
    )
    losses = columns.pop("loss")
    for name, masses in columns.items():
        wrong = ~((masses >= -1e-12) & (masses <= 1))
        _refuse(table, name, wrong, masses, "must be in [0, 1]")
        total = float(np.sort(masses).sum())
        if abs(total - 1) > 1e-6:
            raise InputError(
                f"{table.path}: column `{name}` must sum to 1, got {total:.9g}; "
                + (
                    "what is missing to 1 belongs to a row with the loss inf"
                    if total < 1
                    else "are these densities, or counts? Divide them by their sum"
                )
            )
    try:
        if "probability" in columns:
            back = columns.get("probability_reversed")
            curve = from_losses(losses, columns["probability"], adjacency=adjacency, reverse=back)
            return replace(curve, secret=secret)
        orders = columns["probability_add"], columns["probability_remove"]
        return from_losses_of_orders(losses, *orders, secret=secret)
    except InputError as error:
        raise InputError(f"{table.path}: {error}") from error


def _refuse(
    table: NumberTable, name: str, wrong: NDArray[np.bool_], values: Floats, must: str
) -> None:
    """Refuse the first wrong cell of a column."""
    rows = np.flatnonzero(wrong)
    if rows.size:
        row = int(rows[0])
        place = table.place(row, _number(table, name))
        raise InputError(f"{place}, {must}, got {values[row]:g}")


def _number(table: NumberTable, name: str) -> int:
    return (table.names or ()).index(name)


# Of dp-accounting's privacy loss distributions only deltas are read off: the lower tail of the
# probability masses carries spurious mass, and a trade-off curve from it can fall below the line.
# Composition by FFT in 64 bits can return a delta too small, even 0; the largest possible rounding
# loss of a delta is added to each.
_READ = 2000
LOSS_INTERVAL = 1e-4
"""To multiples of which losses are rounded up, unless another interval is asked for."""
# Beyond it dp-accounting multiplies exp(epsilon) by masses of 1e-300 and returns NaN. The profile
# cannot rise after its last point, so stopping is valid.
_LAST = 600.0
_PURPOSE = "A guarantee by privacy loss distributions"
_AS_THE_EVENT = (
    "the release samples records, adds exact noise and is repeated as the event says, and tells "
    "nothing else",
)
_EPS = float(np.finfo(np.float64).eps)


def from_privacy_loss(
    distribution: Any, *, adjacency: Adjacency, points: int = _READ, rounding: float = 1e-9
) -> ProfileCurve:
    """Read the profile off a privacy loss distribution of dp-accounting.

    distribution: Any object with ``get_delta_for_epsilon`` that accepts a sorted list and is
        pessimistic, as dp-accounting's are by default. It does not record its ``adjacency``.
    points: Number of points of the profile to read; chords between them are valid bounds.
    rounding: Largest rounding loss of a delta, at least 0; added to each. The default exceeds the
        loss of FFTs over a thousand steps of DP-SGD; 0 for deltas computed without a transform.
    """
    lost = non_negative("rounding", rounding)

    def delta(epsilon: float) -> float:
        return float(distribution.get_delta_for_epsilon(epsilon))

    high = 1e-3
    while delta(high) > max(NEGLIGIBLE_DELTA, lost) and high < 1e4:
        high *= 2
    high = min(high, _LAST)
    where = np.linspace(0.0, high, integer("points", points, low=2))
    deltas = np.asarray(distribution.get_delta_for_epsilon(where.tolist()), dtype=np.float64)
    # A delta below the rounding error is noise: its digits mean nothing.
    deltas = np.clip(np.maximum(deltas, lost) + lost, 0.0, 1.0)
    return ProfileCurve(tuple(where.tolist()), tuple(deltas.tolist()), adjacency=adjacency)


def from_event(
    event: Any, *, adjacency: Adjacency = "replace-one", interval: float = LOSS_INTERVAL
) -> ProfileCurve:
    """Account for a ``dp_accounting.DpEvent``, compositions included.

    Losses are rounded up to multiples of ``interval``: always valid; smaller is sharper and slower.

    InputError: dp-accounting cannot account for this event under these neighbours.
    MissingExtraError: dp-accounting is not installed.
    """
    accounting = optional("dp_accounting", extra="accounting", purpose=_PURPOSE)
    pld = optional("dp_accounting.pld", extra="accounting", purpose=_PURPOSE)
    relations = accounting.NeighboringRelation
    relation = relations.REPLACE_ONE if adjacency == "replace-one" else relations.ADD_OR_REMOVE_ONE
    step = positive("interval", interval)

    def fresh() -> Any:
        return pld.PLDAccountant(relation, value_discretization_interval=step)

    if not fresh().supports(event):
        raise InputError(
            f"`event` is not supported by dp-accounting for {adjacency} neighbours: {event!r}"
        )
    parts = [
        (fresh().compose(accountant), times)
        for accountant, times in _parts(accounting.dp_event, event, 1)
    ]
    if any(accountant._contains_non_dp_event for accountant, _ in parts):
        return ProfileCurve((0.0,), (1.0,), adjacency=adjacency)
    composed = [
        accountant._pld if times == 1 else accountant._pld.self_compose(times)
        for accountant, times in parts
    ]
    # Where several are joined, noise decides where tails are cut: the bound must not depend on it.
    size = sum(max(pmf.size for pmf in _both(accountant)) for accountant in composed)
    whole = (
        reduce(lambda accountant, other: accountant.compose(other), composed)
        if composed
        else fresh()._pld
    )
    # a delta is a sum over all losses
    lost = 4 * _EPS * size
    for accountant, times in parts:
        lost += max(_lost(pmf, times, whole, size) for pmf in _both(accountant._pld))
    # One digit: other processors round a step's masses differently.
    curve = from_privacy_loss(whole, adjacency=adjacency, rounding=float(upper(lost, 1)))
    return replace(curve, program=_AS_THE_EVENT)


def _parts(events: Any, event: Any, times: int) -> Iterator[tuple[Any, int]]:
    """Yield the components of an event with their multiplicities."""
    if isinstance(event, events.SelfComposedDpEvent):
        yield from _parts(events, event.event, times * event.count)
    elif isinstance(event, events.ComposedDpEvent):
        for component in event.events:
            yield from _parts(events, component, times)
    elif isinstance(event, events.GaussianDpEvent):  # one of less noise stands for all
        yield events.GaussianDpEvent(event.noise_multiplier / math.sqrt(times)), 1
    else:
        yield event, times


def _lost(pmf: Any, times: int, whole: Any, size: int) -> float:
    """Bound the rounding loss of a delta in the composition of ``times`` copies of one step.

    Each term of a transform of N masses, which sum to 1, is right to ``c = 4 eps log2 N`` (Higham
    2002, section 24.1, with room for radix 11), so its power ``F^n`` is right to ``n c |F|^(n-1)``,
    and a mass to the mean of these errors. A delta sums N masses, with weights in [0, 1]: ``n c``
    times the sum of all ``|F|^(n-1)``; by Cauchy and Schwarz also times ``sqrt(N)`` and the 2-norm
    of one step. A step's masses are second differences of its deltas over the interval; the
    rounding errors are ``eps`` times the first differences, ``min(Pr[loss > l], e^l)`` each. A mass
    at ``-l`` counts only where the other steps lose ``l``: at most ``delta(l)`` of the whole. The
    losses of several parts add up.
    """
    step = pmf.to_dense_pmf()
    mass = np.asarray(step._probs, dtype=np.float64)
    points = scipy.fft.next_fast_len(max(size, step.size), real=True)
    powers = float((np.abs(scipy.fft.fft(mass, points)) ** (times - 1)).sum())
    spread = min(powers, math.sqrt(points) * float(np.linalg.norm(mass)))
    transforms = (times + 5) * 4 * _EPS * math.log2(2 * points) * spread
    loss = (step._lower_loss + np.arange(mass.size)) * step._discretization
    reach = np.linspace(0.0, max(-float(loss[0]), step._discretization), 200)
    others = np.asarray(whole.get_delta_for_epsilon(reach.tolist()))
    weight = np.where(loss < 0, others[np.searchsorted(reach, -loss, side="right") - 1], 1.0)
    first = np.minimum(mass[::-1].cumsum()[::-1], np.exp(np.minimum(loss, 0.0)))
    return transforms + times * 2 * _EPS * float(first @ weight)


def _both(distribution: Any) -> tuple[Any, Any]:
    """Return the masses for removing and for adding a record."""
    return distribution._pmf_remove, distribution._pmf_add
