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
from narcissus.attacks.table.gathers import Gathers

MEMORY = 12  # pairs of steps that L-BFGS keeps
FALL = 1e-4  # of the slope that a step must win (Armijo)
STEPS = 30  # halvings of a step


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed at some ``theta``.

    Attributes
    ----------
    types
        Probabilities of the values of each type, shape (types, values).
    counts, variance
        Expected count of each cell and its variance, people being independent, shape (cells,).
    """

    types: Floats
    counts: Floats
    variance: Floats


class Dual:
    """The problem for some people and one release.

    Parameters
    ----------
    gathers
        The people and their cells.
    log_prior
        Of each type, shape (types, values); with whatever else is known of each value.
    released
        What was released, or what it is read as, shape (cells,).
    variance
        Of the noise, shape (cells,).
    """

    def __init__(
        self, gathers: Gathers, log_prior: Floats, released: Floats, variance: Floats
    ) -> None:
        self.gathers = gathers
        self.log_prior = log_prior
        self.released = released
        self.variance = variance
        self._people = gathers.types.people.astype(np.float64)

    def evaluate(self, theta: Floats) -> tuple[float, Floats]:
        """Give the objective a person, and its gradient."""
        gathers = self.gathers
        raised, sums = gathers.raised(theta), gathers.nothing()
        total = 0.0
        for block in range(len(gathers.blocks)):
            belief, log_sum = self._block(block, raised)
            people = self._people[gathers.blocks[block]]
            total += float(people @ log_sum)
            belief *= people[:, None]
            gathers.scatter(block, sums, gathers.summed(belief))
        counts, n = gathers.lowered(sums), self._people.sum()
        pull = self.variance * theta - self.released
        value = total + theta @ (pull - 0.5 * self.variance * theta)
        return value / n, (counts + pull) / n

    def beliefs(self, theta: Floats) -> Beliefs:
        """Give what is believed at ``theta``."""
        gathers = self.gathers
        raised, sums, squares = gathers.raised(theta), gathers.nothing(), gathers.nothing()
        types = np.empty_like(self.log_prior)
        for block, where in enumerate(gathers.blocks):
            types[where], _ = self._block(block, raised)
            people = self._people[where, None]
            parts = gathers.summed(types[where])
            gathers.scatter(block, sums, (people * part for part in parts))
            gathers.scatter(block, squares, (people * part * (1 - part) for part in parts))
        return Beliefs(types, gathers.lowered(sums), np.maximum(gathers.lowered(squares), 0.0))

    def curve(self, vector: Floats, beliefs: Beliefs) -> Floats:
        """Multiply a vector over cells by the second derivatives of the objective."""
        gathers = self.gathers
        raised, sums = gathers.raised(vector), gathers.nothing()
        for block, where in enumerate(gathers.blocks):
            belief = beliefs.types[where]
            field = gathers.queries.spread(gathers.gathered(block, raised))
            field = field - np.einsum("tv,tv->t", field, belief)[:, None]
            field *= belief * self._people[where, None]
            gathers.scatter(block, sums, gathers.summed(field))
        return self.variance * vector + gathers.lowered(sums)

    def probe(self, beliefs: Beliefs, rng: np.random.Generator) -> Floats:
        """Draw normal errors of the cells' counts with the covariance that beliefs give them."""
        gathers = self.gathers
        sums = gathers.nothing()
        for block, where in enumerate(gathers.blocks):
            belief = beliefs.types[where]
            root = np.sqrt(belief)
            draw = root * rng.standard_normal(belief.shape)
            draw -= belief * draw.sum(axis=1, keepdims=True)
            draw *= np.sqrt(self._people[where, None])
            gathers.scatter(block, sums, gathers.summed(draw))
        return gathers.lowered(sums)

    def solve(self, theta: Floats, diagonal: Floats, passes: int, tolerance: float) -> Floats:
        """Find the least by L-BFGS (Nocedal 1980), starting from ``theta``.

        Parameters
        ----------
        theta
            Where to start, shape (cells,).
        diagonal
            A guess of the second derivatives, above 0, shape (cells,).
        passes
            Most steps, each a pass over the people, or few.
        tolerance
            Stop when a step wins less, in nats a person.
        """
        kept: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
        n = self._people.sum()
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

    def _block(self, block: int, raised: list[Floats]) -> tuple[Floats, Floats]:
        """Give the beliefs of a block's types, and the logarithms of their sums."""
        gathers = self.gathers
        logits = gathers.queries.spread(gathers.gathered(block, raised))
        logits += self.log_prior[gathers.blocks[block]]
        top = _largest(logits)
        logits -= top[:, None]
        np.exp(logits, out=logits)
        total = logits @ np.ones(logits.shape[1])
        logits *= (1 / total)[:, None]
        return logits, np.log(total) + top


def _largest(logits: Floats) -> Floats:
    """Give the largest of each row; of few columns faster than NumPy's own."""
    if logits.shape[1] > 32:
        return logits.max(axis=1)
    top = logits[:, 0].copy()
    for column in logits.T[1:]:
        np.maximum(top, column, out=top)
    return top


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
