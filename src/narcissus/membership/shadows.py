"""Scores of models on records, and which records each model was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from narcissus._files import open_text, parsing
from narcissus._pandas import exactly, pd
from narcissus._parquet import read_parquet
from narcissus._validation import did_you_mean, one_of, probabilities
from narcissus.errors import InputError
from narcissus.extraction.files import arrays_of

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
_FEWEST_MODELS = 2
SCALES = ("score", "probability", "logit", "loss")
"""What a file's numbers are: any score, the probability of the right label, its logit, ``-log``."""
_EDGE = 1e-12  # how near to 0 and 1 probabilities are taken
_NEEDED = ("scores", "members")


@dataclass(frozen=True, eq=False)
class ShadowScores:
    """Scores of models on records; made by `shadow_scores`."""

    # of each model on each record, shape (models, records); larger: more likely trained on
    scores: FloatArray
    members: BoolArray  # whether the model was trained on the record, shape (models, records)
    # Probability with which each record was put into a model, by a separate coin for each
    # model, shape (records,). 0: in none by design, an *outsider*.
    priors: FloatArray

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
        return ShadowScores(self.scores[chosen], self.members[chosen], self.priors)


def shadow_scores(
    scores: ArrayLike, members: ArrayLike, priors: ArrayLike | None = None
) -> ShadowScores:
    """Check scores of models on records.

    scores: shape (models, records), finite; larger: more likely trained on.
    members: 0 or 1, the same shape.
    priors: probability with which each record was put into a model, shape (records,); default 1/2.
        0 for records that no model was trained on.
    Raises InputError: a shape or a value is wrong; the message says where.
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
            f"`scores` must be of at least {_FEWEST_MODELS} models (shape (models, records)), got 1"
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
    return ShadowScores(values, inside == 1, coins)


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
    members_path: the array of members if ``path`` is a ``.npy`` file, which holds one array.
    scale: meaning of the numbers, one of `SCALES`.
    wanted: target scale: "logit" or "probability" if ``scale`` determines it, or "score".
    Raises InputError: the file is none of these; the message says what is missing.
    """
    one_of("scale", scale, SCALES)
    path = Path(path)
    kind = path.suffix.lower()
    if members_path is not None and kind != ".npy":
        raise InputError(
            f"`members_path` goes with a .npy file of scores only, got {path}; drop it"
        )
    if kind in {".npz", ".safetensors"}:
        found = {name: np.asarray(array) for name, array in arrays_of(path).items()}
    elif kind == ".npy":
        if members_path is None:
            raise InputError(
                f"{path} holds one array; give `members_path`, a .npy file of the same shape"
            )
        found = {"scores": arrays_of(path)[""], "members": _single(Path(members_path))}
    else:
        found = _pivoted(path, _table(path))
    lacking = [name for name in _NEEDED if name not in found]
    if lacking:
        raise InputError(
            f"{path} lacks the array `{lacking[0]}`; it needs `scores` and `members`, each "
            f"(models, records), and has {', '.join(found) or 'none'}"
            f"{did_you_mean(lacking[0], found)}"
        )
    given = shadow_scores(found["scores"], found["members"], found.get("priors"))
    return ShadowScores(_scaled(given.scores, scale, wanted), given.members, given.priors)


def _single(path: Path) -> NDArray[np.generic]:
    if path.suffix.lower() != ".npy":
        raise InputError(f"`members_path` must be a .npy file, got {path}")
    return arrays_of(path)[""]


def _scaled(values: FloatArray, scale: str, wanted: str) -> FloatArray:
    """Convert numbers of one scale to the attack's input."""
    if scale == "score" or (scale == "logit" and wanted != "probability"):
        return values
    if scale == "logit":
        return special.expit(values).clip(_EDGE, 1)
    if (values < 0).any() or (scale == "probability" and (values > 1).any()):
        most = "in [0, 1]" if scale == "probability" else "at least 0"
        raise InputError(f"`scale` says {scale}, which must be {most}; some scores are not")
    loss = values if scale == "loss" else -np.log(values.clip(_EDGE, 1))
    if wanted == "probability":
        return np.exp(-loss).clip(_EDGE, 1)
    loss = loss.clip(_EDGE, -np.log(_EDGE))
    return -loss - np.log(-np.expm1(-loss))


def _table(path: Path) -> pd.DataFrame:
    if path.suffix.lower() in {".parquet", ".pq"}:
        return read_parquet(path)
    with parsing(path, "a CSV table"), open_text(path) as file:
        return pd.read_csv(file, **exactly())


def _pivoted(path: Path, table: pd.DataFrame) -> dict[str, NDArray[np.generic]]:
    """Make arrays of a table with a row a model and record."""
    needed = ("model", "record", "score", "member")
    for name in needed:
        if name not in table.columns:
            raise InputError(
                f"{path} lacks the column `{name}`; it needs {', '.join(needed)}, and has "
                f"{', '.join(map(str, table.columns))}"
            )
    place, shape = _places(path, table)
    found: dict[str, NDArray[np.generic]] = {}
    for name, column in (("scores", "score"), ("members", "member"), ("priors", "prior")):
        if column in table.columns:
            whole = np.empty(shape[0] * shape[1])
            whole[place] = _numbers(path, table, column)
            found[name] = whole.reshape(shape)
    if "priors" in found:
        rows = found["priors"]
        if (rows != rows[0]).any():
            raise InputError(f"{path}: the column `prior` must say the same of a record everywhere")
        found["priors"] = rows[0]
    return found


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


def _numbers(path: Path, table: pd.DataFrame, column: str) -> FloatArray:
    numbers = pd.to_numeric(table[column], errors="coerce").to_numpy(dtype=np.float64)
    if np.isnan(numbers).any():
        row = int(np.isnan(numbers).argmax())
        raise InputError(f"{path}: row {row + 1:,}, column `{column}`, must be a number")
    return numbers
