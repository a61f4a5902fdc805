"""From what attacks did to numbers with limits, all of which hold at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence import clopper_pearson, each_confidence, mean_limits
from narcissus.extraction.recovered import (
    BoolArray,
    Division,
    NamedCanaries,
    TextDocument,
    recovered_documents,
    told_apart,
    told_at,
)
from narcissus.study.language.schema import LanguageStudy
from narcissus.study.merging import by_copies
from narcissus.study.results.base import MergedGroups, SampledShare
from narcissus.study.results.extraction import ExtractionResults
from narcissus.study.results.language import (
    BesideShadows,
    CanaryGroup,
    DocumentAttack,
    DocumentGroup,
    LanguageResults,
    MembershipScore,
    RankedBy,
    ToldAtRate,
)
from narcissus.study.results.recovered import GainOverFresh

Scores = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class AttackedDocuments:
    """What one attack did."""

    # name, rule: What it is called, and when a document counts
    name: str
    rule: str
    # trained, fresh: The documents that it could have recovered, by side
    trained: Sequence[TextDocument]
    fresh: Sequence[TextDocument]
    # recovered, recovered_fresh: Whether it did, in their order
    recovered: BoolArray
    recovered_fresh: BoolArray
    # Whether the same attack on the reference model recovered those trained on
    by_reference: BoolArray | None
    ranked: tuple[RankedBy, ...] = ()  # The best texts by score, where it ranked any
    # By shadow model, whether the same attack on it recovered those trained on
    by_shadows: tuple[BoolArray, ...] = ()


@dataclass(frozen=True)
class FoundAboutModel:
    """Everything that was done to a model, before limits are made."""

    words: str
    parameters: int
    division: Division
    attacked: Sequence[AttackedDocuments]
    trained_scores: Scores
    fresh_scores: Scores
    canaries: Sequence[NamedCanaries]
    program: ExtractionResults | None
    has_reference: bool


def summarised(study: LanguageStudy, found: FoundAboutModel) -> LanguageResults:
    """Make the limits, each for all of them together (Bonferroni), and the status."""
    rates = study.membership.false_alarms if study.membership else []
    least = study.groups.least_group
    divided = [
        by_copies([copies_of(one.trained), copies_of(one.fresh)], least) for one in found.attacked
    ]
    groups = [[(), *parts] for parts, _ in divided]
    claims = len(found.trained_scores) * (1 + len(rates)) + len(found.canaries)
    for one, own in zip(found.attacked, groups, strict=True):
        claims += sum(bool(_among(one.fresh, copies).any()) for copies in own)
        claims += len(own) * (one.by_reference is not None)
        claims += len(own) * 2 * bool(one.by_shadows)
    each = each_confidence(study.run.confidence, claims)
    threshold = study.threshold
    results = LanguageResults.model_construct(
        model=found.words,
        parameters=found.parameters,
        has_reference=found.has_reference,
        trained=len(found.division.trained),
        trained_copies=sum(one.copies for one in found.division.trained),
        fresh=len(found.division.fresh),
        by_chance=found.division.by_chance,
        confidence=study.run.confidence,
        claims=claims,
        claim_confidence=each,
        attacks=tuple(
            _attack(one, own, merged, each)
            for one, own, (_, merged) in zip(found.attacked, groups, divided, strict=True)
        ),
        membership=tuple(
            _score(name, found.trained_scores[name], found.fresh_scores[name], rates, each)
            for name in found.trained_scores
        ),
        canaries=tuple(_canaries(one, each) for one in found.canaries),
        program=found.program,
        most_gain=None if threshold is None else threshold.gain,
        most_quality=None if threshold is None else threshold.quality,
    )
    status, grade = results.status_by_numbers
    return LanguageResults(**dict(results), status=status, grade=grade)


def copies_of(documents: Sequence[TextDocument]) -> NDArray[np.int64]:
    return np.array([one.copies for one in documents], dtype=np.int64)


def _among(documents: Sequence[TextDocument], copies: tuple[int, ...]) -> BoolArray:
    return np.isin(copies_of(documents), copies) | (not copies)


def _attack(
    one: AttackedDocuments,
    groups: Sequence[tuple[int, ...]],
    merged: MergedGroups | None,
    each: float,
) -> DocumentAttack:
    return DocumentAttack.model_validate(
        {
            "name": one.name,
            "rule": one.rule,
            "groups": tuple(_group(one, copies, each) for copies in groups),
            "ranked": one.ranked,
            "merged": merged,
        }
    )


def _group(one: AttackedDocuments, copies: tuple[int, ...], each: float) -> DocumentGroup:
    trained, fresh = _among(one.trained, copies), _among(one.fresh, copies)
    found = recovered_documents(
        one.recovered[trained],
        one.recovered_fresh[fresh],
        None if one.by_reference is None else one.by_reference[trained],
        confidence=each,
    )
    return DocumentGroup(
        copies=copies[0] if copies else 0,
        and_copies=copies[1:] or None,
        documents=found.documents,
        recovered=found.recovered,
        share=found.share,
        fresh=None if found.fresh is None else SampledShare.of(found.fresh),
        reference=None if found.reference is None else SampledShare.of(found.reference),
        gain=GainOverFresh.of(found.gain),
        chance=found.chance,
        shadows=_beside_shadows([side[trained] for side in one.by_shadows], found.recovered, each),
    )


def _beside_shadows(
    by_shadows: Sequence[BoolArray], recovered: int, each: float
) -> BesideShadows | None:
    """Return what shadow models give away of the same documents: a model is a trial."""
    if not by_shadows:
        return None
    counts = np.array([int(one.sum()) for one in by_shadows])
    many = int((counts >= recovered).sum())
    share, quantity = counts / by_shadows[0].size, "share recovered from a model without them"
    as_many = clopper_pearson(
        many, counts.size, confidence=each, quantity="a model without them gives away as many"
    )
    return BesideShadows(
        recovered=tuple(counts.tolist()),
        mean=SampledShare.of(mean_limits(share, confidence=each, quantity=quantity)),
        as_many=SampledShare.of(as_many),
        chance=(1 + many) / (1 + counts.size),
    )


def _score(
    name: str,
    trained: NDArray[np.float64],
    fresh: NDArray[np.float64],
    rates: Sequence[float],
    each: float,
) -> MembershipScore:
    quantity = f"chance that a document trained on scores above a fresh one, by {name}"
    told = [told_at(trained, fresh, rate, confidence=each) for rate in rates]
    return MembershipScore(
        score=name,
        above=SampledShare.of(told_apart(trained, fresh, confidence=each, quantity=quantity)),
        rates=tuple(ToldAtRate(rate=one.rate, told=one.told, needed=one.needed) for one in told),
    )


def _canaries(one: NamedCanaries, each: float) -> CanaryGroup:
    return CanaryGroup(
        copies=one.copies,
        canaries=one.canaries,
        alternatives=one.alternatives,
        named=one.named,
        guess=one.guess,
        by_chance=one.by_chance(each),
        chance=one.chance(),
        completed=one.completed,
        guess_completed=one.guess_completed,
        exposure=one.exposure,
        most_exposure=math.log2(one.alternatives + 1),
    )
