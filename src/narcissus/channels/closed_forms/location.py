"""Additive noise on a line: what Laplace and Gaussian noise share.

The best guess under noise on a line, for any prior: which number wins where.

Two scaled copies of a log-concave density change hands at most once, the one on the left first. So
the numbers that are ever the best guess win on intervals in their own order, as the upper envelope
of lines does, and the attacker's error is a sum of tails: no integral is left.

Source: Narcissus theory 6.11.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import integer, positive
from narcissus.channels.channel import Matrix
from narcissus.channels.closed_forms.base import ClosedForm

Floats = NDArray[np.float64]

Crossing = Callable[[float, float], float]
"""Distance of two numbers and log odds of the left one -> where it loses the lead, measured from
it; infinite if it never does, minus infinite if it never has it."""


def intervals(places: Floats, prior: Floats, crossing: Crossing) -> list[tuple[int, float, float]]:
    """Return where each number is the best guess.

    places: the numbers, ascending, shape (n,).
    prior: of each, shape (n,).
    crossing: see `Crossing`.
    Returns list: number, start and end of its interval, from left to right; they cover the line.
    """
    kept: list[tuple[int, float]] = []
    for new in np.flatnonzero(prior > 0).tolist():
        start = -math.inf
        while kept:
            last, began = kept[-1]
            odds = math.log(prior[last]) - math.log(prior[new])
            start = places[last] + crossing(places[new] - places[last], odds)
            if start > began:
                break
            kept.pop()
            start = -math.inf
        if start < math.inf:
            kept.append((new, start))
    ends = [start for _, start in kept[1:]] + [math.inf]
    return [(i, start, end) for (i, start), end in zip(kept, ends, strict=True)]


def risk(
    places: Floats, prior: Floats, crossing: Crossing, tail: Callable[[float], float]
) -> float:
    """Return the error of the best attacker.

    places, prior, crossing: as in `intervals`.
    tail: chance that the noise is at least so large; the noise is symmetric.
    Returns float: a sum of positive terms, so that a risk near 0 keeps its digits.
    """
    found = {i: (start, end) for i, start, end in intervals(places, prior, crossing)}
    lost: list[float] = []
    for i, weight in enumerate(prior.tolist()):
        if i not in found:
            lost.append(weight)
            continue
        start, end = found[i]
        lost += [weight * tail(places[i] - start), weight * tail(end - places[i])]
    return math.fsum(lost)


class LocationFamily(ClosedForm):
    """Noise added to evenly spaced numbers: secrets ``0, span/(points-1), ..., span``.

    No dataclass itself, so that each mechanism keeps its own order of fields.
    """

    span: float
    points: int

    def _check(self) -> None:
        object.__setattr__(self, "span", positive("span", self.span))
        object.__setattr__(self, "points", integer("points", self.points, low=2))

    @property
    def secrets(self) -> int:
        """Number of points."""
        return self.points

    def _overlap(self, distance: float) -> float:
        """Return the overlap of two secrets this far apart."""
        raise NotImplementedError

    def _tail(self, size: float) -> float:
        """Return the chance that the noise is at least so large; any number, infinite ones too."""
        raise NotImplementedError

    def _crossing(self, distance: float, log_odds: float) -> float:
        """Return where the left one of two numbers so far apart loses the lead, measured from it.

        Infinite if it never loses it, minus infinite if it never has it.
        """
        raise NotImplementedError

    def bayes_risk_of(self, prior: Matrix) -> float:
        """Return the error of the best attacker for any prior, in closed form.

        Parameters
        ----------
        prior
            Of the numbers in ascending order, checked, shape (points,).

        Notes
        -----
        Source: Narcissus theory 6.11.
        """
        places = np.linspace(0.0, self.span, self.points)
        return min(risk(places, prior, self._crossing, self._tail), 1.0)

    @property
    def beta_star(self) -> float:
        """The overlap of the two ends."""
        return self._overlap(self.span)

    @property
    def capacity(self) -> float:
        """One plus the total variation between neighbours, summed.

        The upper envelope of shifted copies of a log-concave density changes hands once between
        neighbours, so each adds its distance to the one before.
        """
        gap = self.span / (self.points - 1)
        return 1 + (self.points - 1) * (1 - self._overlap(gap))

    @property
    def bayes_risk(self) -> float:
        """For a uniform prior."""
        if self.points == 2:
            return self.beta_star / 2
        gap = self.span / (self.points - 1)
        return (self.points - 1) * self._overlap(gap) / self.points
