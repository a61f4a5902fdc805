"""Scores of models on records, which records each model was trained on, and by what coins.

An audit needs unseen coins. Published code often deals them out instead: every record is in exactly
half of the models, or each model has a partner with exactly the records that it lacks. Then the
shadows' membership, which an attack may use, is informative about the target's; all other models
together determine it. `coin_design` detects such designs, and computes the remaining chances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._arrays import BoolArray, Floats
from narcissus._files import open_text, parsing, separator
from narcissus._pandas import exactly, pd
from narcissus._parquet import read_parquet
from narcissus._validation import (
    did_you_mean,
    kept,
    one_of,
    probabilities,
    some_of,
)
from narcissus._visible import heading
from narcissus.errors import InputError
from narcissus.evidence.scores import UNBELIEVABLE
from narcissus.extraction.files import arrays_of

_FEWEST_MODELS, _MOST_COMPARED = 2, 4096
SCALES = ("score", "probability", "logit", "loss")
"""What a file's numbers are: any score, the probability of the right label, its logit, ``-log``."""
_EDGE = 1e-12  # how near to 0 and 1 probabilities are taken
_NEEDED = ("scores", "members")
_ARRAYS = {".npz", ".npy", ".safetensors"}


@dataclass(frozen=True, eq=False)
class ShadowScores:
    """Scores of models on records; made by `shadow_scores`."""

    # of each model on each record, shape (models, records); larger: more likely trained on
    scores: Floats
    members: BoolArray  # whether the model was trained on the record, shape (models, records)
    # Probability with which each record was put into a model, by a separate coin for each
    # model, shape (records,). 0: in none by design, an *outsider*.
    priors: Floats
    unit: str = "record"  # what a coin decides about, "record" or "cluster" of records
    # number of the cluster of each record that was given, shape (given,); None: they are records
    place: NDArray[np.intp] | None = None
    names: tuple[str, ...] | None = None  # of the records of a table, in order

    def __post_init__(self) -> None:
        for name in ("scores", "members", "priors", "place"):
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, kept(array))

    @property
    def models(self) -> int:
        """Number of models."""
        return self.scores.shape[0]

    @property
    def outsiders(self) -> BoolArray:
        """Records in no model by design, shape (records,)."""
        return self.priors == 0

    def of(self, models: ArrayLike) -> ShadowScores:
        """Select some of the models."""
        chosen = np.asarray(models, dtype=np.intp)
        return replace(self, scores=self.scores[chosen], members=self.members[chosen])


def shadow_scores(
    scores: ArrayLike,
    members: ArrayLike,
    priors: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
) -> ShadowScores:
    """Check scores of models on records.

    scores: shape (models, records), finite; larger: more likely trained on.
    members: 0 or 1, the same shape.
    priors: probability with which each record was put into a model, shape (records,); default 1/2.
        0 for records that no model was trained on.
    clusters: name or number of the cluster of each record, shape (records,), where one coin decided
        about several records. A cluster then counts as one record, whose score is the mean.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
        inside = np.asarray(members, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("`scores` and `members` must be numbers") from error
    if values.ndim != 2 or values.shape != inside.shape or values.size == 0:
        raise InputError(
            "`scores` and `members` must be of shape (models, records) both, got "
            f"{values.shape} and {inside.shape}"
        )
    if values.shape[0] < _FEWEST_MODELS:
        raise InputError(
            f"`scores` must be of at least {_FEWEST_MODELS} models (shape (models, records)), got "
            "1; the canaries of one model are for `narcissus refute --scores`"
        )
    if not np.isfinite(values).all():
        model, record = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"`scores` must be finite, got {values[model, record]} of model {model} on record "
            f"{record}; limit probabilities to [1e-6, 1 - 1e-6] before taking logarithms"
        )
    if not np.isin(inside, (0.0, 1.0)).all():
        raise InputError("`members` must hold only 0 (out) and 1 (in)")
    coins = np.full(values.shape[1], 0.5) if priors is None else probabilities("priors", priors)
    if coins.shape != values.shape[1:]:
        raise InputError(f"`priors` must be of {values.shape[1]} records, got shape {coins.shape}")
    wrong = ((coins == 0) & (inside == 1) | (coins == 1) & (inside == 0)).any(axis=0)
    if wrong.any():
        record = int(wrong.argmax())
        raise InputError(
            f"`priors` says {coins[record]:g} of record {record}, but there are models where it "
            "is otherwise"
        )
    shadows = ShadowScores(values, inside == 1, coins)
    return shadows if clusters is None else _by_cluster(shadows, np.asarray(clusters))


def _by_cluster(data: ShadowScores, clusters: NDArray[np.generic]) -> ShadowScores:
    if clusters.shape != data.priors.shape:
        raise InputError(
            f"`clusters` must be of {data.priors.size} records, got shape {clusters.shape}"
        )
    _, first, place = np.unique(clusters, return_index=True, return_inverse=True)
    apart = (data.members != data.members[:, first[place]]).any(axis=0)
    apart |= data.priors != data.priors[first[place]]
    if apart.any():
        record = int(apart.argmax())
        raise InputError(
            f"records {first[place][record]} and {record} are of one cluster, but not in the same "
            "models with the same prior: a cluster is put into a model whole, by one coin"
        )
    sums = np.stack([np.bincount(place, row) for row in data.scores])
    arrays = data.members[:, first], data.priors[first]
    return ShadowScores(sums / np.bincount(place), *arrays, unit="cluster", place=place.ravel())


def read_shadow_scores(
    path: Path | str,
    members_path: Path | str | None = None,
    *,
    scale: str = "score",
    wanted: str = "score",
) -> ShadowScores:
    """Read scores of models on records.

    path: ``.npz`` with the arrays ``scores`` and ``members`` (models, records), and ``priors``
        (records,) if the coins were not fair; ``.npy`` or ``.safetensors`` likewise; or CSV or
        Parquet with the columns ``model``, ``record``, ``score``, ``member``, and ``prior``.
        Records that one coin put into a model together are named by ``clusters`` (records,), or by
        the column ``cluster``.
    members_path: the array of members if ``path`` is a ``.npy`` file, which holds one array.
    scale: meaning of the numbers, one of `SCALES`.
    wanted: target scale: "logit" or "probability" if ``scale`` determines it, or "score".
    """
    one_of("scale", scale, SCALES)
    path = Path(path)
    kind = path.suffix.lower()
    if members_path is not None and kind != ".npy":
        raise InputError(
            f"`members_path` goes with a .npy file of scores only, got {path}; drop it"
        )
    if kind in _ARRAYS - {".npy"}:
        arrays = {name: np.asarray(array) for name, array in arrays_of(path).items()}
    elif kind == ".npy":
        if members_path is None:
            raise InputError(
                f"{path} holds one array; give `members_path`, a .npy file of the same shape"
            )
        other = Path(members_path)
        if other.suffix.lower() != ".npy":
            raise InputError(f"`members_path` must be a .npy file, got {other}")
        arrays = {"scores": arrays_of(path)[""], "members": arrays_of(other)[""]}
    else:
        arrays = _pivoted(path, read_table(path))
    lacking = [name for name in _NEEDED if name not in arrays]
    if lacking:
        raise InputError(
            f"{path} lacks the array `{lacking[0]}`; it needs `scores` and `members`, each "
            f"(models, records), and has {', '.join(arrays) or 'none'}"
            f"{did_you_mean(lacking[0], arrays)}"
        )
    options = arrays.get("priors"), arrays.get("clusters")
    shadows = shadow_scores(arrays["scores"], arrays["members"], *options)
    names = tuple(arrays["names"].tolist()) if kind not in _ARRAYS else None
    return replace(shadows, scores=_scaled(shadows.scores, scale, wanted), names=names)


def _scaled(values: Floats, scale: str, wanted: str) -> Floats:
    """Convert numbers of one scale to the attack's input."""
    if scale == "score" or (scale == "logit" and wanted != "probability"):
        return values
    if scale == "logit":
        return special.expit(values).clip(_EDGE, 1)
    if (values < 0).any() or (scale == "probability" and (values > 1).any()):
        domain = "in [0, 1]" if scale == "probability" else "at least 0"
        raise InputError(f"`scale` says {scale}, which must be {domain}; some scores are not")
    loss = values if scale == "loss" else -np.log(values.clip(_EDGE, 1))
    if wanted == "probability":
        return np.exp(-loss).clip(_EDGE, 1)
    loss = loss.clip(_EDGE, -np.log(_EDGE))
    return -loss - np.log(-np.expm1(-loss))


def read_table(path: Path) -> pd.DataFrame:
    if path.suffix.lower() in {".parquet", ".pq"}:
        return read_parquet(path)
    mark = separator(path)
    with parsing(path, "a CSV table"), open_text(path) as file:
        return pd.read_csv(file, sep=mark, decimal="," if mark == ";" else ".", **exactly())


def _pivoted(path: Path, table: pd.DataFrame) -> dict[str, NDArray[np.generic]]:
    """Make arrays of a table with a row a model and record."""
    needed = ("model", "record", "score", "member")
    for name in needed:
        if name not in table.columns:
            raise InputError(
                f"{path} lacks the column `{name}`; it needs {', '.join(needed)}, and has "
                f"{some_of(map(heading, map(str, table.columns)))}"
            )
    place, shape = _places(path, table)
    arrays: dict[str, NDArray[np.generic]] = {"names": table["record"].astype(str).unique()}
    for name, column in (("scores", "score"), ("members", "member"), ("priors", "prior")):
        if column in table.columns:
            whole = np.empty(shape[0] * shape[1])
            whole[place] = _numbers(path, table, column)
            arrays[name] = whole.reshape(shape)
    if "cluster" in table.columns:
        whole = np.empty(shape[0] * shape[1])
        whole[place] = pd.factorize(table["cluster"], use_na_sentinel=False)[0]
        arrays["clusters"] = whole.reshape(shape)
    for name in ("priors", "clusters"):
        if name in arrays:
            rows = arrays[name]
            if (rows != rows[0]).any():
                raise InputError(
                    f"{path}: the column `{name[:-1]}` must say the same of a record everywhere"
                )
            arrays[name] = rows[0]
    return arrays


def _places(path: Path, table: pd.DataFrame) -> tuple[NDArray[np.intp], tuple[int, int]]:
    """Return the position of each row, and the numbers of models and records."""
    if table.empty:
        raise InputError(f"{path} has no rows")
    model, models = pd.factorize(table["model"])
    record, records = pd.factorize(table["record"])
    if (model < 0).any() or (record < 0).any():
        raise InputError(f"{path}: a cell of `model` or `record` is empty")
    place = model * len(records) + record
    whole = len(models) * len(records)
    if len(np.unique(place)) != len(place) or len(place) != whole:
        raise InputError(
            f"{path} must have one row for each of {len(models)} models and {len(records)} "
            f"records, {whole:,} in all, and has {len(place):,}"
        )
    return place, (len(models), len(records))


def _numbers(path: Path, table: pd.DataFrame, column: str) -> Floats:
    try:
        numbers = pd.to_numeric(table[column], errors="coerce").to_numpy(dtype=np.float64)
    except OverflowError as error:  # a whole number that no float holds
        raise InputError(f"{path}: column `{column}` has a number of too many digits") from error
    if np.isnan(numbers).any():
        row = int(np.isnan(numbers).argmax())
        raise InputError(f"{path}: row {row + 1:,}, column `{column}`, must be a number")
    return numbers


Kind = Literal["own coins", "pairs of opposites", "fixed number"]
_SAID: dict[Kind, str] = {
    "own coins": "every record was put into every model by a separate independent coin",
    "pairs of opposites": (
        "models came in pairs, each record in one of the two by a fair coin; a target's opposite "
        "is not among its shadows"
    ),
    "fixed number": (
        "every record was dealt into the same number of models, all such deals alike; the "
        "target's coins have the chances that its shadows leave"
    ),
}


@dataclass(frozen=True, eq=False)
class CoinDesign:
    """Joint distribution of the coins, found by `coin_design`."""

    # "own coins": independent for each model and record. "pairs of opposites": models in
    # pairs, each with what the other lacks. "fixed number": each record in the same number of
    # models.
    kind: Kind
    opposite: NDArray[np.intp]  # each model's opposite, shape (models,); -1 if there is none
    number: int = 0  # number of models that hold each record, if fixed; otherwise 0
    unit: str = "record"  # what a coin decides about

    @property
    def said(self) -> str:
        """Assumption about the coins, as a sentence without a full stop."""
        sentence = _SAID[self.kind].replace("record", self.unit)
        return (
            sentence if self.unit == "record" else f"{sentence}; epsilon is about a whole cluster"
        )

    def shadows_of(self, targets: Sequence[int]) -> list[int]:
        """Return the models that may be shadows of these targets.

        With a fixed number of models for each record, all others would determine the rest, so every
        second one is left out.
        """
        away = {*targets, *(int(self.opposite[t]) for t in targets)}
        rest = [m for m in range(self.opposite.size) if m not in away]
        return rest[::2] if self.kind == "fixed number" else rest

    def chances(self, data: ShadowScores, shadows: Sequence[int]) -> Floats:
        """Return the chance that a target holds each record, given its shadows' membership."""
        if self.kind != "fixed number":
            return data.priors
        left = self.number - data.members[list(shadows)].sum(axis=0)
        return np.where(data.outsiders, 0.0, left / (data.models - len(shadows)))


def coin_design(data: ShadowScores) -> CoinDesign:
    """Find out how records were put into models.

    Raises InputError: a record is in too many or too few models for its prior, or two models share
        too many records for separate coins (chance at most 1e-6 in all).
    """
    none = np.full(data.models, -1, dtype=np.intp)
    coined = ~data.outsiders & (data.priors < 1)
    if data.models > _MOST_COMPARED:
        raise InputError(f"at most {_MOST_COMPARED:,} models are compared, got {data.models:,}")
    if not coined.any():
        raise InputError("`priors` must leave records to chance: none is above 0 and below 1")
    inside, chance = data.members[:, coined], data.priors[coined]
    counts = inside.sum(axis=0)
    opposite = _opposites(inside)
    if (opposite >= 0).all() and (opposite[opposite] == np.arange(data.models)).all():
        if (chance != 0.5).any():
            raise InputError("`priors` must be 1/2 where models come in pairs of opposites")
        _check_alone(inside, chance, coined, log_chance=-math.log(2) * data.models / 2)
        return CoinDesign("pairs of opposites", opposite, unit=data.unit)
    if (opposite >= 0).any():
        raise InputError(
            f"some models hold exactly what another lacks, such as {int(opposite.argmax())}, "
            "but not all in pairs: audit the pairs alone"
        )
    if np.ptp(counts) == 0 and np.ptp(chance) == 0:
        dealt, log_chance = int(counts[0]), scipy.stats.binom.logpmf(counts, data.models, chance)
        if float(np.sum(log_chance)) <= math.log(UNBELIEVABLE):
            ways = math.log(math.comb(data.models, dealt))
            _check_alone(inside, chance, coined, log_chance=-ways)
            some, rest, all_ = dealt * (dealt - 1), data.models - dealt, data.models
            alike = (some + rest * (rest - 1)) / (all_ * (all_ - 1))
            _check_models(inside, np.full(chance.size, alike))
            return CoinDesign("fixed number", none, dealt, unit=data.unit)
    _check_counts(counts, data.models, chance, np.flatnonzero(coined))
    _check_alone(inside, chance, coined)
    _check_models(inside, chance**2 + (1 - chance) ** 2)
    return CoinDesign("own coins", none, unit=data.unit)


def _opposites(inside: BoolArray) -> NDArray[np.intp]:
    """Find for each model the one that holds exactly what it lacks, -1 if there is none."""
    opposites = np.full(len(inside), -1, dtype=np.intp)
    if 0.5 ** inside.shape[1] > UNBELIEVABLE:
        return opposites
    signs = np.where(inside, 1.0, -1.0)
    models, other = np.nonzero(signs @ signs.T == -inside.shape[1])
    opposites[models] = other
    return opposites


def _check_counts(
    counts: NDArray[np.intp], models: int, chance: Floats, names: NDArray[np.intp]
) -> None:
    dealt = scipy.stats.binom(models, chance)
    low, high = dealt.cdf(counts), dealt.sf(counts - 1)
    p_values = 2 * np.minimum(low, high)
    worst = int(p_values.argmin())
    if p_values[worst] * counts.size <= UNBELIEVABLE:
        raise InputError(
            f"record {names[worst]} is in {counts[worst]} of {models} models, where its prior is "
            f"{chance[worst]:g}; give it its own prior, 0 if it is in no model by design"
        )


def _check_alone(
    inside: BoolArray, chance: Floats, coined: BoolArray, *, log_chance: float | None = None
) -> None:
    """Refuse records of which too many are in the very models of an earlier one.

    Whatever came before, a record repeats one of them with at most their number times the chance
    of its likeliest models (``log_chance``, or of separate coins). So the count is at most a sum
    of independent coins, whose tail is at most the binomial one (Hoeffding 1956, Theorem 4).
    """
    _, first, place = np.unique(inside, axis=1, return_index=True, return_inverse=True)
    place = place.ravel()
    again = np.flatnonzero(first[place] != np.arange(place.size))
    likeliest = len(inside) * np.log(np.maximum(chance, 1 - chance))
    each = np.exp(likeliest if log_chance is None else np.full(chance.shape, log_chance))
    mean = float(np.minimum(1, np.arange(chance.size) * each).mean())
    if again.size < chance.size * mean + 1:
        return
    if float(scipy.stats.binom.sf(again.size - 1, chance.size, mean)) <= UNBELIEVABLE:
        names = np.flatnonzero(coined)[[first[place[again[0]]], again[0]]]
        raise InputError(
            f"{again.size:,} of {chance.size:,} records are in the very models of an earlier one, "
            f"such as {names[1]} in those of {names[0]}, which separate coins do not do: where "
            "one coin put several records in, name their `clusters` (in a table the column "
            "`cluster`); each then counts once"
        )


def _check_models(inside: NDArray[np.bool_], alike: Floats) -> None:
    """Refuse models that share too many or too few records, given each one's chance."""
    agree = inside @ inside.T.astype(np.float64) + ~inside @ (~inside).T.astype(np.float64)
    records, expected = alike.size, float(alike.sum())
    row, other = np.triu_indices(len(inside), 1)
    beyond = np.abs(agree[row, other] - expected)
    worst = int(beyond.argmax())
    # Hoeffding's inequality, which holds for coins that differ
    p_value = 2 * row.size * np.exp(-2 * beyond[worst] ** 2 / records)
    if p_value <= UNBELIEVABLE:
        raise InputError(
            f"models {row[worst]} and {other[worst]} agree on "
            f"{agree[row[worst], other[worst]]:.0f} of {records} records, where {expected:.0f} are "
            "expected of separate coins; audit only one of models that were trained on the "
            "same, or on opposite, records"
        )
