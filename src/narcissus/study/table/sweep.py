"""The verdict on a whole sweep, from those on its settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from narcissus.evidence import first_in_sequence
from narcissus.findings import weakest
from narcissus.results import Grade
from narcissus.study.record import Status
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.words import threshold_text

Answer = dict[str, Any]

# A sweep has the status of the setting that is worst, in this order.
WORST: tuple[Status, ...] = (
    "exceeded",
    "contradicted",
    "not assessed",
    "too few trials",
    "inconclusive",
    "met",
    "no threshold",
)


@dataclass(frozen=True)
class Overall:
    """What is concluded about a whole sweep; ``decided_at`` is the label that decides, if one."""

    status: Status
    grade: Grade
    assumptions: tuple[str, ...]
    contradictions: tuple[str, ...]
    verdict: str
    decided_at: str | None


def in_sequence(settings: list[Answer], decided_at: str | None) -> None:
    """Take back "met" after the first setting, from most noise to least, that is not met.

    Each setting is held against the threshold at the full level. "Met" is claimed of the settings
    in an order that was fixed beforehand, up to the first failure: so all claims together have
    the level of one. The setting that the threshold names beforehand stands by itself.
    """
    order = sorted(settings, key=lambda s: -s["noise"]["scale"])
    kept = first_in_sequence(s["status"] == "met" for s in order)
    for setting in order[kept:]:
        if setting["status"] != "met" or setting["label"] == decided_at:
            continue
        setting["status"], setting["trials_needed"] = "inconclusive", None
        setting["verdict"] = setting["verdict"].replace(") is met", ") would be met by itself")
        setting["verdict"] += (
            f" Not claimed in the sweep: at {order[kept]['label']}, with more noise, the threshold "
            "is not met, and levels are taken in order, most noise first."
        )
        setting["evidence_for"] = []


def overall(
    settings: list[Answer], threshold: ThresholdSpec | None, decided_at: str | None
) -> Overall:
    """Judge a sweep: by the setting that the threshold names, or by all of them."""
    if decided_at is not None:
        deciding = [s for s in settings if s["label"] == decided_at]
    else:
        deciding = settings
    status = min((s["status"] for s in deciding), key=WORST.index)
    worst = [s for s in deciding if s["status"] == status]
    found = tuple(dict.fromkeys(text for s in settings for text in s["contradictions"]))
    if found and status != "exceeded":
        # what is refuted at one level is assumed at all of them
        status, worst = "contradicted", [s for s in settings if s["contradictions"]]
    return Overall(
        status=status,
        grade=weakest(s["grade"] for s in worst),
        assumptions=()
        if found
        else tuple(dict.fromkeys(a for s in worst for a in s["assumptions"])),
        contradictions=found,
        verdict=settings[0]["verdict"]
        if len(settings) == 1
        else _words(settings, threshold, status, deciding),
        decided_at=decided_at,
    )


def _words(
    settings: Sequence[Answer],
    threshold: ThresholdSpec | None,
    status: Status,
    deciding: Sequence[Answer],
) -> str:
    lines = " ".join(f"{s['label']}: {s['odds']}" for s in settings)
    if threshold is None:
        return lines
    text = f"The threshold ({threshold_text(threshold)})"
    of = {s: [r["label"] for r in settings if r["status"] == s] for s in WORST}
    where = [
        f"{words} at {', '.join(of[s])}"
        for s, words in (
            ("met", "met"),
            ("exceeded", "exceeded"),
            ("contradicted", "contradicted"),
            ("too few trials", "open for want of trials"),
            ("inconclusive", "neither shown to be met nor exceeded"),
        )
        if of[s]
    ]
    head = f"{text} is {'; '.join(where)}."
    one = deciding[0] if len(deciding) == 1 else None
    if one is not None:
        return f"{head} {one['label']} decides. At {one['label']}: {one['verdict']}"
    if status != "met":
        head += " Every level must meet it, since the threshold names none (`at`)."
    met = [s for s in settings if s["status"] == "met"]
    if met:
        best = min(met, key=lambda s: s["noise"]["scale"])
        return f"{head} At {best['label']}: {best['verdict']}"
    return f"{head} {lines}"
