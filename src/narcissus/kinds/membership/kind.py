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

from narcissus._outwards import lower
from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence import each_confidence
from narcissus.guarantees.base import Adjacency
from narcissus.kinds.engine import Done, Files, Kind, PreparedWork
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
    AREA,
    RateTold,
    RocCurve,
    area_under,
    is_void,
    rate_rows,
    refutation_stands,
    reported_rates,
    without_claims,
)
from narcissus.results import Grade, Status
from narcissus.rows import (
    Conflict,
    Count,
    Fact,
    Findings,
    Level,
    Positive,
    Quantity,
    Share,
    StudyCriterion,
    StudyResult,
    StudyRow,
)
from narcissus.study.kinds import RunOptions

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


class RateCeiling(Fact):
    """The true-positive rate that nobody exceeds at a false-positive rate, if a guarantee holds."""

    fpr: Share
    told: Quantity


class RateOverModels(Fact):
    """Mean rates over further models, at a threshold that shadows chose."""

    aimed: Share = Field(description="Largest false-positive rate on the shadows.")
    false_positives: Quantity
    told: Quantity
    shown: Share | None = Field(
        description="Of members told, by a threshold that calls in no more others than aimed at; "
        "null: none is shown to."
    )

    def row(self, attack: str) -> StudyRow:
        why = "whether so few others are called in is not shown" if self.shown is None else ""
        return StudyRow(
            role="attack",
            of=TOLD,
            name=f"{attack}, {OVER_MODELS}",
            quantity=self.told.model_copy(update={"low": self.shown, "why": why}),
            at={"fpr": self.aimed},
            about=self,
        )


class RefutedGuarantee(Fact):
    """What an attack refutes of any guarantee, by guessing coins of canaries."""

    epsilon: Quantity = Field(description="Every smaller one is refuted.")
    mu: float = Field(description="Of Gaussian DP.")
    p_value: Share = Field(description="Against the epsilon that is declared.")
    correct: Count
    guesses: Count
    canaries: Count


class ModelAttack(Fact):
    """What one attack tells, and what it refutes."""

    name: str
    curve: RocCurve
    rates: tuple[RateTold, ...]
    area: Quantity
    over_models: tuple[RateOverModels, ...]
    refuted: RefutedGuarantee

    def rows(self, base_rate: float | None) -> Iterator[StudyRow]:
        yield from rate_rows(self.name, self.rates, base_rate, of=_CALLED)
        yield StudyRow(role="attack", of=AREA, name=self.name, quantity=self.area)
        yield from (rate.row(self.name) for rate in self.over_models)
        yield StudyRow(
            role="refuted",
            of="refuted epsilon",
            name=self.name,
            quantity=self.refuted.epsilon,
            at={"fpr": ""},
            about=self,
        )


class MembershipResult(StudyResult):
    """What attacks tell of models, and what is assumed."""

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
    base_rate: Share | None = Field(description="Share of members, of precisions.")
    ceilings: tuple[RateCeiling, ...] = Field((), description="By what is declared.")
    attacks: tuple[ModelAttack, ...]
    blind: tuple[BlindBaseline, ...] = Field((), description="Points alone, without a model.")

    def rows(self) -> Iterator[StudyRow]:
        """Yield guesses and ceilings, what each attack tells and refutes, and the best of these.

        Where points alone tell members, what attacks reached is void.
        """
        yield from without_claims([*self._rows()], self.blind)

    def _rows(self) -> Iterator[StudyRow]:
        for rate in self.fpr:
            exact, at = Quantity(value=rate, grade="proved"), {"fpr": rate}
            yield StudyRow(role="guess", of="guess", name="a coin", quantity=exact, at=at)
        for ceiling in self.ceilings:
            yield StudyRow(
                role="bound",
                of="bound",
                name="Dong, Roth and Su 2022, Definition 3",
                quantity=ceiling.told,
                at={"fpr": ceiling.fpr},
            )
        for attack in self.attacks:
            yield from attack.rows(self.base_rate)
        best = max(self.attacks, key=lambda attack: attack.refuted.epsilon.value or 0.0)
        refuted, at = best.refuted.epsilon, {"fpr": ""}
        yield StudyRow(
            role="measure", of=EPSILON, name=best.name, quantity=refuted, at=at, about=best
        )


@dataclass(frozen=True, eq=False)
class MembershipWork(PreparedWork[MembershipStudy]):
    """Scores by attack, in the scale that each takes."""

    data: Mapping[str, ShadowScores] = field(kw_only=True)
    points: Any = field(kw_only=True)


class MembershipKind(Kind[MembershipStudy, MembershipWork]):
    """The kind "membership"."""

    model = MembershipStudy
    result = MembershipResult
    layout = "narcissus.kinds.membership.layout:LAYOUT"
    quantity = "share of members told by the best attacker"
    policy = MembershipPolicy

    def prepare(self, study: MembershipStudy, folder: Path, options: RunOptions) -> MembershipWork:
        at = study.threshold and study.threshold.at
        if at is not None and at not in study.threat.fpr:
            known = ", ".join(f"{rate:g}" for rate in study.threat.fpr)
            raise InputError(f"`threshold.at` is {at:g}, which is none of `threat.fpr`: {known}")
        data, files = {}, study.data
        for attack in study.threat.attacks:
            data[attack] = read_shadow_scores(
                folder / files.scores,
                None if files.members is None else folder / files.members,
                scale=files.scale,
                wanted=_SCALES.get(attack.partition("-")[0], "score"),
            )
        first, points = data[study.threat.attacks[0]], None
        digests = {"scores": _digest(first)}
        if files.points is not None:
            points = read_points(folder / files.points, first)
        return MembershipWork(study, folder, options.entropy, digests, data=data, points=points)

    def files(self, study: MembershipStudy) -> Files:
        return {"points": study.data.points}

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
        result = MembershipResult.taken(
            first,
            fpr=tuple(threat.fpr),
            confidence=study.run.confidence,
            each_confidence=each,
            declared=None
            if declared is None
            else Declared.taken(declared, words=declared.guarantee.describe()),
            premises=tuple(dict.fromkeys(premises)),
            blind=blind,
            base_rate=threat.base_rate,
            ceilings=() if declared is None else tuple(_ceilings(threat.fpr, declared)),
            attacks=tuple(
                _attack(name, audit, threat.fpr, threat.base_rate) for name, audit in audits.items()
            ),
        )
        alone = is_void(blind) and refutation_stands(blind)
        return self.found(_criteria(threat.fpr, study.threshold, alone=alone), result)

    def found(self, criteria: Any, result: MembershipResult) -> Findings:
        findings = super().found(criteria, result)
        if not refutation_stands(result.blind):
            return findings
        return replace(findings, refuted=tuple(_clashes(result)), decided=(EPSILON,))

    def undecided(self, result: MembershipResult) -> Status | None:
        return "not assessed" if is_void(result.blind) else None

    def premises(self, result: MembershipResult) -> tuple[str, ...]:
        return result.premises

    def is_of_people(self, study: Mapping[str, object]) -> bool:
        return True


KIND = MembershipKind()


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


def _ceilings(rates: Sequence[float], declared: DeclaredGuarantee) -> Iterator[RateCeiling]:
    """Yield what nobody exceeds if the training keeps its guarantee."""
    guarantee = declared.guarantee
    for rate in rates:
        most = min(1.0, math.nextafter(float(guarantee.power(rate)), 2.0))
        told = Quantity(
            value=most,
            high=most,
            grade="proved if",
            takes_as_given=(f"the training keeps {guarantee.describe()}", *guarantee.required),
        )
        yield RateCeiling(fpr=rate, told=told)


def _attack(
    name: str, found: MembershipAudit, rates: Sequence[float], base_rate: float | None
) -> ModelAttack:
    tests = found.refutations
    return ModelAttack(
        name=name,
        curve=RocCurve.of(name, found.roc),
        rates=tuple(RateTold.of(found.roc, rate, base_rate) for rate in reported_rates(rates)),
        area=area_under(found.roc),
        over_models=tuple(
            _over_models(rate, found.across) for rate in found.across if rate.aimed in rates
        ),
        refuted=RefutedGuarantee(
            epsilon=Quantity(
                value=found.epsilon, low=found.epsilon, grade="sampled", confidence=found.confidence
            ),
            mu=found.mu,
            p_value=found.p_value,
            correct=sum(test.correct for test in tests),
            guesses=sum(test.guesses for test in tests),
            canaries=sum(test.canaries for test in tests),
        ),
    )


def _over_models(rate: RateAcrossModels, tried: Sequence[RateAcrossModels]) -> RateOverModels:
    """Take mean rates; as all limits hold jointly, any threshold may show the lower one.

    It must be shown that others are called in no oftener than the rate says.
    """
    shown = [
        other.true_positives.low or 0.0
        for other in tried
        if other.false_positives.high is not None and other.false_positives.high <= rate.aimed
    ]
    return RateOverModels(
        aimed=rate.aimed,
        false_positives=Quantity.of(rate.false_positives),
        told=Quantity.of(rate.true_positives),
        shown=max(shown, default=None),
    )


def _clashes(result: MembershipResult) -> Iterator[Conflict]:
    """Yield what is refuted of what was declared."""
    if (declared := result.declared) is None:
        return
    for attack in result.attacks:
        mu, epsilon = attack.refuted.mu, attack.refuted.epsilon.value or 0.0
        if declared.mu is not None and mu > declared.mu:
            yield Conflict(
                f"declared is mu {declared.mu:g}; {attack.name} refutes every mu below {lower(mu)}."
            )
        if declared.epsilon is not None and epsilon > declared.epsilon:
            yield Conflict(
                f"declared is epsilon {declared.epsilon:g} at delta {declared.delta:g}; "
                f"{attack.name} refutes every epsilon below {lower(epsilon)}."
            )
