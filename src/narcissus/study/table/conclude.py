"""From all trials of an audit to its results: every setting summarised, compared and judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from narcissus.evidence import each_confidence
from narcissus.findings import contradictions
from narcissus.study.results.table import (
    Excess,
    FindingResult,
    SettingNumbers,
    SettingResult,
    ThresholdResult,
)
from narcissus.study.table.excess import excesses, family
from narcissus.study.table.experiment import Experiment
from narcissus.study.table.findings import findings_of
from narcissus.study.table.held_out import held_out_guesses
from narcissus.study.table.least_group import shown
from narcissus.study.table.population import gain_if_declared
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.summary import summarise
from narcissus.study.table.sweep import in_sequence
from narcissus.study.table.verdict import Judgement, judge
from narcissus.study.table.words import against, in_favour, odds, verdict_words


def conclude(
    experiment: Experiment,
    trials: Mapping[str, Mapping[str, NDArray[Any]]],
    threshold: ThresholdSpec | None,
    decided_at: str | None,
) -> list[SettingResult]:
    """Summarise every setting, hold all findings against each other, and judge each setting.

    What is taken as given at one setting is of a piece with what is at the others (the same prior,
    declarations by the same hand): refuted at one, none of it counts at another. A setting that
    takes nothing as given is judged by itself.

    Parameters
    ----------
    experiment
        What was played.
    trials
        Outcome of each trial at each setting, by ``"trial/setting"``.
    threshold
        The threshold, if there is one.
    decided_at
        Label of the setting that the threshold names, if it names one.
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
    return [
        SettingResult(
            **dict(numbers[number]),
            threshold=_threshold(threshold, decided_at),
            excesses=tuple(held[number]),
            findings=tuple(FindingResult.of(one) for one in findings[number]),
            decides=decided_at in (None, numbers[number].label),
            **_judged(numbers[number], judgements[number], threshold, held[number], given[number]),
        )
        for number in settings
    ]


def _threshold(threshold: ThresholdSpec | None, decided_at: str | None) -> ThresholdResult | None:
    """Give what was judged by: a policy's threshold is in no study."""
    if threshold is None:
        return None
    return ThresholdResult(
        share=threshold.share,
        advantage=threshold.advantage,
        gain=threshold.gain,
        targets=threshold.targets,
        worst_group=threshold.worst_group,
        decided_at=decided_at,
        reason=threshold.reason,
        origin=threshold.origin,
    )


def _judged(
    numbers: SettingNumbers,
    judgement: Judgement,
    threshold: ThresholdSpec | None,
    held: list[Excess],
    given: tuple[str, ...],
) -> dict[str, Any]:
    """Give the judgement in numbers and in words."""
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
