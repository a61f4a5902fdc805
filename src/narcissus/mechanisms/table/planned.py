"""Noisy counts as they are planned: which tables, and how much noise for how many of them."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

from narcissus._options import Level
from narcissus._validation import between, integer
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee
from narcissus.mechanisms.marginals import NoisyMarginals
from narcissus.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise, NoNoise
from narcissus.mechanisms.queries import TableQueries
from narcissus.mechanisms.table.base import DEFAULT_DELTA, TableMechanism, epsilon_at
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.layout import k_way

LOWEST, HIGHEST = 1e-9, 1e9  # of a level of noise: beyond, squares and exponentials overflow


class PlannedCounts(TableMechanism):
    """What is planned to be released of a table: noisy counts of all k-way marginals.

    A subclass gives ``k``, ``label`` and ``noise_of``; one of other tables than the k-way ones
    gives ``title`` and ``queries_of`` instead of ``k``.

    Attributes
    ----------
    k
        Columns in each table.
    """

    k: int

    @property
    def title(self) -> str:
        """That they are noisy, and how many columns each has."""
        return f"Noisy {self.k}-way marginals"

    @property
    def strength(self) -> float | None:
        """The scale of the noise, for one table."""
        return self.noise_of(1).scale

    @abstractmethod
    def noise_of(self, tables: int) -> Noise:
        """Return the noise on every cell when so many tables are released."""

    def queries_of(self, columns: Columns) -> TableQueries:
        """Lay out all tables that touch an unknown column."""
        return k_way(columns, self.k)

    def prepare(self, columns: Columns) -> NoisyMarginals:
        """Lay out the tables, and set their noise."""
        queries = self.queries_of(columns)
        return NoisyMarginals(queries, self.noise_of(queries.tables))


@dataclass(frozen=True, kw_only=True)
class NoiseLevel(PlannedCounts):
    """Counts whose noise is given by its level.

    Give exactly one of ``epsilon``, ``mu`` and ``scale``; a list of them is a sweep.

    Parameters
    ----------
    noise
        Distribution of the noise, independent on each cell.
    epsilon
        Privacy level of the whole release; `inf` is no noise.
    delta
        Of Gaussian noise, in (0, 1); 1e-5 if left out. With `epsilon` it sets the noise, with `mu`
        and `scale` the point (epsilon, delta) of the bounds for comparison.
    mu
        Gaussian DP level instead of epsilon; `inf` is no noise.
    scale
        Noise scale in counts instead of a level; 0 is no noise.
    """

    noise: Literal["gaussian", "laplace"] = "gaussian"
    epsilon: Level | None = None
    delta: float | None = None
    mu: Level | None = None
    scale: Level | None = None

    def __post_init__(self) -> None:
        """Refuse what does not say one level, or more than the noise needs."""
        given = [n for n in ("epsilon", "mu", "scale") if getattr(self, n) is not None]
        if len(given) != 1:
            raise InputError("give exactly one of epsilon, mu and scale")
        level, by = self._level
        if math.isnan(level) or level < 0 or (level == 0 and by != "scale"):
            limit = "at least 0" if by == "scale" else "above 0"
            raise InputError(f"`{by}` must be {limit}, got {level}")
        if by == "scale" and math.isinf(level):
            raise InputError("`scale` must be finite")
        if not self._exact and not LOWEST <= level <= HIGHEST:
            raise InputError(f"`{by}` must be in [{LOWEST:g}, {HIGHEST:g}], got {level:g}")
        if self.noise == "laplace":
            if by == "mu":
                raise InputError("`mu` is a level of Gaussian noise; give epsilon or scale")
            if self.delta is not None:
                raise InputError("Laplace noise gives pure DP: leave `delta` out")
        if self.delta == 0:
            raise InputError("Gaussian noise needs a `delta` above 0; or take noise = 'laplace'")
        if self.delta is not None:
            between("delta", self.delta, 0, 1, open_high=True)

    @property
    def _level(self) -> tuple[float, str]:
        for by in ("epsilon", "mu", "scale"):
            if getattr(self, by) is not None:
                return float(getattr(self, by)), by
        raise AssertionError("one of them is given")

    @property
    def _exact(self) -> bool:
        level, by = self._level
        return level == 0 if by == "scale" else math.isinf(level)

    @property
    def label(self) -> str:
        level, by = self._level
        symbol = {"epsilon": "ε", "mu": "μ", "scale": "scale"}[by]
        return "no noise" if self._exact else f"{symbol} = {level:g}"

    def noise_of(self, tables: int) -> Noise:
        level, by = self._level
        if self._exact:
            return NoNoise()
        if self.noise == "laplace":
            scaled = by == "scale"
            return LaplaceNoise(level) if scaled else LaplaceNoise.for_epsilon(level, tables)
        if by == "epsilon":
            return GaussianNoise.for_epsilon(level, self._delta, tables)
        return GaussianNoise.for_mu(level, tables) if by == "mu" else GaussianNoise(level)

    @property
    def _delta(self) -> float:
        return DEFAULT_DELTA if self.delta is None else self.delta

    def point(self, guarantee: Guarantee) -> tuple[float | None, float]:
        """Return the point that sets the noise, or that of the guarantee at ``delta``."""
        epsilon = self.epsilon
        return epsilon_at(guarantee, self._delta) if epsilon is None else epsilon, self._delta


@dataclass(frozen=True)
class Marginals(NoiseLevel):
    """All k-way tables that touch an unknown column, with noise on each cell.

    Give exactly one of ``epsilon``, ``mu`` and ``scale``; a list of them is a sweep.

    Parameters
    ----------
    k
        Columns in each table, at least 1.
    """

    k: int = 3

    def __post_init__(self) -> None:
        """Refuse tables of no columns, and what does not say one level."""
        integer("k", self.k, low=1)
        super().__post_init__()
