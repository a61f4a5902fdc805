"""The kind "synthetic": read the files, try the three risks, say what can and cannot be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, TypeAdapter

from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson, difference_limits, each_confidence
from narcissus.evidence.intervals import TwoSamples
from narcissus.observer import Observer
from narcissus.results import NotAssessed
from narcissus.study.kinds import Outcome, RunOptions
from narcissus.study.merging import SMALLER, merge_sides, numbered, tells_of_fewer
from narcissus.study.plugins import GIVEN, load_attribute
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
from narcissus.study.synthetic.schema import ExcessThreshold, SyntheticPolicy, SyntheticStudy
from narcissus.study.synthetic.words import ASSUMPTIONS, NOT_COVERED, not_assessed, verdict_words
from narcissus.study.toml import read_policy
from narcissus.study.work import agree
from narcissus.synthetic import Assessment, FileThreat, GivenFiles, Risk, assess_file, read_files
from narcissus.synthetic.files import Source
from narcissus.tables import Bins, Table

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
    """Confidence of each number, by how many are decided at once."""

    share: float  # Of a share shown by itself, which decides nothing
    claim: float  # Of the excess of each risk
    group: float  # Of the excess of each group and risk
    claims: int  # How many decide

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
    """Return the results of an assessment.

    files, found: what was read, and what came of it.
    threshold: what is accepted.
    confidence: of all claims together.
    columns: columns whose values make groups.
    least: fewest people of a group that is shown.
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
    """Return the groups of people who were scored, those of few merged, and what was merged."""
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
        parts = merge_sides([real, control], least)
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


def _share(won: Mask, confidence: float) -> CountedShare | None:
    """Return a share of people; None of nobody."""
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


_SECONDS = 2e-9  # a person, a row, a column and an attack
_ATTACKS = 16  # of singling out and linkability, as long as that many guesses


class SyntheticKind:
    """The kind "synthetic"."""

    model: type[BaseModel] = SyntheticStudy
    results: TypeAdapter[Any] = TypeAdapter(SyntheticResults)

    def check(self, study: Any, folder: Path, observer: Observer) -> None:
        """Refuse files that cannot be used together, and columns that they do not have."""
        settings: SyntheticStudy = study
        files = _files(settings, folder)
        threat = _threat(settings)
        threat.secrets(files)
        threat.division(files)
        for name in settings.groups.columns:
            files.table.index(name)
        _threshold(settings, folder, None)

    def play(self, study: Any, folder: Path, options: RunOptions) -> Outcome:
        """Try the three risks."""
        settings: SyntheticStudy = study
        threshold, digests = _threshold(settings, folder, options.policy)
        if threshold.worst_group is not None and not settings.groups.columns:
            raise InputError("the policy's `worst_group` needs groups: name their columns")
        files, threat = _files(settings, folder), _threat(settings)
        people = min(files.real, threat.people) + min(files.control, threat.people)
        attacks = _ATTACKS + 6 * len(threat.secrets(files))
        for line in files.reading:
            options.observer.note(line)
        agree(
            _SECONDS * people * files.synthetic * files.table.columns * attacks,
            f"{people:,} people held against {files.synthetic:,} rows",
            hours=options.hours,
            observer=options.observer,
        )
        found = assess_file(files, threat, entropy=options.entropy, observer=options.observer)
        results = summarised(
            files,
            found,
            threshold,
            confidence=settings.run.confidence,
            columns=settings.groups.columns,
            least=settings.groups.least_group,
        )
        verdict = results.verdict
        parts = ("real", "synthetic", *(["control"] if files.control else []))
        return Outcome(
            title=settings.title or "A given synthetic file",
            status=verdict,
            verdict=verdict_words(results),
            grade="not assessed" if verdict == "not assessed" else "sampled",
            assumptions=() if verdict == "not assessed" else ASSUMPTIONS,
            results=results,
            assessed=[
                *(f"{risk.name}, by {len(risk.tried)} attacks" for risk in results.risks),
                *files.reading,
            ],
            not_assessed=[*not_assessed(results), *_remarks(files)],
            not_covered=NOT_COVERED,
            digests={**{name: _digest(files, name) for name in parts}, **digests},
        )


def _source(name: str, folder: Path) -> Source:
    """Return what a file of the study stands for."""
    if name.startswith(GIVEN):
        return load_attribute(name, folder)
    return name if name.startswith("statsmodels:") else folder / name


def _files(study: SyntheticStudy, folder: Path) -> GivenFiles:
    data = study.data
    return read_files(
        _source(data.real, folder),
        _source(data.synthetic, folder),
        None if data.control is None else _source(data.control, folder),
        columns=data.columns,
        drop=data.drop,
        bins={name: Bins(**spec.model_dump(exclude_none=True)) for name, spec in data.bins.items()},
        missing=data.missing,
        read_as=data.read_as,
    )


def _threat(study: SyntheticStudy) -> FileThreat:
    linked = study.threat.linked
    return FileThreat(
        tuple(study.threat.unknown),
        None if linked is None else (tuple(linked[0]), tuple(linked[1])),
        study.threat.people,
    )


def _threshold(
    study: SyntheticStudy, folder: Path, policy: Path | None
) -> tuple[ExcessThreshold, dict[str, str]]:
    """Return what is accepted and, if it comes from a policy file, the file's digest."""
    read, digests = read_policy(study, folder, policy, SyntheticPolicy)
    found = study.threshold if read is None else read.threshold
    return found or ExcessThreshold.model_validate({}), digests


def _digest(files: GivenFiles, name: str) -> str:
    table = files.table
    part = Table(table.names, table.labels, table.ordered, table.codes[files.rows(name)])
    return f"sha256:{part.digest}"


def _remarks(files: GivenFiles) -> list[NotAssessed]:
    """Return how columns were read that a reader may take for something else."""
    return [
        NotAssessed(f"distances in the column {name}", text, "clean the column, or drop it")
        for name, text in files.table.notes.items()
    ]


KIND = SyntheticKind()
