"""The posterior of many people as a convex problem with one unknown for each cell.

Write the density of the noise as an integral over one variable for each cell, ``theta``. Given
``theta`` people are independent, each with the belief ``prior * exp(sum of theta over their
cells)``, and the release is most likely where

    sum_types people * log Z(theta)  -  released . theta  +  sum variance * theta^2 / 2

is least (a saddle point; ridge regression of a multinomial logit, the released counts its data).
It is convex: L-BFGS finds the least from anywhere, with the diagonal ``variance + variance of the
cell's count`` as its first guess of the curvature. People's own part in ``theta`` is taken out by
`narcissus.attacks.table.own`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.attacks.table.base import Floats
from narcissus.attacks.table.shares import Shares

MEMORY = 12  # pairs of steps that L-BFGS keeps
FALL = 1e-4  # of the slope that a step must win (Armijo)
STEPS = 30  # halvings of a step


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the cells are believed to be at some ``theta``; people keep theirs as shares."""

    # counts, variance: expected count of each cell and its variance, people being
    # independent, shape (cells,)
    counts: Floats
    variance: Floats


class Dual:
    """The problem for some people and one release.

    Parameters
    ----------
    shares
        The people and their cells.
    released
        What was released, or what it is read as, shape (cells,).
    variance
        Of the noise, shape (cells,).
    """

    def __init__(self, shares: Shares, released: Floats, variance: Floats) -> None:
        self.shares = shares
        self.released = released
        self.variance = variance

    def evaluate(self, theta: Floats) -> tuple[float, Floats]:
        """Return the objective a person, and its gradient."""
        answers = self.shares.ask("evaluate", theta)
        total: float = sum(one for one, _ in answers)
        counts, n = self.shares.added([own for _, own in answers]), float(self.shares.people)
        pull = self.variance * theta - self.released
        value = total + float(theta @ (pull - 0.5 * self.variance * theta))
        return value / n, (counts + pull) / n

    def beliefs(self, theta: Floats) -> Beliefs:
        """Have shares believe what they do at ``theta``; give what that says of the cells."""
        answers = self.shares.tell("believe", theta)
        counts, variance = ([one[part] for one in answers] for part in (0, 1))
        return Beliefs(self.shares.added(counts), self.shares.added(variance))

    def curve(self, vector: Floats) -> Floats:
        """Multiply a vector over cells by the second derivatives where the beliefs are."""
        counts = self.shares.added(self.shares.ask("curve", vector))
        return self.variance * vector + counts

    def probe(self) -> Floats:
        """Draw normal errors of the cells' counts with the covariance that beliefs give them."""
        return self.shares.added(self.shares.tell("probe"))

    def solve(self, theta: Floats, diagonal: Floats, passes: int, tolerance: float) -> Floats:
        """Find the least by L-BFGS (Nocedal 1980), starting from ``theta``.

        theta: where to start, shape (cells,).
        diagonal: a guess of the second derivatives, above 0, shape (cells,).
        passes: most steps, each a pass over the people, or few.
        tolerance: stop when a step wins less, in nats a person.
        """
        kept: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
        n = float(self.shares.people)
        value, gradient = self.evaluate(theta)
        for _ in range(passes):
            step = -_inverse(kept, gradient, n / diagonal)
            slope = float(gradient @ step)
            found = self._search(theta, step, value, slope)
            if found is None:
                break
            new, new_value, new_gradient = found
            moved, change = new - theta, new_gradient - gradient
            if float(moved @ change) > 0:
                kept.append((moved, change, 1 / float(moved @ change)))
            won = value - new_value
            theta, value, gradient = new, new_value, new_gradient
            if won < tolerance:
                break
        return theta

    def _search(
        self, theta: Floats, step: Floats, value: float, slope: float
    ) -> tuple[Floats, float, Floats] | None:
        """Go along a step, less far where that overshoots; None where nothing is won."""
        length = 1.0
        for _ in range(STEPS):
            new = theta + length * step
            new_value, gradient = self.evaluate(new)
            if new_value <= value + FALL * length * slope:
                return new, new_value, gradient
            end = float(gradient @ step)  # where a straight slope would be zero
            length *= min(0.7, max(0.02, slope / (slope - end))) if end > 0 else 0.5
        return None


def _inverse(
    kept: deque[tuple[Floats, Floats, float]], gradient: Floats, scale: NDArray[np.float64]
) -> Floats:
    """Multiply a gradient by the inverse of the curvature, as the last steps showed it."""
    vector = gradient.copy()
    shares: list[float] = []
    for moved, change, inverse in reversed(kept):
        share = inverse * float(moved @ vector)
        vector -= share * change
        shares.append(share)
    vector *= scale
    if kept:
        moved, change, inverse = kept[-1]
        vector *= 1 / (inverse * float(change @ (scale * change)))
    for (moved, change, inverse), share in zip(kept, reversed(shares), strict=True):
        vector += moved * (share - inverse * float(change @ vector))
    return vector
