"""Noisy counts as they are planned: which tables, and how much noise for how many of them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from narcissus._options import Level
from narcissus._validation import between, did_you_mean, integer
from narcissus.errors import InputError
from narcissus.guarantees import Guarantee
from narcissus.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise, NoisyMarginals, NoNoise
from narcissus.mechanisms.queries import ChosenQueries, Grouping, MarginalQueries, TableQueries
from narcissus.mechanisms.table.base import DEFAULT_DELTA, Columns, TableMechanism, epsilon_at
from narcissus.tables.coding import codes_by_labels

LOWEST, HIGHEST = 1e-9, 1e9  # of a level of noise: beyond, squares and exponentials overflow

Sets = Sequence[Sequence[str]]
"""Tables by the names of their columns."""
Coarser = Mapping[str, Mapping[str, Any]]
"""New column -> ``{of = COLUMN, groups = {NAME = [VALUES]}}``: each value in one group."""


def k_way(columns: Columns, k: int) -> MarginalQueries:
    """Lay out all tables of ``k`` columns that touch an unknown one; refuse more than there are."""
    d = len(columns.names)
    if k > d:
        raise InputError(f"`mechanism.k` is {k}, but the table has {d} columns")
    return columns.k_way(k)


def chosen(columns: Columns, sets: Sets, coarser: Coarser) -> ChosenQueries:
    """Lay out a list of tables, which may name coarser versions of columns.

    InputError: A table names no column, one that is not there, or one twice (a column and a coarser
        version of it are one); the groups are not those of the column's values; or no table has an
        unknown column.
    """
    coarse = tuple(_grouping(columns, name, groups) for name, groups in coarser.items())
    numbers = {name: number for number, name in enumerate([*columns.names, *coarser])}
    d, tables = len(columns.names), list[tuple[int, ...]]()
    for names in sets:
        if not names:
            raise InputError("`sets` has a table without columns: name at least one for each")
        for name in names:
            if name not in numbers:
                hint = did_you_mean(name, numbers)
                raise InputError(f"`sets` names `{name}`, which is no column of the table{hint}")
        table = tuple(numbers[name] for name in names)
        if len({c if c < d else coarse[c - d].of for c in table}) < len(table):
            raise InputError(
                f"`sets` has the table [{', '.join(names)}], which has a column twice (a coarser "
                "version counts as the column): name each once"
            )
        tables.append(table)
    unknown = {*columns.unknown, *(d + j for j, g in enumerate(coarse) if g.of in columns.unknown)}
    if not any(unknown & set(table) for table in tables):
        wanted = ", ".join(f"`{columns.names[c]}`" for c in columns.unknown)
        raise InputError(f"`sets` has no table with an unknown column ({wanted}): add one")
    return ChosenQueries(columns.sizes, columns.unknown, tuple(tables), coarse=coarse)


def _grouping(columns: Columns, name: str, given: Mapping[str, Any]) -> Grouping:
    of, groups = given.get("of"), given.get("groups")
    if set(given) != {"of", "groups"} or not isinstance(groups, Mapping) or not groups:
        raise InputError(
            f"`coarser.{name}` must be {{of = COLUMN, groups = {{NAME = [VALUES], ...}}}}"
        )
    if name in columns.names:
        raise InputError(f"`coarser.{name}` has the name of a column: take another")
    if of not in columns.names:
        hint = did_you_mean(str(of), columns.names)
        raise InputError(f"`coarser.{name}` is of `{of}`, which is no column of the table{hint}")
    column = columns.names.index(str(of))
    labels = columns.labels[column]
    group_of: dict[str, int] = {}
    for number, (group, values) in enumerate(groups.items()):
        for given_value, code in zip(values, codes_by_labels(str(of), values, labels), strict=True):
            if code < 0:
                value = str(given_value)
                hint = did_you_mean(value, labels)
                raise InputError(
                    f"`coarser.{name}`: `{of}` has no value '{value}' (in '{group}'){hint}"
                )
            value = labels[code]
            if value in group_of:
                raise InputError(f"`coarser.{name}` has the value '{value}' twice")
            group_of[value] = number
    if missing := [label for label in labels if label not in group_of]:
        raise InputError(
            f"`coarser.{name}` leaves out values of `{of}`: {', '.join(map(repr, missing))}"
        )
    return Grouping(column, tuple(group_of[label] for label in labels))


class PlannedCounts(TableMechanism):
    """What is planned to be released of a table: noisy counts of all k-way marginals.

    A subclass gives ``k``, ``label`` and ``noise_of``; one of other tables than the k-way ones
    gives ``title`` and ``queries_of`` instead of ``k``.

    k: Columns in each table.
    """

    k: int

    @property
    def title(self) -> str:
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
        queries = self.queries_of(columns)
        return NoisyMarginals(queries, self.noise_of(queries.tables))


@dataclass(frozen=True, kw_only=True)
class NoiseLevel(PlannedCounts):
    """Counts whose noise is given by its level.

    Give exactly one of ``epsilon``, ``mu`` and ``scale``; a list of them is a sweep.

    noise: Distribution of the noise, independent on each cell.
    epsilon: Privacy level of the whole release; `inf` is no noise.
    delta: Of Gaussian noise, in (0, 1); 1e-5 if left out. With `epsilon` it sets the noise, with
        `mu` and `scale` the point (epsilon, delta) of the bounds for comparison.
    mu: Gaussian DP level instead of epsilon; `inf` is no noise.
    scale: Noise scale in counts instead of a level; 0 is no noise.
    """

    noise: Literal["gaussian", "laplace"] = "gaussian"
    epsilon: Level | None = None
    delta: float | None = None
    mu: Level | None = None
    scale: Level | None = None

    def __post_init__(self) -> None:
        names = [n for n in ("epsilon", "mu", "scale") if getattr(self, n) is not None]
        if len(names) != 1:
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

    k: Columns in each table, at least 1.
    """

    k: int = 3

    def __post_init__(self) -> None:
        integer("k", self.k, low=1)
        super().__post_init__()


@dataclass(frozen=True)
class Tables(NoiseLevel):
    """A chosen list of tables, with noise on each cell.

    Totals are narrow tables next to wide ones. A table that is listed twice is released twice, with
    separate noise: several releases of the same people. The level of noise is that of all listed
    tables together, those of known columns alone included. Give exactly one of ``epsilon``, ``mu``
    and ``scale``; a list of them is a sweep.

    sets: Columns of each table, such as `[["age", "sex"], ["sex"]]`.
    coarser: Coarser versions of columns, which tables can name: `{region = {of = "canton", groups =
        {west = ["GE", "VD"], east = ["SG"]}}}`.
    """

    sets: Sets
    coarser: Coarser = field(default_factory=dict[str, dict[str, object]])

    def __post_init__(self) -> None:
        if not self.sets:
            raise InputError("`sets` must list at least one table")
        super().__post_init__()

    @property
    def title(self) -> str:
        return "Noisy tables"

    def queries_of(self, columns: Columns) -> ChosenQueries:
        return chosen(columns, self.sets, self.coarser)
