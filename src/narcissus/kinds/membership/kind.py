"""Attack models with their shadows, limit how many members are told, and refute guarantees."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from narcissus._files import file_digest
from narcissus._outwards import lower
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence import each_confidence
from narcissus.guarantees.base import Adjacency
from narcissus.kinds.engine import Done, Kind, PreparedWork
from narcissus.kinds.membership.schema import (
    DeclaredGuarantee,
    MembershipPolicy,
    MembershipStudy,
    MembershipThreshold,
)
from narcissus.membership import (
    BlindBaseline,
    MembershipAudit,
    RateAcrossModels,
    ShadowScores,
    audit_membership,
    blind_baselines,
    read_points,
    read_shadow_scores,
)
from narcissus.membership.audit import TAKEN_INDEPENDENT
from narcissus.membership.reported import (
    RocCurve,
    area_row,
    is_void,
    rate_rows,
    refutation_stands,
    reported_rates,
    without_claims,
)
from narcissus.results import Grade, Status
from narcissus.rows import (
    Count,
    Fact,
    Findings,
    Level,
    Positive,
    Quantity,
    Share,
    StudyCriterion,
    StudyRow,
)
from narcissus.study.kinds import RunOptions
from narcissus.study.toml import read_policy

TOLD, EPSILON = "members told", "epsilon"
ABOUT = "members told, about"
OVER_MODELS = "over models"
_CALLED: dict[Grade, str] = {"sampled": TOLD, "approximate": ABOUT, "not assessed": ABOUT}
_SCALES = {"lira": "logit", "rmia": "probability"}
_LIMITS = 3  # families of an attack: what is refuted, rates over records, rates over models


class Declared(Fact):
    """What the training is declared to keep."""

    words: str
    epsilon: float | None
    delta: Share
    mu: float | None
    adjacency: Adjacency


class MembershipDetail(Fact):
    """The models, and what is assumed."""

    models: Positive
    targets: Positive
    folds: Positive
    records: Positive
    outsiders: Count
    coins: str
    delta: Share
    fpr: tuple[Share, ...]
    confidence: Level
    each_confidence: Level
    declared: Declared | None
    premises: tuple[str, ...]
    curves: tuple[RocCurve, ...] = ()
    blind: tuple[BlindBaseline, ...] = Field((), description="Points alone, without a model.")


@dataclass(frozen=True, eq=False)
class MembershipWork(PreparedWork[MembershipStudy]):
    """Scores by attack, in the scale that each takes."""

    data: Mapping[str, ShadowScores] = field(kw_only=True)
    threshold: MembershipThreshold | None = field(kw_only=True)
    points: Any = field(kw_only=True)


class MembershipKind(Kind[MembershipStudy, MembershipWork]):
    """The kind "membership"."""

    model = MembershipStudy
    detail = MembershipDetail
    layout = "narcissus.kinds.membership.layout:LAYOUT"
    quantity = "share of members told by the best attacker"

    def prepare(self, study: MembershipStudy, folder: Path, options: RunOptions) -> MembershipWork:
        if options.internal is not None:
            raise InputError("`--records` is for audits of tables: here are no records to name")
        read, digests = read_policy(study, folder, options.policy, MembershipPolicy)
        threshold = study.threshold if read is None else read.threshold
        if threshold is not None and threshold.at not in (None, *study.threat.fpr):
            known = ", ".join(f"{rate:g}" for rate in study.threat.fpr)
            raise InputError(
                f"`threshold.at` is {threshold.at:g}, which is none of `threat.fpr`: {known}"
            )
        data, files = {}, study.data
        for attack in study.threat.attacks:
            data[attack] = read_shadow_scores(
                folder / files.scores,
                None if files.members is None else folder / files.members,
                scale=files.scale,
                wanted=_SCALES.get(attack.partition("-")[0], "score"),
            )
        first, points = data[study.threat.attacks[0]], None
        digests = {"scores": _digest(first), **digests}
        if files.points is not None:
            points = read_points(folder / files.points, first)
            digests["points"] = file_digest(folder / files.points)
        return MembershipWork(
            study, folder, options.entropy, digests, data=data, threshold=threshold, points=points
        )

    def measure(self, work: MembershipWork, done: Done, options: RunOptions) -> Findings:
        study, threat = work.study, work.study.threat
        declared = study.guarantee
        limits = _LIMITS * len(threat.attacks) + (work.points is not None)
        each = each_confidence(study.run.confidence, limits)
        # at half of each as well: what is called in must be shown to be no more than the whole
        rates = sorted({*threat.fpr, *(rate / 2 for rate in threat.fpr)})
        audits = {
            name: audit_membership(
                data,
                attack=name,
                targets=threat.targets,
                folds=threat.folds,
                rates=rates,
                delta=0.0 if declared is None else declared.delta,
                confidence=each,
                claimed=0.0 if declared is None else declared.epsilon or 0.0,
                rng=child(work.entropy, place),
            )
            for place, (name, data) in enumerate(work.data.items())
        }
        first, blind = next(iter(audits.values())), tuple[BlindBaseline, ...]()
        if work.points is not None:
            shadows, outsiders = (
                next(iter(work.data.values())),
                first.folds == 1 and "score" in audits,
            )
            blind = blind_baselines(
                shadows,
                work.points,
                first.canaries.targets,
                level=1 - each,
                outsiders=outsiders,
                rng=child(work.entropy, len(audits)),
            )
        # what only approximate limits take as given, decides nothing
        premises = [
            text
            for audit in audits.values()
            for text in audit.assumptions
            if text != TAKEN_INDEPENDENT
        ]
        detail = MembershipDetail.taken(
            first,
            fpr=tuple(threat.fpr),
            confidence=study.run.confidence,
            each_confidence=each,
            declared=None
            if declared is None
            else Declared.taken(declared, words=declared.guarantee.describe()),
            premises=tuple(dict.fromkeys(premises)),
            blind=blind,
            curves=tuple(RocCurve.of(name, audit.roc) for name, audit in audits.items()),
        )
        rows = [*_without(threat.fpr, declared)]
        for name, audit in audits.items():
            rows += _rows(name, audit, threat.fpr, threat.base_rate)
        best = max((row for row in rows if row.role == "refuted"), key=lambda row: row.value)
        rows.append(best.model_copy(update={"role": "measure", "of": EPSILON, "facts": {}}))
        alone = is_void(blind) and refutation_stands(blind)
        criteria = _criteria(threat.fpr, work.threshold, alone=alone)
        return self.found(criteria, tuple(rows), detail)

    def found(self, criteria: Any, rows: Any, detail: Any) -> Findings:
        rows = without_claims(rows, detail.blind)
        findings = super().found(criteria, rows, detail)
        if not stands(findings):
            return findings
        return replace(findings, refuted=tuple(_clashes(rows, detail.declared)), decided=(EPSILON,))

    def undecided(self, detail: MembershipDetail) -> Status | None:
        return "not assessed" if is_void(detail.blind) else None

    def premises(self, detail: MembershipDetail) -> tuple[str, ...]:
        return detail.premises

    def is_of_people(self, study: Mapping[str, Any]) -> bool:
        return True


KIND = MembershipKind()


def stands(findings: Findings) -> bool:
    """Return whether what is refuted holds, though rates may be void."""
    of = findings.select(role="refuted")
    return all(row.quantity.grade != "not assessed" for row in of)


def _digest(data: ShadowScores) -> str:
    seen = hashlib.sha256(repr(data.scores.shape).encode())
    for part in (data.scores, data.members, data.priors):
        seen.update(np.ascontiguousarray(part).tobytes())
    return f"sha256:{seen.hexdigest()}"


def _criteria(
    rates: list[float], threshold: MembershipThreshold | None, *, alone: bool
) -> tuple[StudyCriterion, ...]:
    """Hold one rate and what is refuted to what is accepted, or what is refuted alone."""
    rate_limit = threshold and threshold.tpr
    at = min(rates) if threshold is None or threshold.at is None else threshold.at
    criteria = [
        StudyCriterion(
            of=TOLD,
            label=f"false-positive rate {rate:g}",
            at={"fpr": rate},
            at_most=rate_limit if rate == at else None,
            decides=threshold is None or (rate_limit is not None and rate == at),
        )
        for rate in rates
    ]
    epsilon = threshold and threshold.epsilon
    if epsilon is not None or alone:
        criteria.append(
            StudyCriterion(of=EPSILON, label="epsilon", at={"fpr": ""}, at_most=epsilon)
        )
    return tuple(criteria)


def _without(rates: list[float], declared: DeclaredGuarantee | None) -> Iterator[StudyRow]:
    """Yield what guessing tells, and what nobody exceeds if the training keeps its guarantee."""
    for rate in rates:
        exact = Quantity(value=rate, grade="proved")
        yield StudyRow(role="guess", of="guess", name="a coin", quantity=exact, at={"fpr": rate})
        if declared is not None:
            guarantee = declared.guarantee
            ceiling = min(1.0, math.nextafter(float(guarantee.power(rate)), 2.0))
            limit = Quantity(
                value=ceiling,
                high=ceiling,
                grade="proved if",
                takes_as_given=(f"the training keeps {guarantee.describe()}", *guarantee.required),
            )
            yield StudyRow(
                role="bound",
                of="bound",
                name="Dong, Roth and Su 2022, Definition 3",
                quantity=limit,
                at={"fpr": rate},
            )


def _rows(
    name: str, found: MembershipAudit, rates: Sequence[float], base_rate: float | None
) -> Iterator[StudyRow]:
    yield from rate_rows(name, found.roc, reported_rates(rates), base_rate, of=_CALLED)
    yield area_row(name, found.roc)
    for measurement in found.across:
        if measurement.aimed in rates:
            yield _over_models(name, measurement, found.across)
    beyond = Quantity(
        value=found.epsilon, low=found.epsilon, grade="sampled", confidence=found.confidence
    )
    tests = found.refutations
    yield StudyRow(
        role="refuted",
        of="refuted epsilon",
        name=name,
        quantity=beyond,
        at={"fpr": ""},
        facts={
            "mu": found.mu,
            "p_value": found.p_value,
            "correct": sum(measurement.correct for measurement in tests),
            "guesses": sum(measurement.guesses for measurement in tests),
            "canaries": sum(measurement.canaries for measurement in tests),
        },
    )


def _over_models(name: str, one: RateAcrossModels, tried: Sequence[RateAcrossModels]) -> StudyRow:
    """Make a row of mean rates; as all limits hold at once, any threshold may show the lower one.

    It must be shown that others are called in no oftener than the row says.
    """
    false, true = one.false_positives, one.true_positives
    shown = [
        other.true_positives.low or 0.0
        for other in tried
        if other.false_positives.high is not None and other.false_positives.high <= one.aimed
    ]
    quantity = Quantity.of(true).model_copy(
        update={
            "low": max(shown, default=None),
            "why": "" if shown else "whether so few others are called in is not shown",
        }
    )
    facts = {
        "false": false.value,
        "false_low": false.low,
        "false_high": false.high,
        "true_low": true.low,
    }
    return StudyRow(
        role="attack",
        of=TOLD,
        name=f"{name}, {OVER_MODELS}",
        quantity=quantity,
        at={"fpr": one.aimed},
        facts={k: v for k, v in facts.items() if v is not None},
    )


def _clashes(rows: tuple[StudyRow, ...], declared: Declared | None) -> Iterator[str]:
    """Yield what is refuted of what was declared."""
    for row in rows:
        if declared is None or row.role != "refuted":
            continue
        mu = float(row.facts["mu"])
        if declared.mu is not None and mu > declared.mu:
            yield f"declared is mu {declared.mu:g}; {row.name} refutes every mu below {lower(mu)}."
        if declared.epsilon is not None and row.value > declared.epsilon:
            yield (
                f"declared is epsilon {declared.epsilon:g} at delta {declared.delta:g}; {row.name} "
                f"refutes every epsilon below {lower(row.value)}."
            )
