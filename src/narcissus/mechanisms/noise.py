"""Additive noise for counts: Gaussian, Laplace, or none.

Each noise says its guarantee for a release of ``marginals`` full tables, and how much more likely
one cell becomes when a person is added to it: the only two facts that bounds and attacks need.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import positive
from narcissus.guarantees import GaussianDP, Guarantee, PureDP

Floats = NDArray[np.float64]


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
        """Refuse a scale that is not positive and finite."""
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
        """Draw independent normal values."""
        return rng.normal(0.0, self.scale, size)

    def gain(self, residual: Floats) -> Floats:
        """Return ``(r^2 - (r-1)^2) / (2 scale^2)``."""
        return (residual - 0.5) / self.scale**2

    def guarantee(self, marginals: int) -> GaussianDP:
        """Return the Gaussian DP of the whole release."""
        return GaussianDP(math.sqrt(2 * marginals) / self.scale)


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise of the given scale on every cell.

    Replacing a person moves a table by 2 in L1, ``M`` tables by ``2 M``: pure DP with
    ``epsilon = 2 M / scale`` (Dwork, McSherry, Nissim and Smith 2006).
    """

    scale: float
    kind: str = "laplace"

    def __post_init__(self) -> None:
        """Refuse a scale that is not positive and finite."""
        positive("scale", self.scale)

    @classmethod
    def for_epsilon(cls, epsilon: float, marginals: int) -> LaplaceNoise:
        """Return the noise with which ``marginals`` tables are epsilon-DP."""
        return cls(2 * marginals / positive("epsilon", epsilon))

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """Draw independent Laplace values."""
        return rng.laplace(0.0, self.scale, size)

    def gain(self, residual: Floats) -> Floats:
        """Return ``(|r| - |r-1|) / scale``."""
        return (np.abs(residual) - np.abs(residual - 1)) / self.scale

    def guarantee(self, marginals: int) -> PureDP:
        """Return the pure DP of the whole release."""
        return PureDP(2 * marginals / self.scale)


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
        """Provide None: nothing is guaranteed."""
