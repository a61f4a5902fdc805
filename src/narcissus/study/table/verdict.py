"""The verdict on one setting: from graded findings to a status, plain odds, and evidence.

What counts is always the worse end. A threshold is exceeded when the lower limit of an attack is
above it. It is met when the upper limit of a bound, or of the ceiling, keeps it; the status then
has the grade of what keeps it, and takes as given what that does. Where two findings contradict
each other, that is the verdict. What more trials would settle is "too few trials"; anything else
is inconclusive. An attack that fails proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from narcissus.findings import Contradiction, weakest
from narcissus.results import Grade
from narcissus.study.record import Status
from narcissus.study.table.excess import Excess
from narcissus.study.table.schema import ThresholdSpec
from narcissus.study.table.words import (
    against,
    in_favour,
    odds,
    threshold_text,
    words,
)

Answer = dict[str, Any]


@dataclass(frozen=True)
class Judgement:
    """What is concluded about one setting.

    Attributes
    ----------
    status, grade, assumptions
        The status, the weakest grade of what it rests on, and what that takes as given.
    contradictions
        Pairs of findings that cannot both hold, as sentences.
    trials_needed
        How many trials would settle what is open, roughly; None where none would.
    verdict, odds, evidence_for, evidence_against
        In words.
    """

    status: Status
    grade: Grade
    assumptions: list[str]
    contradictions: list[str]
    trials_needed: int | None
    verdict: str
    odds: str
    evidence_for: list[str]
    evidence_against: list[str]


def judge(
    results: Answer,
    threshold: ThresholdSpec | None,
    excesses: Sequence[Excess],
    contradictions: Sequence[Contradiction],
    takes_as_given: Sequence[str],
) -> Judgement:
    """Judge one setting."""
    status, rests_on, needed = _status(threshold, excesses, contradictions)
    given = list(takes_as_given) if any(e.role != "attack" for e in rests_on) else []
    if contradictions:
        grade, given = weakest(c.grade for c in contradictions), []
    elif threshold is None:
        grade, given = _without_threshold(results, takes_as_given)
    else:
        grade = weakest(e.kind for e in rests_on)
    verdict = [odds(results, contradictions), *words(results, contradictions)]
    if threshold is not None:
        verdict.append(_threshold_words(threshold, status, rests_on, needed))
    return Judgement(
        status=status,
        grade=grade,
        assumptions=given,
        contradictions=[str(c) for c in contradictions],
        trials_needed=needed,
        verdict=" ".join(verdict),
        odds=odds(results, contradictions),
        evidence_for=in_favour(results, threshold, excesses, contradictions, takes_as_given),
        evidence_against=against(results, excesses, contradictions),
    )


def _without_threshold(results: Answer, given: Sequence[str]) -> tuple[Grade, list[str]]:
    """Without a threshold nothing is claimed but what was measured and what is proved."""
    return ("sampled" if results["trials"] else "not assessed"), list(given)


def _status(
    threshold: ThresholdSpec | None,
    excesses: Sequence[Excess],
    contradictions: Sequence[Contradiction],
) -> tuple[Status, list[Excess], int | None]:
    """Give the status, what it rests on, and how many trials would settle what is open."""
    if threshold is None:
        return ("contradicted" if contradictions else "no threshold"), [], None
    attacks = [e for e in excesses if e.role == "attack"]
    beyond = [e for e in attacks if e.low is not None and e.low > 0]
    if beyond:
        return "exceeded", [max(beyond, key=lambda e: e.low or 0.0)], None
    if contradictions:
        return "contradicted", [], None
    keepers, open_ = _keepers(excesses)
    if keepers is not None:
        return "met", keepers, None
    seems_beyond = [e for e in attacks if e.value > 0 and e.trials is not None]
    undecided = seems_beyond or open_
    if undecided:
        return "too few trials", undecided, max(e.trials or 0 for e in undecided)
    return "inconclusive", list(excesses), None


def _keepers(excesses: Sequence[Excess]) -> tuple[list[Excess] | None, list[Excess]]:
    """Give what keeps the threshold, for everybody and for each group; or what nearly does.

    A bound is preferred to the ceiling: it needs no measurement of an attacker.
    """
    limits = [e for e in excesses if e.role != "attack"]
    kept: list[Excess] = []
    nearly: list[Excess] = []
    holds = True
    for about in dict.fromkeys(e.group for e in excesses):
        own = sorted((e for e in limits if e.group == about), key=lambda e: e.role != "bound")
        below = [e for e in own if e.high is not None and e.high <= 0]
        if below:
            kept.append(below[0])
            continue
        holds = False
        almost = [e for e in own if e.value <= 0 and e.trials is not None]
        if not almost:
            return None, []
        nearly.append(min(almost, key=lambda e: e.trials or 0))
    return (kept if holds and kept else None), nearly


def _threshold_words(
    threshold: ThresholdSpec, status: Status, rests_on: Sequence[Excess], needed: int | None
) -> str:
    text = f"The threshold ({threshold_text(threshold)})"
    if status == "met":
        if all(e.role == "bound" for e in rests_on):
            return (
                f"{text} is met: a theorem keeps every attacker below it, for the people played "
                "and within sampling limits for all people like them."
            )
        return f"{text} is met by measurement: the ceiling stays below it, within its limits."
    if status == "exceeded":
        return (
            f"{text} is exceeded: the attack `{rests_on[0].name}` gets above it, beyond limits "
            "that hold for all attacks and settings at once."
        )
    if status == "contradicted":
        return f"{text} cannot be judged while what it would rest on is contradicted."
    if status == "too few trials":
        assert needed is not None
        about = (f"`{e.name}`" + (f" ({e.group})" if e.group else "") for e in rests_on)
        who = ", ".join(dict.fromkeys(about))
        return (
            f"{text} is open: too few trials for the limits of {who} to tell. About "
            f"{_rounded(needed):,} trials would."
        )
    return (
        f"{text} is neither proved nor refuted: no attack tried gets above it, but nothing shows "
        "that none can. More trials would not change that."
    )


def _rounded(count: int) -> int:
    """Round a rough number up to two figures."""
    step = 10 ** max(0, int(math.log10(max(count, 1))) - 1)
    return -(-count // step) * step
