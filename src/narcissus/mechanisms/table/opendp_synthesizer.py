"""Synthetic rows of OpenDP's synthesizers: MST, AIM, or tables that are named."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

import numpy as np

from narcissus._optional import optional
from narcissus._options import Level
from narcissus._validation import positive
from narcissus.errors import InputError, NarcissusError
from narcissus.guarantees import Guarantee, PureDP, ZeroConcentratedDP
from narcissus.mechanisms.marginals import Codes
from narcissus.mechanisms.table.base import TableMechanism
from narcissus.mechanisms.table.columns import Columns
from narcissus.mechanisms.table.rows import PreparedRows

_PURPOSE = "A synthesizer of OpenDP"
REPLACED = 2
"""A replaced record is one removed and one added: so many contributions, in OpenDP's words."""


@dataclass(frozen=True)
class OpenDPSynthesizer(TableMechanism):
    """Synthetic rows of a synthesizer of OpenDP, 10 to 30 CPU seconds a release.

    OpenDP has coins of its own and no seed: a run is repeated from the releases that it kept.
    A cell that it leaves empty (it always allows for unknown values) is filled with a released
    value of the same column, which costs no privacy. Give exactly one of ``epsilon`` and ``rho``.

    Parameters
    ----------
    algorithm
        Which synthesizer: `MST`, `AIM`, or `Fixed`, which measures the tables in `sets`.
    epsilon
        Privacy level of the release, pure DP for a replaced record.
    rho
        Level of zero-concentrated DP instead; needs less noise.
    sets
        Columns of each table that `Fixed` measures, by name.
    """

    algorithm: Literal["MST", "AIM", "Fixed"] = "MST"
    epsilon: Level | None = None
    rho: Level | None = None
    sets: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        """Refuse what does not say one level, or which tables."""
        if (self.epsilon is None) == (self.rho is None):
            raise InputError("give exactly one of epsilon and rho")
        name, level = self._level
        positive(name, level)
        if (self.sets is None) == (self.algorithm == "Fixed"):
            raise InputError("`sets` are needed by the algorithm `Fixed`, and by no other")
        if self.sets is not None and not all(self.sets):
            raise InputError("`sets` must name at least one column each")

    @property
    def _level(self) -> tuple[str, float]:
        if self.epsilon is not None:
            return "epsilon", self.epsilon
        assert self.rho is not None
        return "rho", self.rho

    @property
    def label(self) -> str:
        """The level."""
        name, level = self._level
        return f"{'ε' if name == 'epsilon' else 'ρ'} = {level:g}"

    @property
    def title(self) -> str:
        """What is released, as a title begins."""
        return f"Rows of OpenDP's {self.algorithm}"

    @property
    def strength(self) -> float:
        """The inverse of the level."""
        return 1 / self._level[1]

    @property
    def guarantee(self) -> Guarantee:
        """The level that OpenDP is asked to keep for two contributions."""
        name, level = self._level
        return PureDP(level) if name == "epsilon" else ZeroConcentratedDP(level)

    def prepare(self, columns: Columns) -> PreparedRows:
        """Look whether OpenDP is there, and the named columns are."""
        optional("mbi", extra="opendp-synthesizer", purpose=_PURPOSE)
        named = [name for names in self.sets or () for name in names]
        if strange := sorted(set(named) - set(columns.names)):
            raise InputError(f"`sets` name no columns of the table: {', '.join(strange)}")
        sets = [tuple(columns.names.index(name) for name in names) for names in self.sets or ()]
        maker = _Synthesizer(columns.sizes, self.algorithm, *self._level, sets)
        assumed = f"OpenDP's {self.algorithm} keeps {self.guarantee.describe()}"
        return PreparedRows.of(columns, maker, self.guarantee, assumes=(assumed,))


@dataclass(frozen=True)
class _Synthesizer:
    """Makes rows of rows."""

    sizes: tuple[int, ...]  # How many values each column has
    # algorithm, level, at, sets: The synthesizer, the name and the value of its level, and
    # the tables as positions
    algorithm: str
    level: str
    at: float
    sets: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot travel to another process."""
        return {k: v for k, v in self.__dict__.items() if k != "_measurement"}

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Let OpenDP fit, and sample as many rows."""
        try:
            with _parts_that_fit():
                table = self._measurement(_lazy(codes))
            frame = table.synthesize(rows=len(codes), method="sample")
        except Exception as error:  # OpenDP's own have no common base outside of it
            raise self._failed(error) from error
        found = np.stack(
            [np.asarray(frame[f"c{c}"].cast(int).fill_null(-1)) for c in range(len(self.sizes))],
            axis=1,
        )
        return filled(found, self.sizes, rng)

    @cached_property
    def _measurement(self) -> Any:
        """The measurement that releases a model; its privacy map is held to the level."""
        dp = optional(
            "opendp.prelude", extra="opendp-synthesizer", purpose="A synthesizer of OpenDP"
        )
        dp.enable_features("contrib")
        queries = [dp.mbi.Count(tuple(f"c{c}" for c in columns)) for columns in self.sets]
        kind = getattr(dp.mbi, self.algorithm)
        try:
            context = dp.Context.compositor(
                data=_lazy(np.zeros((0, len(self.sizes)), dtype=np.int32)),
                privacy_unit=dp.unit_of(contributions=REPLACED),
                privacy_loss=dp.loss_of(**{self.level: float(self.at)}),
                split_evenly_over=1,
            )
            measurement: Any = (
                context.query()
                .contingency_table(
                    keys={f"c{c}": list(range(size)) for c, size in enumerate(self.sizes)},
                    algorithm=kind(queries=queries) if queries else kind(),
                )
                .resolve()
            )
            lost = float(measurement.map(REPLACED))
        except Exception as error:  # as above
            raise self._failed(error) from error
        if lost > self.at:
            raise NarcissusError(f"OpenDP's privacy map gives {lost}, above the level {self.at}")
        return measurement

    def _failed(self, error: Exception) -> NarcissusError:
        return NarcissusError(f"OpenDP's {self.algorithm} made no release: {error}")


@contextmanager
def _parts_that_fit() -> Generator[None]:
    """Make the parts of OpenDP's budgets smaller by one in 10^12, so that they fit.

    OpenDP 0.16 divides what MST may spend among its choices and adds them up again, each sum
    rounded up: with nine columns the parts exceed the whole by a unit in the last place, and
    nothing is released at any level. Less is spent so, never more.
    """
    mst: Any = import_module("opendp.extras.mbi._mst")
    below = mst.prior
    mst.prior = lambda budget: below(budget * (1 - 1e-12))  # pyright: ignore
    try:
        yield
    finally:
        mst.prior = below


def _lazy(codes: Codes) -> Any:
    """Return people as OpenDP takes them, a LazyFrame of numbers."""
    polars = optional("polars", extra="opendp-synthesizer", purpose=_PURPOSE)
    return polars.LazyFrame(
        {f"c{c}": codes[:, c].tolist() for c in range(codes.shape[1])},
        schema={f"c{c}": polars.Int64 for c in range(codes.shape[1])},
    )


def filled(rows: Codes, sizes: Sequence[int], rng: np.random.Generator) -> Codes:
    """Fill every cell that holds no value with one that the same column holds elsewhere.

    rows: value numbers, below 0 where there is none, shape (m, d).
    sizes: how many values each column has, for columns that hold none at all.
    rng: chooses the values.
    """
    whole = rows.copy()
    for c, size in enumerate(sizes):
        there = rows[:, c] >= 0
        values = rows[there, c] if there.any() else np.arange(size)
        whole[~there, c] = rng.choice(values, size=int((~there).sum()))
    return whole.astype(np.int32)
