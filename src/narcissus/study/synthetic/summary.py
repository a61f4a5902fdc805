"""From who was hit to shares, limits and verdicts, all of them at the level of all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus.evidence import clopper_pearson, difference_limits, each_confidence
from narcissus.evidence.two_samples import TwoSamples
from narcissus.study.merging import SMALLER, Parts, merge, numbered, tells_of_fewer
from narcissus.study.results.base import MergedGroups
from narcissus.study.results.synthetic import (
    CountedShare,
    ExcessResult,
    FileSizes,
    GroupRisk,
    GuessedShares,
    RiskResult,
    RiskVerdict,
    SignedLimits,
    SyntheticResults,
    TriedAttack,
    UnlikeResult,
)
from narcissus.study.synthetic.schema import ExcessThreshold
from narcissus.synthetic import Assessment, GivenFiles, Risk

Mask = NDArray[np.bool_]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """People who have one value of a column."""

    by: str
    label: str
    real: Mask
    control: Mask


@dataclass(frozen=True)
class Levels:
    """Confidence of each number, by how many are decided at once.

    Attributes
    ----------
    share
        Of a share shown by itself, which decides nothing.
    claim
        Of the excess of each risk.
    group
        Of the excess of each group and risk.
    claims
        How many decide.
    """

    share: float
    claim: float
    group: float
    claims: int

    @classmethod
    def of(cls, confidence: float, risks: int, groups: int, *, groups_decide: bool) -> Levels:
        """Divide the error among the claims (Bonferroni), which depend on one another.

        Groups that decide nothing are a family of their own: they take nothing from the verdict.
        """
        claims = risks * (1 + groups) if groups_decide else risks
        each = each_confidence(confidence, claims)
        own = each if groups_decide else each_confidence(confidence, max(1, risks * groups))
        return cls(confidence, each, own, claims)


def summarised(
    files: GivenFiles,
    found: Assessment,
    threshold: ExcessThreshold,
    *,
    confidence: float,
    columns: Sequence[str] = (),
    least: int = 10,
) -> SyntheticResults:
    """Give the results of an assessment.

    Parameters
    ----------
    files, found
        What was read, and what came of it.
    threshold
        What is accepted.
    confidence
        Of all claims together.
    columns
        Columns whose values make groups.
    least
        Fewest people of a group that is shown.
    """
    groups, merged = _groups(files, found, columns, least)
    levels = Levels.of(
        confidence,
        len(found.risks),
        len(groups),
        groups_decide=threshold.worst_group is not None,
    )
    unlike = found.unlike
    can_tell = unlike is not None and not unlike.is_shown
    halves = found.halves
    return SyntheticResults(
        files=FileSizes(
            real=files.real,
            synthetic=files.synthetic,
            control=files.control,
            columns=files.table.columns,
            real_scored=len(halves.scored),
            control_scored=len(halves.control_scored),
        ),
        confidence=confidence,
        claims=levels.claims,
        claim_confidence=levels.claim,
        group_confidence=levels.group,
        unlike=None
        if unlike is None
        else UnlikeResult(
            column=unlike.column,
            value=unlike.value,
            real=unlike.real,
            control=unlike.control,
            p_value=unlike.p_value,
            is_shown=unlike.is_shown,
        ),
        risks=tuple(_risk(r, threshold, levels, groups, can_tell=can_tell) for r in found.risks),
        merged=merged if columns else None,
    )


def _groups(
    files: GivenFiles, found: Assessment, columns: Sequence[str], least: int
) -> tuple[list[Group], MergedGroups]:
    """Give the groups of people who were scored, those of few merged, and what was merged."""
    groups: list[Group] = []
    merged: dict[str, int] = {}
    left_out: list[str] = []
    beside: list[tuple[Labels, Labels]] = []
    scored = (found.halves.scored, found.halves.control_scored)
    for name in columns:
        codes = files.coarse[:, files.table.index(name)]
        sides = tuple(codes[people] for people in scored)
        size = int(codes.max()) + 1
        real, control = (np.bincount(side, minlength=size) for side in sides)
        parts = _parts(real, control, least)
        shown = tuple(numbered(parts, size)[side] for side in sides)
        near = any(
            tells_of_fewer(own, [other[side] for other in beside if own.size], least)
            for side, own in enumerate(shown)
        )
        if not parts or near:
            left_out.append(name)
            continue
        beside.append((shown[0], shown[1]))
        if few := sum(len(part) for part in parts if len(part) > 1):
            merged[name] = few
        for number, part in enumerate(parts):
            label = SMALLER if len(part) > 1 else files.label(name, min(part))
            own, others = (side == number for side in shown)
            if own.any():
                groups.append(Group(name, label, own, others))
    people = len(scored[0]) + len(scored[1])
    return groups, MergedGroups(least=least, merged=merged, left_out=tuple(left_out), people=people)


def _parts(real: Labels, control: Labels, least: int) -> Parts:
    """Merge groups until neither side has too few people in one; a control may have nobody."""
    parts = merge(np.where(control > 0, np.minimum(real, control), real), least)
    if all(not 0 < control[list(part)].sum() < least for part in parts):
        return parts
    few: NDArray[Any] = np.minimum(real, np.maximum(control, 0.5))
    return merge(few, least)  # of nobody it is nobody


def _share(won: Mask, confidence: float) -> CountedShare | None:
    """Give a share of people; None of nobody."""
    if not won.size:
        return None
    limits = clopper_pearson(int(won.sum()), won.size, confidence=confidence)
    assert limits.low is not None
    assert limits.high is not None
    return CountedShare(
        successes=int(won.sum()),
        people=won.size,
        share=limits.value,
        low=limits.low,
        high=limits.high,
    )


def _some(won: Mask, confidence: float) -> CountedShare:
    share = _share(won, confidence)
    assert share is not None
    return share


def _risk(
    risk: Risk,
    threshold: ExcessThreshold,
    levels: Levels,
    groups: Sequence[Group],
    *,
    can_tell: bool,
) -> RiskResult:
    accepted = threshold.accepts(risk.risk)
    counts = risk.counts()
    excess = None if counts is None else _excess(counts, accepted, levels.claim)
    of_groups = tuple(_group(risk, group, levels) for group in groups)
    worst = threshold.worst_group
    beyond = excess is not None and excess.low > accepted
    beyond |= worst is not None and any(g.excess and g.excess.low > worst for g in of_groups)
    verdict: RiskVerdict = "not assessed"
    if can_tell:
        verdict = "exceeded" if beyond else "not shown"
    return RiskResult(
        risk=risk.risk,
        secret=risk.secret,
        attack=risk.attack,
        tried={name: TriedAttack(real=r, control=c) for name, (r, c) in risk.tried.items()},
        real=_some(risk.real, levels.share),
        control=None if risk.control is None else _some(risk.control, levels.share),
        excess=excess,
        guess=_guess(risk, levels.share),
        facts=risk.facts,
        at_most=accepted,
        worst_group=worst,
        verdict=verdict,
        groups=of_groups,
    )


def _excess(counts: TwoSamples, accepted: float, confidence: float) -> ExcessResult:
    limits = SignedLimits.of(counts.excess(confidence=confidence))
    return ExcessResult(
        value=limits.value,
        low=limits.low,
        high=limits.high,
        fisher=min(1.0, counts.fisher),
        detectable=counts.detectable(accepted, error=(1 - confidence) / 2),
    )


def _group(risk: Risk, group: Group, levels: Levels) -> GroupRisk:
    counts = risk.counts(group.real, group.control)
    return GroupRisk(
        by=group.by,
        group=group.label,
        real=_some(risk.real[group.real], levels.share),
        control=None if risk.control is None else _share(risk.control[group.control], levels.share),
        excess=None if counts is None else SignedLimits.of(counts.excess(confidence=levels.group)),
    )


def _guess(risk: Risk, confidence: float) -> GuessedShares | None:
    if risk.guessed_real is None:
        return None
    fresh = risk.guessed_control
    return GuessedShares(
        by=risk.guess,
        real=_some(risk.guessed_real, confidence),
        control=None if fresh is None else _some(fresh, confidence),
        above=_paired(risk.real, risk.guessed_real, confidence),
        taught=None
        if fresh is None or risk.control is None
        else _paired(risk.control, fresh, confidence),
    )


def _paired(won: Mask, guessed: Mask, confidence: float) -> SignedLimits:
    """Limit the difference of two attempts on the same people, which depend on one another."""
    return SignedLimits.of(difference_limits(won, guessed, confidence=confidence))
