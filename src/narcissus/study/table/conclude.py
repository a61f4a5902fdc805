"""From all trials of an audit to its results: every setting summarised, compared and judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from narcissus.evidence import each_confidence, first_in_sequence
from narcissus.findings import contradictions, weakest
from narcissus.results import Grade, Status
from narcissus.study.results.table import (
    WORST,
    Excess,
    FindingResult,
    SettingNumbers,
    SettingResult,
    ThresholdResult,
    decisive,
)
from narcissus.study.table.bound_summary import gain_if_declared
from narcissus.study.table.experiment import Experiment, shown
from narcissus.study.table.held_out import held_out_guesses
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.summary import summarise
from narcissus.study.table.verdict import Judgement, excesses, family, findings_of, judge
from narcissus.study.table.words import against, in_favour, odds, threshold_text, verdict_words


@dataclass(frozen=True)
class Overall:
    """The conclusion on a whole sweep; ``decided_at`` is the label that decides, if any."""

    status: Status
    grade: Grade
    assumptions: tuple[str, ...]
    contradictions: tuple[str, ...]
    verdict: str
    decided_at: str | None


def in_sequence(
    settings: Sequence[SettingNumbers], judgements: Sequence[Judgement], decided_at: str | None
) -> list[Judgement]:
    """Take back "met" after the first setting, from most protection to least, that is not met.

    Each setting is compared with the threshold at the full level. "Met" is claimed of the settings
    in an order fixed beforehand, up to the first failure: so all claims together have the level of
    one. The setting that the threshold names beforehand stands by itself.
    """
    found = list(judgements)
    order = sorted(range(len(found)), key=lambda number: -settings[number].protection)
    kept = first_in_sequence(found[number].status == "met" for number in order)
    for number in order[kept:]:
        if found[number].status == "met" and settings[number].label != decided_at:
            found[number] = replace(
                found[number],
                status="inconclusive",
                trials_needed=None,
                held_back_by=settings[order[kept]].label,
            )
    return found


def overall(
    settings: Sequence[SettingResult], threshold: ThresholdSpec | None, decided_at: str | None
) -> Overall:
    """Judge a sweep: by the setting that the threshold names, or by all of them."""
    if decided_at is not None:
        deciding = [s for s in settings if s.label == decided_at]
    else:
        deciding = settings
    status = WORST[min(WORST.index(s.status) for s in deciding)]
    worst = [s for s in deciding if s.status == status]
    found = tuple(dict.fromkeys(text for s in settings for text in s.contradictions))
    if found and status != "exceeded":
        # what is refuted at one level is assumed at all of them
        status, worst = "contradicted", [s for s in settings if s.contradictions]
    return Overall(
        status=status,
        grade=weakest(s.grade for s in worst),
        assumptions=() if found else tuple(dict.fromkeys(a for s in worst for a in s.assumptions)),
        contradictions=found,
        verdict=settings[0].verdict
        if len(settings) == 1
        else _words(settings, threshold, status, deciding),
        decided_at=decided_at,
    )


def _words(
    settings: Sequence[SettingResult],
    threshold: ThresholdSpec | None,
    status: Status,
    deciding: Sequence[SettingResult],
) -> str:
    if threshold is None:
        return " ".join(f"{s.label}: {s.odds}" for s in settings)
    text = f"The threshold ({threshold_text(threshold)})"
    of = {s: [r.label for r in settings if r.status == s] for s in WORST}
    where = [
        f"{words} at {', '.join(of[s])}"
        for s, words in (
            ("met", "met by itself" if status == "contradicted" else "met"),
            ("exceeded", "exceeded"),
            ("contradicted", "contradicted"),
            ("too few trials", "open for want of trials"),
            ("inconclusive", "neither shown to be met nor exceeded"),
        )
        if of[s]
    ]
    head = f"{text} is {'; '.join(where)}."
    one = deciding[0] if len(deciding) == 1 else None
    if one is not None and status != one.status:
        refuted = ", ".join(s.label for s in settings if s.contradictions)
        why = f"what is refuted at {refuted} is assumed at every level."
        return f"{head} {one.label} decides, and nothing is claimed there: {why}"
    if one is not None:
        return f"{head} {one.label} decides. At {one.label}: {one.verdict}"
    if status != "met":
        head += " Every level must meet it, since the threshold names none (`at`)."
    shown = decisive(settings)
    return f"{head} At {shown.label}: {shown.verdict}"


def conclude(
    experiment: Experiment,
    trials: Mapping[str, Mapping[str, NDArray[Any]]],
    threshold: ThresholdSpec | None,
    decided_at: str | None,
) -> list[SettingResult]:
    """Summarise every setting, compare all findings, and judge each setting.

    The assumptions of one setting belong together with those of the others (the same prior,
    declarations by the same hand): refuted at one, none of them counts at another. A setting
    without assumptions is judged by itself. ``trials`` are by ``"trial/setting"``.
    """
    experiment, trials = shown(experiment, trials)
    joint = each_confidence(experiment.confidence, family(experiment))
    settings = range(len(experiment.settings))
    given = [experiment.given_at(number) for number in settings]
    own = [[trials[f"{t}/{number}"] for t in range(experiment.trials)] for number in settings]
    held_out = held_out_guesses(experiment)
    numbers = [summarise(experiment, n, own[n], held_out=held_out) for n in settings]
    gains = [gain_if_declared(experiment, number, own[number]) for number in settings]
    findings = [
        findings_of(found, experiment.takes_as_given, joint, gain, real=experiment.real_rows)
        for found, gain in zip(numbers, gains, strict=True)
    ]
    clashes = [contradictions(found) for found in findings]
    refuting = [clash for found in clashes for clash in found if clash.refuted]
    held: list[list[Excess]] = []
    judgements: list[Judgement] = []
    for number in settings:
        held.append(
            [] if threshold is None else excesses(experiment, number, own[number], threshold)
        )
        own_clashes = clashes[number]
        elsewhere = [clash for clash in refuting if given[number] and clash not in own_clashes]
        judgements.append(judge(threshold, held[number], [*own_clashes, *elsewhere], given[number]))
    judgements = in_sequence(numbers, judgements, decided_at)
    limits = None
    if threshold is not None:
        named = threshold.model_dump(include=set(ThresholdResult.model_fields))
        limits = ThresholdResult(**named, decided_at=decided_at)
    return [
        SettingResult(
            **dict(numbers[number]),
            threshold=limits,
            excesses=tuple(held[number]),
            findings=tuple(FindingResult.of(one) for one in findings[number]),
            decides=decided_at in (None, numbers[number].label),
            **_judged(numbers[number], judgements[number], threshold, held[number], given[number]),
        )
        for number in settings
    ]


def _judged(
    numbers: SettingNumbers,
    judgement: Judgement,
    threshold: ThresholdSpec | None,
    held: list[Excess],
    given: tuple[str, ...],
) -> dict[str, Any]:
    found = judgement.contradictions
    return {
        "status": judgement.status,
        "held_back_by": judgement.held_back_by,
        "grade": judgement.grade,
        "assumptions": judgement.takes_as_given,
        "contradictions": tuple(str(one) for one in found),
        "trials_needed": judgement.trials_needed,
        "verdict": verdict_words(numbers, threshold, judgement),
        "odds": odds(numbers, found),
        "evidence_for": ()
        if judgement.held_back_by is not None
        else tuple(in_favour(numbers, threshold, held, found, given)),
        "evidence_against": tuple(against(numbers, held, found)),
    }
