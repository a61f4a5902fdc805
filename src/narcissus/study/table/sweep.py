"""The verdict on a whole sweep, from those on its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from narcissus.evidence import first_in_sequence
from narcissus.findings import weakest
from narcissus.results import Grade, Status
from narcissus.study.results.table import WORST, SettingNumbers, SettingResult, decisive
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.verdict import Judgement
from narcissus.study.table.words import threshold_text


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
