"""Releases of OpenDP: measurements with their privacy maps, and its synthesizers of rows.

OpenDP's neighbours are mostly about added and removed records. A replaced record is one removed and
one added: a distance of 2 between multisets, 1 where the distance counts changed records. Of counts
it moves two cells of every table by one: 2 a table in L1, the root of 2 a table in L2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from narcissus._files import is_ours
from narcissus._optional import optional
from narcissus._options import Level, OfRoom
from narcissus._pandas import pd
from narcissus._validation import integer, positive
from narcissus.errors import InputError, NarcissusError
from narcissus.guarantees import (
    ApproximateDP,
    Guarantee,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    from_privacy_loss,
)
from narcissus.guarantees.base import NOTHING_ELSE
from narcissus.mechanisms.noise import Counts, GaussianNoise, LaplaceNoise, Noise
from narcissus.mechanisms.queries import Codes, MarginalQueries
from narcissus.mechanisms.table.base import Columns, Microdata, TableMechanism
from narcissus.mechanisms.table.command import rows_of
from narcissus.mechanisms.table.rows import PreparedRows
from narcissus.worlds.finite import asked

REPLACED = {
    "SymmetricDistance()": 2,
    "InsertDeleteDistance()": 2,
    "ChangeOneDistance()": 1,
    "HammingDistance()": 1,
}
"""How far a replaced record is in each distance between data sets."""
ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0)
"""At which the curve of a Renyi guarantee is read."""
NOISES = {"gaussian": GaussianNoise, "laplace": LaplaceNoise}


class MadeBy:
    """A function of the user's with the options that the study gives it."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function, self.options = function, options
        self.__name__ = getattr(function, "__name__", repr(function))

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        return self.function(*arguments, **self.options, **more)


@dataclass(frozen=True)
class OpenDPMeasurement(TableMechanism):
    """Release the output of an OpenDP measurement; its privacy map is the guarantee.

    measurement: A function of yours, `{ name = "module:function" }`, that is given the columns of
        the table (and ``epsilon=``, where the study has it) and gives a Measurement, or a query of
        a Context that is not released yet. It takes the people as a polars LazyFrame of texts where
        its domain is one, and their cells as a list of numbers where its distance is L1 or L2; for
        any other domain the function gives a pair, the measurement and a function from a data frame
        to what it takes.
    epsilon: Handed to the function, to set its level; nothing else is done with it.
    reads: How the release may be read: `rows` in the columns of the table, `counts` of all k-way
        tables with noise on each cell, or an `object` that only custom attacks can read.
    k: Columns in each table, where it takes or gives cells.
    noise: Distribution of the noise on each cell, as attacks are told.
    scale: Of that noise, in counts; needed to read `counts`.
    """

    measurement: Annotated[Any, OfRoom("opendp-measurement")]
    epsilon: Level | None = None
    reads: Literal["object", "rows", "counts"] = "object"
    k: int = 3
    noise: Literal["gaussian", "laplace"] = "gaussian"
    scale: float | None = None

    def __post_init__(self) -> None:
        integer("k", self.k, low=1)
        if (self.scale is None) == (self.reads == "counts"):
            raise InputError("`scale` is needed to read `counts`, and for nothing else")
        if self.scale is not None:
            positive("scale", self.scale)
        if self.epsilon is not None:
            positive("epsilon", self.epsilon)

    @property
    def _name(self) -> str:
        return str(getattr(self.measurement, "__name__", repr(self.measurement)))

    @property
    def label(self) -> str:
        return self._name if self.epsilon is None else f"ε = {self.epsilon:g}"

    @property
    def title(self) -> str:
        return f"Releases of the OpenDP measurement `{self._name}`"

    @property
    def strength(self) -> float | None:
        return None if self.epsilon is None else 1 / self.epsilon

    def prepare(self, columns: Columns) -> PreparedMeasurement:
        """Make the measurement once, to read its privacy map."""
        noise = None if self.scale is None else NOISES[self.noise](self.scale)
        function: Callable[..., Any] = self.measurement
        if self.epsilon is not None:
            function = MadeBy(self.measurement, epsilon=self.epsilon)
        queries = columns.k_way(self.k)
        prepared = PreparedMeasurement(function, columns, queries, self.reads, noise)
        _ = prepared.guarantee  # what is wrong with it is said now
        return prepared


@dataclass(frozen=True)
class PreparedMeasurement:
    """A measurement for a table of known columns; made anew in every process."""

    function: Callable[..., Any]  # From the columns to the measurement
    columns: Columns
    queries: MarginalQueries  # The tables that its cells are of
    reads: str  # As in `OpenDPMeasurement`
    noise: Noise | None  # On each cell, where it gives counts
    cellwise = False
    must_vary = False

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot travel to another process."""
        return {k: v for k, v in self.__dict__.items() if k != "_made"}

    @property
    def releases(self) -> type:
        return {"rows": Microdata, "counts": Counts}.get(self.reads, object)

    @property
    def assumes(self) -> tuple[str, ...]:
        """That OpenDP's map is right, and that what it is given is as near as the people are."""
        right = f"the privacy map of the measurement of {self._name} is right"
        if not self._made[2]:
            return (right,)
        return right, (
            f"a replaced record moves what {self._name} gives to its measurement no farther than "
            "it moves the people's own rows or cells"
        )

    @property
    def guarantee(self) -> Guarantee | None:
        """What the privacy map says of a replaced record."""
        return self._guarantee

    @cached_property
    def _guarantee(self) -> Guarantee:
        return guarantee_of(self._made[0], tables=self.queries.tables)

    @cached_property
    def _made(self) -> tuple[Any, Callable[[Codes], Any], bool]:
        """The measurement, what it is given of people, and whether the function says what."""
        dp = optional("opendp.prelude", extra="opendp", purpose="A measurement of OpenDP")
        dp.enable_features("contrib")
        measurement = asked("mechanism", self.function, self.columns)
        encode: Callable[[pd.DataFrame], Any] | None = None
        if isinstance(measurement, tuple):
            measurement, encode = cast("tuple[Any, Any]", measurement)
        if hasattr(measurement, "resolve"):  # a query of a Context, before its release
            measurement = measurement.resolve()
        if not isinstance(measurement, dp.Measurement):
            raise InputError(
                f"{self._name} must give a Measurement, got {type(measurement).__name__}"
            )
        if encode is not None:
            return measurement, lambda codes: encode(self.columns.frame(codes)), True
        return measurement, self._encoder(measurement), False

    @property
    def _name(self) -> str:
        return f"the function `{getattr(self.function, '__name__', repr(self.function))}`"

    def _encoder(self, measurement: Any) -> Callable[[Codes], Any]:
        """Return what turns people into the argument of a measurement."""
        if _is_of_counts(measurement):
            kind = float if "f" in str(measurement.input_carrier_type) else int
            return lambda codes: [kind(cell) for cell in self.queries.counts(codes)]
        if str(measurement.input_domain).startswith(("FrameDomain", "LazyFrameDomain")):
            return lambda codes: _lazy(self.columns.frame(codes))
        raise InputError(
            f"{self._name} gives a measurement on {measurement.input_domain}: give a pair, the "
            "measurement and a function from a data frame of the people to what it takes"
        )

    def release(self, data: NDArray[np.integer], rng: np.random.Generator) -> list[Any]:
        """Release each data set; OpenDP has separate coins, and no seed."""
        return [self._one(codes.astype(np.int32)) for codes in data]

    def _one(self, codes: Codes) -> Any:
        measurement, encode, _ = self._made
        records = encode(codes)
        try:
            release = measurement(records)
            release = release.collect() if hasattr(release, "collect") else release
        except Exception as error:  # OpenDP's own have no common base outside of it
            raise NarcissusError(f"OpenDP made no release: {error}") from error
        if self.reads == "rows":
            if not isinstance(release, pd.DataFrame):  # of polars, or a dictionary
                plain = release.to_dict(as_series=False) if hasattr(release, "to_dict") else release
                release = pd.DataFrame(plain)
            rows = rows_of(release, self.columns, of=f"what {self._name} releases")
            rows.setflags(write=False)
            return Microdata(rows)
        if self.reads == "counts":
            assert self.noise is not None
            cells = np.asarray(release, dtype=np.float64)
            if cells.shape != (self.queries.cells,):
                raise InputError(
                    f"{self._name} must release the {self.queries.cells} cells of all "
                    f"{self.queries.k}-way tables, got shape {cells.shape}"
                )
            cells.setflags(write=False)
            return Counts(self.queries, self.noise, cells)
        return release


def _lazy(frame: pd.DataFrame) -> Any:
    polars = optional("polars", extra="opendp", purpose="A measurement of OpenDP on a LazyFrame")
    return polars.LazyFrame({name: frame[name].astype(str).tolist() for name in frame.columns})


def _is_of_counts(measurement: Any) -> bool:
    return str(measurement.input_metric).startswith(("L1Distance", "L2Distance"))


def guarantee_of(measurement: Any, *, tables: int = 1) -> Guarantee:
    """Return what the privacy map of a Measurement says when one record is replaced.

    Its distance is one of `REPLACED`, or L1 or L2 between counts of so many ``tables``.

    InputError: Nothing is known here of its distance or of its measure, or the map refuses the
        distance.

    Source: Bun and Steinke 2016, section 8, for approximate zCDP; the other measures are what the
    guarantees of this package are.
    """
    metric, measure = str(measurement.input_metric), str(measurement.output_measure)
    if _is_of_counts(measurement):
        is_l1 = metric.startswith("L1")
        # A distance that is rounded down would understate the loss.
        far = 2 * tables if is_l1 else math.nextafter(math.sqrt(2 * tables), math.inf)
        whole = "f" not in str(measurement.input_distance_type)
        distance: float = math.ceil(far) if whole else float(far)
    elif metric in REPLACED:
        distance = REPLACED[metric]
    else:
        raise InputError(
            f"the measurement's distance {metric} says nothing here of a replaced record; known "
            f"are {', '.join(REPLACED)}, L1Distance and L2Distance"
        )
    try:
        loss = measurement.map(distance)
    except Exception as error:  # as above
        raise InputError(f"the privacy map refuses a replaced record: {error}") from error
    if measure not in _READ:
        raise InputError(
            f"the measurement's privacy measure {measure} is not known here; known are "
            f"{', '.join(_READ)}"
        )
    return replace(_READ[measure](loss), program=_AS_THE_MAP)


_AS_THE_MAP = (
    "the measurement keeps what its privacy map says, with noise as a computer rounds it",
    NOTHING_ELSE,
)


def _approximate_zcdp(loss: tuple[float, float]) -> Guarantee:
    rho, delta = loss
    inner = ZeroConcentratedDP(rho)
    if delta == 0:
        return inner
    points = inner.tangents(200)
    deltas = np.minimum(delta + (1 - delta) * inner.profile(points), 1.0)
    return ProfileCurve(tuple(points.tolist()), tuple(deltas.tolist()))


def _smoothed(profile: Any) -> Guarantee:
    class _Losses:
        """A privacy profile of OpenDP under the name that distributions use."""

        def get_delta_for_epsilon(self, epsilon: Any) -> Any:
            if isinstance(epsilon, list):
                return [profile.delta(e) for e in cast("list[float]", epsilon)]
            return profile.delta(epsilon)

    return from_privacy_loss(_Losses(), adjacency="replace-one", points=400, rounding=0.0)


def _renyi(curve: Callable[[float], float]) -> Guarantee:
    limits = {order: float(curve(order)) for order in ORDERS}
    known = [RenyiDP(order, gamma) for order, gamma in limits.items() if math.isfinite(gamma)]
    if not known:
        raise InputError("the measurement's Renyi divergence is infinite at every order")
    points = np.linspace(0.0, min(g.epsilon_beyond(1e-13) for g in known), 400)
    deltas = np.min([g.profile(points) for g in known], axis=0)
    return ProfileCurve(tuple(points.tolist()), tuple(deltas.tolist()))


_READ: dict[str, Callable[[Any], Guarantee]] = {
    "MaxDivergence": PureDP,
    "Approximate(MaxDivergence)": lambda loss: ApproximateDP(*loss),
    "ZeroConcentratedDivergence": ZeroConcentratedDP,
    "Approximate(ZeroConcentratedDivergence)": _approximate_zcdp,
    "SmoothedMaxDivergence": _smoothed,
    "RenyiDivergence": _renyi,
}


_PURPOSE = "A synthesizer of OpenDP"
CONTRIBUTIONS = 2
"""A replaced record is one removed and one added: so many contributions, in OpenDP's words."""


@dataclass(frozen=True)
class OpenDPSynthesizer(TableMechanism):
    """Synthetic rows of a synthesizer of OpenDP, 10 to 30 CPU seconds a release.

    OpenDP has separate coins and no seed: a run is repeated from the releases that it kept.
    A cell that it leaves empty (it always allows for unknown values) is filled with a released
    value of the same column, which costs no privacy. Give exactly one of ``epsilon`` and ``rho``.

    algorithm: Which synthesizer: `MST`, `AIM`, or `Fixed`, which measures the tables in `sets`.
    epsilon: Privacy level of the release, pure DP for a replaced record.
    rho: Level of zero-concentrated DP instead; needs less noise.
    sets: Columns of each table that `Fixed` measures, by name.
    """

    algorithm: Literal["MST", "AIM", "Fixed"] = "MST"
    epsilon: Level | None = None
    rho: Level | None = None
    sets: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
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
        name, level = self._level
        return f"{'ε' if name == 'epsilon' else 'ρ'} = {level:g}"

    @property
    def title(self) -> str:
        return f"Rows of OpenDP's {self.algorithm}"

    @property
    def strength(self) -> float:
        return 1 / self._level[1]

    @property
    def guarantee(self) -> Guarantee:
        """The level that OpenDP is asked to keep for two contributions."""
        name, level = self._level
        if name == "epsilon":
            return PureDP(level, program=_AS_THE_MAP)
        return ZeroConcentratedDP(level, program=_AS_THE_MAP)

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
    sizes: tuple[int, ...]  # How many values each column has
    algorithm: str
    level: str  # Its name: epsilon or rho
    at: float
    sets: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])  # By position

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot travel to another process."""
        return {k: v for k, v in self.__dict__.items() if k != "_measurement"}

    def __call__(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Let OpenDP fit, and sample as many rows."""
        try:
            with _parts_that_fit():
                table = self._measurement(_lazy_codes(codes))
            frame = table.synthesize(rows=len(codes), method="sample")
        except Exception as error:  # OpenDP's own have no common base outside of it
            if is_ours(error):
                raise
            raise self._failed(error) from error
        synthetic_codes = np.stack(
            [np.asarray(frame[f"c{c}"].cast(int).fill_null(-1)) for c in range(len(self.sizes))],
            axis=1,
        )
        return filled(synthetic_codes, self.sizes, rng)

    @cached_property
    def _measurement(self) -> Any:
        """The measurement that releases a model; its privacy map is held to the level."""
        dp = optional("opendp.prelude", extra="opendp-synthesizer", purpose=_PURPOSE)
        dp.enable_features("contrib")
        queries = [dp.mbi.Count(tuple(f"c{c}" for c in columns)) for columns in self.sets]
        kind = getattr(dp.mbi, self.algorithm)
        try:
            context = dp.Context.compositor(
                data=_lazy_codes(np.zeros((0, len(self.sizes)), dtype=np.int32)),
                privacy_unit=dp.unit_of(contributions=CONTRIBUTIONS),
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
            lost = float(measurement.map(CONTRIBUTIONS))
        except Exception as error:  # as above
            if is_ours(error):
                raise
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


def _lazy_codes(codes: Codes) -> Any:
    polars = optional("polars", extra="opendp-synthesizer", purpose=_PURPOSE)
    return polars.LazyFrame(
        {f"c{c}": codes[:, c].tolist() for c in range(codes.shape[1])},
        schema={f"c{c}": polars.Int64 for c in range(codes.shape[1])},
    )


def filled(rows: Codes, sizes: Sequence[int], rng: np.random.Generator) -> Codes:
    """Fill every cell below 0, which holds no value, with one that its column holds elsewhere.

    ``sizes`` are for columns that hold none at all.
    """
    whole = rows.copy()
    for c, size in enumerate(sizes):
        there = rows[:, c] >= 0
        values = rows[there, c] if there.any() else np.arange(size)
        whole[~there, c] = rng.choice(values, size=int((~there).sum()))
    return whole.astype(np.int32)
