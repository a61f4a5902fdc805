"""What every report of membership holds of a ROC curve: points of it, rates, area, precision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from pydantic import Field, model_validator

from narcissus.evidence.roc import LOW_RATES, RocBand
from narcissus.membership.blind import BlindBaseline
from narcissus.results import Approximate, Estimate, Grade
from narcissus.rows import Fact, Quantity, Share, StudyRow

AREA, PRECISION = "area under the ROC", "precision"
_CLAIMS, _OF_COINS = ("attack", "excess", "refuted", "measure"), ("refuted", "measure")
_EVERY = 8  # points of a curve for each factor of ten


class RocCurve(Fact):
    """Points of a curve for a logarithmic axis, with limits that hold jointly at all of them."""

    name: str
    grade: Grade
    fpr: tuple[Share, ...]
    tpr: tuple[Share, ...]
    low: tuple[Share, ...]
    high: tuple[Share, ...]

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if not len(self.fpr) == len(self.tpr) == len(self.low) == len(self.high) > 0:
            raise ValueError("fpr, tpr, low and high must be of the same points, at least one")
        if self.fpr[0] <= 0 or any(first >= then for first, then in pairwise(self.fpr)):
            raise ValueError("fpr must be above 0 and rise from point to point")
        limits = zip(self.low, self.tpr, self.high, strict=True)
        if not all(low <= value <= high for low, value, high in limits):
            raise ValueError("each tpr must be within its limits")
        return self

    @classmethod
    def of(cls, name: str, band: RocBand) -> RocCurve:
        """Take points of a band, from below the least rate that two scores can differ by."""
        tens = np.ceil(np.log10(2 * max(band.outside, band.inside)))
        at = np.geomspace(10**-tens, 1, int(tens) * _EVERY + 1).clip(0, 1)
        value, low, high = band.curve(at)
        points = (at, value, np.minimum(low, value), np.maximum(high, value))
        names = dict(zip(("fpr", "tpr", "low", "high"), (tuple(p.tolist()) for p in points)))  # noqa: B905
        return cls(name=name, grade=band.grade, **names)


def is_void(blind: Sequence[BlindBaseline]) -> bool:
    """Return whether points alone tell members from others: no number means anything."""
    return any(baseline.told for baseline in blind)


def refutation_stands(blind: Sequence[BlindBaseline]) -> bool:
    """Return whether what is refuted holds, whatever is void: outsiders alone are told."""
    return all(baseline.spares_refutation for baseline in blind)


def void_text(blind: Sequence[BlindBaseline]) -> str:
    """Describe what points alone tell, and what still holds; empty where they tell nothing."""
    sentences = [str(baseline) for baseline in blind if baseline.told]
    if sentences and refutation_stands(blind):
        sentences.append("The refutation still holds: it rests on the records with a coin alone.")
    return " ".join(sentences)


def without_claims(
    rows: Sequence[StudyRow], blind: Sequence[BlindBaseline], of: Collection[str] = ()
) -> tuple[StudyRow, ...]:
    """Return rows, without the limits of what attacks did where a blind baseline voids them.

    of: which rows of attacks; none: all.
    """
    if not is_void(blind):
        return tuple(rows)
    void: dict[str, Any] = {"grade": "not assessed"}
    none = {**void, "low": None, "high": None, "approximate": None, "why": "void"}

    stays = _OF_COINS if refutation_stands(blind) else ()

    def without(row: StudyRow) -> StudyRow:
        if row.role not in _CLAIMS or row.role in stays or (of and row.of not in of):
            return row
        changed = row.quantity.model_copy(update=void if row.role == "excess" else none)
        return row.model_copy(update={"quantity": changed})

    return tuple(map(without, rows))


def reported_rates(rates: Sequence[float]) -> list[float]:
    """Return the false-positive rates to report, rising: those asked for and the usual ones."""
    return sorted({*rates, *LOW_RATES})


class RateTold(Fact):
    """The true-positive rate at a false-positive rate, and the precision there."""

    rate: Share = Field(description="False-positive rate, at most.")
    told: Quantity
    precision: Quantity | None = Field(default=None, description="Null: no base rate is given.")

    @classmethod
    def of(cls, band: RocBand, rate: float, base_rate: float | None) -> RateTold:
        """Read both off a band; why one cannot be seen is in its place."""
        why = "" if band.sees(rate) else band.unseen(rate)
        precision = None if base_rate is None else band.precision_at(rate, base_rate)
        return cls(
            rate=rate,
            told=_quantity(band.tpr_at(rate), why),
            precision=None if precision is None else _quantity(precision, why),
        )


def rate_rows(
    name: str,
    rates: Iterable[RateTold],
    base_rate: float | None,
    *,
    of: Mapping[Grade, str],
    key: str = "fpr",
) -> Iterator[StudyRow]:
    """Yield the true-positive rate at each false-positive rate, and the precision there.

    of: by grade, what the row is called; what cannot be seen is "not assessed".
    key: what the place is called.
    """
    for told in rates:
        at, quantity = {key: told.rate}, told.told
        yield StudyRow(role="attack", of=of[quantity.grade], name=name, quantity=quantity, at=at)
        if told.precision is not None and base_rate is not None:
            at = {**at, "base_rate": base_rate}
            yield StudyRow(role="attack", of=PRECISION, name=name, quantity=told.precision, at=at)


def area_under(band: RocBand) -> Quantity:
    """Return the area under the curve."""
    return _quantity(band.auc, "")


def _quantity(found: Estimate | Approximate, why: str) -> Quantity:
    """Take the numbers of an estimate; limits that are approximate decide nothing."""
    if why:
        return Quantity(value=None, high=found.high, grade="not assessed", why=why)
    if isinstance(found, Estimate):
        return Quantity.of(found)
    return Quantity(
        value=found.value,
        grade="approximate",
        trials=found.trials,
        approximate=(found.low, found.high),
        why="records share models: limits are approximate",
    )
