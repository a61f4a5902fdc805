"""How records were put into models: whether a target's coins follow from those of its shadows.

An audit needs unseen coins. Published code often deals them out instead: every record is in exactly
half of the models, or each model has a partner with exactly the records that it lacks. Then the
shadows' membership, which an attack may use, is informative about the target's; all other models
together determine it. This module detects such designs, and computes the remaining chances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.errors import InputError
from narcissus.evidence.scores import UNBELIEVABLE
from narcissus.membership.shadows import ShadowScores

FloatArray = NDArray[np.float64]

Kind = Literal["own coins", "pairs of opposites", "fixed number"]
_SAID: dict[Kind, str] = {
    "own coins": "every record was put into every model by an independent coin of its own",
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

    @property
    def said(self) -> str:
        """Assumption about the coins, as a sentence without a full stop."""
        return _SAID[self.kind]

    def shadows_of(self, targets: Sequence[int]) -> list[int]:
        """Return the models that may be shadows of these targets.

        With a fixed number of models for each record, all others would determine the rest, so every
        second one is left out.
        """
        away = {*targets, *(int(self.opposite[t]) for t in targets)}
        rest = [m for m in range(self.opposite.size) if m not in away]
        return rest[::2] if self.kind == "fixed number" else rest

    def chances(self, data: ShadowScores, shadows: Sequence[int]) -> FloatArray:
        """Return the chance that a target holds each record, given its shadows' membership."""
        if self.kind != "fixed number":
            return data.priors
        left = self.number - data.members[list(shadows)].sum(axis=0)
        return np.where(data.outsiders, 0.0, left / (data.models - len(shadows)))


def coin_design(data: ShadowScores) -> CoinDesign:
    """Find out how records were put into models.

    Raises InputError: a record is in too many or too few models for its prior, or two models share
        too many records for coins of their own (chance at most 1e-6 in all).
    """
    none = np.full(data.models, -1, dtype=np.intp)
    coined = ~data.outsiders & (data.priors < 1)
    if not coined.any():
        raise InputError("`priors` must leave records to chance: none is above 0 and below 1")
    inside, chance = data.members[:, coined], data.priors[coined]
    counts = inside.sum(axis=0)
    opposite = _opposites(data.members[:, coined])
    if (opposite >= 0).all() and (opposite[opposite] == np.arange(data.models)).all():
        if (chance != 0.5).any():
            raise InputError("`priors` must be 1/2 where models come in pairs of opposites")
        return CoinDesign("pairs of opposites", opposite)
    if (opposite >= 0).any():
        raise InputError(
            f"some models hold exactly what another lacks, such as {int(opposite.argmax())}, "
            "but not all in pairs: audit the pairs alone"
        )
    if np.ptp(counts) == 0 and np.ptp(chance) == 0:
        dealt, log_chance = int(counts[0]), scipy.stats.binom.logpmf(counts, data.models, chance)
        if float(np.sum(log_chance)) <= math.log(UNBELIEVABLE):
            some, rest, all_ = dealt * (dealt - 1), data.models - dealt, data.models
            alike = (some + rest * (rest - 1)) / (all_ * (all_ - 1))
            _check_models(inside, np.full(chance.size, alike))
            return CoinDesign("fixed number", none, dealt)
    _check_counts(counts, data.models, chance, np.flatnonzero(coined))
    _check_models(inside, chance**2 + (1 - chance) ** 2)
    return CoinDesign("own coins", none)


def _opposites(inside: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Find for each model the one that holds exactly what it lacks, -1 if there is none."""
    found = np.full(len(inside), -1, dtype=np.intp)
    if 0.5 ** inside.shape[1] > UNBELIEVABLE:
        return found
    signs = np.where(inside, 1.0, -1.0)
    for one, other in np.argwhere(signs @ signs.T == -inside.shape[1]):
        found[one] = other
    return found


def _check_counts(
    counts: NDArray[np.intp], models: int, chance: FloatArray, names: NDArray[np.intp]
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


def _check_models(inside: NDArray[np.bool_], alike: FloatArray) -> None:
    """Refuse models that share too many or too few records, given each one's chance."""
    agree = inside @ inside.T.astype(np.float64) + ~inside @ (~inside).T.astype(np.float64)
    records, expected = alike.size, float(alike.sum())
    one, other = np.triu_indices(len(inside), 1)
    beyond = np.abs(agree[one, other] - expected)
    worst = int(beyond.argmax())
    # Hoeffding's inequality, which holds for coins that differ
    p_value = 2 * one.size * np.exp(-2 * beyond[worst] ** 2 / records)
    if p_value <= UNBELIEVABLE:
        raise InputError(
            f"models {one[worst]} and {other[worst]} agree on "
            f"{agree[one[worst], other[worst]]:.0f} of {records} records, where {expected:.0f} are "
            "expected of coins of their own; audit only one of models that were trained on the "
            "same, or on opposite, records"
        )
