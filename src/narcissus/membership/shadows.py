"""Scores of models on records, and which records each model was trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narcissus._validation import probabilities
from narcissus.errors import InputError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_FEWEST_MODELS = 2


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

    Parameters
    ----------
    scores
        Shape (models, records), finite; larger: more likely trained on.
    members
        0 or 1, the same shape.
    priors
        Probability with which each record was put into a model, shape (records,); default 1/2. 0
        for records that no model was trained on.

    Raises
    ------
    InputError
        A shape or a value is wrong; the message says where.
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
