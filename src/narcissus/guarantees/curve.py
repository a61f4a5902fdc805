"""A guarantee defined by points of its privacy profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from narcissus._validation import probabilities
from narcissus.errors import InputError
from narcissus.guarantees.base import (
    Adjacency,
    FloatArray,
    ProfileGuarantee,
    epsilons,
    mirrored,
)


@dataclass(frozen=True)
class ProfileCurve(ProfileGuarantee):
    """The guarantee implied by (epsilon, delta)-DP at several points at once.

    Profiles are convex in ``exp(epsilon)``, so the chord between two points is a valid bound; after
    the last point the profile cannot rise.

    Source: Narcissus theory 3; Dong, Roth and Su 2022, Proposition 2.12 for the duality.

    Parameters
    ----------
    points
        Epsilons, at least 0 and finite, shape (k,).
    deltas
        The delta of each point, shape (k,), in [0, 1].
    adjacency
        ``"replace-one"`` (default) or ``"add-remove"``.
    """

    points: tuple[float, ...] = field(repr=False)
    deltas: tuple[float, ...] = field(repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        where = epsilons("points", self.points).ravel()
        delta = probabilities("deltas", self.deltas).ravel()
        if where.size == 0 or where.size != delta.size:
            raise InputError(
                f"`points` and `deltas` must be as many and at least one, "
                f"got {where.size} and {delta.size}"
            )
        if not (np.isfinite(where) & (where >= 0)).all():
            raise InputError("`points` must be at least 0 and finite")
        order = np.argsort(where, kind="stable")
        where, delta = where[order], np.minimum.accumulate(delta[order])
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

    def profile(self, epsilon: ArrayLike) -> FloatArray:
        e = epsilons("epsilon", epsilon)
        where, delta = self._hull  # pyright: ignore[reportAttributeAccessIssue] set in __post_init__
        return mirrored(e, chords(where, delta, np.abs(e)))

    def implied(self, tolerance: float = 1e-6) -> FloatArray:
        """Return the points whose delta the other points improve on, by a relative ``tolerance``.

        Such a point is true but redundant; the points of a single profile have none.
        """
        where, delta = np.array(self.points), np.array(self.deltas)
        return where[delta > self.profile(where) * (1 + tolerance) + 1e-12]

    def tangents(self, count: int = 40) -> FloatArray:
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


def corners(where: FloatArray, own: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
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
    kept = _lower_hull(x, y)
    e, x, y = e[kept], x[kept], y[kept]
    first = int(np.searchsorted(x, 0.0, side="right"))  # the first corner right of t = 1
    at_zero = float(y[first - 1])
    if first < x.size:
        left, right = -x[first - 1], x[first]
        at_zero = float((y[first - 1] * right + y[first] * left) / (left + right))
    return (
        np.concatenate([[0.0], e[first:], where[near.size :]]),
        np.concatenate([[at_zero], y[first:], far]),
    )


def chords(where: FloatArray, delta: FloatArray, epsilon: FloatArray) -> FloatArray:
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


def _lower_hull(xs: FloatArray, ys: FloatArray) -> list[int]:
    """Return the corners of the largest convex function below points sorted by ``xs``."""
    kept: list[int] = []
    for i in range(xs.size):
        if kept and xs[i] <= xs[kept[-1]]:
            if ys[i] >= ys[kept[-1]]:
                continue
            kept.pop()
        while len(kept) >= 2:
            a, b = kept[-2], kept[-1]
            if (ys[b] - ys[a]) * (xs[i] - xs[b]) < (ys[i] - ys[b]) * (xs[b] - xs[a]):
                break
            kept.pop()
        kept.append(i)
    return kept
