"""Additive noise for counts: Gaussian, Laplace, or none; two-sided geometric for single counts.

The noise of tables has a guarantee for a release of ``marginals`` full tables, and the gain in
likelihood of a cell when a person is added to it: the only two facts that bounds and attacks need.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._arrays import Floats
from narcissus._random import RandomSource, generator
from narcissus._validation import positive
from narcissus.guarantees import GaussianDP, Guarantee, PureDP
from narcissus.guarantees.base import EXACT_NOISE, NOTHING_ELSE
from narcissus.mechanisms.queries import TableQueries


class Noise(Protocol):
    """Independent noise on every cell."""

    @property
    def scale(self) -> float:
        """Standard deviation (Gaussian) or scale (Laplace), in counts; 0 for none."""
        ...

    @property
    def kind(self) -> str:
        """Name as in a study file: 'gaussian', 'laplace' or 'none'."""
        ...

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` independent values, in counts."""
        ...

    def gain(self, residual: Floats) -> Floats:
        """Return the change of log density of a cell when one person is added to its count.

        ``residual`` is the released value minus the count without that person.
        """
        ...

    def guarantee(self, marginals: int) -> Guarantee | None:
        """Return what ``marginals`` full tables with this noise guarantee; None for no noise."""
        ...


def _of_tables(marginals: int, adds: str) -> tuple[str, ...]:
    """Say what a release of tables must do for its noise to be a guarantee."""
    whole = "each person is counted once in each table"
    if marginals > 1:
        whole = f"each person is counted once in each of {marginals:,} tables"
    return f"{whole}, and the release {adds}", EXACT_NOISE, NOTHING_ELSE


@dataclass(frozen=True)
class GaussianNoise:
    """Normal noise of standard deviation ``scale`` on every cell.

    Replacing a person moves two cells of a table by one each, ``sqrt(2)`` in L2; ``M`` tables by
    ``sqrt(2 M)``: Gaussian DP with ``mu = sqrt(2 M) / scale`` (Narcissus theory 9; Dong, Roth and
    Su 2022, Theorem 1).
    """

    scale: float
    kind: str = "gaussian"

    def __post_init__(self) -> None:
        positive("scale", self.scale)

    @classmethod
    def for_mu(cls, mu: float, marginals: int) -> GaussianNoise:
        """Return the noise with which ``marginals`` tables are ``mu``-GDP."""
        return cls(math.sqrt(2 * marginals) / positive("mu", mu))

    @classmethod
    def for_epsilon(cls, epsilon: float, delta: float, marginals: int) -> GaussianNoise:
        """Return the least noise with which ``marginals`` tables are (epsilon, delta)-DP."""
        return cls.for_mu(GaussianDP.from_epsilon_delta(epsilon, delta).mu, marginals)

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.normal(0.0, self.scale, size)

    def gain(self, residual: Floats) -> Floats:
        """Return ``(r^2 - (r-1)^2) / (2 scale^2)``."""
        return (residual - 0.5) / self.scale**2

    def guarantee(self, marginals: int) -> GaussianDP:
        adds = (
            f"adds normal noise of standard deviation {self.scale:g} to each cell, drawn separately"
        )
        program = _of_tables(marginals, adds)
        return GaussianDP(math.sqrt(2 * marginals) / self.scale, program=program)


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise of the given scale on every cell.

    Replacing a person moves a table by 2 in L1, ``M`` tables by ``2 M``: pure DP with
    ``epsilon = 2 M / scale`` (Dwork, McSherry, Nissim and Smith 2006).
    """

    scale: float
    kind: str = "laplace"

    def __post_init__(self) -> None:
        positive("scale", self.scale)

    @classmethod
    def for_epsilon(cls, epsilon: float, marginals: int) -> LaplaceNoise:
        """Return the noise with which ``marginals`` tables are epsilon-DP."""
        return cls(2 * marginals / positive("epsilon", epsilon))

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.laplace(0.0, self.scale, size)

    def gain(self, residual: Floats) -> Floats:
        """Return ``(|r| - |r-1|) / scale``."""
        return (np.abs(residual) - np.abs(residual - 1)) / self.scale

    def guarantee(self, marginals: int) -> PureDP:
        adds = f"adds Laplace noise of scale {self.scale:g} to each cell, drawn separately"
        return PureDP(2 * marginals / self.scale, program=_of_tables(marginals, adds))


@dataclass(frozen=True)
class NoNoise:
    """Exact counts: no guarantee at all."""

    scale: float = 0.0
    kind: str = "none"

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """Return zeros; the generator is left as it was."""
        return np.zeros(size)

    def gain(self, residual: Floats) -> Floats:
        """Return 0 where one more person is exactly what is missing, minus infinity elsewhere."""
        return np.where(np.abs(residual - 1) < 0.5, 0.0, -np.inf)

    def guarantee(self, marginals: int) -> None:
        return None


@dataclass(frozen=True, eq=False)
class Counts:
    """A release of counts: every cell with its noise."""

    queries: TableQueries
    noise: Noise  # What was added to each cell, which everybody knows
    cells: Floats  # The released values, shape (cells,), in counts; not to be written to


@dataclass(frozen=True)
class NoisyMarginals:
    """The mechanism: counts of every cell, with independent noise on each."""

    queries: TableQueries
    noise: Noise
    releases = Counts
    cellwise = True
    assumes = ()
    must_vary = False

    @property
    def guarantee(self) -> Guarantee | None:
        """What the tables guarantee together when a person's record is replaced."""
        return self.noise.guarantee(self.queries.tables)

    def release(self, data: NDArray[np.integer], rng: RandomSource = None) -> list[Counts]:
        """Release the tables of each data set, value numbers of shape (trials, n, d)."""
        source = generator(rng)
        released: list[Counts] = []
        for codes in data:
            noise = self.noise.sample(self.queries.cells, source)
            cells = self.queries.counts(codes) + noise
            cells.setflags(write=False)  # no attack may change what the next one sees
            released.append(Counts(self.queries, self.noise, cells))
        return released


_LOST = 40.0  # of the noise beyond so many scales there is e^-40 = 4e-18: below all rounding


@dataclass(frozen=True)
class TwoSidedGeometric:
    """Whole numbers ``z`` with weight ``e^(-|z| / scale)``; at scale 0, always 0.

    Source: Ghosh, Roughgarden and Sundararajan 2009. With scale ``D / epsilon`` a whole number that
    changes by at most ``D`` is released with epsilon-differential privacy.
    """

    scale: float

    def sample(self, rng: np.random.Generator) -> int:
        if self.scale == 0:
            return 0
        stop = -math.expm1(-1 / self.scale)
        return int(rng.geometric(stop) - rng.geometric(stop))

    def at_least(self, value: ArrayLike) -> NDArray[np.float64]:
        """Return the chance of ``value`` or more, both tails to the last digit; any shape."""
        z = np.asarray(value, dtype=np.float64)
        if self.scale == 0:
            return np.where(z <= 0, 1.0, 0.0)
        rate = 1 / self.scale
        inner = 1 / (1 + math.exp(-rate))
        with np.errstate(over="ignore"):
            above = inner * np.exp(-rate * np.maximum(z, 0))
            below = inner * np.exp(-rate * np.maximum(1 - z, 0))
        return np.where(z > 0, above, 1 - below)

    def at(self, value: ArrayLike) -> NDArray[np.float64]:
        """Return the chance of ``value``; any shape."""
        z = np.abs(np.asarray(value, dtype=np.float64))
        if self.scale == 0:
            return np.where(z == 0, 1.0, 0.0)
        rate = 1 / self.scale
        return np.exp(-rate * z) * -math.expm1(-rate) / (1 + math.exp(-rate))

    @property
    def reach(self) -> int:
        """How far from 0 the noise goes, but for ``e^-40`` of it."""
        return math.ceil(_LOST * self.scale)
