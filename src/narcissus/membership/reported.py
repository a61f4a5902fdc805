"""What every report of membership holds of a ROC curve: points of it, rates, area, precision."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from pydantic import model_validator

from narcissus.evidence.roc import LOW_RATES, RocBand
from narcissus.membership.blind import BlindBaseline
from narcissus.results import Approximate, Estimate, Grade
from narcissus.rows import Fact, Quantity, Share, StudyRow

AREA, PRECISION = "area under the ROC", "precision"
_CLAIMS, _OF_COINS = ("attack", "excess", "refuted", "measure"), ("refuted", "measure")
_EVERY = 8  # points of a curve for each factor of ten


class RocCurve(Fact):
    """Points of a curve for a logarithmic axis, with limits that hold at all of them at once."""

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
    """Describe what points alone tell, and what stands; empty where they tell nothing."""
    sentences = [str(baseline) for baseline in blind if baseline.told]
    if sentences and refutation_stands(blind):
        sentences.append("What is refuted stands: it rests on the records with a coin alone.")
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
    none = {**void, "low": None, "high": None, "why": "void"}

    stays = _OF_COINS if refutation_stands(blind) else ()

    def without(row: StudyRow) -> StudyRow:
        if row.role not in _CLAIMS or row.role in stays or (of and row.of not in of):
            return row
        changed = row.quantity.model_copy(update=void if row.role == "excess" else none)
        facts = {k: v for k, v in row.facts.items() if k not in ("low", "high")}
        return row.model_copy(update={"quantity": changed, "facts": facts})

    return tuple(map(without, rows))


def reported_rates(rates: Sequence[float]) -> list[float]:
    """Return the false-positive rates to report, rising: those asked for and the usual ones."""
    return sorted({*rates, *LOW_RATES})


def rate_rows(
    name: str,
    band: RocBand,
    rates: Sequence[float],
    base_rate: float | None,
    *,
    of: Mapping[Grade, str],
    key: str = "fpr",
) -> Iterator[StudyRow]:
    """Yield the true-positive rate at each false-positive rate, and the precision there.

    of: by grade, what the row is called; what cannot be seen is "not assessed".
    key: what the place is called.

    Limits that are approximate decide nothing: they are facts beside the number.
    """
    for rate in rates:
        why = "" if band.sees(rate) else band.unseen(rate)
        kinds = [(of, band.tpr_at(rate), {key: rate})]
        if base_rate is not None:
            place = {key: rate, "base_rate": base_rate}
            named: Mapping[Grade, str] = dict.fromkeys(of, PRECISION)
            kinds.append((named, band.precision_at(rate, base_rate), place))
        for called, estimate, at in kinds:
            grade: Grade = "not assessed" if why else estimate.grade
            yield _row(called[grade], name, estimate, at, why)


def area_row(name: str, band: RocBand, of: str = AREA) -> StudyRow:
    """Return the area under the curve."""
    return _row(of, name, band.auc, {}, "")


def _row(
    of: str, name: str, found: Estimate | Approximate, at: Mapping[str, float], why: str
) -> StudyRow:
    facts: dict[str, float] = {}
    if why:
        quantity = Quantity(value=None, high=found.high, grade="not assessed", why=why)
    elif isinstance(found, Estimate):
        quantity = Quantity.of(found)
    else:
        facts = {"low": found.low, "high": found.high}
        quantity = Quantity(
            value=found.value,
            grade="approximate",
            trials=found.trials,
            why="records share models: limits are approximate",
        )
    return StudyRow(role="attack", of=of, name=name, quantity=quantity, at=at, facts=facts)
