"""The law of the log-likelihood ratio of two secrets, for one output, and its place on a grid.

For two secrets with the output laws P and Q let ``rho(s) = sum P^(1-s) Q^s`` over the common
outputs, and draw an output with the tilted law ``P^(1-s) Q^s / rho(s)``. What many uses leak is
told by the sum of ``x = ln(P / Q)`` under these laws (`narcissus.channels.uses`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import positive

BEYOND = 39.0
"""Standard deviations beyond which a normal law has less than the least positive number."""

Floats = NDArray[np.float64]

MOST_PARTS = 12
"""A ratio is looked for on a grid of the smallest one, and of its halves to twelfths."""
SAME = 1e-14
"""Relative distance below which a ratio lies on a grid."""


@dataclass(frozen=True, eq=False)
class OnGrid:
    """A tilted law, each value split between its two neighbours so that mass and mean stay."""

    first: int  # Multiple of the step at which it begins
    mass: Floats  # Masses from there on, shape (points,)
    # Largest variance that splitting one value adds, in squared steps: in [0, 1/4], 0 where
    # all values lie on the grid
    spread: float


class LogRatio(Protocol):
    """The law of ``ln(P / Q)`` of one use."""

    @property
    def empty(self) -> bool:
        """Whether the two secrets have no output in common."""
        ...

    @property
    def low(self) -> float:
        """Smallest value."""
        ...

    @property
    def high(self) -> float:
        """Largest value."""
        ...

    @property
    def step(self) -> float | None:
        """A step on whose multiples all values lie, if there is one."""
        ...

    def log_rho(self, s: float) -> float:
        """Return ``ln rho(s)``."""
        ...

    def on_grid(self, step: float, s: float) -> OnGrid:
        """Return the tilted law on the multiples of a step."""
        ...


@dataclass(frozen=True, eq=False)
class FiniteLogRatio:
    """Of two rows of a channel."""

    value: Floats  # The distinct ratios, ascending, shape (m,)
    # log_first, log_second: Logarithms of the chances of each under either secret, shape (m,)
    log_first: Floats
    log_second: Floats

    @classmethod
    def of(cls, first: ArrayLike, second: ArrayLike) -> FiniteLogRatio:
        """Join the common outputs of two rows by their ratios; m is 0 where there are none."""
        p, q = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        common = (p > 0) & (q > 0)
        p, q = p[common], q[common]
        ratio = np.log(p) - np.log(q)
        order = np.argsort(ratio, kind="stable")
        p, q, ratio = p[order], q[order], ratio[order]
        new = np.ones(ratio.size, dtype=bool)
        new[1:] = np.diff(ratio) > 0
        starts = np.flatnonzero(new)
        if starts.size == 0:
            return cls(ratio, ratio, ratio)
        p, q = np.add.reduceat(p, starts), np.add.reduceat(q, starts)
        return cls(ratio[starts], np.log(p), np.log(q))

    @property
    def empty(self) -> bool:
        """Whether the two rows have no output in common."""
        return self.value.size == 0

    @property
    def low(self) -> float:
        """Smallest value."""
        return float(self.value[0])

    @property
    def high(self) -> float:
        """Largest value."""
        return float(self.value[-1])

    @property
    def step(self) -> float | None:
        """A step on whose multiples all values lie, if a few parts of the smallest are one."""
        sizes = np.abs(self.value)
        some = sizes[sizes > 0]
        if some.size == 0:
            return 1.0
        for parts in range(1, MOST_PARTS + 1):
            base = float(some.min()) / parts
            multiples = some / base
            if (np.abs(multiples - np.rint(multiples)) <= SAME * multiples).all():
                return base
        return None

    def log_rho(self, s: float) -> float:
        """Return ``ln rho(s)``."""
        logs = (1 - s) * self.log_first + s * self.log_second
        top = float(logs.max())
        return top + math.log(math.fsum(np.exp(logs - top)))

    def on_grid(self, step: float, s: float) -> OnGrid:
        """Return the tilted law on the multiples of a step."""
        weight = np.exp((1 - s) * self.log_first + s * self.log_second - self.log_rho(s))
        place = self.value / step
        near = np.rint(place)
        place = np.where(np.abs(place - near) <= SAME * np.maximum(np.abs(near), 1.0), near, place)
        below = np.floor(place)
        part = place - below
        first = int(below[0])
        index = (below - first).astype(np.int64)
        points = int(index[-1]) + 2
        mass = np.bincount(index, weight * (1 - part), points).astype(np.float64)
        mass += np.bincount(index + 1, weight * part, points)
        return OnGrid(first, mass, float((part * (1 - part)).max()))


@dataclass(frozen=True)
class LaplaceLogRatio:
    """Of Laplace noise on two numbers."""

    distance: float  # Of the numbers, in scales of the noise; above 0. The largest loss, epsilon.

    def __post_init__(self) -> None:
        """Refuse a distance of 0 or less."""
        positive("distance", self.distance)

    @property
    def empty(self) -> bool:
        """No: every output is possible with either."""
        return False

    @property
    def low(self) -> float:
        """Smallest value."""
        return -self.distance

    @property
    def high(self) -> float:
        """Largest value."""
        return self.distance

    @property
    def step(self) -> None:
        """There is none: its values fill an interval."""
        return None

    def _ends(self, s: float) -> tuple[float, float]:
        """Return ``P^(1-s) Q^s`` at the smallest and at the largest value."""
        return 0.5 * math.exp(-(1 - s) * self.distance), 0.5 * math.exp(-s * self.distance)

    def log_rho(self, s: float) -> float:
        """Return ``ln rho(s)``; between the ends the density is ``e^(x (1/2-s) - a/2) / 4``."""
        tilt = (0.5 - s) * self.distance
        inner = math.sinh(tilt) / tilt if abs(tilt) > 1e-8 else 1.0 + tilt * tilt / 6
        between = 0.5 * self.distance * math.exp(-self.distance / 2) * inner
        return math.log(sum(self._ends(s)) + between)

    def on_grid(self, step: float, s: float) -> OnGrid:
        """Return the tilted law on the multiples of a step.

        Each cell is cut where the law ends, and its density is integrated against the two shares.
        """
        a, tilt = self.distance, 0.5 - s
        grid = _Cells.over(-a, a, step)
        mass = grid.split(lambda x: 0.25 * np.exp(x * tilt - a / 2), 1)
        for at, weight in zip((-a, a), self._ends(s), strict=True):
            place = at / step
            near = round(place)
            if abs(place - near) <= SAME * max(1, abs(near)):
                place = near
            below = math.floor(place)
            mass[below - grid.first] += weight * (1 - (place - below))
            mass[below - grid.first + 1] += weight * (place - below)
        return OnGrid(grid.first, mass * math.exp(-self.log_rho(s)), 0.25)


@dataclass(frozen=True)
class GaussianLogRatio:
    """Of Gaussian noise on two numbers."""

    mu: float  # Distance of the numbers in standard deviations of the noise; above 0

    def __post_init__(self) -> None:
        """Refuse a distance of 0 or less."""
        positive("mu", self.mu)

    @property
    def empty(self) -> bool:
        """No: every output is possible with either."""
        return False

    @property
    def low(self) -> float:
        """Where what lies below is less than the least positive number."""
        return -self.high

    @property
    def high(self) -> float:
        """Where what lies above is less than the least positive number."""
        return self.mu * (BEYOND + self.mu / 2)

    @property
    def step(self) -> None:
        """There is none: its values fill the line."""
        return None

    def log_rho(self, s: float) -> float:
        """Return ``ln rho(s)``."""
        return -s * (1 - s) * self.mu**2 / 2

    def on_grid(self, step: float, s: float) -> OnGrid:
        """Return the tilted law, ``N(mu^2 (1/2 - s), mu^2)``, on the multiples of a step."""
        mean, mu = self.mu**2 * (0.5 - s), self.mu
        grid = _Cells.over(mean - BEYOND * mu, mean + BEYOND * mu, step)
        scale = 1 / (mu * math.sqrt(2 * math.pi))
        parts = max(1, math.ceil(4 * step / mu))
        mass = grid.split(lambda x: scale * np.exp(-(((x - mean) / mu) ** 2) / 2), parts)
        return OnGrid(grid.first, mass, 0.25)


@dataclass(frozen=True)
class _Cells:
    """The cells of a grid over an interval, cut where it ends."""

    start: float
    end: float
    step: float
    first: int
    last: int

    @classmethod
    def over(cls, start: float, end: float, step: float) -> _Cells:
        return cls(start, end, step, math.floor(start / step), math.ceil(end / step))

    def split(self, density: Callable[[Floats], Floats], parts: int) -> Floats:
        """Integrate a density against the shares of the two ends of each cell.

        By 8 nodes in each of so many parts of a cell, which is exact to rounding where the density
        changes by a few powers of e within a part.
        """
        left = np.arange(self.first, self.last) * self.step
        nodes, weights = np.polynomial.legendre.leggauss(8)
        mass = np.zeros(self.last - self.first + 2)
        for part in range(parts):
            start = np.maximum(left + part / parts * self.step, self.start)
            end = np.minimum(left + (part + 1) / parts * self.step, self.end)
            width = np.maximum(end - start, 0.0)
            x = start[:, None] + width[:, None] * (nodes + 1) / 2
            inside = density(x) * weights * width[:, None] / 2
            share = (x - left[:, None]) / self.step
            mass[:-2] += (inside * (1 - share)).sum(axis=1)
            mass[1:-1] += (inside * share).sum(axis=1)
        return mass


Uses = Sequence[tuple[LogRatio, int]]
"""Laws of one use each, and how often; the uses are independent given the secret."""
